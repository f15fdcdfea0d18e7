import { makeCredentials } from '#areas/gateway/credentials'
import { makeWorkLoop } from '#areas/gateway/loop'
import { preferenceRoutes, reachingRoutes } from '#areas/reaching/routes'
import { makeSendCode, sendReachMessage, takeMessages } from '#areas/reaching/sending'
import { makeInteractionTokens } from '#areas/reaching/tokens'
import type { Config } from '#platform/config'
import type { Database } from '#platform/db/pool'
import type { Logger } from '#platform/log'
import type { Vault } from '#platform/secrets'
import type { Providers } from './providers.ts'
import type { wireWorkflows } from './workflows.ts'

const AT_ONCE = 8
const FORGOTTEN_AT_ONCE = 1000

/** Wires gates, questions and notices by mail, and the links in these mails. */
export function wireReaching(options: {
  config: Config
  db: Database
  log: Logger
  vault: Vault
  providers: Providers
  workflows: Pick<Awaited<ReturnType<typeof wireWorkflows>>, 'approvals' | 'questions'>
  baseUrl(): string
}) {
  const { config, db, log, providers, workflows } = options
  const tokens = makeInteractionTokens(options)
  const parts = {
    db,
    log,
    tokens,
    mail: providers.mail,
    channels: providers.channels,
    box: makeCredentials(options.vault),
    baseUrl: options.baseUrl,
  }
  const loop = makeWorkLoop({
    what: 'messages to people',
    atOnce: AT_ONCE,
    // The statement limits what it takes of one workspace.
    ofOne: AT_ONCE,
    log,
    find: (most) => takeMessages(db, most),
    work: (taken) => sendReachMessage(parts, taken),
  })
  return {
    routes: [
      ...preferenceRoutes(),
      ...reachingRoutes({
        tokens,
        approvals: () => workflows.approvals,
        questions: () => workflows.questions,
        sendCode: makeSendCode(parts),
      }),
    ],
    tasks: {
      'messages to people': async () => {
        for (let gone = FORGOTTEN_AT_ONCE; gone === FORGOTTEN_AT_ONCE; )
          gone = (
            await db.maintain<{ gone: number }>('select forget_reach_messages($1) as gone', [FORGOTTEN_AT_ONCE])
          )[0]!.gone
      },
    },
    async start(): Promise<void> {
      await db.maintain('select note_mail_leaves($1)', [config.SMTP_URL !== null])
      if (config.role !== 'api') loop.start()
    },
    stop: loop.stop,
  }
}
