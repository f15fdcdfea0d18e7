import { AlertDialog as Base } from '@base-ui/react/alert-dialog'
import { type ReactNode, useState } from 'react'
import { Button } from './button.tsx'
import { messageOf } from './messages.ts'
import { useSaveKey } from './save-key.ts'

export type ConfirmProps = {
  open: boolean
  onClose(): void
  title: ReactNode
  /** What will happen, and what cannot be restored. */
  consequence: ReactNode
  /** The verb: "Delete workflow", never "OK". */
  action: string
  look?: 'danger' | 'primary'
  onConfirm(): Promise<unknown>
}

/**
 * Asks before an action that cannot be undone, and names its consequence. Stays open with the reason if the action
 * fails.
 */
export function ConfirmDialog({ open, onClose, title, consequence, action, look = 'danger', onConfirm }: ConfirmProps) {
  const [pending, setPending] = useState(false)
  const [refused, setRefused] = useState<string | null>(null)
  const close = (): void => {
    setRefused(null)
    onClose()
  }
  // The save key must not answer the question.
  const onKeyDown = useSaveKey(close, () => {})
  const confirm = async (): Promise<void> => {
    setPending(true)
    setRefused(null)
    try {
      await onConfirm()
      close()
    } catch (error) {
      setRefused(messageOf(error))
    } finally {
      setPending(false)
    }
  }
  return (
    <Base.Root open={open} onOpenChange={(next) => !next && close()}>
      <Base.Portal>
        <Base.Backdrop className="fixed inset-0 z-40 bg-[#000]/40" />
        <Base.Popup
          onKeyDown={onKeyDown}
          className="fixed top-1/2 left-1/2 z-50 w-[calc(100vw-2rem)] max-w-md -translate-x-1/2 -translate-y-1/2 rounded-lg border border-line bg-raised p-5 shadow-raised"
        >
          <Base.Title className="text-base font-semibold">{title}</Base.Title>
          <Base.Description render={<div />} className="mt-2 text-ink-2">
            {consequence}
          </Base.Description>
          {refused && (
            <p role="alert" className="mt-3 rounded-md bg-danger-soft px-3 py-2 text-danger">
              {refused}
            </p>
          )}
          <div className="mt-5 flex justify-end gap-2">
            <Base.Close render={<Button look="quiet">Go back</Button>} />
            <Button look={look} pending={pending} onClick={() => void confirm()}>
              {action}
            </Button>
          </div>
        </Base.Popup>
      </Base.Portal>
    </Base.Root>
  )
}
