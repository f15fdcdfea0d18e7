import { useParams } from '@tanstack/react-router'
import { ExternalLink, Link2 } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import type { ServiceDetail } from '#sdk/types.generated'
import { useApi, useList } from '#web/api.ts'
import { useRole } from '#web/session.tsx'
import { Button } from '#web/ui/button.tsx'
import { Facts, Page, Section } from '#web/ui/page.tsx'
import { SafeLink } from '#web/ui/safe-link.tsx'
import { Loaded } from '#web/ui/states.tsx'
import { t } from '#web/words/language.ts'
import { Accounts } from './accounts.tsx'
import { Actions, Triggers } from './actions.tsx'
import { ConnectDialog } from './connect.tsx'
import { RecentErrors } from './errors.tsx'
import { sources, wordsOf } from './words.ts'

/**
 * A name that matches no action. An imported service can have thousands of actions: their forms are fetched when they
 * are opened.
 */
const NO_ACTION = '-'

/** The actions of a service, the connected accounts, and recent failures. */
export function ServicePage() {
  const { service } = useParams({ strict: false }) as { service: string }
  const { canWrite } = useRole()
  const [connecting, setConnecting] = useState(false)
  const detail = useApi('getService', { service, action: NO_ACTION })
  const { credentials = [], auth = [] } = detail.data ?? {}
  return (
    <Page
      title={detail.data?.title ?? 'Service'}
      description={detail.data && wordsOf(detail.data, detail.data.description)}
      crumbs={[{ label: 'Services', to: '/services' }]}
      actions={
        canWrite &&
        credentials.length + auth.length > 0 && (
          <Button icon={Link2} look="primary" onClick={() => setConnecting(true)}>
            Connect account
          </Button>
        )
      }
    >
      <Loaded of={detail} what="the service">
        {(found) => (
          <>
            <Facts facts={factsOf(found)} />
            <Accounts service={found} />
            <RecentErrors service={found.service} />
            <ActionsOf service={found} />
            {found.triggers.length > 0 && <Triggers service={found} />}
            {connecting && <ConnectDialog service={found} onClose={() => setConnecting(false)} />}
          </>
        )}
      </Loaded>
    </Page>
  )
}

function ActionsOf({ service }: { service: ServiceDetail }) {
  const listed = useList('listServices', { q: service.service, limit: 200 })
  return (
    <Section title="Actions">
      <Loaded of={listed} what="the actions">
        {(rows) => (
          <Actions service={service} actions={rows.find((row) => row.service === service.service)?.actions ?? []} />
        )}
      </Loaded>
    </Section>
  )
}

const factsOf = (service: ServiceDetail): [string, ReactNode][] => [
  ['Name in workflows', <code key="name">{service.service}</code>],
  [t('Source'), sources[service.source]],
  [t('Credential'), service.credential_required ? t('required') : t('not required')],
  ...(service.base_url === null
    ? []
    : [[t('Address'), <code key="url">{service.base_url}</code>] as [string, ReactNode]]),
  ...(/^https?:/.test(service.reference)
    ? [
        [
          t('Reference'),
          <SafeLink key="reference" to={service.reference} className="inline-flex items-center gap-1 text-accent">
            {new URL(service.reference).host}
            <ExternalLink className="size-3.5" aria-hidden />
          </SafeLink>,
        ] as [string, ReactNode],
      ]
    : []),
]
