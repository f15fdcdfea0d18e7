import type { z } from 'zod'
import { recordAudit } from '#platform/audit'
import { noSessionCookie, sessionCookie } from '#platform/auth/cookies'
import { enterScope, requireUnbound } from '#platform/auth/scope'
import { DAY, SECOND } from '#platform/clock'
import type { Tx } from '#platform/db/pool'
import { problem } from '#platform/errors'
import type { Context, Person } from '#platform/http/context'
import type { ListInput } from '#platform/http/list'
import type { Exchange } from '#platform/http/route'
import { hashSecret, newId, newSecret, toWire } from '#platform/ids'
import type { endSessionsQuery, Session, SignedIn } from './schema.ts'
import * as store from './store.ts'

const LIFETIME_S = (30 * DAY) / SECOND
const MAX_PER_PERSON = 100

/** The person for the audit log, if the request came in without one. */
export const actingAs = (ctx: Context, person: Person, workspaceId: string | null) => ({
  maybePerson: person,
  maybeWorkspace: workspaceId === null ? null : { workspace_id: workspaceId, role: 'owner' as const },
  address: ctx.address,
  request: ctx,
})

/**
 * Starts a session for this person and returns its cookie. The previous session of the browser ends, so a token that
 * was known before the sign-in becomes useless. Leaves the transaction in the person's scope.
 */
export async function startSession(
  ctx: Context,
  tx: Tx,
  { request }: Exchange,
  person: Person,
  workspaceId: string | null,
): Promise<{ session: Session; cookie: string }> {
  if (ctx.credential.kind === 'session') {
    await enterScope(tx, { workspaceId: null, userId: ctx.person.user_id })
    await store.deleteSession(tx, ctx.person.user_id, ctx.credential.id)
  }
  await enterScope(tx, { workspaceId, userId: person.user_id })
  const token = newSecret('ses')
  const session = await store.insertSession(tx, {
    session_id: newId(),
    user_id: person.user_id,
    token_hash: hashSecret(token),
    selected_workspace_id: workspaceId,
    user_agent: request.headers['user-agent']?.slice(0, 300) ?? null,
    address: ctx.address,
    lifetime_s: LIFETIME_S,
  })
  await store.trimSessions(tx, person.user_id, MAX_PER_PERSON)
  return {
    session: { ...session, current: true },
    cookie: sessionCookie(token, { config: ctx.config, request, maxAgeS: LIFETIME_S }),
  }
}

/** Starts a session in the first of the person's workspaces, and returns the data that the console shows first. */
export async function enterAs(
  ctx: Context,
  tx: Tx,
  exchange: Exchange,
  person: Person,
  action: string,
): Promise<{ answer: SignedIn; cookie: string }> {
  const { session, cookie } = await startSession(ctx, tx, exchange, person, null)
  await recordAudit(actingAs(ctx, person, null), tx, { action, subject: toWire('ses', session.session_id) })
  const [workspace = null] = await store.listOwnWorkspaces(tx, person.user_id)
  const user = await store.findUser(tx, person.user_id)
  return { answer: { user, workspace, session }, cookie }
}

export function makeSessions() {
  const currentId = (ctx: Context): string | null => (ctx.credential.kind === 'session' ? ctx.credential.id : null)
  const clearCookie = (ctx: Context, { request }: Exchange): void =>
    ctx.header('set-cookie', noSessionCookie({ config: ctx.config, request }))

  return {
    /** Does nothing with an API key, because there is no session to end. */
    async signOut(ctx: Context, _input: unknown, exchange: Exchange): Promise<void> {
      clearCookie(ctx, exchange)
      const sessionId = currentId(ctx)
      if (sessionId === null) return
      await store.deleteSession(ctx.tx, ctx.person.user_id, sessionId)
      await recordAudit(ctx, ctx.tx, {
        action: 'session.ended',
        subject: toWire('ses', sessionId),
        workspaceId: null,
      })
    },

    async listSessions(ctx: Context, asked: ListInput) {
      requireUnbound(ctx)
      return store.listSessions(ctx.tx, ctx.person.user_id, currentId(ctx), asked)
    },

    async getSession(ctx: Context, { session_id }: { session_id: string }): Promise<Session> {
      requireUnbound(ctx)
      const session = await store.findSession(ctx.tx, ctx.person.user_id, currentId(ctx), session_id)
      if (!session) throw problem('not_found')
      return session
    },

    async endSessions(
      ctx: Context,
      { keep_current }: z.output<typeof endSessionsQuery>,
      exchange: Exchange,
    ): Promise<void> {
      requireUnbound(ctx)
      const kept = keep_current === 'true' ? currentId(ctx) : null
      const ended = await store.deleteSessions(ctx.tx, ctx.person.user_id, kept)
      await recordAudit(ctx, ctx.tx, { action: 'session.all_ended', workspaceId: null, data: { ended } })
      if (kept === null) clearCookie(ctx, exchange)
    },

    async endSession(ctx: Context, { session_id }: { session_id: string }, exchange: Exchange): Promise<void> {
      requireUnbound(ctx)
      if ((await store.deleteSession(ctx.tx, ctx.person.user_id, session_id)) === 0) throw problem('not_found')
      await recordAudit(ctx, ctx.tx, {
        action: 'session.ended',
        subject: toWire('ses', session_id),
        workspaceId: null,
      })
      if (session_id === currentId(ctx)) clearCookie(ctx, exchange)
    },
  }
}

export type Sessions = ReturnType<typeof makeSessions>
