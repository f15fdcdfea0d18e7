import { ArrowLeft, MessageSquareQuote } from 'lucide-react'
import { useEffect } from 'react'
import type { Conversation } from '#sdk/types.generated'
import { api, invalidate, useAll, useApi, useChange } from '#web/api.ts'
import { usePeople } from '#web/people.tsx'
import { Badge } from '#web/ui/badge.tsx'
import { Button, ButtonLink } from '#web/ui/button.tsx'
import { Field, Select, withPresent } from '#web/ui/field.tsx'
import { Menu, MenuItem } from '#web/ui/menu.tsx'
import { Card, Facts } from '#web/ui/page.tsx'
import { SafeLink } from '#web/ui/safe-link.tsx'
import { ErrorState, Loading } from '#web/ui/states.tsx'
import { Duration } from '#web/ui/time.tsx'
import { ThreadConversation } from '../threads/conversation.tsx'
import { Notes } from './notes.tsx'
import { placeOf } from './places.ts'

/** `every`: the poll interval for data that no socket reports. */
export function ConversationPane({ threadId, every }: { threadId: string; every: number }) {
  const conversation = useApi('getConversation', { thread_id: threadId }, { refetchInterval: every })
  const thread = useApi('getThread', { thread_id: threadId }, { refetchInterval: every })
  useReading(conversation.data)
  const error = conversation.error ?? thread.error
  return (
    <div className="min-w-0">
      <div className="mb-3 lg:hidden">
        <ButtonLink to="/conversations" icon={ArrowLeft} size="small">
          All conversations
        </ButtonLink>
      </div>
      {conversation.data && thread.data ? (
        <Card className="min-w-0">
          <Head conversation={conversation.data} />
          <div className="grid gap-6 xl:grid-cols-[1fr_17rem]">
            <div className="min-w-0">
              <ThreadConversation
                thread={thread.data}
                every={every}
                tools={(insert) => <CannedAnswers onChoose={insert} />}
                onChange={() => invalidate('getConversation', 'listConversations')}
              />
            </div>
            <aside aria-label="About the conversation" className="flex min-w-0 flex-col gap-6">
              <About conversation={conversation.data} />
              <Notes threadId={threadId} every={every} mayWrite={conversation.data.role === 'member'} />
            </aside>
          </div>
        </Card>
      ) : error ? (
        <ErrorState error={error} what="the conversation" onRetry={() => void conversation.refetch()} />
      ) : (
        <Loading />
      )}
    </div>
  )
}

/** Marks the visible conversation as read, up to the last message shown. */
function useReading(conversation: Conversation | undefined): void {
  const threadId = conversation?.thread_id
  const last = conversation?.last_message?.message_id
  const isUnread = (conversation?.unread_count ?? 0) > 0
  useEffect(() => {
    if (!isUnread || threadId === undefined || last === undefined || document.hidden) return
    // If this request fails, the next message sets the mark.
    void api
      .markConversationRead({ thread_id: threadId, message_id: last })
      .then(() => invalidate('getConversation', 'listConversations'))
      .catch(() => {})
  }, [threadId, last, isUnread])
}

const stale = ['getConversation', 'listConversations', 'getThread', 'listThreadMessages'] as const

function Head({ conversation }: { conversation: Conversation }) {
  const { thread_id, state, role } = conversation
  const change = useChange('updateConversation', { stale: [...stale], failed: 'Could not change this' })
  return (
    <header className="mb-4 flex flex-wrap items-start gap-3 border-b border-line pb-3">
      <div className="min-w-0 flex-1">
        <h2 className="text-base font-semibold">{conversation.title}</h2>
        <p className="mt-1 flex flex-wrap items-center gap-1">
          <Badge>{placeOf(conversation)}</Badge>
          {state === 'closed' && <Badge>Closed</Badge>}
          {conversation.waiting_since && (
            <Badge tone="waiting">
              Waiting <Duration from={conversation.waiting_since} to={null} />
            </Badge>
          )}
        </p>
        {conversation.handover_at && (
          <p className="mt-2 text-ink-2">Asks for a person. {conversation.handover_reason}</p>
        )}
      </div>
      {role === 'member' && (
        <Button
          pending={change.isPending}
          onClick={() => change.mutate({ thread_id, state: state === 'open' ? 'closed' : 'open' })}
        >
          {state === 'open' ? 'Close' : 'Open again'}
        </Button>
      )}
    </header>
  )
}

function About({ conversation }: { conversation: Conversation }) {
  const { thread_id, assignee, visit, role } = conversation
  const { list: people } = usePeople()
  const change = useChange('updateConversation', { stale: [...stale], failed: 'Could not assign the conversation' })
  const options = withPresent(
    [
      { value: '', label: 'Nobody' },
      ...people
        .filter((person) => person.role !== 'guest')
        .map(({ user_id, name }) => ({ value: user_id, label: name })),
    ],
    assignee?.user_id,
    assignee?.name ?? '',
  )
  return (
    <section className="flex flex-col gap-4">
      <Field label="Assigned to">
        <Select
          value={assignee?.user_id ?? ''}
          disabled={role !== 'member'}
          onChange={(event) => change.mutate({ thread_id, assignee_id: event.target.value || null })}
          options={options}
        />
      </Field>
      <Facts
        facts={[
          [
            'Page',
            visit?.page ? (
              <SafeLink key="page" to={visit.page.url} className="text-accent break-all hover:underline">
                {visit.page.title || visit.page.url}
              </SafeLink>
            ) : (
              'unknown'
            ),
          ],
          ['Language', visit?.locale ? languageOf(visit.locale) : 'unknown'],
          ['Time zone', visit?.time_zone ?? 'unknown'],
        ]}
      />
    </section>
  )
}

/** Returns the name of a language. The tag comes from outside and may be invalid. */
function languageOf(locale: string): string {
  try {
    return new Intl.DisplayNames([document.documentElement.lang || 'en'], { type: 'language' }).of(locale) ?? locale
  } catch {
    return locale
  }
}

/** Inserts a canned answer into the text box, where it can be changed before it is sent. */
function CannedAnswers({ onChoose }: { onChoose(text: string): void }) {
  const answers = useAll('listCannedAnswers', { limit: 200 }, { staleTime: 60_000 })
  if ((answers.data?.length ?? 0) === 0) return null
  return (
    <Menu
      align="start"
      trigger={
        <Button size="small" icon={MessageSquareQuote}>
          Canned answers
        </Button>
      }
    >
      {answers.data?.map(({ answer_id, name, text }) => (
        <MenuItem key={answer_id} onSelect={() => onChoose(text)}>
          {name}
        </MenuItem>
      ))}
    </Menu>
  )
}
