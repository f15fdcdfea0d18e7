import type { z } from 'zod'
import { recordAudit } from '#platform/audit'
import { refuseWeakPassword } from '#platform/auth/common-passwords'
import { hashPassword } from '#platform/auth/passwords'
import { enterScope, requireUnbound } from '#platform/auth/scope'
import type { Tx } from '#platform/db/pool'
import { invalid, problem } from '#platform/errors'
import { deliverEvent } from '#platform/events'
import { refuseForeignOrigin } from '#platform/http/caller'
import type { Context, Person } from '#platform/http/context'
import type { Exchange } from '#platform/http/route'
import { hashSecret, secretLooksValid, toWire } from '#platform/ids'
import { type Invitations, wireIdOf } from './invitations.ts'
import * as invitationStore from './invitations-store.ts'
import { insertPerson, type People } from './people.ts'
import type { Accepted, AcceptInvitation } from './schema.ts'
import { actingAs, startSession } from './sessions.ts'
import * as store from './store.ts'

type ByToken = { token: string }
type Found = invitationStore.Found

const nobody = { workspaceId: null, userId: null }

export function makeAccepting({ invitations, people }: { invitations: Invitations; people: People }) {
  /**
   * Callers cannot tell whether an invitation was used, expired, was revoked, belongs to another org or never existed.
   */
  const find = async (ctx: Context, tx: Tx, token: string): Promise<Found> => {
    const found = secretLooksValid('inv', token) ? await invitationStore.findByToken(tx, hashSecret(token)) : undefined
    if (!found || found.org_id !== ctx.org.org_id) throw problem('not_found')
    return found
  }

  /**
   * Claims the invitation and makes every check that does not depend on who accepts, before the account is looked up.
   * Otherwise a refusal that only people without an account get would reveal who has one. The claim keeps the thread or
   * job from being deleted.
   */
  const claim = async (tx: Tx, found: Found): Promise<void> => {
    await enterScope(tx, { workspaceId: found.workspace_id, userId: null })
    if ((await invitationStore.claim(tx, found.workspace_id, found.invitation_id)) === 0) throw problem('not_found')
    await invitations.checkPlace(tx, found.workspace_id, found.resource_kind)
  }

  /** Called after the claim. The person exists. */
  const settle = async (ctx: Context, tx: Tx, found: Found, person: Person): Promise<Omit<Accepted, 'session'>> => {
    const { workspace_id: workspaceId, email } = found
    const resource = found.resource_kind && { kind: found.resource_kind, id: found.resource_id! }
    await enterScope(tx, { workspaceId, userId: person.user_id })
    await invitationStore.noteAccepted(tx, workspaceId, found.invitation_id, person.user_id)
    await invitationStore.deleteWaiting(tx, workspaceId, { email, resource_id: found.resource_id })
    await invitations.takeIn(tx, { workspaceId, userId: person.user_id, role: found.role, resource })
    await recordAudit(actingAs(ctx, person, workspaceId), tx, {
      action: 'invitation.accepted',
      subject: toWire('ivt', found.invitation_id),
      data: { role: found.role },
    })
    if (found.invited_by !== null)
      await deliverEvent(tx, {
        workspaceId,
        kind: 'invitation.accepted',
        title: `${person.name} accepted your invitation`,
        body: email,
        data: { user_id: toWire('usr', person.user_id) },
        to: [found.invited_by],
      })
    return {
      user: await store.findUser(tx, person.user_id),
      workspace: await store.findOwnWorkspace(tx, workspaceId, person.user_id),
      resource: resource && { kind: resource.kind, id: wireIdOf(resource) },
    }
  }

  const acceptAsMember = (ctx: Context, found: Found, input: z.output<typeof AcceptInvitation>): Promise<Accepted> => {
    requireUnbound(ctx)
    if (ctx.person.email !== found.email) throw problem('not_found')
    const given = Object.keys(input).filter((field) => field === 'name' || field === 'password')
    if (given.length > 0)
      throw invalid(given.map((field) => ({ path: `/${field}`, message: 'is only for people without an account' })))
    ctx.status(200)
    return ctx.db.tenant(nobody, async (tx) => {
      await claim(tx, found)
      return { ...(await settle(ctx, tx, found, ctx.person)), session: null }
    })
  }

  const acceptAsNew = async (
    ctx: Context,
    found: Found,
    { name, password }: z.output<typeof AcceptInvitation>,
    exchange: Exchange,
  ): Promise<Accepted> => {
    refuseForeignOrigin(exchange.request, ctx.baseUrl)
    if (name === undefined && password === undefined)
      throw problem('unauthenticated', 'Sign in with the invited address, or send name and password for a new account.')
    if (people.reserved.has(found.email)) throw problem('address_reserved', 'Sign up with the claim_token instead.')
    if (name === undefined || password === undefined)
      throw invalid([{ path: name === undefined ? '/name' : '/password', message: 'is required for a new account' }])
    refuseWeakPassword('/password', password, { email: found.email, name })
    const passwordHash = await hashPassword(password)
    const { answer, cookie } = await ctx.db.tenant(nobody, async (tx) => {
      await claim(tx, found)
      const user = await insertPerson(ctx, tx, { email: found.email, name, passwordHash })
      const person = people.personOf(ctx, user)
      const settled = await settle(ctx, tx, found, person)
      const { session, cookie } = await startSession(ctx, tx, exchange, person, found.workspace_id)
      return { answer: { ...settled, session }, cookie }
    })
    ctx.header('set-cookie', cookie)
    return answer
  }

  return {
    async previewInvitation(ctx: Context, { token }: ByToken) {
      const found = await find(ctx, ctx.tx, token)
      return {
        email: found.email,
        role: found.role,
        workspace_name: found.workspace_name,
        invited_by: found.invited_by_name,
        resource_kind: found.resource_kind,
        expires_at: found.expires_at,
      }
    },

    async mayAccept(ctx: Context, { token }: ByToken): Promise<void> {
      const found = await ctx.db.tenant(nobody, (tx) => find(ctx, tx, token))
      if (ctx.maybePerson !== null && ctx.person.email !== found.email) throw problem('not_found')
    },

    async acceptInvitation(
      ctx: Context,
      { token, ...input }: ByToken & z.output<typeof AcceptInvitation>,
      exchange: Exchange,
    ): Promise<Accepted> {
      const found = await ctx.db.tenant(nobody, (tx) => find(ctx, tx, token))
      return ctx.maybePerson === null ? acceptAsNew(ctx, found, input, exchange) : acceptAsMember(ctx, found, input)
    },
  }
}

export type Accepting = ReturnType<typeof makeAccepting>
