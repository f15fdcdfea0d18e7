import type { GateOrQuestion } from '#areas/approvals/gate-or-question'
import type { CredentialBox } from '#areas/gateway/credentials'
import { orgBaseUrl } from '#areas/identity/links'
import type { Database, Tx } from '#platform/db/pool'
import type { Logger } from '#platform/log'
import { mailWords } from '#platform/mail-language'
import type { Channels } from '#providers/channels/channels'
import { ChannelFailure } from '#providers/channels/index'
import { type Mail, MailFailure } from '#providers/mail/index'
import { channelTextOf, settledText } from './channel-text.ts'
import { readGateOrQuestion } from './gate-or-question.ts'
import { type ChannelAddress, findChannelAddress } from './identity-store.ts'
import { mailOf } from './mail-text.ts'
import * as store from './store.ts'
import type { InteractionTokens } from './tokens.ts'

// Messages are sent after the transaction that created them, at least once. Whether a message is still needed is
// checked when it is sent.

const MAX_ATTEMPTS = 10
const AT_ONCE_OF_ONE_WORKSPACE = 4
/**
 * The maximum number of messages to one person within an hour. More messages wait, and are dropped if their question is
 * closed in the meantime.
 */
export const MAX_PER_HOUR = 30
const FULL_WAIT_S = 300
const MAX_WAIT_S = 900

export type Taken = { workspace_id: string; message_id: string }

/** A message with its gate or question, read when the message is sent. */
export type Ready = {
  message: store.Addressed
  matter: GateOrQuestion | undefined
  baseUrl: string
  channelAddress: ChannelAddress | undefined
}

export type SendingParts = {
  db: Database
  log: Logger
  mail: Pick<Mail, 'send' | 'provider'>
  tokens: InteractionTokens
  channels: Channels
  box: CredentialBox
  baseUrl(): string
}

export const takeMessages = (db: Database, most: number): Promise<Taken[]> =>
  db.appPool
    .query<Taken>({
      name: 'take_reach_messages',
      text: 'select workspace_id, message_id from take_reach_messages($1, $2)',
      values: [most, AT_ONCE_OF_ONE_WORKSPACE],
    })
    .then(({ rows }) => rows)

/** Checks whether the message is still needed: its gate or question is open, and this person has not answered. */
const isNeeded = ({ matter }: store.Message, read: GateOrQuestion | undefined): boolean =>
  matter === null || (read?.status === 'open' && read.own === null && read.refusal === null)

/** Returns undefined if there is nothing to send now. */
async function prepare(parts: SendingParts, tx: Tx, taken: Taken): Promise<Ready | undefined> {
  const message = await store.findMessage(tx, taken.workspace_id, taken.message_id, { lock: true })
  if (message?.state !== 'due') return undefined
  const matter = await readGateOrQuestion(tx, message)
  const channelAddress =
    message.identity_id === null ? undefined : await findChannelAddress(tx, message.workspace_id, message.identity_id)
  // An unverified address could belong to anyone.
  const isReachable =
    message.identity_id === null
      ? parts.mail.provider === 'outbox' || message.is_verified
      : channelAddress?.enabled === true
  const isChange = message.outcome !== null && message.sent_ref !== null
  if (!isReachable || !(isChange || isNeeded(message, matter)) || message.attempts > MAX_ATTEMPTS) {
    await store.markDone(tx, message)
    return undefined
  }
  if (!isChange && (await store.countSent(tx, message)) >= MAX_PER_HOUR) {
    await store.delay(tx, message, FULL_WAIT_S)
    return undefined
  }
  if (matter && !isChange) await store.bindPayload(tx, message, matter.sha256)
  const org = { org_id: message.org_id, name: '' }
  return { message, matter, channelAddress, baseUrl: await orgBaseUrl({ org, baseUrl: parts.baseUrl() }, tx) }
}

const scopeOf = ({ workspace_id }: Pick<Taken, 'workspace_id'>) => ({ workspaceId: workspace_id, userId: null })

