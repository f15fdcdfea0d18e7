import type { Tx } from '#platform/db/pool'
import { type ListInput, readList } from '#platform/http/list'
import { commonColumns, outsideColumns, outsideTables, type Reader, readableOutside } from './outside.ts'
import { type Thread, type ThreadMember, type ThreadRole, threadList, threadMemberList } from './schema.ts'

const columns = `${commonColumns}, t.created_by, t.title, null as channel, m.role, null as taken_over_by,
  null::timestamptz as handover_at, null as handover_reason`

/** Threads of which the person is a member. */
const mine = `from threads t join thread_members m on m.workspace_id = t.workspace_id and m.thread_id = t.thread_id and m.user_id = $2
  where t.workspace_id = $1 and t.kind = 'thread'`

const outside = `from ${outsideTables} where ${readableOutside}`

/** Finds roles only in threads of people: conversations with people outside have no members to change. */
export const findRole = async (
  tx: Tx,
  workspaceId: string,
  userId: string,
  threadId: string,
): Promise<ThreadRole | undefined> =>
  (await tx.maybe<{ role: ThreadRole }>(`select m.role ${mine} and t.thread_id = $3`, [workspaceId, userId, threadId]))
    ?.role

export const findThread = async (
  tx: Tx,
  workspaceId: string,
  reader: Reader,
  threadId: string,
): Promise<Thread | undefined> =>
  (await tx.maybe<Thread>(`select ${columns} ${mine} and t.thread_id = $3`, [workspaceId, reader.user_id, threadId])) ??
  (await tx.maybe<Thread>(`select ${outsideColumns}, t.created_by ${outside} and t.thread_id = $4`, [
    workspaceId,
    reader.user_id,
    reader.role,
    threadId,
  ]))

export const listThreads = (tx: Tx, workspaceId: string, userId: string, asked: ListInput) =>
  readList<Thread>(tx, threadList, asked, { sql: `select ${columns} ${mine}`, values: [workspaceId, userId] })

export const listOutside = (tx: Tx, workspaceId: string, reader: Reader, asked: ListInput) =>
  readList<Thread>(tx, threadList, asked, {
    sql: `select ${outsideColumns}, t.created_by ${outside}`,
    values: [workspaceId, reader.user_id, reader.role],
  })

export const templateExists = async (tx: Tx, workspaceId: string, templateId: string): Promise<boolean> =>
  (await tx.maybe('select from templates where workspace_id = $1 and template_id = $2', [workspaceId, templateId])) !==
  undefined

/** Serializes changes to the members of a thread. */
export const lockThread = (tx: Tx, workspaceId: string, threadId: string): Promise<unknown> =>
  tx.rows('select from threads where workspace_id = $1 and thread_id = $2 for no key update', [workspaceId, threadId])

const memberColumns = 'm.user_id, u.name, u.email, m.role, m.created_at'

export const findMember = (
  tx: Tx,
  workspaceId: string,
  threadId: string,
  userId: string,
): Promise<ThreadMember | undefined> =>
  tx.maybe<ThreadMember>(
    `select ${memberColumns} from thread_members m join users u using (user_id)
     where m.workspace_id = $1 and m.thread_id = $2 and m.user_id = $3`,
    [workspaceId, threadId, userId],
  )

export const isMemberByEmail = async (tx: Tx, workspaceId: string, threadId: string, email: string): Promise<boolean> =>
  (await tx.maybe(
    `select from thread_members m join users u using (user_id) where m.workspace_id = $1 and m.thread_id = $2 and u.email = $3`,
    [workspaceId, threadId, email],
  )) !== undefined

export const listMembers = (tx: Tx, workspaceId: string, threadId: string, asked: ListInput) =>
  readList<ThreadMember>(tx, threadMemberList, asked, {
    sql: `select ${memberColumns} from thread_members m join users u using (user_id)
      where m.workspace_id = $1 and m.thread_id = $2`,
    values: [workspaceId, threadId],
  })

/** Adds a member. An existing member keeps the higher of the two roles. Returns 0 if the thread does not exist. */
export const addMember = (
  tx: Tx,
  workspaceId: string,
  threadId: string,
  userId: string,
  role: string,
): Promise<number> =>
  tx.count(
    `insert into thread_members (workspace_id, thread_id, user_id, role)
     select t.workspace_id, t.thread_id, $3, $4 from threads t where t.workspace_id = $1 and t.thread_id = $2 and t.kind = 'thread'
     on conflict (workspace_id, thread_id, user_id) do update set role =
       case when thread_members.role = 'owner' or excluded.role = 'viewer' then thread_members.role else excluded.role end`,
    [workspaceId, threadId, userId, role],
  )

