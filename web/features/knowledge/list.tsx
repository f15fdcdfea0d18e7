import { useNavigate } from '@tanstack/react-router'
import { BookOpen, Plus } from 'lucide-react'
import { useState } from 'react'
import { useChange, useList } from '#web/api.ts'
import { useRole } from '#web/session.tsx'
import { Button } from '#web/ui/button.tsx'
import { Dialog } from '#web/ui/dialog.tsx'
import { formatBytes, plural } from '#web/ui/format.ts'
import { ListPage } from '#web/ui/list-page.tsx'
import { menuColumn } from '#web/ui/row-menu.tsx'
import { useSearchText } from '#web/ui/search.tsx'
import { RelativeTime } from '#web/ui/time.tsx'
import { BaseForm } from './form.tsx'
import { BaseMenu } from './row-menu.tsx'

export function KnowledgePage() {
  const { canWrite } = useRole()
  const navigate = useNavigate()
  const search = useSearchText()
  const bases = useList('listKnowledge', { limit: 50, ...search.query })
  const [making, setMaking] = useState(false)
  const close = (): void => setMaking(false)
  const create = useChange('createKnowledge', {
    stale: ['listKnowledge'],
    onDone: ({ knowledge_id }) => void navigate({ to: `/knowledge/${knowledge_id}` }),
  })
  const add = canWrite && (
    <Button look="primary" icon={Plus} onClick={() => setMaking(true)}>
      New knowledge base
    </Button>
  )
  return (
    <ListPage
      title="Knowledge"
      description="Documents that workflows and assistants search. Each result names its document and its place."
      what="the knowledge bases"
      list={bases}
      search={search}
      create={add}
      empty={{
        icon: BookOpen,
        title: 'No knowledge bases yet',
        text: 'Add texts, files, pages or columns of a dataset, and search them by question.',
      }}
      rowKey={(row) => row.knowledge_id}
      rowTo={(row) => `/knowledge/${row.knowledge_id}`}
      columns={[
        { header: 'Name', link: true, cell: (row) => row.name },
        { header: 'Documents', cell: (row) => plural(row.document_count, 'document', 'documents'), width: '10rem' },
        { header: 'Size', cell: (row) => formatBytes(row.bytes), width: '7rem', secondary: true },
        { header: 'Changed', cell: (row) => <RelativeTime at={row.updated_at} />, width: '8rem', secondary: true },
        { ...menuColumn, cell: (row) => <BaseMenu base={row} /> },
      ]}
    >
      <Dialog open={making} onClose={close} title="New knowledge base" size="medium">
        <BaseForm
          submit="Create knowledge base"
          onCancel={close}
          onSubmit={(values) => create.mutateAsync(values)}
          mayChooseModel
        />
      </Dialog>
    </ListPage>
  )
}
