import { useState } from 'react'
import type { NotificationPreferences } from '#sdk/types.generated'
import { useApi, useChange } from '#web/api.ts'
import { Button } from '#web/ui/button.tsx'
import { Field, Select } from '#web/ui/field.tsx'
import { Page, Section } from '#web/ui/page.tsx'
import { Loaded } from '#web/ui/states.tsx'
import { Table } from '#web/ui/table.tsx'
import { languages, t } from '#web/words/language.ts'
import { ChatApps } from './chat-apps.tsx'

type Preference = NotificationPreferences['preferences'][number]
type Way = 'app' | 'mail' | 'channel'

const ways: { way: Way; label: string }[] = [
  { way: 'app', label: 'Console' },
  { way: 'mail', label: 'Mail' },
  { way: 'channel', label: 'Chat' },
]

const mailStates: Record<NotificationPreferences['mail'], string> = {
  sent: 'Mails go to the address of your account.',
  kept: 'No mail server is configured: mails stay in the outbox of the operators.',
  unverified: 'Confirm the address of your account first; until then no mails are sent.',
}

/** How the user is notified about events in this workspace. */
export function NotificationPreferencesPage() {
  const preferences = useApi('getNotificationPreferences')
  return (
    <Page
      title="Your notifications"
      description="How you are notified of events in this workspace. Votes and questions always stay in your inbox."
      crumbs={[{ label: 'Your account', to: '/account' }]}
    >
      <Loaded of={preferences} what="your notifications">
        {(found) => (
          <Section title="By kind">
            <p className="mb-3 text-ink-2">{mailStates[found.mail]}</p>
            <Choices found={found} />
          </Section>
        )}
      </Loaded>
      <ChatApps />
    </Page>
  )
}

function Choices({ found }: { found: NotificationPreferences }) {
  const [chosen, setChosen] = useState(found.preferences)
  const [language, setLanguage] = useState(found.language)
  const save = useChange('setNotificationPreferences', {
    stale: ['getNotificationPreferences'],
    done: 'Saved',
    failed: 'Could not save',
  })
  const change = (kind: string, way: Way, on: boolean): void =>
    setChosen(chosen.map((one) => (one.kind === kind ? { ...one, [way]: on, is_default: false } : one)))
  return (
    <>
      <Table<Preference>
        label="Notifications by kind"
        rows={chosen}
        rowKey={({ kind }) => kind}
        columns={[
          { header: 'What', cell: ({ title }) => <span className="block whitespace-normal">{t(title)}</span> },
          ...ways.map(({ way, label }) => ({
            header: label,
            width: '4.75rem',
            cell: (one: Preference) => (
              <input
                type="checkbox"
                className="block size-4 accent-accent"
                aria-label={`${t(one.title)}: ${label}`}
                checked={one[way]}
                onChange={(event) => change(one.kind, way, event.currentTarget.checked)}
              />
            ),
          })),
        ]}
      />
      <Field label="Language of mails and chat messages" className="mt-4 w-56">
        <Select
          value={language}
          onChange={(event) => setLanguage(event.currentTarget.value as typeof language)}
          options={Object.entries(languages).map(([value, label]) => ({ value, label }))}
        />
      </Field>
      <div className="mt-4 flex gap-2">
        <Button
          look="primary"
          pending={save.isPending}
          onClick={() =>
            save.mutate({
              language,
              preferences: chosen
                .filter(({ is_default }) => !is_default)
                .map(({ kind, app, mail, channel }) => ({ kind, app, mail, channel })),
            })
          }
        >
          Save
        </Button>
        <Button
          pending={save.isPending}
          onClick={() =>
            void save.mutateAsync({ preferences: [] }).then(
              (now) => setChosen(now.preferences),
              () => {},
            )
          }
        >
          Back to the defaults
        </Button>
      </div>
    </>
  )
}
