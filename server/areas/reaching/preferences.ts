import { z } from 'zod'
import { notificationKinds } from '#model/notification-kinds'
import type { Tx } from '#platform/db/pool'
import { invalid } from '#platform/errors'
import type { Context } from '#platform/http/context'
import { mailLanguages } from '#platform/mail-language'

// How a person is notified of events in the workspace, by kind of notice. Each person sets their own preferences.

const kinds = notificationKinds.map(({ kind }) => kind) as [string, ...string[]]

const ways = {
  app: z.boolean().describe('In the console, under the bell'),
  mail: z.boolean().describe('By mail to the address of the account'),
}
const channel = z.boolean().describe('In the chat apps that are linked, with buttons where something is asked')

const language = z.enum(mailLanguages)

const Chosen = z.strictObject({ kind: z.enum(kinds), ...ways, channel: channel.optional() })

export const NewPreferences = z
  .strictObject({
    preferences: z
      .array(Chosen)
      .max(kinds.length)
      .describe('Kinds that are left out get their default; an empty list resets everything'),
    language: language
      .optional()
      .describe(
        'The language of mails and of messages in chat apps to the person, in every workspace. Left out, it stays as it is',
      ),
  })
  .meta({ id: 'NewNotificationPreferences' })

export const Preferences = z
  .object({
    preferences: z
      .array(
        z.object({
          kind: z.enum(kinds),
          title: z.string().describe('What the kind is about, in words'),
          ...ways,
          channel,
          is_default: z.boolean().describe('The person has chosen nothing for this kind'),
        }),
      )
      .describe('Every kind about which one can choose'),
    mail: z
      .enum(['sent', 'kept', 'unverified'])
      .describe(
        '`sent`: mails reach the person. `kept`: no mail server is configured, so operators see them in the outbox. `unverified`: the address of the account must be confirmed first',
      ),
    language: language.describe('The language of mails and of messages in chat apps to the person'),
  })
  .meta({ id: 'NotificationPreferences' })

type Chosen = { kind: string; app: boolean; mail: boolean; channel: boolean | null }

const list = (tx: Tx, workspaceId: string, userId: string): Promise<Chosen[]> =>
  tx.rows<Chosen>(
    'select kind, app, mail, channel from notification_preferences where workspace_id = $1 and user_id = $2',
    [workspaceId, userId],
  )

export async function getPreferences(ctx: Context): Promise<z.input<typeof Preferences>> {
  const { user_id } = ctx.person
  const chosen = await list(ctx.tx, ctx.workspace.workspace_id, user_id)
  const sendsMail = ctx.config.SMTP_URL !== null
  const { is_verified, language } = await ctx.tx.row<{ is_verified: boolean; language: string | null }>(
    'select email_verified_at is not null as is_verified, language from users where user_id = $1',
    [user_id],
  )
  return {
    preferences: notificationKinds.map(({ kind, title, asks }) => {
      const own = chosen.find((one) => one.kind === kind)
      const { app, mail } = own ?? { app: true, mail: asks && sendsMail }
      return { kind, title, app, mail, channel: own?.channel ?? asks, is_default: own === undefined }
    }),
    mail: sendsMail ? (is_verified ? 'sent' : 'unverified') : 'kept',
    language: language ?? 'en',
  }
}

export async function setPreferences(
  ctx: Context,
  { preferences, language: chosen }: z.output<typeof NewPreferences>,
): Promise<z.input<typeof Preferences>> {
  const named = preferences.map(({ kind }) => kind)
  if (new Set(named).size < named.length) throw invalid([{ path: '/preferences', message: 'must name each kind once' }])
  const own = [ctx.workspace.workspace_id, ctx.person.user_id]
  await ctx.tx.count(
    'delete from notification_preferences where workspace_id = $1 and user_id = $2 and kind <> all ($3)',
    [...own, named],
  )
  await ctx.tx.count(
    `insert into notification_preferences (workspace_id, user_id, kind, app, mail, channel)
     select $1::uuid, $2::uuid, * from unnest($3::text[], $4::boolean[], $5::boolean[], $6::boolean[]) order by 1
     on conflict (workspace_id, user_id, kind) do update
       set app = excluded.app, mail = excluded.mail, channel = excluded.channel`,
    [
      ...own,
      named,
      preferences.map(({ app }) => app),
      preferences.map(({ mail }) => mail),
      preferences.map((one) => one.channel ?? null),
    ],
  )
  if (chosen !== undefined)
    await ctx.tx.count('update users set language = $2 where user_id = $1', [ctx.person.user_id, chosen])
  return getPreferences(ctx)
}
