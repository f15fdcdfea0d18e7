import { useState } from 'react'
import type { WorkflowVersion } from '#sdk/types.generated'
import { Button } from '#web/ui/button.tsx'
import { Dialog } from '#web/ui/dialog.tsx'
import { Checkbox, Field, Textarea } from '#web/ui/field.tsx'
import { isRefusal, messageOf } from '#web/ui/messages.ts'
import { toast } from '#web/ui/toast.tsx'
import { useProblems } from '../use-problems.ts'
import type { Saving } from './use-saving.ts'

/** Returns the message of an error. The list of problems shows which step and field a validation error concerns. */
const wordsOf = (error: unknown): string =>
  isRefusal(error, 422) ? 'The service rejected the workflow. See the problems.' : messageOf(error)

/** Saves a new version with a note about its changes. Only the service refuses a version. */
export function SaveDialog({
  open,
  onClose,
  onNewer,
  saving,
  first,
}: {
  open: boolean
  onClose(): void
  onNewer(version: WorkflowVersion): void
  saving: Saving
  first: boolean
}) {
  const [note, setNote] = useState('')
  const [activate, setActivate] = useState(true)
  const [refused, setRefused] = useState<string | null>(null)
  const errors = useProblems().filter(({ level }) => level === 'error').length
  const close = (): void => {
    setRefused(null)
    onClose()
  }
  const save = async (): Promise<void> => {
    if (saving.pending) return
    setRefused(null)
    const result = await saving.save({ note: note.trim() || null, activate })
    if (result.kind === 'newer') {
      close()
      onNewer(result.version)
    } else if (result.kind === 'refused') setRefused(wordsOf(result.error))
    else {
      setNote('')
      close()
      toast.done(
        result.version.active
          ? `Version ${result.version.number} saved and active`
          : `Version ${result.version.number} saved`,
      )
    }
  }
  return (
    <Dialog
      open={open}
      onClose={close}
      title="Save as a version"
      description="Versions are kept. You can compare them and restore any of them."
    >
      <form
        className="flex flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault()
          void save()
        }}
      >
        <Field label="What changed" hint="Optional. A note for people who look at the versions later.">
          <Textarea
            autoFocus
            rows={2}
            maxLength={2000}
            value={note}
            onChange={(event) => setNote((event.currentTarget as unknown as HTMLTextAreaElement).value)}
            onKeyDown={(event: React.KeyboardEvent) => {
              if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) void save()
            }}
          />
        </Field>
        {!first && (
          <Checkbox label="Activate: new runs use this version" checked={activate} onCheckedChange={setActivate} />
        )}
        {errors > 0 && refused === null && (
          <p className="rounded-md bg-waiting-soft px-3 py-2 text-waiting">
            {errors === 1 ? 'There is a problem' : `There are ${errors} problems`}. The service will probably reject the
            workflow. Your draft is kept.
          </p>
        )}
        {refused && (
          <p role="alert" className="rounded-md bg-danger-soft px-3 py-2 break-words text-danger">
            {refused}
          </p>
        )}
        <div className="flex justify-end gap-2">
          <Button look="quiet" onClick={close}>
            Cancel
          </Button>
          <Button type="submit" look="primary" pending={saving.pending}>
            Save version
          </Button>
        </div>
      </form>
    </Dialog>
  )
}
