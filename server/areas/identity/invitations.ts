import { recordAudit } from '#platform/audit'
import { enterWorkspace } from '#platform/auth/scope'
import { DAY, SECOND } from '#platform/clock'
import type { Tx } from '#platform/db/pool'
import { problem } from '#platform/errors'
import { deliverEvent } from '#platform/events'
import type { Context, WorkspaceRole } from '#platform/http/context'
import { hashSecret, newId, newSecret, toWire } from '#platform/ids'
import { mailWords } from '#platform/mail-language'
import { bindVerbs } from '#platform/verbs'
import { invitationMail } from './account-mail.ts'
import type { ResourceToShare } from './invitations-store.ts'
import * as store from './invitations-store.ts'
import { orgBaseUrl } from './links.ts'
import type { SendMail } from './mail.ts'
import type { RequireVerified } from './verification.ts'

// Invites people who are not members yet to a workspace, a thread or a job. Neither the response nor its duration
// reveals whether the address has an account, because only the members of the workspace are looked up.

const LIFETIME_S = (7 * DAY) / SECOND

/**
 * Adds a person who accepted an invitation to a resource of an area. Runs in the accepting transaction, in the scope of
 * the workspace.
 */
export type OnAccepted = Partial<
  Record<
    ResourceToShare,
    (tx: Tx, accepted: { workspaceId: string; resourceId: string; userId: string; role: string }) => Promise<void>
  >
>

export type Invite = {
  /** The selected workspace by default. */
  workspaceId?: string
  email: string
  role: string
  /** The name in the mail: the name of the workspace, or the title of the thread or job. */
  to: string
  /** Limits the invitation to this thread or job. A new person then becomes a guest of the workspace. */
  resource?: { kind: ResourceToShare; id: string; isHidden?: boolean }
  /** Returns whether an added person may be notified. By default, everyone is. */
  seenBy?: (userId: string) => Promise<boolean>
}

export type InviteAnswer = {
  invitation_id: string
  email: string
  role: string
  state: 'added' | 'invited'
  link?: string
  expires_at?: Date
}

/** Refuses another member if the plan of the workspace does not allow more. */
export type CheckMembers = (tx: Tx, workspaceId: string) => Promise<void>

type Deps = {
  sendMail: SendMail
  onAccepted: OnAccepted
  checkMembers: CheckMembers
  requireVerified: RequireVerified
}

/** Guests do not count as members. */
export const checkPlace = async (
  { checkMembers }: Deps,
  tx: Tx,
  workspaceId: string,
  resourceKind: ResourceToShare | null,
): Promise<void> => {
  if (resourceKind === null) await checkMembers(tx, workspaceId)
}

/**
 * Called after `checkPlace`. Gives the person the workspace role, and the membership of the thread or job if there is
 * one.
 */
export const addToWorkspace = async (
  { onAccepted }: Deps,
  tx: Tx,
  into: { workspaceId: string; userId: string; role: string; resource: Invite['resource'] | null },
): Promise<void> => {
  const { workspaceId, userId, role, resource } = into
  await store.joinWorkspace(tx, workspaceId, userId, resource ? 'guest' : (role as WorkspaceRole))
  if (!resource) return
  const add = onAccepted[resource.kind]
  if (!add) throw new Error(`nothing takes people into a ${resource.kind}`)
  await add(tx, { workspaceId, resourceId: resource.id, userId, role })
}

