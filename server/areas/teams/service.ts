import type { z } from 'zod'
import type { OnMemberRemoved } from '#areas/workspaces/member-removal'
import type { FindAccessLevel } from '#platform/access/check'
import { recordAudit } from '#platform/audit'
import { isUniqueViolation } from '#platform/db/pool'
import { problem, unknownReference } from '#platform/errors'
import type { Context } from '#platform/http/context'
import type { ListInput } from '#platform/http/list'
import { newId, toWire } from '#platform/ids'
import { listAsOperator } from '#platform/operator'
import type { AddUsers, NewTeam, Team, TeamPatch } from './schema.ts'
import { freeSlug, slugOf } from './slug.ts'
import * as store from './store.ts'

type ById = { team_id: string }

/** Returns the role in the team's own workspace. The creator counts as owner while they may write in the workspace. */
export const accessLevelInTeam: FindAccessLevel = async (ctx, teamId) => {
  const rights = await store.findTeamRights(ctx.tx, ctx.person.user_id, teamId)
  if (!rights || rights.role === 'guest') return undefined
  return rights.created && rights.role === 'member' ? 'owner' : rights.role
}

const slugTaken = (slug: string) =>
  problem('already_exists', `Another team of the workspace has the slug "${slug}". Choose another one.`)

export const getTeam = async (ctx: Context, { team_id }: ById): Promise<Team> => {
  const team = await store.findTeam(ctx.tx, team_id)
  if (!team) throw problem('not_found')
  return team
}

export const listTeams = (ctx: Context, asked: ListInput) =>
  ctx.person.operator
    ? listAsOperator(ctx, 'teams', (tx) => store.listAllTeams(tx, asked))
    : store.listTeams(ctx.tx, ctx.person.user_id, asked)

export async function createTeam(ctx: Context, input: z.output<typeof NewTeam>): Promise<Team> {
  const { workspace_id } = ctx.workspace
  const team = { team_id: newId(), owner_id: ctx.person.user_id, description: null, ...input }
  const wanted = input.slug ?? slugOf(input.name)
  let slug = wanted
  while (!(await store.insertTeam(ctx.tx, workspace_id, { ...team, slug }))) {
    if (input.slug !== undefined) throw slugTaken(input.slug)
    slug = freeSlug(wanted, await store.slugsLike(ctx.tx, workspace_id, wanted))
  }
  return getTeam(ctx, team)
}

export async function getTeamBySlug(ctx: Context, { slug }: { slug: string }): Promise<Team> {
  const workspaceId = ctx.maybeWorkspace?.workspace_id ?? null
  const found = await store.findTeamIdBySlug(ctx.tx, workspaceId, ctx.person.user_id, slug)
  if (found === undefined) throw problem('not_found')
  return getTeam(ctx, { team_id: found })
}

export async function updateTeam(
  ctx: Context,
  { team_id, ...patch }: ById & z.output<typeof TeamPatch>,
): Promise<Team> {
  try {
    await store.updateTeam(ctx.tx, team_id, patch)
  } catch (error) {
    if (isUniqueViolation(error)) throw slugTaken(patch.slug!)
    throw error
  }
  return getTeam(ctx, { team_id })
}

export async function deleteTeam(ctx: Context, { team_id }: ById): Promise<void> {
  const { workspace_id } = await getTeam(ctx, { team_id })
  await store.deleteTeam(ctx.tx, team_id)
  ctx.tx.hint('access', '')
  await recordAudit(ctx, ctx.tx, {
    action: 'team.deleted',
    subject: toWire('team', team_id),
    workspaceId: workspace_id,
  })
}

/** Adds all users or none: a user who is not in the team's workspace refuses the whole request. */
export async function addUsers(ctx: Context, { team_id, user_ids }: ById & z.output<typeof AddUsers>): Promise<Team> {
  const { workspace_id } = await getTeam(ctx, { team_id })
  const colleagues = await store.holdColleagues(ctx.tx, workspace_id, user_ids)
  const unknown = user_ids.flatMap((userId, at) => (colleagues.has(userId) ? [] : [`/user_ids/${at}`]))
  if (unknown.length > 0) throw unknownReference(...unknown)
  const added = await store.insertTeamMembers(ctx.tx, workspace_id, team_id, [...colleagues])
  if (added.length > 0)
    await recordAudit(ctx, ctx.tx, {
      action: 'team.users_added',
      subject: toWire('team', team_id),
      workspaceId: workspace_id,
      data: { user_ids: added.map((userId) => toWire('usr', userId)) },
    })
  return getTeam(ctx, { team_id })
}

export async function getMember(
  ctx: Context,
  { team_id, user_id }: ById & { user_id: string },
): Promise<Team['members'][number]> {
  const member = (await getTeam(ctx, { team_id })).members.find((one) => one.user_id === user_id)
  if (!member) throw problem('not_found')
  return member
}

/** Ownership of the team does not depend on membership, so even the last member can be removed. */
export async function removeMember(ctx: Context, { team_id, user_id }: ById & { user_id: string }): Promise<void> {
  const { workspace_id } = await getTeam(ctx, { team_id })
  if (!(await store.deleteTeamMember(ctx.tx, workspace_id, team_id, user_id))) throw problem('not_found')
  ctx.tx.hint('access', user_id)
  await recordAudit(ctx, ctx.tx, {
    action: user_id === ctx.person.user_id ? 'team.left' : 'team.user_removed',
    subject: toWire('team', team_id),
    workspaceId: workspace_id,
    data: { user_ids: [toWire('usr', user_id)] },
  })
}

export const leaveTeams: OnMemberRemoved = async (tx, { workspaceId, userId }) => {
  await store.deleteFromTeams(tx, workspaceId, userId)
}
