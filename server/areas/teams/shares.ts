import { z } from 'zod'
import type { Tx } from '#platform/db/pool'
import { invalid, unknownReference } from '#platform/errors'
import { id, reference } from '#platform/http/schema'

// Workflows, templates and jobs that are shared with teams. The members of a team are read whenever rights are checked,
// so that a person who leaves the team or the workspace loses them immediately.

export type Shared = 'workflow_id' | 'template_id' | 'job_id'
export type TeamShare<Role extends string = string> = { team_id: string; role: Role }

/** The schema of shares in responses. */
export const shownShares = <Role extends [string, ...string[]]>(roles: Role) =>
  z
    .array(z.object({ team_id: id('team'), role: z.enum(roles) }))
    .describe('Teams whose members have this role')
    .meta({ 'x-heddle-extension': true })

/** The schema of shares in requests: the whole list, which only the owner may set. */
export const givenShares = <Role extends [string, ...string[]]>(roles: Role, usual: Role[number]) =>
  z
    .array(z.strictObject({ team_id: reference('team'), role: z.enum(roles).default(usual as never) }))
    .max(100)
    .meta({ 'x-heddle-extension': true })

/** Returns a column with the shares of the table that has the alias `of`. */
export const sharesColumn = (of: string, shared: Shared): string =>
  `coalesce((select json_agg(json_build_object('team_id', s.team_id, 'role', s.role) order by s.team_id) from team_shares s
    where s.workspace_id = ${of}.workspace_id and s.${shared} = ${of}.${shared}), '[]') as teams`

/** Refuses teams that are not in the workspace or are repeated. */
export async function checkShares(tx: Tx, workspaceId: string, teams: TeamShare[] | null | undefined): Promise<void> {
  if (!teams || teams.length === 0) return
  const ids = teams.map(({ team_id }) => team_id)
  const rows = await tx.rows<{ team_id: string }>(
    'select team_id from teams where workspace_id = $1 and team_id = any ($2)',
    [workspaceId, ids],
  )
  const known = new Set(rows.map(({ team_id }) => team_id))
  const unknown = ids.flatMap((teamId, at) => (known.has(teamId) ? [] : [`/teams/${at}/team_id`]))
  if (unknown.length > 0) throw unknownReference(...unknown)
  const repeated = ids.findIndex((teamId, at) => ids.indexOf(teamId) !== at)
  if (repeated !== -1) throw invalid([{ path: `/teams/${repeated}/team_id`, message: 'is named twice' }])
}

export async function replaceShares(
  tx: Tx,
  workspaceId: string,
  shared: Shared,
  subjectId: string,
  teams: TeamShare[],
): Promise<void> {
  await tx.count(`delete from team_shares where workspace_id = $1 and ${shared} = $2`, [workspaceId, subjectId])
  await tx.count(
    `insert into team_shares (workspace_id, ${shared}, team_id, role) select $1, $2, * from unnest($3::uuid[], $4::text[])`,
    [workspaceId, subjectId, teams.map(({ team_id }) => team_id), teams.map(({ role }) => role)],
  )
  tx.hint('access', '')
}
