import { messageOf } from './messages.ts'

// Messages in a corner. The component that shows them is loaded with the first message, and then receives the waiting
// messages.

export type ToastMessage = { kind: 'done' | 'tell' | 'failed'; title: string; description?: string | undefined }

const waiting: ToastMessage[] = []
let show: ((told: ToastMessage) => void) | undefined
let wake = (): void => {}

function tell(told: ToastMessage): void {
  if (show) show(told)
  else {
    waiting.push(told)
    wake()
  }
}

/** `toast.done('Saved')`, `toast.failed('Not saved', error)` */
export const toast = {
  done: (title: string, description?: string): void => tell({ kind: 'done', title, description }),
  tell: (title: string, description?: string): void => tell({ kind: 'tell', title, description }),
  failed: (title: string, error?: unknown): void =>
    tell({ kind: 'failed', title, description: error === undefined ? undefined : messageOf(error) }),
}

export function connectToaster(next: (told: ToastMessage) => void): () => void {
  show = next
  for (const told of waiting.splice(0)) next(told)
  return () => {
    show = undefined
  }
}

/** Sets the function that is called when a message waits for the component, and calls it if one already waits. */
export function whenToastNeeded(needed: () => void): () => void {
  wake = needed
  if (waiting.length > 0) wake()
  return () => {
    wake = () => {}
  }
}
