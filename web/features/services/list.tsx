import { Blocks, Plus, Trash2 } from 'lucide-react'
import { useState } from 'react'
import type { ServiceInList } from '#sdk/types.generated'
import { useChange, useList } from '#web/api.ts'
import { useRole } from '#web/session.tsx'
import { Badge } from '#web/ui/badge.tsx'
import { Button, IconButton } from '#web/ui/button.tsx'
import { ConfirmDialog } from '#web/ui/confirm.tsx'
import { ListPage } from '#web/ui/list-page.tsx'
import { useSearchText } from '#web/ui/search.tsx'
import { t } from '#web/words/language.ts'
import { ImportDialog } from './import.tsx'

const SOURCES = { built_in: 'Built in', openapi: 'OpenAPI', mcp: 'MCP', piece: 'Piece', mcp_program: 'MCP' } as const

export function ServicesPage() {
  const { canWrite } = useRole()
  const search = useSearchText()
  const services = useList('listServices', search.query)
  const [importing, setImporting] = useState(false)
  const [asked, setAsked] = useState<ServiceInList | null>(null)
  const remove = useChange('deleteService', { stale: ['listServices'], done: 'The service was deleted' })
  return (
    <ListPage
      title="Services"
      description="What workflows can call: the services that come with Heddle, and those that this workspace imported."
      what="the services"
      list={services}
      search={search}
      create={
        canWrite && (
          <Button look="primary" icon={Plus} onClick={() => setImporting(true)}>
            Import service
          </Button>
        )
      }
      empty={{ icon: Blocks, title: 'No services' }}
      rowKey={(row) => row.service}
      columns={[
        {
          header: 'Service',
          cell: (row) => (
            <span className="flex flex-col">
              <span className="font-medium">{row.title}</span>
              <code className="font-mono text-xs text-ink-2">{row.service}</code>
            </span>
          ),
        },
        {
          header: 'Description',
          cell: (row) => (
            <span className="block max-w-96 truncate text-ink-2">
              {row.source === 'built_in' ? t(row.description) : row.description}
            </span>
          ),
          secondary: true,
        },
        { header: 'Actions', cell: (row) => row.actions.length, width: '6rem', secondary: true },
        {
          header: 'Source',
          cell: (row) => <Badge tone={row.source === 'built_in' ? 'neutral' : 'accent'}>{SOURCES[row.source]}</Badge>,
          width: '7rem',
        },
        {
          header: <span className="sr-only">Delete</span>,
          cell: (row) =>
            canWrite &&
            row.source !== 'built_in' && (
              <IconButton icon={Trash2} size="small" label={`Delete ${row.title}`} onClick={() => setAsked(row)} />
            ),
          width: '4rem',
          align: 'right',
        },
      ]}
    >
      {importing && <ImportDialog onClose={() => setImporting(false)} />}
      <ConfirmDialog
        open={asked !== null}
        onClose={() => setAsked(null)}
        title={`Delete ${asked?.title}?`}
        consequence="Workflows that call it fail from then on. Only the person who imported it and owners of the workspace can delete it."
        action="Delete service"
        onConfirm={() => remove.mutateAsync({ service: asked!.service })}
      />
    </ListPage>
  )
}