export async function sendReachMessage(parts: SendingParts, taken: Taken): Promise<boolean> {
  const { db, log } = parts
  const ready = await db.tenant(scopeOf(taken), (tx) => prepare(parts, tx, taken))
  if (!ready) return true
  try {
    if (ready.channelAddress) await sendToChannel(parts, ready, ready.channelAddress)
    else {
      await sendMail(parts, ready)
      await db.tenant(scopeOf(taken), (tx) => store.markSent(tx, ready.message))
    }
  } catch (error) {
    if (!(error instanceof MailFailure) && !(error instanceof ChannelFailure)) throw error
    const mayWorkLater = error.retryable || error.code === 'quota_exceeded'
    if (!mayWorkLater)
      log.warn({ err: error, workspace_id: taken.workspace_id }, 'a message to a person could not be sent')
    const wait = Math.min(30 * 2 ** ready.message.attempts, MAX_WAIT_S)
    await db.tenant(scopeOf(taken), (tx) =>
      mayWorkLater ? store.delay(tx, ready.message, wait) : store.markDone(tx, ready.message),
    )
  }
  return true
}

const consoleUrlOf = ({ message: { link }, baseUrl }: Ready): string =>
  link !== null && /^https?:/.test(link) ? link : `${baseUrl}${link ?? '/notifications'}`

/**
 * Sends the message with its buttons, or updates it when the gate or question is closed, with the name of who decided.
 */
async function sendToChannel(parts: SendingParts, ready: Ready, channelAddress: ChannelAddress): Promise<void> {
  const { message, matter } = ready
  const { db, tokens, channels, box } = parts
  const { buttons } = channels[channelAddress.channel]
  if (!buttons) throw new ChannelFailure('refused', 'This channel has no buttons.')
  const config = { external_id: channelAddress.external_id, credentials: box.open(channelAddress) }
  const { workspace_id: workspaceId, message_id: messageId, sent_ref: ref, outcome } = message
  const { address } = channelAddress
  const words = mailWords(message.language)
  if (ref !== null && outcome !== null) {
    await buttons.change(config, { address, ref, text: settledText(message.title, outcome, words) })
    await db.tenant(scopeOf(message), (tx) => store.markChanged(tx, message, matter?.status !== 'open'))
    return
  }
  const { text, choices } = channelTextOf({
    title: message.title,
    body: message.body,
    workspace: message.workspace_name,
    matter,
    mayPress: !message.requires_factor,
    consoleUrl: consoleUrlOf(ready),
    words,
  })
  const outbound = { address, text, key: `reach:${messageId}`, workspaceId }
  if (choices.length === 0) {
    await channels[channelAddress.channel].send(config, outbound)
    await db.tenant(scopeOf(message), (tx) => store.markSent(tx, message))
    return
  }
  const sent = await buttons.send(config, {
    ...outbound,
    choices: choices.map(({ label }, at) => ({ label, value: tokens.buttonOf({ workspaceId, messageId }, at) })),
  })
  await db.tenant(scopeOf(message), (tx) => store.markSent(tx, message, sent))
}

async function sendMail({ mail, tokens }: SendingParts, ready: Ready): Promise<void> {
  const { message, matter, baseUrl } = ready
  const { workspace_id: workspaceId, message_id: messageId } = message
  const answerUrl = `${baseUrl}/answer/${tokens.linkOf({ workspaceId, messageId })}`
  await mail.send({
    workspaceId,
    to: [message.email],
    ...mailOf(
      {
        title: message.title,
        body: message.body,
        workspace: message.workspace_name,
        ...(matter && { asked: { matter, answerUrl, expiresAt: message.expires_at } }),
        consoleUrl: consoleUrlOf(ready),
        preferencesUrl: `${baseUrl}/account/notifications`,
      },
      mailWords(message.language),
    ),
    key: `reach:${messageId}`,
  })
}

/** Sends the code that proves that the person with the link also reads this mailbox. */
export const makeSendCode =
  ({ mail }: Pick<SendingParts, 'mail'>) =>
  async (message: store.Addressed, code: string): Promise<void> => {
    const { say, notice } = mailWords(message.language)
    const about = say(
      'The code is for “{0}” and is valid for ten minutes. If you did not request it, someone else has your link: do not share the code.',
      [notice(message.title)],
    )
    await mail.send({
      workspaceId: message.workspace_id,
      to: [message.email],
      subject: say('{0} is your code', [code]),
      text: `${say('Enter this code on the page that asks for it: {0}', [code])}\n\n${about}\n`,
      key: `reach-code:${message.message_id}:${message.codes_sent}`,
    })
  }
