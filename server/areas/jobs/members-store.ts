import type { Tx } from '#platform/db/pool'
import { type ListInput, readList } from '#platform/http/list'
import { type JobMember, jobMemberList, type Role } from './schema.ts'

export const listMembers = (tx: Tx, workspaceId: string, jobId: string, asked: ListInput) =>
  readList<JobMember>(tx, jobMemberList, asked, {
    sql: `select m.user_id, u.name, u.email, m.role, m.added_at from job_members m join users u on u.user_id = m.user_id
      where m.workspace_id = $1 and m.job_id = $2`,
    values: [workspaceId, jobId],
  })

export const findMember = (
  tx: Tx,
  workspaceId: string,
  jobId: string,
  userId: string,
): Promise<JobMember | undefined> =>
  tx.maybe<JobMember>(
    `select m.user_id, u.name, u.email, m.role, m.added_at from job_members m join users u on u.user_id = m.user_id
     where m.workspace_id = $1 and m.job_id = $2 and m.user_id = $3`,
    [workspaceId, jobId, userId],
  )

export const putMember = (tx: Tx, workspaceId: string, jobId: string, userId: string, role: Role): Promise<number> =>
  tx.count(
    `insert into job_members (workspace_id, job_id, user_id, role) values ($1, $2, $3, $4)
     on conflict (workspace_id, job_id, user_id) do update set role = excluded.role`,
    [workspaceId, jobId, userId, role],
  )

export const deleteMember = (tx: Tx, workspaceId: string, jobId: string, userId: string): Promise<number> =>
  tx.count('delete from job_members where workspace_id = $1 and job_id = $2 and user_id = $3', [
    workspaceId,
    jobId,
    userId,
  ])

export const countOwners = async (tx: Tx, workspaceId: string, jobId: string): Promise<number> =>
  (
    await tx.row<{ owners: number }>(
      `select count(*) as owners from job_members where workspace_id = $1 and job_id = $2 and role = 'owner'`,
      [workspaceId, jobId],
    )
  ).owners

/** Makes the longest-standing owner the `owner_id`, if the current one is no longer an owner. */
export const settleOwner = (tx: Tx, workspaceId: string, jobId: string): Promise<number> =>
  tx.count(
    `update enrichment_jobs j set owner_id = o.user_id
     from (select user_id from job_members where workspace_id = $1 and job_id = $2 and role = 'owner' order by added_at, user_id limit 1) o
     where j.workspace_id = $1 and j.job_id = $2 and not exists (select from job_members m where m.workspace_id = $1
       and m.job_id = $2 and m.user_id = j.owner_id and m.role = 'owner')`,
    [workspaceId, jobId],
  )