export const updateRole = (
  tx: Tx,
  workspaceId: string,
  threadId: string,
  userId: string,
  role: ThreadRole,
): Promise<number> =>
  tx.count('update thread_members set role = $4 where workspace_id = $1 and thread_id = $2 and user_id = $3', [
    workspaceId,
    threadId,
    userId,
    role,
  ])

export const deleteMember = (tx: Tx, workspaceId: string, threadId: string, userId: string): Promise<number> =>
  tx.count('delete from thread_members where workspace_id = $1 and thread_id = $2 and user_id = $3', [
    workspaceId,
    threadId,
    userId,
  ])

export const countOwners = async (tx: Tx, workspaceId: string, threadId: string): Promise<number> =>
  (
    await tx.row<{ owners: number }>(
      `select count(*)::int as owners from thread_members where workspace_id = $1 and thread_id = $2 and role = 'owner'`,
      [workspaceId, threadId],
    )
  ).owners

export const deleteOwner = (tx: Tx, workspaceId: string, userId: string): Promise<number> =>
  tx.count(`delete from thread_members where workspace_id = $1 and user_id = $2 and role = 'owner'`, [
    workspaceId,
    userId,
  ])

/** Returns threads that would have no owner without this person. */
export const solelyOwned = async (tx: Tx, workspaceId: string, userId: string): Promise<string[]> =>
  (
    await tx.rows<{ thread_id: string }>(
      `select m.thread_id from thread_members m where m.workspace_id = $1 and m.user_id = $2 and m.role = 'owner'
       and not exists (select from thread_members o where o.workspace_id = $1 and o.thread_id = m.thread_id and o.role = 'owner' and o.user_id <> $2)`,
      [workspaceId, userId],
    )
  ).map(({ thread_id }) => thread_id)

/** Returns the longest-standing member; viewers come last. */
export const findHeir = async (
  tx: Tx,
  workspaceId: string,
  threadId: string,
  without: string,
): Promise<string | undefined> =>
  (
    await tx.maybe<{ user_id: string }>(
      `select user_id from thread_members where workspace_id = $1 and thread_id = $2 and user_id <> $3
       order by role = 'viewer', created_at, user_id limit 1`,
      [workspaceId, threadId, without],
    )
  )?.user_id

export const findWorkspaceOwner = async (tx: Tx, workspaceId: string, without: string): Promise<string | undefined> =>
  (
    await tx.maybe<{ user_id: string }>(
      `select user_id from memberships where workspace_id = $1 and role = 'owner' and user_id <> $2 order by user_id limit 1`,
      [workspaceId, without],
    )
  )?.user_id

export type Clip = {
  audio_id: string
  thread_id: string
  content_type: string
  size_bytes: number
  duration_s: number
}

export const insertClip = (tx: Tx, workspaceId: string, clip: Clip): Promise<number> =>
  tx.count(
    `insert into audio_clips (workspace_id, audio_id, thread_id, content_type, size_bytes, duration_s) values ($1, $2, $3, $4, $5, $6)`,
    [workspaceId, clip.audio_id, clip.thread_id, clip.content_type, clip.size_bytes, clip.duration_s],
  )

export const attachClip = (tx: Tx, workspaceId: string, audioId: string, messageId: string): Promise<number> =>
  tx.count('update audio_clips set message_id = $3 where workspace_id = $1 and audio_id = $2', [
    workspaceId,
    audioId,
    messageId,
  ])

export const deleteClip = (tx: Tx, workspaceId: string, audioId: string): Promise<number> =>
  tx.count('delete from audio_clips where workspace_id = $1 and audio_id = $2', [workspaceId, audioId])

export const findClip = (tx: Tx, workspaceId: string, audioId: string): Promise<Clip | undefined> =>
  tx.maybe<Clip>(
    'select audio_id, thread_id, content_type, size_bytes, duration_s from audio_clips where workspace_id = $1 and audio_id = $2',
    [workspaceId, audioId],
  )

export const forgetRemoved = (tx: Tx, workspaceId: string, audioId: string): Promise<number> =>
  tx.count('delete from audio_to_remove where workspace_id = $1 and audio_id = $2', [workspaceId, audioId])
