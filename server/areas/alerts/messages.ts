import { orgBaseUrl } from '#areas/identity/links'
import { NodeFailure } from '#engine/node'
import type { SendToChannel } from '#engine/nodes/channel-send'
import { makeLru } from '#model/lru'
import type { Database } from '#platform/db/pool'
import { toWire } from '#platform/ids'
import type { Logger } from '#platform/log'
import { mailWords } from '#platform/mail-language'
import { type Mail, MailFailure, type MailMessage } from '#providers/mail/index'

// Mails and channel messages are sent after the transaction that created them has committed. Channels deduplicate by
// key. A mail that is sent again has the same Message-ID.

export type MessageDependencies = {
  db: Database
  log: Logger
  mail: Pick<Mail, 'send' | 'provider'>
  sendToChannel: SendToChannel
  baseUrl(): string
}

type Taken = { workspace_id: string; rule_id: string; number: number; way: 'mail' | 'channel' }
type Message = {
  org_id: string
  subject: string
  body: string
  attempts: number
  config_id: string | null
  channel_to: string | null
  people: { email: string; language: string | null }[]
}

const MAX_ATTEMPTS = 10

/**
 * Selects only people who are in the workspace and can see the workflow now, and whose address is verified unless mails
 * stay in the installation ($5): an unverified address could belong to anyone. The channel is null unless the person
 * who chose it may use channels and see what the rule watches.
 */
const READ = `select m.subject, m.body, m.attempts, r.channel_to, (select u.org_id from memberships s join users u on u.user_id = s.user_id
    where s.workspace_id = m.workspace_id and s.role = 'owner' limit 1) as org_id,
  case when exists (select from memberships s
    where s.workspace_id = r.workspace_id and s.user_id = coalesce(r.channel_by, r.created_by) and (s.role = 'owner' or s.role = 'member' and (
      exists (select from workflows w where w.workspace_id = r.workspace_id and w.workflow_id = r.workflow_id and w.owner_id = s.user_id)
      or exists (select from workflow_people p where p.workspace_id = r.workspace_id and p.workflow_id = r.workflow_id
        and p.user_id = s.user_id)))) then r.config_id end as config_id, array(
    select json_build_object('email', u.email, 'language', u.language) from memberships s join users u on u.user_id = s.user_id
    where s.workspace_id = r.workspace_id and s.user_id = any(r.people) and s.role <> 'guest'
      and ($5 or u.email_verified_at is not null) and (r.workflow_id is null or s.role = 'owner'
      or exists (select from workflows w where w.workspace_id = r.workspace_id and w.workflow_id = r.workflow_id and w.owner_id = s.user_id)
      or exists (select from workflow_people p where p.workspace_id = r.workspace_id and p.workflow_id = r.workflow_id
        and p.user_id = s.user_id))) as people
  from alert_messages m join alert_rules r on r.workspace_id = m.workspace_id and r.rule_id = m.rule_id
  where m.workspace_id = $1 and m.rule_id = $2 and m.number = $3 and m.way = $4`

export const takeMessages = (db: Database, most: number): Promise<Taken[]> =>
  db.appPool
    .query<Taken>({
      name: 'take_alert_messages',
      text: 'select workspace_id, rule_id, number, way from take_alert_messages($1)',
      values: [most],
    })
    .then(({ rows }) => rows)

const mayWorkLater = (error: unknown): boolean => {
  if (error instanceof MailFailure) return error.retryable || error.code === 'quota_exceeded'
  return !(error instanceof NodeFailure) || error.retryable
}

export async function sendMessage(deps: MessageDependencies, taken: Taken): Promise<void> {
  const { workspace_id: workspaceId, rule_id, number, way } = taken
  const scope = { workspaceId, userId: null }
  const key = [workspaceId, rule_id, number, way]
  const ready = await deps.db.tenant(scope, async (tx) => {
    const message = await tx.maybe<Message>(READ, [...key, deps.mail.provider === 'outbox'])
    if (!message) return undefined
    const org = { org_id: message.org_id, name: '' }
    return { message, baseUrl: await orgBaseUrl({ org, baseUrl: deps.baseUrl() }, tx) }
  })
  if (!ready) return
  const { message, baseUrl } = ready
  try {
    await send(deps, taken, message, baseUrl)
  } catch (error) {
    if (mayWorkLater(error) && message.attempts < MAX_ATTEMPTS) throw error
    deps.log.warn({ err: error, workspace_id: workspaceId }, 'a message of an alert could not be sent')
  }
  await deps.db.tenant(scope, (tx) =>
    tx.count('delete from alert_messages where workspace_id = $1 and rule_id = $2 and number = $3 and way = $4', key),
  )
}

/** Mails that were sent. If a mail in another language failed, the message is tried again, but not these. */
const sent = makeLru<true>(1_000)

async function sendOnce({ mail }: MessageDependencies, message: MailMessage): Promise<void> {
  if (sent.get(message.key)) return
  await mail.send(message)
  sent.set(message.key, true)
}

async function send(
  deps: MessageDependencies,
  { workspace_id, rule_id, number, way }: Taken,
  message: Message,
  baseUrl: string,
): Promise<void> {
  const key = `alert:${toWire('alr', rule_id)}:${number}`
  const textOf = (body: string): string => `${body}\n\n${baseUrl}/alerts`
  if (way === 'mail') {
    const failures: unknown[] = []
    for (const [language, people] of Map.groupBy(message.people, (person) => mailWords(person.language).language)) {
      const { notice } = mailWords(language)
      const mail = {
        workspaceId: workspace_id,
        to: people.map(({ email }) => email),
        subject: notice(message.subject),
        text: textOf(notice(message.body)),
        key: language === 'en' ? `${key}:mail` : `${key}:mail:${language}`,
      }
      await sendOnce(deps, mail).catch((error: unknown) => failures.push(error))
    }
    if (failures.length > 0) throw failures.find(mayWorkLater) ?? failures[0]
    return
  }
  if (message.config_id !== null && message.channel_to !== null)
    await deps.sendToChannel({
      workspaceId: workspace_id,
      configId: message.config_id,
      to: message.channel_to,
      text: `${message.subject}\n${textOf(message.body)}`,
      key,
    })
}
