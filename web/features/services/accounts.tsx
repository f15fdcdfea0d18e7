import { PlugZap } from 'lucide-react'
import type { Credential, ServiceDetail } from '#sdk/types.generated'
import { useList } from '#web/api.ts'
import { StatusBadge } from '#web/ui/badge.tsx'
import { Button } from '#web/ui/button.tsx'
import { Section } from '#web/ui/page.tsx'
import { Loaded } from '#web/ui/states.tsx'
import { Table } from '#web/ui/table.tsx'
import { RelativeTime } from '#web/ui/time.tsx'
import { stateLabels } from '../credentials/forms.ts'
import { useCredentialTest } from '../credentials/use-test.ts'

/** The credentials that are used to call the service. */
export function Accounts({ service }: { service: ServiceDetail }) {
  const list = useList('listServiceCredentials', { service: service.service })
  return (
    <Section title="Connected accounts" className="mt-8">
      <Loaded of={list} what="the connected accounts">
        {(rows) => (
          <Table
            label="Connected accounts"
            rows={rows}
            more={list.more}
            rowKey={(row) => row.credential_id}
            rowTo={(row) => `/credentials/${row.credential_id}`}
            empty={<p className="text-ink-2">No account that you can see is connected.</p>}
            columns={[
              { header: 'Name', link: true, cell: (row) => row.name },
              { header: 'Hosts', cell: (row) => row.hosts.join(', '), secondary: true },
              {
                header: 'State',
                cell: (row) => <StatusBadge status={row.state} label={stateLabels[row.state] ?? row.state} />,
                width: '9rem',
              },
              {
                header: 'Last used',
                cell: (row) => (row.last_used_at ? <RelativeTime at={row.last_used_at} /> : 'never'),
                width: '8rem',
                secondary: true,
              },
              {
                header: <span className="sr-only">Test</span>,
                cell: (row) => <Test credential={row} />,
                width: '6rem',
                align: 'right',
              },
            ]}
          />
        )}
      </Loaded>
    </Section>
  )
}

function Test({ credential }: { credential: Credential }) {
  const { isPending, test } = useCredentialTest(credential)
  if (!test) return null
  return (
    <Button size="small" icon={PlugZap} pending={isPending} onClick={test}>
      Test
    </Button>
  )
}
