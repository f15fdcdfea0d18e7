import { randomInt } from 'node:crypto'
import type { GateOrQuestion } from '#areas/approvals/gate-or-question'
import { namedCookie } from '#platform/auth/cookies'
import { MINUTE, SECOND } from '#platform/clock'
import type { Tx } from '#platform/db/pool'
import { problem } from '#platform/errors'
import { refuseForeignOrigin } from '#platform/http/caller'
import type { Context } from '#platform/http/context'
import type { Exchange } from '#platform/http/route'
import { type AnswerParts, answerGateOrQuestion, maskedAddress, readGateOrQuestion } from './gate-or-question.ts'
import type { Interaction, InteractionAnswer } from './schema.ts'
import * as store from './store.ts'
import { BROWSER_COOKIE, BROWSER_LIFETIME_S, type InteractionTokens } from './tokens.ts'

// The page that a message's link opens. Reading it changes nothing, since mail scanners read links too. An answer
// requires proof that it comes from the original recipient: their session, a browser that has entered a code before, or
// a code sent to the address of the message. So a forwarded link shows the content of the message, but cannot decide.

const CODE_LIFETIME_S = (10 * MINUTE) / SECOND
const MAX_CODES = 5
const MAX_TRIES = 5

type ByLink = { interaction: string }

export type Reaching = AnswerParts & {
  tokens: InteractionTokens
  /** Sends the code to the address of the message. */
  sendCode(message: store.Addressed, code: string): Promise<void>
}

type Found = { message: store.Addressed; matter: GateOrQuestion }

async function find(
  deps: Reaching,
  tx: Tx,
  { interaction }: ByLink,
  { lock = false }: { lock?: boolean } = {},
): Promise<Found> {
  const named = deps.tokens.readLink(interaction)
  const message = named && (await store.findMessage(tx, named.workspaceId, named.messageId, { lock }))
  const matter = message && (await readGateOrQuestion(tx, message))
  if (!message || !matter) throw linkGone()
  return { message, matter }
}

const linkGone = () => problem('not_found', 'The link has expired, or it is not for you any more.')

/** Runs `work` in the workspace that the signed link names. */
async function inScope<T>(
  deps: Reaching,
  ctx: Context,
  { interaction }: ByLink,
  work: (tx: Tx) => Promise<T>,
): Promise<T> {
  const named = deps.tokens.readLink(interaction)
  if (!named) throw linkGone()
  return ctx.db.tenant({ workspaceId: named.workspaceId, userId: null }, work)
}

function proofOf(
  deps: Reaching,
  ctx: Context,
  message: store.Addressed,
  { request }: Exchange,
): 'given' | 'code' | 'sign_in' {
  if (message.requires_factor) return 'sign_in'
  const isSignedIn = ctx.credential.kind === 'session' && ctx.maybePerson?.user_id === message.user_id
  const isKnown = deps.tokens.isBrowserOf(request.cookies[BROWSER_COOKIE], message.user_id, Date.now())
  return isSignedIn || isKnown ? 'given' : 'code'
}

export const getInteraction = (deps: Reaching, ctx: Context, input: ByLink, exchange: Exchange): Promise<Interaction> =>
  inScope(deps, ctx, input, async (tx) => {
    const { message, matter } = await find(deps, tx, input)
    const isOther = message.payload_sha256 !== null && message.payload_sha256 !== matter.sha256
    return {
      kind: matter.kind,
      title: matter.title,
      workspace: message.workspace_name,
      payload: matter.payload,
      payload_sha256: matter.sha256,
      schema: matter.schema,
      status: matter.status,
      outcome: matter.outcome,
      own_answer: matter.own,
      refusal: isOther ? 'It has changed since this message was sent. Look at it in the console.' : matter.refusal,
      person: { name: message.name, reached_at: maskedAddress(message) },
      proof: proofOf(deps, ctx, message, exchange),
      due_at: matter.dueAt,
      expires_at: message.expires_at,
    }
  })

export async function sendInteractionCode(deps: Reaching, ctx: Context, input: ByLink) {
  const code = String(randomInt(1_000_000)).padStart(6, '0')
  const message = await inScope(deps, ctx, input, async (tx) => {
    const { message, matter } = await find(deps, tx, input, { lock: true })
    if (message.requires_factor) throw signInInstead()
    requireOpen(matter)
    if (message.codes_sent >= MAX_CODES)
      throw problem('rate_limited', 'Too many codes were asked for with this link. Sign in to answer.', {
        retryAfterS: CODE_LIFETIME_S,
      })
    await store.keepCode(tx, message, deps.tokens.codeHash(message.message_id, code), CODE_LIFETIME_S)
    return message
  })
  await deps.sendCode(message, code)
  return { sent_to: maskedAddress(message), expires_in_s: CODE_LIFETIME_S }
}

export async function answerInteraction(
  deps: Reaching,
  ctx: Context,
  { interaction, code, payload_sha256, ...given }: ByLink & InteractionAnswer,
  exchange: Exchange,
): Promise<Interaction> {
  refuseForeignOrigin(exchange.request, ctx.baseUrl)
  // The message is not locked: closing a gate or question locks it first, and then its messages.
  const isCodeRight =
    code !== undefined && (await inScope(deps, ctx, { interaction }, (tx) => tryCode(deps, tx, interaction, code)))
  const { userId, proof } = await inScope(deps, ctx, { interaction }, async (tx) => {
    const { message, matter } = await find(deps, tx, { interaction })
    const proof = proofOf(deps, ctx, message, exchange)
    if (proof === 'sign_in') throw signInInstead()
    requireOpen(matter)
    if (proof === 'code' && !isCodeRight)
      throw code === undefined
        ? problem('proof_required', `Enter the code that was sent to ${maskedAddress(message)}, or sign in.`)
        : problem('bad_second_factor', 'The code is wrong or has expired. Ask for a new one.')
    await answerGateOrQuestion(deps, tx, message, matter, given, payload_sha256)
    return { userId: message.user_id, proof }
  })
  if (proof === 'code') {
    const { request } = exchange
    const value = deps.tokens.browserOf(userId, Date.now())
    ctx.header(
      'set-cookie',
      namedCookie(BROWSER_COOKIE, value, {
        config: ctx.config,
        request,
        path: '/api/interactions',
        maxAgeS: BROWSER_LIFETIME_S,
      }),
    )
  }
  return getInteraction(deps, ctx, { interaction }, exchange)
}

async function tryCode(deps: Reaching, tx: Tx, interaction: string, code: string): Promise<boolean> {
  const named = deps.tokens.readLink(interaction)!
  const kept = await store.takeTry(tx, named, MAX_TRIES)
  return kept !== undefined && deps.tokens.codeHash(named.messageId, code.replaceAll(/\D/g, '')).equals(kept.code_hash)
}

function requireOpen({ status, outcome, own, kind }: GateOrQuestion): void {
  if (own !== null && status === 'open') throw problem('already_voted', 'A vote cannot be changed.')
  if (status !== 'open') throw problem(kind === 'approval' ? 'gate_closed' : 'not_waiting', `${outcome}.`)
}

const signInInstead = () =>
  problem('second_factor_required', 'This workspace asks for a second factor. Sign in and answer in the console.')
