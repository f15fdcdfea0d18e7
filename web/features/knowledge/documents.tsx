import { FileText, Plus, RotateCw, Trash2 } from 'lucide-react'
import { useState } from 'react'
import type { KnowledgeDocument } from '#sdk/types.generated'
import { useChange, useList } from '#web/api.ts'
import { Badge } from '#web/ui/badge.tsx'
import { Button, IconButton } from '#web/ui/button.tsx'
import { ConfirmDialog } from '#web/ui/confirm.tsx'
import { formatBytes } from '#web/ui/format.ts'
import { Section } from '#web/ui/page.tsx'
import { emptyWith, SearchBar, useSearchText } from '#web/ui/search.tsx'
import { Empty, Loaded } from '#web/ui/states.tsx'
import { Table } from '#web/ui/table.tsx'
import { AddDocument } from './add.tsx'

const states = {
  pending: { tone: 'waiting', label: 'Waiting' },
  indexing: { tone: 'running', label: 'Indexing' },
  ready: { tone: 'success', label: 'Ready' },
  failed: { tone: 'danger', label: 'Failed' },
} as const

const stale = ['listKnowledgeDocuments', 'getKnowledge'] as const

export function Documents({
  knowledgeId,
  mayEdit,
  waiting,
}: {
  knowledgeId: string
  mayEdit: boolean
  waiting: boolean
}) {
  const search = useSearchText()
  const documents = useList(
    'listKnowledgeDocuments',
    { knowledge_id: knowledgeId, limit: 50, ...search.query },
    waiting ? { refetchInterval: 2_000 } : {},
  )
  const [adding, setAdding] = useState(false)
  const [asked, setAsked] = useState<KnowledgeDocument | null>(null)
  const remove = useChange('removeKnowledgeDocument', { stale: [...stale], done: 'The document was removed' })
  const again = useChange('reindexKnowledgeDocument', { stale: [...stale], failed: 'Could not index it again' })
  const add = mayEdit && (
    <Button icon={Plus} onClick={() => setAdding(true)}>
      Add a document
    </Button>
  )
  return (
    <Section title="Documents" actions={add}>
      <SearchBar search={search} rows={documents.data} />
      <Loaded of={documents} what="the documents">
        {(items) => (
          <Table
            label="Documents"
            rows={items}
            rowKey={(row) => row.document_id}
            rowTo={(row) => `/knowledge/${knowledgeId}/documents/${row.document_id}`}
            more={documents.more}
            empty={emptyWith(
              search,
              <Empty icon={FileText} title="No documents yet" action={add}>
                Add a text, a file, a page or columns of a dataset.
              </Empty>,
            )}
            columns={[
              { header: 'Name', link: true, cell: (row) => row.name },
              {
                header: 'State',
                cell: (row) => <Badge tone={states[row.status].tone}>{states[row.status].label}</Badge>,
                width: '7rem',
              },
              { header: 'Note', cell: (row) => row.error?.message ?? '', secondary: true },
              { header: 'Size', cell: (row) => formatBytes(row.bytes), width: '6rem', secondary: true },
              {
                header: <span className="sr-only">Actions</span>,
                cell: (row) =>
                  mayEdit && (
                    <span className="inline-flex gap-1">
                      <IconButton
                        icon={RotateCw}
                        size="small"
                        label={`Index ${row.name} again`}
                        onClick={() => again.mutate({ knowledge_id: knowledgeId, document_id: row.document_id })}
                      />
                      <IconButton
                        icon={Trash2}
                        size="small"
                        label={`Remove ${row.name}`}
                        onClick={() => setAsked(row)}
                      />
                    </span>
                  ),
                width: '6rem',
                align: 'right',
              },
            ]}
          />
        )}
      </Loaded>
      <AddDocument open={adding} onClose={() => setAdding(false)} knowledgeId={knowledgeId} />
      <ConfirmDialog
        open={asked !== null}
        onClose={() => setAsked(null)}
        title={`Remove ${asked?.name}?`}
        consequence="Searches no longer find it. Pages that its crawl added are deleted too."
        action="Remove document"
        onConfirm={() => remove.mutateAsync({ knowledge_id: knowledgeId, document_id: asked!.document_id })}
      />
    </Section>
  )
}
