import { z } from 'zod'
import type { Tx } from '#platform/db/pool'
import { invalid, unknownReference } from '#platform/errors'
import type { Context } from '#platform/http/context'
import { reference } from '#platform/http/schema'

// Credentials and knowledge bases have an owner, who can share them with people, with teams or with everyone in the
// workspace.

const role = z.enum(['use', 'edit'])
export const NewShare = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('user'), id: reference('usr'), role }),
  z.strictObject({ kind: z.literal('team'), id: reference('team'), role }),
  z.strictObject({ kind: z.literal('workspace'), role }),
])
export type NewShare = z.output<typeof NewShare>

const idOf = (share: NewShare, kind: 'user' | 'team'): string | null =>
  share.kind === kind && 'id' in share ? share.id : null

/** Returns the given people and teams that exist in the workspace. */
const listKnown = async (tx: Tx, workspaceId: string, users: string[], teams: string[]): Promise<ReadonlySet<string>> =>
  new Set(
    (
      await tx.rows<{ id: string }>(
        `select user_id as id from memberships where workspace_id = $1 and user_id = any ($2) and role <> 'guest'
         union all select team_id from teams where workspace_id = $1 and team_id = any ($3)`,
        [workspaceId, users, teams],
      )
    ).map(({ id }) => id),
  )

/** Refuses a new owner who is not in the workspace. */
export async function checkOwner({ tx, workspace }: Context, ownerId: string): Promise<void> {
  const known = await listKnown(tx, workspace.workspace_id, [ownerId], [])
  if (!known.has(ownerId)) throw unknownReference('/owner_id')
}

/** Refuses people and teams that are not in the workspace or are repeated. */
export async function checkShares({ tx, workspace }: Context, shares: readonly NewShare[]): Promise<void> {
  const of = (kind: 'user' | 'team'): string[] => shares.flatMap((share) => idOf(share, kind) ?? [])
  const known = await listKnown(tx, workspace.workspace_id, of('user'), of('team'))
  const unknown = shares.flatMap((share, at) => ('id' in share && !known.has(share.id) ? [`/shared/${at}/id`] : []))
  if (unknown.length > 0) throw unknownReference(...unknown)
  const keys = shares.map((share) => `${share.kind} ${'id' in share ? share.id : ''}`)
  const repeated = keys.findIndex((key, at) => keys.indexOf(key) !== at)
  if (repeated !== -1) throw invalid([{ path: `/shared/${repeated}`, message: 'is named twice' }])
}

export async function replaceShares(
  tx: Tx,
  workspaceId: string,
  of: 'credential' | 'knowledge',
  subjectId: string,
  shares: readonly NewShare[],
): Promise<void> {
  await tx.count(`delete from ${of}_shares where workspace_id = $1 and ${of}_id = $2`, [workspaceId, subjectId])
  await tx.count(
    `insert into ${of}_shares (workspace_id, ${of}_id, kind, user_id, team_id, role)
     select $1, $2, * from unnest($3::text[], $4::uuid[], $5::uuid[], $6::text[])`,
    [
      workspaceId,
      subjectId,
      shares.map(({ kind }) => kind),
      shares.map((share) => idOf(share, 'user')),
      shares.map((share) => idOf(share, 'team')),
      shares.map(({ role }) => role),
    ],
  )
}
