import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { BellPlus, BellRing, CheckCheck, Mail, MailOpen, Trash2 } from 'lucide-react'
import { useState } from 'react'
import type { Notification } from '#sdk/types.generated'
import { account, api, invalidate, useChange, useList } from '#web/api.ts'
import { useMe, useRole } from '#web/session.tsx'
import { useLiveNotifications } from '#web/shell/live-notifications.tsx'
import { Badge } from '#web/ui/badge.tsx'
import { Button, IconButton } from '#web/ui/button.tsx'
import { ConfirmDialog } from '#web/ui/confirm.tsx'
import { cx } from '#web/ui/cx.ts'
import { Dialog } from '#web/ui/dialog.tsx'
import { Field, Form, Input, Switch, Textarea } from '#web/ui/field.tsx'
import { Page } from '#web/ui/page.tsx'
import { emptyWith, SearchBar, useSearchText } from '#web/ui/search.tsx'
import { Empty, Loaded } from '#web/ui/states.tsx'
import { RelativeTime, TextWithTimes } from '#web/ui/time.tsx'
import { toast } from '#web/ui/toast.tsx'
import { translateNotice } from '#web/words/messages.ts'

export function NotificationsPage() {
  const navigate = useNavigate()
  const unreadOnly = (useSearch({ strict: false }) as { unread?: string }).unread === 'true'
  const live = useLiveNotifications()
  const { userId, operator } = useRole()
  const [noting, setNoting] = useState(false)
  const search = useSearchText()
  const list = useList('listNotifications', {
    limit: 100,
    ...(unreadOnly && { unread: 'true' as const }),
    ...search.query,
  })
  const own = list.data?.filter(({ user_id }) => user_id === userId)
  const [clearing, setClearing] = useState(false)
  /** Marks only up to the newest notification shown: notifications that arrive in the meantime stay unread. */
  const newest = own?.[0]?.notification_id
  const readAll = async (): Promise<void> => {
    try {
      const bounds = newest !== undefined && !search.query.q ? { up_to: newest } : {}
      while ((await account.readNotifications(bounds)).more);
    } catch (error) {
      toast.failed('Could not mark all as read', error)
    }
    await invalidate('listNotifications')
  }
  const clearRead = async (): Promise<void> => {
    while ((await account.deleteNotifications({ all_read: true })).more);
    await invalidate('listNotifications')
  }
  return (
    <Page
      title="Notifications"
      description={
        <span className="flex items-center gap-2">
          Your notifications from all your workspaces.
          <Badge tone={live.state === 'live' ? 'success' : 'waiting'}>
            {live.state === 'live' ? 'Live' : 'Reconnecting'}
          </Badge>
        </span>
      }
      actions={
        <>
          <Switch
            label="Only unread"
            checked={unreadOnly}
            onCheckedChange={(on) => void navigate({ to: '/notifications', search: on ? { unread: 'true' } : {} })}
          />
          <Button icon={BellPlus} onClick={() => setNoting(true)}>
            Note to self
          </Button>
          {live.unread > 0 && (
            <Button icon={CheckCheck} onClick={() => void readAll()}>
              Mark all as read
            </Button>
          )}
          {own?.some(({ read }) => read) && (
            <Button icon={Trash2} onClick={() => setClearing(true)}>
              Delete read
            </Button>
          )}
        </>
      }
    >
      <SearchBar search={search} rows={own} />
      <Loaded of={{ ...list, data: own }} what="your notifications">
        {(rows) =>
          rows.length === 0 ? (
            emptyWith(
              search,
              <Empty icon={BellRing} title={unreadOnly ? 'Nothing unread' : 'No notifications yet'}>
                Questions, approvals, failed runs and jobs appear here.
              </Empty>,
            )
          ) : (
            <>
              <ul className="divide-y divide-line rounded-lg border border-line bg-surface">
                {rows.map((item) => (
                  <Row key={item.notification_id} item={item} />
                ))}
              </ul>
              {list.more.hasMore && (
                <div className="mt-3 text-center">
                  <Button look="quiet" pending={list.more.loading} onClick={list.more.load}>
                    Show more
                  </Button>
                </div>
              )}
            </>
          )
        }
      </Loaded>
      {operator && <p className="mt-4 text-ink-2">You are an operator. This page shows only your own notifications.</p>}
      <ConfirmDialog
        open={clearing}
        onClose={() => setClearing(false)}
        title="Delete all read notifications?"
        consequence="All notifications that are marked as read are deleted, in all your workspaces. Unread ones stay."
        action="Delete read notifications"
        onConfirm={clearRead}
      />
      <NoteToSelf open={noting} onClose={() => setNoting(false)} />
    </Page>
  )
}

function Row({ item }: { item: Notification }) {
  const { workspaces } = useMe()
  const change = useChange('updateNotification', { stale: ['listNotifications'], failed: 'Could not save the change' })
  const remove = useChange('deleteNotification', { stale: ['listNotifications'], failed: 'Could not delete' })
  const workspace = workspaces.find(({ workspace_id }) => workspace_id === item.workspace_id)
  const { notification_id } = item
  const { title, body } = translateNotice(item)
  return (
    <li className="flex items-start gap-3 px-4 py-3">
      <span
        aria-hidden
        className={cx('mt-1.5 size-2 shrink-0 rounded-full', item.read ? 'bg-transparent' : 'bg-accent')}
      />
      <Link to={`/notifications/${notification_id}`} className="group min-w-0 flex-1">
        <span className={cx('break-words group-hover:underline', !item.read && 'font-semibold')}>
          {!item.read && <span className="sr-only">Unread: </span>}
          {title}
        </span>
        {body && (
          <span className="line-clamp-2 text-ink-2">
            <TextWithTimes text={body} />
          </span>
        )}
        <span className="mt-0.5 block text-xs text-ink-3">
          <RelativeTime at={item.created_at} />
          {workspace && ` · ${workspace.name}`}
        </span>
      </Link>
      <IconButton
        size="small"
        icon={item.read ? Mail : MailOpen}
        label={item.read ? 'Mark as unread' : 'Mark as read'}
        onClick={() => change.mutate({ notification_id, read: !item.read })}
      />
      <IconButton
        size="small"
        icon={Trash2}
        label={`Delete "${title}"`}
        onClick={() => remove.mutate({ notification_id })}
      />
    </li>
  )
}

function NoteToSelf({ open, onClose }: { open: boolean; onClose(): void }) {
  return (
    <Dialog open={open} onClose={onClose} title="Note to self" description="Only you can see it.">
      <Form<{ title: string; body: string; link: string }>
        submit="Save note"
        onCancel={onClose}
        onSubmit={async ({ title, body, link }) => {
          await api.createNotification({ kind: 'note', title, ...(body && { body }), ...(link && { link }) })
          await invalidate('listNotifications')
          onClose()
        }}
      >
        <Field name="title" label="Note">
          <Input required autoFocus maxLength={200} />
        </Field>
        <Field name="body" label="More">
          <Textarea rows={3} />
        </Field>
        <Field name="link" label="Link" hint="A page of the console (/workflows/…) or an https address.">
          <Input placeholder="/runs" />
        </Field>
      </Form>
    </Dialog>
  )
}
