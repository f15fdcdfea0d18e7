import { useQuery } from '@tanstack/react-query'
import { type ReactNode, useEffect, useRef, useState } from 'react'
import type { ChatThread, ThreadMessage, ThreadMessages } from '#sdk/types.generated'
import { api, invalidate } from '#web/api.ts'
import { Button } from '#web/ui/button.tsx'
import { Card } from '#web/ui/page.tsx'
import { SchemaForm } from '#web/ui/schema-form.tsx'
import { Empty, Loaded } from '#web/ui/states.tsx'
import { toast } from '#web/ui/toast.tsx'
import { Composer } from './composer.tsx'
import { Message } from './message.tsx'
import { Takeover } from './takeover.tsx'

const PAGE = 200

type Read = ThreadMessages & { before: ThreadMessage[]; cursor: string | undefined }

/** Reads the whole thread; of pages read before, only the last page is fetched again. */
async function readOn(thread_id: string, known: Read | undefined, signal: AbortSignal): Promise<Read> {
  let before = known?.before ?? []
  let cursor = known?.cursor
  for (;;) {
    const page = await api.listThreadMessages({ thread_id, limit: PAGE, ...(cursor && { cursor }) }, { signal })
    if (page.next_cursor === null) return { ...page, items: [...before, ...page.items], before, cursor }
    before = [...before, ...page.items]
    cursor = page.next_cursor
  }
}

export function ThreadConversation({
  thread,
  every,
  tools,
  onChange,
}: {
  thread: ChatThread
  /**
   * The interval for reading the messages again, starting at the last page; a socket reports messages that arrive
   * earlier.
   */
  every: number
  /** Shown above the text box; it can insert text into the box. */
  tools?: (insert: (text: string) => void) => ReactNode
  onChange?: () => Promise<unknown>
}) {
  const { thread_id } = thread
  const end = useRef<HTMLDivElement>(null)
  const [draft, setDraft] = useState<string | null>(null)
  const queryKey = ['listThreadMessages', { thread_id }, 'all']
  const messages = useQuery({
    queryKey,
    queryFn: ({ signal, client }) => readOn(thread_id, client.getQueryData<Read>(queryKey), signal),
    refetchInterval: every,
  })
  const count = messages.data?.items.length ?? 0
  // biome-ignore lint/correctness/useExhaustiveDependencies: each new message is scrolled to
  useEffect(() => {
    // The braces prevent a return value: in newer browsers the call returns a promise, which is not a clean-up
    // function.
    end.current?.scrollIntoView({ block: 'nearest' })
  }, [count, draft])
  const mayWrite = thread.role !== 'viewer'
  const outside = thread.kind !== 'thread'
  const said = async (): Promise<unknown> => {
    await invalidate('listThreadMessages', 'listThreads', 'getThread')
    return onChange?.()
  }
  return (
    <div className="flex flex-col gap-4">
      <Loaded of={messages} what="the conversation">
        {({ items, form }) => (
          <>
            {items.length === 0 ? (
              <Empty title="No messages yet">
                {mayWrite ? 'Write the first message below.' : 'New messages appear here.'}
              </Empty>
            ) : (
              <ol aria-label="Messages" aria-live="polite" className="flex flex-col gap-3">
                {items.map((message) => (
                  <Message key={message.message_id} message={message} threadId={thread_id} />
                ))}
              </ol>
            )}
            {draft && (
              // Screen readers read the message once it is complete.
              <p
                aria-hidden="true"
                className="max-w-[85%] self-start rounded-lg border border-line bg-surface px-3 py-2 whitespace-pre-wrap"
              >
                {draft}
              </p>
            )}
            {form && mayWrite && !outside && (
              <OpenForm key={form.form_id} threadId={thread_id} form={form} onDone={said} />
            )}
          </>
        )}
      </Loaded>
      {mayWrite && outside && <Takeover thread={thread} onChange={onChange} />}
      {mayWrite ? (
        <Composer threadId={thread_id} onSaid={said} onDraft={setDraft} textOnly={outside} tools={tools} />
      ) : (
        <p className="text-ink-2">
          {outside
            ? 'Conversations of a workflow widget are read-only.'
            : 'You have read-only access. The owner can let you write.'}
        </p>
      )}
      <div ref={end} />
    </div>
  )
}

function OpenForm({
  threadId,
  form,
  onDone,
}: {
  threadId: string
  form: NonNullable<ThreadMessages['form']>
  onDone(): Promise<unknown>
}) {
  const act = async (action: 'submit' | 'cancel', values?: unknown): Promise<void> => {
    await api.actOnThreadForm({
      thread_id: threadId,
      action,
      form_id: form.form_id,
      ...(values !== undefined && { values: values as Record<string, unknown> }),
    })
    await onDone()
  }
  return (
    <Card className="max-w-xl border-accent">
      <h2 className="mb-3 font-semibold">{form.title}</h2>
      <SchemaForm
        schema={form.schema}
        value={form.values}
        submit="Send"
        onSubmit={(values) => act('submit', values)}
        actions={
          <Button
            look="quiet"
            onClick={() => void act('cancel').catch((error: unknown) => toast.failed('Could not cancel', error))}
          >
            Cancel
          </Button>
        }
      />
    </Card>
  )
}
