import type { ChatThread } from '#sdk/types.generated'
import { ThreadConversation } from './conversation.tsx'
import { useLiveConversations } from './live.ts'
import { ThreadShell } from './thread-page.tsx'

const LOOK_EVERY = 3_000

export const ThreadPage = () => (
  <ThreadShell section="Conversation">{(thread) => <LiveThread key={thread.thread_id} thread={thread} />}</ThreadShell>
)

const LiveThread = ({ thread }: { thread: ChatThread }) => (
  <ThreadConversation thread={thread} every={useLiveConversations(LOOK_EVERY)} />
)
