import { blobDirectory, type Config } from '#platform/config'
import type { Database } from '#platform/db/pool'
import { makeOutgoing } from '#platform/outgoing/outgoing'
import { makeSandbox } from '#platform/sandbox/sandbox'
import { makeDiskBlobs } from '#providers/blobs/disk'
import { makeLanguageModel } from '#providers/llm/configured'
import { insertIntoOutbox, makeOutboxMail } from '#providers/mail/outbox'
import { makeSmtpMail } from '#providers/mail/smtp'
import { makeTheOddsApi } from '#providers/odds/the-odds-api'

/** Picks the vendors: what is configured, else what works offline. */
export function wireProviders({ config, db }: { config: Config; db: Database }) {
  const outgoing = makeOutgoing({ allowTargets: config.HEDDLE_ALLOW_TARGETS })
  const sandbox = makeSandbox()
  const mail =
    config.SMTP_URL === null
      ? makeOutboxMail({
          store: (row) => db.tenant({ workspaceId: row.workspace_id, userId: null }, (tx) => insertIntoOutbox(tx, row)),
        })
      : makeSmtpMail({ url: config.SMTP_URL, from: config.SMTP_FROM })
  const odds = makeTheOddsApi({ key: config.ODDS_API_KEY, base: config.ODDS_API_BASE })
  const llm = makeLanguageModel(config)
  const blobs = makeDiskBlobs(blobDirectory(config))
  return {
    outgoing,
    sandbox,
    mail,
    odds,
    llm,
    blobs,
    async stop(): Promise<void> {
      await Promise.all([sandbox.close(), mail.close(), outgoing.close()])
    },
  }
}

export type Providers = ReturnType<typeof wireProviders>
