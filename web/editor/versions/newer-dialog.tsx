import type { WorkflowVersion } from '#sdk/types.generated'
import { Button } from '#web/ui/button.tsx'
import { Dialog } from '#web/ui/dialog.tsx'
import { messageOf } from '#web/ui/messages.ts'
import { RelativeTime } from '#web/ui/time.tsx'
import { toast } from '#web/ui/toast.tsx'
import { usePeople } from './use-people.ts'
import type { Saving } from './use-saving.ts'

type Props = {
  version: WorkflowVersion | null
  baseNumber: number
  saving: Saving
  onClose(): void
  onCompare(version: WorkflowVersion): void
}

/** Shown if another user has saved a version in the meantime: nothing is overwritten without a review. */
export function NewerDialog({ version, baseNumber, saving, onClose, onCompare }: Props) {
  const nameOf = usePeople()
  if (!version) return null
  const anyway = async (): Promise<void> => {
    const result = await saving.save({
      note: `Saved over version ${version.number}, from version ${baseNumber}`,
      activate: false,
      anyway: true,
    })
    onClose()
    if (result.kind === 'saved') toast.done(`Version ${result.version.number} saved, not active`)
    else if (result.kind === 'refused') toast.failed('Could not save', messageOf(result.error))
  }
  return (
    <Dialog
      open
      onClose={onClose}
      // The user must choose here which version to keep; the save key does not choose.
      onSaveKey={() => {}}
      title={`Version ${version.number} is newer than yours`}
      size="medium"
    >
      <div className="flex flex-col gap-4">
        <p className="text-ink-2">
          {nameOf(version.created_by)} saved version {version.number} <RelativeTime at={version.created_at} />
          {version.note ? <> (“{version.note}”)</> : null}. Your changes are based on version {baseNumber} and do not
          include the newer changes.
        </p>
        <div className="flex flex-wrap justify-end gap-2">
          <Button
            look="quiet"
            onClick={() => {
              saving.take(version)
              onClose()
              toast.tell(`Version ${version.number} loaded into the editor`, 'Undo restores your changes.')
            }}
          >
            Load version {version.number}
          </Button>
          <Button onClick={() => void anyway()} pending={saving.pending}>
            Save mine as a new version
          </Button>
          <Button look="primary" onClick={() => onCompare(version)}>
            Compare
          </Button>
        </div>
      </div>
    </Dialog>
  )
}
