import { ThreadConversation } from './conversation.tsx'
import { ThreadShell } from './thread-page.tsx'

export const ThreadPage = () => (
  <ThreadShell section="Conversation">
    {(thread) => <ThreadConversation key={thread.thread_id} thread={thread} />}
  </ThreadShell>
)
