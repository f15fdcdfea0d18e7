import type { Matter } from '#areas/approvals/for-person'
import { orgBaseUrl } from '#areas/identity/links'
import type { Database, Tx } from '#platform/db/pool'
import type { Logger } from '#platform/log'
import { type Mail, MailFailure } from '#providers/mail/index'
import { mailOf } from './mail-text.ts'
import { readMatter } from './matter.ts'
import * as store from './store.ts'
import type { InteractionTokens } from './tokens.ts'

// Messages leave after the transaction that made them, at least once. Whether they are still needed is asked when they leave.

const MAX_ATTEMPTS = 10
const AT_ONCE_OF_ONE_WORKSPACE = 4
/** Of one person within an hour; more wait, and are not sent at all where the matter is settled meanwhile. */
export const MAX_PER_HOUR = 30
const FULL_WAIT_S = 300
const MAX_WAIT_S = 900

export type Taken = { workspace_id: string; message_id: string }

/** A message with what it is about, read when it leaves. */
export type Ready = { message: store.Addressed; matter: Matter | undefined; baseUrl: string }

export type SendingParts = {
  db: Database
  log: Logger
  mail: Pick<Mail, 'send' | 'provider'>
  tokens: InteractionTokens
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

/** Whether it still asks this person something: a matter that ended, or that they answered, is not sent. */
const isNeeded = ({ matter }: store.Message, read: Matter | undefined): boolean =>
  matter === null || (read?.status === 'open' && read.own === null && read.refusal === null)

/** Undefined where there is nothing to send now. */
async function prepare(parts: SendingParts, tx: Tx, taken: Taken): Promise<Ready | undefined> {
  const message = await store.findMessage(tx, taken.workspace_id, taken.message_id, { lock: true })
  if (message?.state !== 'due') return undefined
  const matter = await readMatter(tx, message)
  // An address that nobody has proven could be anybody's.
  const isReachable = parts.mail.provider === 'outbox' || message.is_verified
  if (!isReachable || !isNeeded(message, matter) || message.attempts > MAX_ATTEMPTS) {
    await store.markDone(tx, message)
    return undefined
  }
  if ((await store.countSent(tx, message)) >= MAX_PER_HOUR) {
    await store.delay(tx, message, FULL_WAIT_S)
    return undefined
  }
  if (matter) await store.bindPayload(tx, message, matter.sha256)
  const org = { org_id: message.org_id, name: '' }
  return { message, matter, baseUrl: await orgBaseUrl({ org, baseUrl: parts.baseUrl() }, tx) }
}

const scopeOf = ({ workspace_id }: Taken) => ({ workspaceId: workspace_id, userId: null })

export async function sendReachMessage(parts: SendingParts, taken: Taken): Promise<boolean> {
  const { db, log } = parts
  const ready = await db.tenant(scopeOf(taken), (tx) => prepare(parts, tx, taken))
  if (!ready) return true
  try {
    await sendMail(parts, ready)
    await db.tenant(scopeOf(taken), (tx) => store.markSent(tx, ready.message))
  } catch (error) {
    if (!(error instanceof MailFailure)) throw error
    const mayWorkLater = error.retryable || error.code === 'quota_exceeded'
    if (!mayWorkLater) log.warn({ err: error, workspace_id: taken.workspace_id }, 'a message to a person was not sent')
    const wait = Math.min(30 * 2 ** ready.message.attempts, MAX_WAIT_S)
    await db.tenant(scopeOf(taken), (tx) =>
      mayWorkLater ? store.delay(tx, ready.message, wait) : store.markDone(tx, ready.message),
    )
  }
  return true
}

async function sendMail({ mail, tokens }: SendingParts, { message, matter, baseUrl }: Ready): Promise<void> {
  const { workspace_id: workspaceId, message_id: messageId, link } = message
  const answerUrl = `${baseUrl}/answer/${tokens.linkOf({ workspaceId, messageId })}`
  const isAbsolute = link !== null && /^https?:/.test(link)
  await mail.send({
    workspaceId,
    to: [message.email],
    ...mailOf({
      title: message.title,
      body: message.body,
      workspace: message.workspace_name,
      ...(matter && { asked: { matter, answerUrl, expiresAt: message.expires_at } }),
      consoleUrl: isAbsolute ? link : `${baseUrl}${link ?? '/notifications'}`,
      preferencesUrl: `${baseUrl}/account/notifications`,
    }),
    key: `reach:${messageId}`,
  })
}

/** The code that proves that the person who holds a link also reads this mailbox. */
export const makeSendCode =
  ({ mail }: Pick<SendingParts, 'mail'>) =>
  async (message: store.Addressed, code: string): Promise<void> => {
    await mail.send({
      workspaceId: message.workspace_id,
      to: [message.email],
      subject: `${code} is your code`,
      text: `Enter this code on the page that asks for it: ${code}\n\nIt is about “${message.title}” and works for ten minutes. If you did not ask for it, somebody else has your link: do not pass the code on.\n`,
      key: `reach-code:${message.message_id}:${message.codes_sent}`,
    })
  }
