import type { Tx } from '#platform/db/pool'
import type { WorkspaceRole } from '#platform/http/context'
import { type ListInput, readList } from '#platform/http/list'
import { type ListedTeam, type Team, type TeamSummary, teamList } from './schema.ts'

// Finds teams in all workspaces of the caller. For a key that is bound to one workspace, row security limits this to
// it.

const summary = `t.team_id, t.workspace_id, t.owner_id, t.name, t.slug, t.description, t.created_at, t.updated_at,
  (select count(*)::int from team_members p where p.workspace_id = t.workspace_id and p.team_id = t.team_id) as member_count`

const members = `select p.user_id, u.name, p.added_at from team_members p join users u using (user_id)
  where p.workspace_id = $1 and p.team_id = $2 order by p.added_at, p.user_id`

export type TeamRights = { workspace_id: string; role: WorkspaceRole; created: boolean }

export const findTeamRights = (tx: Tx, userId: string, teamId: string): Promise<TeamRights | undefined> =>
  tx.maybe<TeamRights>(
    `select t.workspace_id, m.role, t.owner_id = $1 as created
     from teams t join memberships m on m.workspace_id = t.workspace_id and m.user_id = $1
     where t.team_id = $2`,
    [userId, teamId],
  )

/** Row security limits the result to the caller's workspaces. */
export async function findTeam(tx: Tx, teamId: string): Promise<Team | undefined> {
  const team = await tx.maybe<TeamSummary>(`select ${summary} from teams t where t.team_id = $1`, [teamId])
  return team && { ...team, members: await tx.rows<Team['members'][number]>(members, [team.workspace_id, teamId]) }
}

/** A slug may exist in several of the caller's workspaces: the selected workspace comes first, then the oldest team. */
export const findTeamIdBySlug = async (
  tx: Tx,
  workspaceId: string | null,
  userId: string,
  slug: string,
): Promise<string | undefined> =>
  (
    await tx.maybe<{ team_id: string }>(
      `select t.team_id from memberships m join teams t on t.workspace_id = m.workspace_id and t.slug = $3
       where m.user_id = $2 and m.role <> 'guest'
       order by (t.workspace_id = $1) desc nulls last, t.team_id limit 1`,
      [workspaceId, userId, slug],
    )
  )?.team_id

/**
 * Reads one page from each workspace and merges them, so that in the default order a workspace with many teams is not
 * read completely.
 */
export const listTeams = (tx: Tx, userId: string, asked: ListInput) =>
  readList<TeamSummary>(tx, teamList, asked, {
    each: `select workspace_id from memberships where user_id = $1 and role <> 'guest'`,
    sql: `select ${summary} from teams t where t.workspace_id = each.workspace_id`,
    values: [userId],
  })

export const listAllTeams = (tx: Tx, asked: ListInput) =>
  readList<ListedTeam>(tx, teamList, asked, {
    sql: `select ${summary}, (select w.name from workspaces w where w.workspace_id = t.workspace_id) as workspace_name from teams t`,
    values: [],
  })

export type TeamRow = {
  team_id: string
  owner_id: string
  name: string
  slug: string
  description: string | null
}

/** Returns false if the slug is taken. Waits for a concurrent insert of the same slug. */
export const insertTeam = async (tx: Tx, workspaceId: string, team: TeamRow): Promise<boolean> =>
  (await tx.count(
    `insert into teams (workspace_id, team_id, owner_id, name, slug, description) values ($1, $2, $3, $4, $5, $6)
     on conflict (workspace_id, slug) do nothing`,
    [workspaceId, team.team_id, team.owner_id, team.name, team.slug, team.description],
  )) === 1

/** Returns the slugs that could conflict with this one or with a numbered form of it. */
export const slugsLike = async (tx: Tx, workspaceId: string, slug: string): Promise<Set<string>> => {
  const rows = await tx.rows<{ slug: string }>(
    `select slug from teams where workspace_id = $1 and starts_with(slug, left($2, 50))`,
    [workspaceId, slug],
  )
  return new Set(rows.map((row) => row.slug))
}

export const updateTeam = (
  tx: Tx,
  teamId: string,
  patch: { name?: string; slug?: string; description?: string | null },
): Promise<number> =>
  tx.count(
    `update teams set name = coalesce($2, name), slug = coalesce($3, slug),
       description = case when $4::boolean then $5 else description end, updated_at = now()
     where team_id = $1`,
    [teamId, patch.name ?? null, patch.slug ?? null, patch.description !== undefined, patch.description ?? null],
  )

export const deleteTeam = (tx: Tx, teamId: string): Promise<number> =>
  tx.count('delete from teams where team_id = $1', [teamId])

/** Returns the given users who are in the workspace. None of them can leave before the transaction ends. */
export const holdColleagues = async (tx: Tx, workspaceId: string, userIds: readonly string[]): Promise<Set<string>> => {
  const rows = await tx.rows<{ user_id: string }>('select hold_colleagues as user_id from hold_colleagues($1, $2)', [
    workspaceId,
    userIds,
  ])
  return new Set(rows.map((row) => row.user_id))
}

/** Returns false if the user was not in the team. */
export const deleteTeamMember = async (tx: Tx, workspaceId: string, teamId: string, userId: string): Promise<boolean> =>
  (await tx.count('delete from team_members where workspace_id = $1 and team_id = $2 and user_id = $3', [
    workspaceId,
    teamId,
    userId,
  ])) === 1

export const deleteFromTeams = (tx: Tx, workspaceId: string, userId: string): Promise<number> =>
  tx.count('delete from team_members where workspace_id = $1 and user_id = $2', [workspaceId, userId])

/** Returns the ids of users who were not in the team before. */
export const insertTeamMembers = async (
  tx: Tx,
  workspaceId: string,
  teamId: string,
  userIds: readonly string[],
): Promise<string[]> => {
  const rows = await tx.rows<{ user_id: string }>(
    `insert into team_members (workspace_id, team_id, user_id) select $1, $2, user_id from unnest($3::uuid[]) as user_id
     on conflict do nothing returning user_id`,
    [workspaceId, teamId, userIds],
  )
  return rows.map((row) => row.user_id)
}
