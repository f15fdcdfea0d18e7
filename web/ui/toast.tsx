import { messageOf } from './messages.ts'

// Messages in a corner. The component that shows them is loaded with the first message, and then receives the waiting
// messages.

export type ToastMessage = { kind: 'done' | 'tell' | 'failed'; title: string; description?: string | undefined }

const waiting: ToastMessage[] = []
let show: ((message: ToastMessage) => void) | undefined
let wake = (): void => {}

function showMessage(message: ToastMessage): void {
  if (show) show(message)
  else {
    waiting.push(message)
    wake()
  }
}

/** `toast.done('Saved')`, `toast.failed('Not saved', error)` */
export const toast = {
  done: (title: string, description?: string): void => showMessage({ kind: 'done', title, description }),
  tell: (title: string, description?: string): void => showMessage({ kind: 'tell', title, description }),
  failed: (title: string, error?: unknown): void =>
    showMessage({ kind: 'failed', title, description: error === undefined ? undefined : messageOf(error) }),
}

export function connectToaster(next: (message: ToastMessage) => void): () => void {
  show = next
  for (const message of waiting.splice(0)) next(message)
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
