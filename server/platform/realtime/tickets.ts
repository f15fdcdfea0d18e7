import { z } from 'zod'
import { SECOND } from '../clock.ts'
import type { Database } from '../db/pool.ts'
import { problem } from '../errors.ts'
import { type Context, scopeOf } from '../http/context.ts'
import { timestamp } from '../http/schema.ts'
import { hashSecret, newSecret, secretLooksValid } from '../ids.ts'
import type { FeedKind, Viewer } from './feed.ts'

// A ticket opens one socket, once, within 30 seconds, for the person, resource and workspace it was issued for. It
// represents the credential of the request: when the session or key ends, the socket is closed. Only the hash of the
// ticket is stored.

const GOOD_FOR = 30 * SECOND

export const IssuedTicket = z
  .object({
    ticket: z.string(),
    url: z.string().meta({ description: 'Connect with the subprotocols heddle.v1 and ticket.TICKET' }),
    expires_at: timestamp(),
  })
  .meta({ id: 'Ticket' })
export type IssuedTicket = z.input<typeof IssuedTicket>

/** Returns the path of the socket that a ticket is for. */
export const socketOf = ({ url }: Record<string, string>): string => new URL(url!).pathname

/** The person who redeemed a ticket. */
export type TicketHolder = Viewer & { kind: FeedKind; credential_kind: 'session' | 'api_key'; credential_id: string }

/**
 * Issues a ticket. The route must have checked the caller's access to the resource. `path` is the path of the socket,
 * with the wire id.
 */
export async function issueTicket(
  ctx: Context,
  wanted: { kind: FeedKind; resource: string; path: string },
): Promise<IssuedTicket> {
  const { credential } = ctx
  if (credential.kind !== 'session' && credential.kind !== 'api_key') throw problem('unauthenticated')
  const ticket = newSecret('tkt')
  const scope = scopeOf(ctx)
  const { expires_at } = await ctx.tx.row<{ expires_at: Date }>(
    `insert into tickets (token_hash, kind, user_id, workspace_id, resource_id, credential_kind, credential_id, expires_at)
     values ($1, $2, $3, $4, $5, $6, $7, now() + $8 * interval '1 millisecond') returning expires_at`,
    [
      hashSecret(ticket),
      wanted.kind,
      ctx.person.user_id,
      scope.workspaceId,
      wanted.resource,
      credential.kind,
      credential.id,
      GOOD_FOR,
    ],
  )
  return { ticket, url: ctx.baseUrl.replace(/^http/, 'ws') + wanted.path, expires_at }
}

/** Uses up a ticket, regardless of the outcome. */
export async function redeemTicket(db: Database, ticket: string): Promise<TicketHolder | undefined> {
  if (!secretLooksValid('tkt', ticket)) return undefined
  const { rows } = await db.appPool.query<Omit<TicketHolder, 'resource'> & { resource_id: string }>({
    name: 'redeem_ticket',
    text: 'select * from redeem_ticket($1)',
    values: [hashSecret(ticket)],
  })
  const row = rows[0]
  if (!row) return undefined
  const { resource_id, ...rest } = row
  return { ...rest, resource: resource_id }
}

/** A person with the workspace and the credential of their request. */
export type Holder = Pick<TicketHolder, 'user_id' | 'workspace_id' | 'credential_kind' | 'credential_id'>

/** Returns for each holder whether they are still in the workspace and their credential is still valid. */
export async function areStillValid(db: Database, holders: readonly Holder[]): Promise<boolean[]> {
  // A holder with several open sockets is checked once.
  const places = new Map<string, number>()
  const asked: Holder[] = []
  const placeOf = holders.map((holder) => {
    const key = `${holder.user_id} ${holder.workspace_id} ${holder.credential_kind} ${holder.credential_id}`
    const known = places.get(key)
    if (known !== undefined) return known
    places.set(key, asked.length)
    return asked.push(holder) - 1
  })
  const { rows } = await db.appPool.query<{ holds: boolean }>({
    name: 'tickets_hold',
    text: 'select tickets_hold as holds from tickets_hold($1, $2, $3, $4)',
    values: [
      asked.map((holder) => holder.user_id),
      asked.map((holder) => holder.workspace_id),
      asked.map((holder) => holder.credential_kind),
      asked.map((holder) => holder.credential_id),
    ],
  })
  return placeOf.map((place) => rows[place]?.holds ?? false)
}
