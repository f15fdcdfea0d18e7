import { Blocks, Plus } from 'lucide-react'
import { useState } from 'react'
import { useChange, useList } from '#web/api.ts'
import { useRole } from '#web/session.tsx'
import { Badge } from '#web/ui/badge.tsx'
import { Button } from '#web/ui/button.tsx'
import { ListPage } from '#web/ui/list-page.tsx'
import { menuColumn, RowMenu } from '#web/ui/row-menu.tsx'
import { useSearchText } from '#web/ui/search.tsx'
import { ImportDialog } from './import.tsx'
import { sources, wordsOf } from './words.ts'

export function ServicesPage() {
  const { canWrite } = useRole()
  const search = useSearchText()
  const services = useList('listServices', search.query)
  const [importing, setImporting] = useState(false)
  const remove = useChange('deleteService', { stale: ['listServices'], done: 'The service was deleted' })
  return (
    <ListPage
      title="Services"
      description="Services that workflows can call: those included in Heddle, and those that this workspace imported."
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
      rowTo={(row) => `/services/${row.service}`}
      columns={[
        {
          header: 'Service',
          link: true,
          cell: (row) => row.title,
          after: (row) => <code className="font-mono text-xs text-ink-2 max-md:hidden">{row.service}</code>,
        },
        {
          header: 'Description',
          cell: (row) => <span className="block max-w-96 truncate text-ink-2">{wordsOf(row, row.description)}</span>,
          secondary: true,
        },
        { header: 'Actions', cell: (row) => row.actions.length, width: '6rem', secondary: true },
        {
          header: 'Source',
          cell: (row) => <Badge tone={row.source === 'built_in' ? 'neutral' : 'accent'}>{sources[row.source]}</Badge>,
          width: '7rem',
        },
        {
          ...menuColumn,
          cell: (row) => (
            <RowMenu
              name={row.title}
              path={`/services/${row.service}`}
              removal={
                canWrite &&
                row.source !== 'built_in' && {
                  title: `Delete ${row.title}?`,
                  consequence:
                    'Workflows that call it fail from then on. Only the person who imported it and owners of the workspace can delete it.',
                  action: 'Delete service',
                  onConfirm: () => remove.mutateAsync({ service: row.service }),
                }
              }
            />
          ),
        },
      ]}
    >
      {importing && <ImportDialog onClose={() => setImporting(false)} />}
    </ListPage>
  )
}
