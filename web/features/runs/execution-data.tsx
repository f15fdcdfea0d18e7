import { useState } from 'react'
import { api } from '#web/api.ts'
import { Button } from '#web/ui/button.tsx'
import { formatBytes } from '#web/ui/format.ts'
import { JsonView } from '#web/ui/json-view.tsx'
import { toast } from '#web/ui/toast.tsx'

type Blob_ = { $blob: string | null; bytes: number }

const isBlob = (value: unknown): value is Blob_ =>
  typeof value === 'object' && value !== null && '$blob' in value && typeof (value as Blob_).bytes === 'number'

/** Data of an execution. Data that is too large for the response is fetched on request. */
export function ExecutionData({ value, label, execution_id }: { value: unknown; label: string; execution_id: string }) {
  const [fetched, setFetched] = useState<{ of: string; value: unknown } | null>(null)
  const [pending, setPending] = useState(false)
  if (!isBlob(value)) return <JsonView value={value} label={label} />
  const { $blob, bytes } = value
  if ($blob === null) return <p className="text-ink-2">This file was {formatBytes(bytes)} and has been deleted.</p>
  if (fetched?.of === $blob) return <JsonView value={fetched.value} label={label} />
  const fetchIt = async (): Promise<void> => {
    setPending(true)
    try {
      setFetched({ of: $blob, value: await api.readExecutionBlob({ execution_id, sha256: $blob.split('/').at(-1)! }) })
    } catch (error) {
      toast.failed('Could not load the data', error)
    } finally {
      setPending(false)
    }
  }
  return (
    <div className="flex items-center justify-between rounded-md border border-line bg-sunken px-3 py-2">
      <span className="text-ink-2">Large: {formatBytes(bytes)}</span>
      <Button size="small" pending={pending} onClick={() => void fetchIt()}>
        Show
      </Button>
    </div>
  )
}
