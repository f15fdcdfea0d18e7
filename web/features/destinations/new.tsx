import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import type { CreatedEventDestination } from '#sdk/types.generated'
import { useChange } from '#web/api.ts'
import { Button } from '#web/ui/button.tsx'
import { CopyField } from '#web/ui/copy-field.tsx'
import { Dialog } from '#web/ui/dialog.tsx'
import { DestinationForm } from './form.tsx'

/** Creates a destination. The secret is shown once, before the page of the destination opens. */
export function NewDestination({ open, onClose }: { open: boolean; onClose(): void }) {
  const navigate = useNavigate()
  const [made, setMade] = useState<CreatedEventDestination | null>(null)
  const create = useChange('createDestination', { stale: ['listDestinations'], onDone: setMade })
  const close = (): void => {
    setMade(null)
    onClose()
  }
  return (
    <Dialog open={open} onClose={close} title={made ? 'The signing secret' : 'New event destination'} size="medium">
      {made ? (
        <div className="flex flex-col gap-4">
          <p className="text-ink-2">The receiver checks with it that messages come from here. It is shown only now.</p>
          <CopyField label="Signing secret" text={made.secret} secret />
          <div className="flex justify-end">
            <Button
              look="primary"
              onClick={() => {
                close()
                void navigate({ to: `/destinations/${made.destination_id}` })
              }}
            >
              Saved
            </Button>
          </div>
        </div>
      ) : (
        <DestinationForm
          submit="Create destination"
          onCancel={close}
          onSubmit={(values) => create.mutateAsync(values)}
        />
      )}
    </Dialog>
  )
}
