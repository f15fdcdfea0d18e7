import { Pencil, Plus, Variable as VariableIcon } from 'lucide-react'
import { useState } from 'react'
import type { Variable } from '#sdk/types.generated'
import { useChange, useList } from '#web/api.ts'
import { useRole } from '#web/session.tsx'
import { Button } from '#web/ui/button.tsx'
import { ListPage } from '#web/ui/list-page.tsx'
import { MenuItem } from '#web/ui/menu.tsx'
import { menuColumn, RowMenu } from '#web/ui/row-menu.tsx'
import { useSearchText } from '#web/ui/search.tsx'
import { RelativeTime } from '#web/ui/time.tsx'
import { VariableDialog } from './dialog.tsx'
import { showValue } from './value.ts'

export function VariablesPage() {
  const { canWrite, isOwner, userId } = useRole()
  const search = useSearchText()
  const variables = useList('listVariables', search.query)
  const [editing, setEditing] = useState<Variable | 'new' | null>(null)
  const remove = useChange('deleteVariable', { stale: ['listVariables'], done: 'The variable was deleted' })
  const mayChange = (row: Variable): boolean => canWrite && (isOwner || row.created_by === userId)
  const make = canWrite && (
    <Button look="primary" icon={Plus} onClick={() => setEditing('new')}>
      New variable
    </Button>
  )
  return (
    <ListPage
      title="Variables"
      description="Values that every workflow of this workspace can read as vars.NAME. They are not secret: store passwords and tokens as credentials."
      what="the variables"
      list={variables}
      search={search}
      create={make}
      empty={{
        icon: VariableIcon,
        title: 'No variables yet',
        text: 'Add one for a value that differs between workspaces, such as an address, a region or a limit.',
      }}
      rowKey={(row) => row.name}
      columns={[
        { header: 'Name', cell: (row) => <code className="font-mono text-xs font-medium">{row.name}</code> },
        {
          header: 'Value',
          cell: (row) => (
            <code className="block max-w-72 truncate font-mono text-xs text-ink-2">{showValue(row.value)}</code>
          ),
        },
        {
          header: 'Description',
          cell: (row) => <span className="text-ink-2">{row.description}</span>,
          secondary: true,
        },
        {
          header: 'Changed',
          cell: (row) => <RelativeTime at={row.updated_at} />,
          width: '8rem',
          secondary: true,
        },
        {
          ...menuColumn,
          cell: (row) =>
            mayChange(row) && (
              <RowMenu
                name={row.name}
                removal={{
                  title: `Delete ${row.name}?`,
                  consequence: 'Runs in progress keep its value. Later runs of workflows that read it get no value.',
                  action: 'Delete variable',
                  onConfirm: () => remove.mutateAsync({ name: row.name }),
                }}
              >
                <MenuItem icon={Pencil} onSelect={() => setEditing(row)}>
                  Change…
                </MenuItem>
              </RowMenu>
            ),
        },
      ]}
    >
      {editing !== null && (
        <VariableDialog variable={editing === 'new' ? undefined : editing} onClose={() => setEditing(null)} />
      )}
    </ListPage>
  )
}
