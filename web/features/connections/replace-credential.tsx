import { useState } from 'react'
import type { Connection } from '#sdk/types.generated'
import { api, invalidate } from '#web/api.ts'
import { Dialog } from '#web/ui/dialog.tsx'
import { SchemaForm } from '#web/ui/schema-form.tsx'
import { toast } from '#web/ui/toast.tsx'
import { formSchema, type Kind, readFilled } from './kinds.ts'
import { Probe, type ProbeState, probeFailure } from './probe.tsx'

/** Sets a new credential and changed settings, which are probed like the first ones. */
export function ReplaceCredential({
  open,
  onClose,
  connection,
  kind,
}: {
  open: boolean
  onClose(): void
  connection: Connection
  kind: Kind
}) {
  const [probe, setProbe] = useState<ProbeState | null>(null)
  const close = (): void => {
    setProbe(null)
    onClose()
  }
  const send = async (value: unknown): Promise<void> => {
    const { config, secrets } = readFilled(value)
    setProbe({ state: 'running' })
    try {
      await api.rearmConnection({
        connection_id: connection.connection_id,
        config,
        ...(Object.keys(secrets).length > 0 && { secrets }),
      })
      await invalidate('listConnections', 'listJobs')
      toast.done('The new credential works and was saved', 'Paused jobs resume.')
      close()
    } catch (error) {
      const failure = probeFailure(error)
      setProbe(failure)
      if (!failure) throw error
    }
  }
  return (
    <Dialog
      open={open}
      onClose={close}
      size="medium"
      title={`New credential for ${connection.name}`}
      description="It is tested before it replaces the stored one."
    >
      <div className="flex flex-col gap-4">
        {open && (
          <SchemaForm
            schema={formSchema(kind, { named: false })}
            value={{ config: connection.config }}
            onSubmit={send}
            submit="Test and save"
          />
        )}
        {probe && <Probe probe={probe} />}
      </div>
    </Dialog>
  )
}
