import { useSearch } from '@tanstack/react-router'
import { KeySquare, Plus } from 'lucide-react'
import { useApi, useList } from '#web/api.ts'
import { useRole } from '#web/session.tsx'
import { StatusBadge } from '#web/ui/badge.tsx'
import { ButtonLink } from '#web/ui/button.tsx'
import { ListPage } from '#web/ui/list-page.tsx'
import { menuColumn } from '#web/ui/row-menu.tsx'
import { useSearchText } from '#web/ui/search.tsx'
import { RelativeTime } from '#web/ui/time.tsx'
import { kindTitle, stateLabels } from './forms.ts'
import { CredentialMenu } from './row-menu.tsx'

export function CredentialsPage() {
  const { canWrite } = useRole()
  const { failed } = useSearch({ strict: false }) as { failed?: string }
  const search = useSearchText()
  const credentials = useList('listCredentials', { limit: 50, ...search.query })
  const kinds = useApi('listCredentialKinds', {}, { staleTime: Number.POSITIVE_INFINITY })
  const serviceTitle = (service: string | null): string | null =>
    kinds.data?.services.find((one) => one.service === service)?.title ?? service
  const add = canWrite && (
    <ButtonLink to="/credentials/new" look="primary" icon={Plus}>
      New credential
    </ButtonLink>
  )
  return (
    <ListPage
      title="Credentials"
      description="Secrets for outside services. They go only to their hosts, and no one can read them back."
      what="the credentials"
      list={credentials}
      search={search}
      create={add}
      empty={{
        icon: KeySquare,
        title: 'No credentials yet',
        text: 'Store a token, a password or a key once, and refer to it by name in workflows.',
      }}
      notice={
        failed && (
          <p role="alert" className="mb-6 rounded-lg bg-danger-soft px-4 py-3 text-danger">
            {failed}
          </p>
        )
      }
      rowKey={(row) => row.credential_id}
      rowTo={(row) => `/credentials/${row.credential_id}`}
      columns={[
        { header: 'Name', link: true, cell: (row) => row.name },
        { header: 'Hosts', cell: (row) => row.hosts.join(', '), secondary: true },
        {
          header: 'Kind',
          cell: (row) => serviceTitle(row.service) ?? kindTitle(row.kind),
          width: '9rem',
          secondary: true,
        },
        {
          header: 'State',
          cell: (row) => <StatusBadge status={row.state} label={stateLabels[row.state] ?? row.state} />,
          width: '9rem',
        },
        {
          header: 'Last used',
          cell: (row) => (row.last_used_at ? <RelativeTime at={row.last_used_at} /> : 'never'),
          width: '9rem',
          secondary: true,
        },
        { ...menuColumn, cell: (row) => <CredentialMenu credential={row} /> },
      ]}
    />
  )
}