/** The caller's right to invite must have been checked. */
export async function invite(deps: Deps, ctx: Context, input: Invite): Promise<InviteAnswer> {
  const { email, role, resource } = input
  const workspaceId = input.workspaceId ?? ctx.workspace.workspace_id
  await enterWorkspace(ctx.tx, workspaceId)
  const there = await store.findMemberByEmail(ctx.tx, workspaceId, email)
  if (there && !resource && there.role !== 'guest')
    throw problem('already_exists', `${email} is in the workspace already; change the role there.`)
  if (!there) await deps.requireVerified(ctx)
  await store.deleteWaiting(ctx.tx, workspaceId, { email, resource_id: resource?.id ?? null })
  const invitation_id = newId()
  const token = newSecret('inv')
  const { expires_at } = await store.insertInvitation(ctx.tx, workspaceId, {
    invitation_id,
    email,
    role,
    resource_kind: resource?.kind ?? null,
    resource_id: resource?.id ?? null,
    token_hash: hashSecret(token),
    invited_by: ctx.person.user_id,
    lifetime_s: LIFETIME_S,
    accepted_by: there?.user_id ?? null,
  })
  await recordAudit(ctx, ctx.tx, {
    action: there ? 'member.added' : 'invitation.created',
    subject: there ? toWire('usr', there.user_id) : email,
    workspaceId,
    data: { role, ...(resource && !resource.isHidden && { [resource.kind]: wireIdOf(resource) }) },
  })
  if (there) {
    await checkPlace(deps, ctx.tx, workspaceId, resource?.kind ?? null)
    await addToWorkspace(deps, ctx.tx, { workspaceId, userId: there.user_id, role, resource: resource ?? null })
    if (there.user_id !== ctx.person.user_id && (input.seenBy === undefined || (await input.seenBy(there.user_id))))
      await deliverEvent(ctx.tx, {
        workspaceId,
        kind: 'member.added',
        title: `You were added to ${input.to}`,
        body: `${ctx.person.name} gave you the role ${role}.`,
        to: [there.user_id],
      })
    return { invitation_id, email, role, state: 'added' }
  }
  const link = `${await orgBaseUrl(ctx, ctx.tx)}/invitations/${token}`
  const [from, to] = [inSubject(ctx.person.name), inSubject(input.to)]
  await deps.sendMail(ctx, {
    workspaceId,
    to: email,
    ...invitationMail(from, to, link, mailWords(ctx.language)),
    key: `invitation:${invitation_id}`,
  })
  return { invitation_id, email, role, state: 'invited', link, expires_at }
}

export async function revoke(ctx: Context, workspaceId: string, invitationId: string): Promise<void> {
  const revoked = await store.deleteInvitation(ctx.tx, workspaceId, invitationId)
  if (!revoked) throw problem('not_found')
  await recordAudit(ctx, ctx.tx, {
    action: 'invitation.revoked',
    subject: revoked.email,
    workspaceId,
  })
}

/**
 * Revokes the invitations that a person sent, when the person loses the right to invite. Otherwise an owner who expects
 * to be removed could prepare a way back. `scope` is everything, the workspace itself, or one thread or job.
 */
export async function revokeOf(
  tx: Tx,
  workspaceId: string,
  userId: string,
  scope: 'everything' | 'workspace' | { resourceId: string },
): Promise<void> {
  await store.deleteSentBy(tx, workspaceId, userId, {
    everything: scope === 'everything',
    id: typeof scope === 'object' ? scope.resourceId : null,
  })
}

/** Revokes the invitations to a deleted thread or job. */
export async function revokeTo(tx: Tx, workspaceId: string, resourceId: string): Promise<void> {
  await store.deleteWaitingFor(tx, workspaceId, resourceId)
}

const verbsOfInvitations = {
  checkPlace,
  takeIn: addToWorkspace,
  invite,
}

export function makeInvitations(dependencies: Deps) {
  return { ...bindVerbs<Deps, typeof verbsOfInvitations>(dependencies, verbsOfInvitations), revoke, revokeOf, revokeTo }
}

export type Invitations = ReturnType<typeof makeInvitations>

export const wireIdOf = ({ kind, id }: { kind: ResourceToShare; id: string }): string =>
  toWire(kind === 'thread' ? 'thr' : 'job', id)

/** Shortens a text to one line of limited length, because names and titles are part of a mail's subject. */
const inSubject = (text: string): string => text.replaceAll(/\s+/g, ' ').slice(0, 100)
