import { useNavigate } from '@tanstack/react-router'
import { Camera, Plus, Trash2 } from 'lucide-react'
import { useState } from 'react'
import type { Connection, Source } from '#sdk/types.generated'
import { useChange } from '#web/api.ts'
import { useRole } from '#web/session.tsx'
import { Button, IconButton } from '#web/ui/button.tsx'
import { ConfirmDialog } from '#web/ui/confirm.tsx'
import { Dialog } from '#web/ui/dialog.tsx'
import { Field, Form, Input, Select, Textarea } from '#web/ui/field.tsx'
import { formatNumber } from '#web/ui/format.ts'
import { Section } from '#web/ui/page.tsx'
import { Empty } from '#web/ui/states.tsx'
import { Table } from '#web/ui/table.tsx'
import { RelativeTime } from '#web/ui/time.tsx'
import { TableBrowser } from './table-browser.tsx'

export function Sources({ connection }: { connection: Connection }) {
  const { canWrite } = useRole()
  const [adding, setAdding] = useState(false)
  const [capturing, setCapturing] = useState<Source | null>(null)
  const [asked, setAsked] = useState<Source | null>(null)
  const usable = connection.credential.state === 'stored'
  const remove = useChange('deleteSource', { stale: ['listConnections'], done: 'The source was detached' })
  const add = canWrite && (
    <Button size="small" icon={Plus} onClick={() => setAdding(true)}>
      Add source
    </Button>
  )
  return (
    <Section
      title="Sources"
      description="Tables and queries you can capture as datasets or use in jobs. All access is read-only."
      actions={connection.sources.length > 0 && add}
    >
      <Table
        label="Sources"
        rows={connection.sources}
        rowKey={(row) => row.source_id}
        empty={
          <Empty title="No sources yet" action={add}>
            {canWrite
              ? 'Attach a table or a query, then capture it as a dataset.'
              : 'Members of the workspace can attach tables and queries.'}
          </Empty>
        }
        columns={[
          { header: 'Name', cell: (row) => <span className="font-medium">{row.name}</span>, width: '11rem' },
          {
            header: 'Table or query',
            secondary: true,
            cell: (row) => (
              <code className="font-mono text-xs text-ink-2" title={row.table ?? row.query ?? ''}>
                {row.table ?? row.query}
              </code>
            ),
          },
          { header: 'Added', cell: (row) => <RelativeTime at={row.created_at} />, width: '9rem', secondary: true },
          {
            header: <span className="sr-only">Actions</span>,
            width: '10rem',
            align: 'right',
            cell: (row) =>
              canWrite && (
                <span className="flex justify-end gap-1">
                  {usable && (
                    <Button
                      size="small"
                      icon={Camera}
                      onClick={() => setCapturing(row)}
                      aria-label={`Capture ${row.name}`}
                    >
                      Capture
                    </Button>
                  )}
                  <IconButton size="small" icon={Trash2} label={`Detach ${row.name}`} onClick={() => setAsked(row)} />
                </span>
              ),
          },
        ]}
      />
      <AddSource open={adding} onClose={() => setAdding(false)} connectionId={connection.connection_id} />
      <CaptureDialog source={capturing} onClose={() => setCapturing(null)} />
      <ConfirmDialog
        open={asked !== null}
        onClose={() => setAsked(null)}
        title={`Detach ${asked?.name}?`}
        consequence="Nothing is deleted in the warehouse, and captured datasets are kept. Jobs that read this source cannot run until you choose another one."
        action="Detach source"
        onConfirm={() => remove.mutateAsync({ source_id: asked!.source_id })}
      />
    </Section>
  )
}

type Values = { name: string; kind: 'table' | 'query'; query?: string; cursor: string }

function AddSource({ open, onClose, connectionId }: { open: boolean; onClose(): void; connectionId: string }) {
  const [kind, setKind] = useState<'table' | 'query'>('table')
  const [table, setTable] = useState('')
  const create = useChange('createSource', {
    stale: ['listConnections'],
    done: 'The source was attached',
    onDone: onClose,
  })
  return (
    <Dialog open={open} onClose={onClose} title="Add source" size="medium">
      <Form<Values>
        submit="Attach"
        onCancel={onClose}
        onSubmit={({ name, query, cursor }) =>
          create.mutateAsync({
            connection_id: connectionId,
            name,
            ...(kind === 'table' ? { table } : { query: query ?? '' }),
            ...(cursor.trim() && { cursor: cursor.trim() }),
          })
        }
      >
        <Field name="name" label="Name">
          <Input required autoFocus maxLength={200} />
        </Field>
        <Field name="kind" label="What to read">
          <Select
            value={kind}
            onChange={(event) => setKind(event.currentTarget.value as 'table' | 'query')}
            options={[
              { value: 'table', label: 'A table' },
              { value: 'query', label: 'A query' },
            ]}
          />
        </Field>
        {kind === 'table' ? (
          <>
            <Field key="table" name="table" label="Table" hint="With its schema: sales.orders">
              <Input
                required
                maxLength={400}
                className="font-mono text-xs"
                value={table}
                onChange={(event) => setTable(event.currentTarget.value)}
              />
            </Field>
            {open && <TableBrowser connectionId={connectionId} chosen={table} onChoose={setTable} />}
          </>
        ) : (
          <Field key="query" name="query" label="Query" hint="A single SELECT. It runs read-only.">
            <Textarea
              required
              rows={6}
              spellCheck={false}
              className="font-mono text-xs"
              placeholder="select * from orders where open"
            />
          </Field>
        )}
        <Field
          name="cursor"
          label="Cursor column"
          hint="A column that only grows, such as the time of the last change. Jobs then read only new rows."
        >
          <Input maxLength={128} className="font-mono text-xs" />
        </Field>
      </Form>
    </Dialog>
  )
}

function CaptureDialog({ source, onClose }: { source: Source | null; onClose(): void }) {
  const navigate = useNavigate()
  const capture = useChange('captureDataset', {
    stale: ['listDatasets', 'getUsage'],
    done: ({ record_count }) => `Captured ${formatNumber(record_count)} records`,
    onDone: ({ dataset_id }) => void navigate({ to: `/datasets/${dataset_id}` }),
  })
  return (
    <Dialog
      open={source !== null}
      onClose={onClose}
      title={`Capture ${source?.name}`}
      description="Creates a dataset from the current contents of the source."
    >
      {source && (
        <Form<{ name: string; limit: string }>
          submit={capture.isPending ? 'Reading…' : 'Capture'}
          onCancel={onClose}
          onSubmit={({ name, limit }) =>
            capture.mutateAsync({
              source_id: source.source_id,
              ...(name && { name }),
              ...(limit && { limit: Number(limit) }),
            })
          }
        >
          <Field name="name" label="Dataset name">
            <Input maxLength={200} defaultValue={source.name} />
          </Field>
          <Field name="limit" label="Row limit" hint="Empty: all rows, up to one million.">
            <Input type="number" min={1} max={1_000_000} step={1} />
          </Field>
        </Form>
      )}
    </Dialog>
  )
}
