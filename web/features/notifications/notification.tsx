import { useNavigate, useParams } from '@tanstack/react-router'
import { ArrowRight, Trash2 } from 'lucide-react'
import { useEffect } from 'react'
import { notificationKinds } from '#model/notification-kinds'
import type { Notification } from '#sdk/types.generated'
import { account, invalidate, useApi, useChange } from '#web/api.ts'
import { switchWorkspace, useMe } from '#web/session.tsx'
import { Button, buttonClass } from '#web/ui/button.tsx'
import { JsonView } from '#web/ui/json-view.tsx'
import { Facts, Page, Section } from '#web/ui/page.tsx'
import { SafeLink } from '#web/ui/safe-link.tsx'
import { Loaded } from '#web/ui/states.tsx'
import { RelativeTime, TextWithTimes } from '#web/ui/time.tsx'
import { t } from '#web/words/language.ts'
import { translateMessage, translateNotice } from '#web/words/messages.ts'

const kindInWords = (kind: string): string => {
  const known = notificationKinds.find((one) => one.kind === kind)
  return known ? t(known.title) : kind
}

export function NotificationPage() {
  const { notification_id } = useParams({ strict: false }) as { notification_id: string }
  const notification = useApi('getNotification', { notification_id })
  return (
    <Loaded of={notification} what="the notification">
      {(found) => <Found notification={found} />}
    </Loaded>
  )
}

function Found({ notification }: { notification: Notification }) {
  const navigate = useNavigate()
  const { workspace, workspaces } = useMe()
  const remove = useChange('deleteNotification', { stale: ['listNotifications'], failed: 'Could not delete' })
  const { notification_id, read } = notification
  const { title, body } = translateNotice(notification)
  const elsewhere = notification.workspace_id !== null && notification.workspace_id !== workspace?.workspace_id
  const home = workspaces.find(({ workspace_id }) => workspace_id === notification.workspace_id)
  useEffect(() => {
    if (read) return
    account.updateNotification({ notification_id, read: true }).then(
      () => invalidate('listNotifications'),
      () => {},
    )
  }, [notification_id, read])
  return (
    <Page
      title={title}
      crumbs={[{ label: 'Notifications', to: '/notifications' }]}
      actions={
        <Button
          icon={Trash2}
          onClick={() =>
            void remove.mutateAsync({ notification_id }).then(
              () => navigate({ to: '/notifications' }),
              () => {},
            )
          }
        >
          Delete
        </Button>
      }
    >
      {body && (
        <p className="mb-5 max-w-prose break-words whitespace-pre-wrap">
          <TextWithTimes text={body} />
        </p>
      )}
      {typeof notification.data.resolution === 'string' && (
        <p role="status" className="mb-5 font-medium">
          {translateMessage(notification.data.resolution)}.
        </p>
      )}
      {notification.link && (
        <p className="mb-6">
          <SafeLink
            to={notification.link}
            className={buttonClass('primary')}
            onClick={() => void (elsewhere && home && switchWorkspace(home.workspace_id))}
          >
            Open <ArrowRight aria-hidden className="size-4" />
          </SafeLink>
        </p>
      )}
      <Section title="About">
        <Facts
          facts={[
            ['When', <RelativeTime key="when" at={notification.created_at} />],
            ['Kind', kindInWords(notification.kind)],
            ['Workspace', home?.name ?? (notification.workspace_id ? t('a workspace you left') : 'none')],
            ['Read at', <RelativeTime key="read" at={notification.read_at} never="just now" />],
          ]}
        />
      </Section>
      {Object.keys(notification.data).length > 0 && (
        <Section title="Details">
          <JsonView value={notification.data} label="Details of the notification" />
        </Section>
      )}
    </Page>
  )
}
