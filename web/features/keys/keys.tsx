import { KeyRound, Plus } from 'lucide-react'
import { useState } from 'react'
import { useChange, useList } from '#web/api.ts'
import { useMe } from '#web/session.tsx'
import { Button } from '#web/ui/button.tsx'
import { ConfirmDialog } from '#web/ui/confirm.tsx'
import { Page } from '#web/ui/page.tsx'
import { emptyWith, SearchBar, useSearchText } from '#web/ui/search.tsx'
import { Empty, Loaded } from '#web/ui/states.tsx'
import { t } from '#web/words/language.ts'
import { NewKey } from './new-key.tsx'
import { Programs } from './programs.tsx'
import { KeyTable } from './table.tsx'

export function KeysPage() {
  const { workspaces } = useMe()
  const search = useSearchText()
  const keys = useList('listApiKeys', search.query)
  const [making, setMaking] = useState(false)
  const [deletingAll, setDeletingAll] = useState(false)
  const removeAll = useChange('deleteApiKeys', { stale: ['listApiKeys'], done: 'All your API keys were deleted' })
  const remove = useChange('deleteApiKey', { stale: ['listApiKeys'], done: 'The key was deleted' })
  const workspaceName = (id: string): string =>
    workspaces.find(({ workspace_id }) => workspace_id === id)?.name ?? t('a workspace you left')
  const make = (
    <Button look="primary" icon={Plus} onClick={() => setMaking(true)}>
      New API key
    </Button>
  )
  return (
    <Page
      title="API keys"
      description="A program with one of your keys can do what you can do, within the scopes of the key. Use one key per program so that you can revoke each separately."
      actions={
        <>
          {(keys.data?.length ?? 0) > 1 && <Button onClick={() => setDeletingAll(true)}>Delete all</Button>}
          {make}
        </>
      }
    >
      <SearchBar search={search} rows={keys.data} />
      <Loaded of={keys} what="your API keys">
        {(rows) => (
          <KeyTable
            label="Your API keys"
            rows={rows}
            more={keys.more}
            empty={emptyWith(
              search,
              <Empty icon={KeyRound} title="No API keys yet" action={make}>
                Create one to call the API from a script, the command line or another program.
              </Empty>,
            )}
            columns={[
              {
                header: 'For',
                cell: (row) =>
                  row.workspace_id ? (
                    workspaceName(row.workspace_id)
                  ) : (
                    <span className="text-ink-2">all your workspaces</span>
                  ),
                width: '11rem',
                secondary: true,
              },
            ]}
            onDelete={({ key_id }) => remove.mutateAsync({ key_id })}
          />
        )}
      </Loaded>
      <Programs />
      <ConfirmDialog
        open={deletingAll}
        onClose={() => setDeletingAll(false)}
        title="Delete all your API keys?"
        consequence="Every program that uses one of them stops working at once. You cannot undo this."
        action="Delete all keys"
        onConfirm={() => removeAll.mutateAsync({ all_others: true })}
      />
      <NewKey open={making} onClose={() => setMaking(false)} />
    </Page>
  )
}
