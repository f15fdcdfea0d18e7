import { useList } from '#web/api.ts'
import { StatusBadge } from '#web/ui/badge.tsx'
import { Page } from '#web/ui/page.tsx'
import { ShortId } from '#web/ui/short-id.tsx'
import { Empty, Loaded } from '#web/ui/states.tsx'
import { Table } from '#web/ui/table.tsx'
import { Tabs } from '#web/ui/tabs.tsx'
import { RelativeTime } from '#web/ui/time.tsx'
import { presenceWords } from '../people/presence.tsx'
import { Named } from './named.tsx'
import { OperatorsOnly } from './operators-only.tsx'
import { Workspaces } from './workspaces.tsx'

export const TenantsPage = () => (
  <OperatorsOnly title="Tenants">
    <Page
      title="Tenants"
      description="Workspaces, companies, teams, subscriptions and presence of all tenants. Each view is recorded in the audit log."
    >
      <Tabs
        tabs={[
          { value: 'workspaces', label: 'Workspaces', content: <Workspaces /> },
          { value: 'companies', label: 'Companies', content: <Companies /> },
          { value: 'teams', label: 'Teams', content: <Teams /> },
          { value: 'subscriptions', label: 'Subscription records', content: <Subscriptions /> },
          { value: 'presence', label: 'Presence', content: <Present /> },
        ]}
      />
    </Page>
  </OperatorsOnly>
)

function Companies() {
  const companies = useList('listCompanies', { limit: 100 })
  return (
    <Loaded of={companies} what="the companies">
      {(rows) => (
        <Table
          label="All companies"
          rows={rows}
          rowKey={(row) => row.company_id}
          more={companies.more}
          empty={<Empty title="No companies yet" />}
          columns={[
            { header: 'Company', cell: (row) => <span className="font-medium">{row.name}</span> },
            { header: 'Id', cell: (row) => <ShortId id={row.company_id} />, secondary: true },
            { header: 'Owner', cell: (row) => <Named name={row.owner_name} id={row.owner_id} />, secondary: true },
            { header: 'Created', cell: (row) => <RelativeTime at={row.created_at} />, width: '9rem' },
          ]}
        />
      )}
    </Loaded>
  )
}

function Teams() {
  const teams = useList('listTeams', { limit: 100 })
  return (
    <Loaded of={teams} what="the teams">
      {(rows) => (
        <Table
          label="All teams"
          rows={rows}
          rowKey={(row) => row.team_id}
          more={teams.more}
          empty={<Empty title="No teams yet" />}
          columns={[
            { header: 'Team', cell: (row) => <span className="font-medium">{row.name}</span> },
            {
              header: 'Workspace',
              cell: (row) => <Named name={row.workspace_name} id={row.workspace_id} />,
              secondary: true,
            },
            { header: 'People', cell: (row) => row.member_count, align: 'right', width: '6rem' },
            { header: 'Created', cell: (row) => <RelativeTime at={row.created_at} />, width: '9rem', secondary: true },
          ]}
        />
      )}
    </Loaded>
  )
}

function Subscriptions() {
  const subscriptions = useList('listSubscriptions', { limit: 100 })
  return (
    <Loaded of={subscriptions} what="the subscription records">
      {(rows) => (
        <Table
          label="All subscription records"
          rows={rows}
          rowKey={(row) => row.subscription_id}
          more={subscriptions.more}
          empty={<Empty title="No subscription records yet" />}
          columns={[
            { header: 'Name', cell: (row) => <span className="font-medium">{row.name}</span> },
            {
              header: 'Workspace',
              cell: (row) => <Named name={row.workspace_name} id={row.workspace_id} />,
              secondary: true,
            },
            { header: 'State', cell: (row) => <StatusBadge status={row.status} />, width: '7rem' },
            { header: 'Quantity', cell: (row) => row.quantity, align: 'right', width: '6rem' },
            { header: 'Since', cell: (row) => <RelativeTime at={row.starts_at} />, width: '9rem', secondary: true },
          ]}
        />
      )}
    </Loaded>
  )
}

function Present() {
  const present = useList('listPresence', { limit: 100 })
  return (
    <Loaded of={present} what="presence">
      {(rows) => (
        <Table
          label="Presence"
          rows={rows}
          rowKey={(row) => row.presence_id}
          more={present.more}
          empty={<Empty title="No presence yet" />}
          columns={[
            { header: 'Person', cell: (row) => <Named name={row.name} id={row.user_id} /> },
            {
              header: 'Workspace',
              cell: (row) => <Named name={row.workspace_name} id={row.workspace_id} />,
              secondary: true,
            },
            { header: 'State', cell: (row) => presenceWords[row.status], width: '6rem' },
            { header: 'Last seen', cell: (row) => <RelativeTime at={row.last_seen_at} />, width: '8rem' },
          ]}
        />
      )}
    </Loaded>
  )
}
