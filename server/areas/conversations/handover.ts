import { toStorableText } from '#model/storable'
import { systemClock } from '#platform/clock'
import type { Tx } from '#platform/db/pool'
import { deliverEvent } from '#platform/events'
import { toWire } from '#platform/ids'
import { hintChange } from './changes.ts'
import { closedText } from './hours.ts'
import { findHours } from './hours-store.ts'
import { phrasesFor } from './languages/index.ts'
import { lastMessages } from './message-store.ts'
import type { LockedThread } from './thread-store.ts'
import type { Thread } from './types.ts'

// A person outside asks for a person, or the assistant is not sure. The people who answer for the template are notified
// with the last messages; the link opens the whole conversation. The assistant continues until one of them takes over.

const SHOWN_MESSAGES = 6
const SHOWN_CHARACTERS = 300
const MAX_REASON = 500

/**
 * Only conversations with a person outside can be handed over. In a thread of colleagues the people already take
 * part.
 */
export const mayAskForPerson = ({ kind }: Pick<Thread, 'kind'>): boolean => kind === 'embed' || kind === 'channel'

const SPEAKERS: Record<string, string> = { visitor: 'Visitor', assistant: 'Assistant', user: 'Colleague' }

/**
 * `fresh` is false if people were notified before and have not answered yet. `closed` is set outside the opening
 * hours and says when people answer.
 */
export type Asked = { fresh: boolean; closed: string | null }

export async function askForPerson(tx: Tx, thread: LockedThread, reason: string): Promise<Asked> {
  const fresh = await notifyColleagues(tx, thread, reason)
  return { fresh, closed: await whenClosed(tx, thread) }
}

/** Returns what the person outside is told outside the opening hours. Null within the opening hours. */
export const whenClosed = async (tx: Tx, { workspace_id, template_id, state }: LockedThread): Promise<string | null> =>
  closedText(await findHours(tx, workspace_id, template_id), systemClock.now(), {
    say: phrasesFor(state),
    timeZone: state.visit?.time_zone,
  })

async function notifyColleagues(tx: Tx, thread: LockedThread, reason: string): Promise<boolean> {
  const { workspace_id: workspaceId, thread_id: threadId } = thread
  const given = toStorableText(reason, MAX_REASON)
  const marked = await tx.count(
    `update threads set handover_at = now(), handover_reason = $3, waiting_since = coalesce(waiting_since, now()), closed_at = null
     where workspace_id = $1 and thread_id = $2 and handover_at is null`,
    [workspaceId, threadId, given],
  )
  if (marked === 0) return false
  hintChange(tx, workspaceId)
  const recent = await lastMessages(tx, workspaceId, threadId, SHOWN_MESSAGES)
  const words = recent
    .filter(({ role }) => role in SPEAKERS)
    .map(({ role, text }) => `${SPEAKERS[role]}: ${text.slice(0, SHOWN_CHARACTERS).toWellFormed()}`)
  const thread_id = toWire('thr', threadId)
  await deliverEvent(tx, {
    workspaceId,
    kind: 'thread.handover',
    title: 'A visitor asks for a person',
    body: [given, ...words].filter(Boolean).join('\n'),
    data: { thread_id },
    link: `/conversations/${thread_id}`,
    to: await listColleagues(tx, thread),
  })
  return true
}

/**
 * Returns the owner of the template, the members of the teams it is shared with, the person who created the channel
 * and the person to whom the conversation is assigned. If there are none, returns the owners of the workspace.
 */
async function listColleagues(
  tx: Tx,
  { workspace_id, thread_id, template_id, config_id }: LockedThread,
): Promise<string[]> {
  const named = await tx.rows<{ user_id: string }>(
    `select user_id from template_colleagues($1, $2)
     union select created_by from gateway_channels where workspace_id = $1 and config_id = $3 and created_by is not null
     union select assigned_to from threads where workspace_id = $1 and thread_id = $4 and assigned_to is not null`,
    [workspace_id, template_id, config_id, thread_id],
  )
  const rows =
    named.length > 0
      ? named
      : await tx.rows<{ user_id: string }>(
          `select user_id from memberships where workspace_id = $1 and role = 'owner'`,
          [workspace_id],
        )
  return rows.map(({ user_id }) => user_id)
}
