import { useState } from 'react'
import type { FileValue } from '#sdk/types.generated'
import { api, type InputOf, useAll, useChange } from '#web/api.ts'
import { Dialog } from '#web/ui/dialog.tsx'
import { Field, Form, Input, Select, Textarea } from '#web/ui/field.tsx'

type NewDocument = Omit<InputOf<'addKnowledgeDocument'>, 'knowledge_id'>
type Kind = 'text' | 'file' | 'url' | 'dataset'
type Typed = {
  name: string
  text?: string
  url?: string
  max_pages?: string
  dataset_id?: string
  columns?: string
  title_column?: string
}

const kinds: Record<Kind, string> = {
  text: 'A text',
  file: 'A file',
  url: 'A page',
  dataset: 'Columns of a dataset',
}

export function AddDocument({ open, onClose, knowledgeId }: { open: boolean; onClose(): void; knowledgeId: string }) {
  return (
    <Dialog open={open} onClose={onClose} title="Add a document" size="medium">
      {open && <AddForm knowledgeId={knowledgeId} onClose={onClose} />}
    </Dialog>
  )
}

function AddForm({ knowledgeId, onClose }: { knowledgeId: string; onClose(): void }) {
  const [kind, setKind] = useState<Kind>('text')
  const [file, setFile] = useState<File | null>(null)
  const datasets = useAll('listDatasets', { limit: 200 }, { enabled: kind === 'dataset' })
  const add = useChange('addKnowledgeDocument', {
    stale: ['listKnowledgeDocuments', 'getKnowledge', 'listKnowledge'],
    done: 'The document is being indexed',
    onDone: onClose,
  })
  const send = async (typed: Typed): Promise<unknown> =>
    add.mutateAsync({
      knowledge_id: knowledgeId,
      ...(typed.name && { name: typed.name }),
      ...(await contentOf(kind, typed, file)),
    } as NewDocument & { knowledge_id: string })
  return (
    <Form<Typed> submit="Add document" onCancel={onClose} onSubmit={send}>
      <Field label="What">
        <Select
          value={kind}
          onChange={(event) => setKind(event.target.value as Kind)}
          options={Object.entries(kinds).map(([value, label]) => ({ value, label }))}
        />
      </Field>
      <Field name="name" label="Name" hint="Empty: its own name or title.">
        <Input maxLength={200} />
      </Field>
      {kind === 'text' && (
        <Field name="text" label="Text" hint="Lines that begin with # are headings.">
          <Textarea required rows={10} maxLength={1_000_000} />
        </Field>
      )}
      {kind === 'file' && (
        <Field label="File" hint="Text, Markdown, HTML, PDF, CSV or XLSX.">
          <Input
            type="file"
            required
            onChange={(event) => setFile((event.target as HTMLInputElement).files?.[0] ?? null)}
          />
        </Field>
      )}
      {kind === 'url' && (
        <>
          <Field name="url" label="Address">
            <Input required type="url" maxLength={2000} placeholder="https://example.com/help" />
          </Field>
          <Field name="max_pages" label="Pages at most" hint="More than 1 follows links to pages of the same host.">
            <Input type="number" min={1} max={200} defaultValue="1" />
          </Field>
        </>
      )}
      {kind === 'dataset' && (
        <>
          <Field name="dataset_id" label="Dataset">
            <Select
              options={[
                { value: '', label: 'Choose…' },
                ...(datasets.data ?? []).map(({ dataset_id, name }) => ({ value: dataset_id, label: name })),
              ]}
            />
          </Field>
          <Field name="columns" label="Columns" hint="Separated by commas.">
            <Input required />
          </Field>
          <Field name="title_column" label="Column that names a record">
            <Input maxLength={200} />
          </Field>
        </>
      )}
    </Form>
  )
}

async function contentOf(kind: Kind, typed: Typed, file: File | null): Promise<Partial<NewDocument>> {
  switch (kind) {
    case 'text':
      return { text: typed.text ?? '' }
    case 'file': {
      const body = new FormData()
      body.append('file', file ?? new Blob([]), file?.name)
      return { file: (await api.uploadFile({ body } as never)) as FileValue }
    }
    case 'url': {
      const pages = Number(typed.max_pages ?? 1)
      return { url: typed.url ?? '', ...(pages > 1 && { crawl: { max_pages: pages, max_depth: 3 } }) }
    }
    case 'dataset':
      return {
        dataset: {
          dataset_id: typed.dataset_id ?? '',
          columns: (typed.columns ?? '').split(',').map((column) => column.trim()),
          ...(typed.title_column && { title_column: typed.title_column }),
        },
      }
  }
}
