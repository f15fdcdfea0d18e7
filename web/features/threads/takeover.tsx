import { useState } from 'react'
import type { ChatThread } from '#sdk/types.generated'
import { api, invalidate } from '#web/api.ts'
import { useRole } from '#web/session.tsx'
import { Button } from '#web/ui/button.tsx'
import { toast } from '#web/ui/toast.tsx'

/** Shows who answers the visitor: the assistant, or a colleague in its place. */
export function Takeover({
  thread,
  onChange,
}: {
  thread: ChatThread
  onChange?: (() => Promise<unknown>) | undefined
}) {
  const { userId } = useRole()
  const [pending, setPending] = useState(false)
  const { thread_id, taken_over_by: holder } = thread
  const own = holder?.user_id === userId
  const change = async (call: (of: { thread_id: string }) => Promise<unknown>): Promise<void> => {
    setPending(true)
    try {
      await call({ thread_id })
      await invalidate('getThread', 'listThreads', 'listThreadMessages')
      await onChange?.()
    } catch (error) {
      toast.failed('Could not change this', error)
    } finally {
      setPending(false)
    }
  }
  return (
    <div className="flex flex-wrap items-center justify-between gap-2 rounded-lg bg-sunken px-3 py-2">
      <p role="status">
        {holder
          ? `${own ? 'You are talking' : `${holder.name} is talking`} to the visitor. The assistant is paused.`
          : 'The assistant answers. Send a message to take over.'}
      </p>
      <span className="flex gap-2">
        {own ? null : (
          <Button size="small" pending={pending} onClick={() => void change(api.takeThreadOver)}>
            Take over
          </Button>
        )}
        {holder ? (
          <Button size="small" pending={pending} onClick={() => void change(api.handThreadBack)}>
            Hand back
          </Button>
        ) : null}
      </span>
    </div>
  )
}
