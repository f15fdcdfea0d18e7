import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import type { Session } from '#sdk/types.generated'
import { account, useApi, useChange, useList } from '#web/api.ts'
import { useMe } from '#web/session.tsx'
import { Badge } from '#web/ui/badge.tsx'
import { Button } from '#web/ui/button.tsx'
import { ConfirmDialog } from '#web/ui/confirm.tsx'
import { Field, Form, Input } from '#web/ui/field.tsx'
import { Card, Facts, Page, Section } from '#web/ui/page.tsx'
import { Loaded } from '#web/ui/states.tsx'
import { Table } from '#web/ui/table.tsx'
import { RelativeTime } from '#web/ui/time.tsx'
import { toast } from '#web/ui/toast.tsx'
import { t } from '#web/words/language.ts'
import { SecondFactorSection } from './second-factor.tsx'

export function AccountPage() {
  const { user } = useMe()
  return (
    <Page title="Your account">
      <Section title="You">
        <Card>
          <Facts
            facts={[
              ['Name', user.name],
              ['E-mail', <Address key="email" />],
              [
                'Notifications',
                <Link key="notifications" to="/account/notifications" className="text-accent underline">
                  Notification settings
                </Link>,
              ],
              ['Member since', <RelativeTime key="since" at={user.created_at} />],
            ]}
          />
        </Card>
      </Section>
      <Password />
      <SecondFactorSection />
      <Providers />
      <Sessions />
    </Page>
  )
}

/** The mail address, with a button to confirm it if it is not confirmed and the service sends mails. */
function Address() {
  const { user } = useMe()
  const options = useApi('getAuthOptions')
  const send = useChange('sendVerification', { done: 'We sent a mail with a link', failed: 'No mail was sent' })
  if (user.email_verified_at !== null || !options.data?.mail) return user.email
  return (
    <span className="flex flex-wrap items-center gap-2">
      {user.email} <Badge tone="neutral">not confirmed</Badge>
      <Button size="small" disabled={send.isPending || send.isSuccess} onClick={() => send.mutate({})}>
        Send a confirmation mail
      </Button>
    </span>
  )
}

function Password() {
  const [round, setRound] = useState(0)
  return (
    <Section title="Password">
      <Card className="max-w-md">
        <Form<{ current_password: string; new_password: string }>
          key={round}
          submit="Change password"
          onSubmit={async (values) => {
            await account.changePassword(values)
            toast.done('Password changed', 'Your other sessions have ended.')
            setRound(round + 1)
          }}
        >
          <Field name="current_password" label="Current password">
            <Input type="password" required autoComplete="current-password" />
          </Field>
          <Field name="new_password" label="New password">
            <Input type="password" required autoComplete="new-password" />
          </Field>
        </Form>
      </Card>
    </Section>
  )
}

/** Other sign-in methods; nothing if the installation has none. */
function Providers() {
  const providers = useApi('listOidcProviders')
  const unlink = useChange('unlinkOidc', { stale: ['listOidcProviders'], failed: 'Could not unlink the account' })
  if (!providers.data || providers.data.items.length === 0) return null
  const link = async (provider: string): Promise<void> => {
    try {
      const { url } = await account.linkOidc({ provider, return_to: '/account' })
      location.assign(url)
    } catch (error) {
      toast.failed('Could not link the account', error)
    }
  }
  return (
    <Section title="Sign-in with other accounts">
      <Card className="flex flex-col gap-3">
        {providers.data.items.map(({ provider, title, linked }) => (
          <div key={provider} className="flex items-center justify-between gap-3">
            <span>{title}</span>
            {linked ? (
              <Button size="small" onClick={() => unlink.mutate({ provider })}>
                Unlink
              </Button>
            ) : (
              <Button size="small" onClick={() => void link(provider)}>
                Link account
              </Button>
            )}
          </div>
        ))}
      </Card>
    </Section>
  )
}

function Sessions() {
  const sessions = useList('listSessions')
  const [ending, setEnding] = useState<Session | 'others' | null>(null)
  const end = useChange('endSession', { stale: ['listSessions'] })
  const endOthers = useChange('endSessions', { stale: ['listSessions'], done: 'Your other sessions have ended' })
  return (
    <Section
      title="Sessions"
      description="Where you are signed in."
      actions={
        (sessions.data?.length ?? 0) > 1 && (
          <Button onClick={() => setEnding('others')}>Sign out everywhere else</Button>
        )
      }
    >
      <Loaded of={sessions} what="your sessions">
        {(rows) => (
          <Table
            label="Sessions"
            rows={rows}
            more={sessions.more}
            rowKey={({ session_id }) => session_id}
            columns={[
              {
                header: 'Browser',
                cell: (row) => (
                  <span title={row.user_agent ?? ''}>
                    {browserOf(row.user_agent)} {row.current && <Badge tone="accent">this session</Badge>}
                  </span>
                ),
              },
              { header: 'Address', cell: (row) => row.address ?? '–', width: '10rem', secondary: true },
              { header: 'Last seen', cell: (row) => <RelativeTime at={row.last_seen_at} />, width: '9rem' },
              {
                header: <span className="sr-only">Actions</span>,
                width: '5rem',
                align: 'right',
                cell: (row) =>
                  !row.current && (
                    <Button size="small" look="quiet" onClick={() => setEnding(row)}>
                      End
                    </Button>
                  ),
              },
            ]}
          />
        )}
      </Loaded>
      <ConfirmDialog
        open={ending !== null}
        onClose={() => setEnding(null)}
        title={ending === 'others' ? 'Sign out everywhere else?' : 'End this session?'}
        consequence="That device is signed out at once."
        action={ending === 'others' ? 'Sign out everywhere else' : 'End session'}
        onConfirm={async () => {
          if (ending === 'others') await endOthers.mutateAsync({ keep_current: 'true' })
          else if (ending) await end.mutateAsync({ session_id: ending.session_id })
        }}
      />
    </Section>
  )
}

/** Returns enough of a user agent for users to recognise their own machine. */
function browserOf(agent: string | null): string {
  if (agent === null) return t('Unknown')
  const browser = /(Edg|OPR|Firefox|Chrome|Safari|curl|node)[/ ]?(\d+)?/.exec(agent)?.[1] ?? t('Other')
  const system = /(Windows|Mac OS X|Android|iPhone|iPad|Linux)/.exec(agent)?.[1]
  const name = browser === 'Edg' ? 'Edge' : browser
  return system ? t('{0} on {1}', [name, system]) : name
}
