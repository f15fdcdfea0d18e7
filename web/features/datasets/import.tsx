import { useNavigate } from '@tanstack/react-router'
import { FileUp, Lock } from 'lucide-react'
import { type DragEvent, useEffect, useRef, useState } from 'react'
import { invalidate } from '#web/api.ts'
import { useRole } from '#web/session.tsx'
import { Button } from '#web/ui/button.tsx'
import { cx } from '#web/ui/cx.ts'
import { Field, Input, Switch } from '#web/ui/field.tsx'
import { formatBytes, formatNumber } from '#web/ui/format.ts'
import { Meter } from '#web/ui/meter.tsx'
import { Card, Page } from '#web/ui/page.tsx'
import { Empty } from '#web/ui/states.tsx'
import { formatDuration } from '#web/ui/time-words.ts'
import { toast } from '#web/ui/toast.tsx'
import { FilePreview } from './preview.tsx'
import { Refused } from './refused.tsx'
import { importFile, type Upload, UploadCancelled } from './upload.ts'

export function ImportPage() {
  const { canWrite } = useRole()
  return (
    <Page
      title="Import a file"
      crumbs={[{ label: 'Datasets', to: '/datasets' }]}
      description="CSV with a header row, a JSON array or JSON Lines, optionally gzipped. Up to 512 MiB and one million records."
    >
      {canWrite ? (
        <Importer />
      ) : (
        <Empty icon={Lock} title="Viewers cannot import">
          Ask a member of the workspace to import the file for you.
        </Empty>
      )}
    </Page>
  )
}

type State =
  | { step: 'choosing' }
  | { step: 'sending'; sent: number; total: number; began: number; upload: Upload }
  | { step: 'refused'; error: unknown }

function Importer() {
  const navigate = useNavigate()
  const [file, setFile] = useState<File | null>(null)
  const [name, setName] = useState('')
  const [infer, setInfer] = useState(true)
  const [state, setState] = useState<State>({ step: 'choosing' })
  const upload = state.step === 'sending' ? state.upload : undefined
  useEffect(() => () => upload?.cancel(), [upload])

  const choose = (chosen: File): void => {
    setFile(chosen)
    setName(chosen.name.replace(/(\.(csv|tsv|json|jsonl|ndjson|txt))?(\.gz)?$/i, ''))
    setState({ step: 'choosing' })
  }
  const send = async (): Promise<void> => {
    if (!file) return
    const body = new FormData()
    if (name.trim() !== '') body.set('name', name.trim())
    body.set('file', file)
    const began = performance.now()
    const sending = importFile(body, infer, (sent, total) =>
      setState({ step: 'sending', sent, total, began, upload: sending }),
    )
    setState({ step: 'sending', sent: 0, total: file.size, began, upload: sending })
    try {
      const made = await sending.done
      await invalidate('listDatasets', 'getUsage')
      toast.done(`${made.name} has ${formatNumber(made.record_count)} records`)
      await navigate({ to: `/datasets/${made.dataset_id}` })
    } catch (error) {
      setState(error instanceof UploadCancelled ? { step: 'choosing' } : { step: 'refused', error })
    }
  }
  return (
    <form
      className="flex max-w-2xl flex-col gap-5"
      onSubmit={(event) => {
        event.preventDefault()
        void send()
      }}
    >
      <DropZone file={file} onFile={choose} disabled={state.step === 'sending'} />
      {file && state.step !== 'sending' && (
        <>
          <Field label="Dataset name">
            <Input value={name} onChange={(event) => setName(event.target.value)} maxLength={200} required />
          </Field>
          <FilePreview file={file} />
          <Switch label="Detect numbers, booleans and empty cells in CSV" checked={infer} onCheckedChange={setInfer} />
        </>
      )}
      {state.step === 'refused' && <Refused error={state.error} file={file} />}
      {state.step === 'sending' ? (
        <Progress state={state} />
      ) : (
        <div>
          <Button type="submit" look="primary" icon={FileUp} disabled={!file}>
            {state.step === 'refused' ? 'Try again' : 'Import'}
          </Button>
        </div>
      )}
    </form>
  )
}

function Progress({ state }: { state: Extract<State, { step: 'sending' }> }) {
  const { sent, total, began, upload } = state
  const seconds = (performance.now() - began) / 1000
  const rate = seconds > 0.5 ? sent / seconds : 0
  const sentAll = sent > 0 && sent >= total
  return (
    <Card className="flex flex-col gap-3">
      <Meter
        label={sentAll ? 'Reading the records' : 'Sending the file'}
        value={sent}
        max={total}
        detail={
          sentAll
            ? 'The service is checking each record'
            : `${formatBytes(sent)} of ${formatBytes(total)}${rate > 0 ? ` · ${formatBytes(rate)}/s · ${formatDuration(((total - sent) / rate) * 1000)} left` : ''}`
        }
      />
      <div>
        <Button size="small" onClick={upload.cancel}>
          Cancel
        </Button>
      </div>
    </Card>
  )
}

function DropZone({ file, onFile, disabled }: { file: File | null; onFile(file: File): void; disabled: boolean }) {
  const input = useRef<HTMLInputElement>(null)
  const [over, setOver] = useState(false)
  const drop = (event: DragEvent): void => {
    event.preventDefault()
    setOver(false)
    const dropped = event.dataTransfer.files[0]
    if (dropped && !disabled) onFile(dropped)
  }
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: dropping is a shortcut; the button does the same
    <div
      onDragOver={(event) => {
        event.preventDefault()
        setOver(true)
      }}
      onDragLeave={() => setOver(false)}
      onDrop={drop}
      className={cx(
        'flex flex-col items-center gap-3 rounded-lg border-2 border-dashed px-6 py-10 text-center',
        over ? 'border-accent bg-accent-soft' : 'border-line',
      )}
    >
      <FileUp aria-hidden className="size-6 text-ink-3" />
      {file ? (
        <p>
          <span className="font-medium break-all">{file.name}</span>{' '}
          <span className="text-ink-2">{formatBytes(file.size)}</span>
        </p>
      ) : (
        <p className="text-ink-2">Drop a file here, or</p>
      )}
      <input
        ref={input}
        type="file"
        aria-label="File to import"
        accept=".csv,.tsv,.txt,.json,.jsonl,.ndjson,.gz"
        className="sr-only"
        tabIndex={-1}
        disabled={disabled}
        onChange={(event) => {
          const chosen = event.target.files?.[0]
          if (chosen) onFile(chosen)
          event.target.value = ''
        }}
      />
      <Button disabled={disabled} onClick={() => input.current?.click()}>
        {file ? 'Choose another' : 'Choose a file'}
      </Button>
    </div>
  )
}
