import type { Allowances } from '#areas/payments/allowances'
import { meterMail } from '#areas/payments/resource-meters'
import { SECOND } from '#platform/clock'
import { blobDirectory, type Config } from '#platform/config'
import type { Database } from '#platform/db/pool'
import type { Logger } from '#platform/log'
import { makeOutgoing } from '#platform/outgoing/outgoing'
import { makeSandbox } from '#platform/sandbox/sandbox'
import { makeDiskBlobs } from '#providers/blobs/disk'
import { makeS3Blobs } from '#providers/blobs/s3'
import { makeChannels } from '#providers/channels/channels'
import { makeConversion } from '#providers/conversion/process'
import { makeLanguageModel, modelForTenants } from '#providers/llm/configured'
import { makeInstallationEmbeddings } from '#providers/llm/installation-embeddings'
import { insertIntoOutbox, makeOutboxMail } from '#providers/mail/outbox'
import { makeSmtpMail } from '#providers/mail/smtp'
import { makeTheOddsApi } from '#providers/odds/the-odds-api'
import { makeLocalSpeech } from '#providers/speech/local'
import { makeOpenAiSpeech } from '#providers/speech/openai'
import { makeAudioProcess } from '#providers/speech/process'
import { AUDIO_LIMITS } from '#providers/transcription/index'
import { makeLocalTranscription } from '#providers/transcription/local'
import { makeOpenAiTranscription } from '#providers/transcription/openai'

export type ProvidersOptions = {
  config: Config
  db: Database
  log?: Logger
  /** Returns the processor time that the plan of a workspace allows for code. Undefined if the plan does not set it. */
  cpuSecondsPerMinute?(workspaceId: string): Promise<number | null | undefined>
  /** Limits the mails of workspaces, and counts the processor time of their code. */
  allowances?: Allowances
}

/** Creates the providers: those that are configured, otherwise those that work offline. */
export function wireProviders({ config, db, log, cpuSecondsPerMinute, allowances }: ProvidersOptions) {
  const outgoing = makeOutgoing({ allowTargets: config.HEDDLE_ALLOW_TARGETS })
  const sandbox = makeSandbox({
    async budgetOf(workspaceId) {
      const seconds = await cpuSecondsPerMinute?.(workspaceId).catch(() => undefined)
      return seconds === null ? null : (seconds ?? config.HEDDLE_CPU_S_PER_MINUTE) * SECOND
    },
    onUsed: (workspaceId, ms) => allowances?.add(workspaceId, 'cpu_ms_per_minute', ms),
  })
  const plainMail =
    config.SMTP_URL === null
      ? makeOutboxMail({
          store: (row) => db.tenant({ workspaceId: row.workspace_id, userId: null }, (tx) => insertIntoOutbox(tx, row)),
        })
      : makeSmtpMail({ url: config.SMTP_URL, from: config.SMTP_FROM })
  const mail = allowances ? meterMail({ mail: plainMail, db, allowances, config }) : plainMail
  const odds = makeTheOddsApi({ key: config.ODDS_API_KEY, base: config.ODDS_API_BASE })
  const llm = modelForTenants(makeLanguageModel(config), config.LLM_FOR_TENANTS === 'open')
  const blobs =
    config.S3_BUCKET === null
      ? makeDiskBlobs(blobDirectory(config))
      : makeS3Blobs({
          bucket: config.S3_BUCKET,
          endpoint: config.S3_ENDPOINT,
          region: config.S3_REGION,
          accessKeyId: config.S3_ACCESS_KEY_ID,
          secretAccessKey: config.S3_SECRET_ACCESS_KEY,
        })
  const voices = wireVoices(config, log)
  const channels = makeChannels({
    bases: {
      slack: config.SLACK_API_BASE,
      telegram: config.TELEGRAM_API_BASE,
      whatsapp: config.WHATSAPP_API_BASE,
      discord: config.DISCORD_API_BASE,
    },
    mail,
    outgoing,
  })
  const conversion = makeConversion()
  return {
    outgoing,
    conversion,
    sandbox,
    mail,
    odds,
    llm,
    embeddings: makeInstallationEmbeddings(config),
    blobs,
    channels,
    ...voices,
    async stop(): Promise<void> {
      await Promise.all([sandbox.close(), mail.close(), outgoing.close(), conversion.close(), voices.audio.close()])
    },
  }
}

/** Speech and transcription share one process, which also checks audio from users before a service is called. */
function wireVoices(config: Config, log: Logger | undefined) {
  const audio = makeAudioProcess({
    niceness: config.SPEECH_NICENESS,
    onFault: (fault) => log?.warn({ fault }, 'the audio process failed'),
  })
  const limits = { bytes: config.HEDDLE_MAX_AUDIO_BYTES, duration_s: AUDIO_LIMITS.duration_s }
  if (config.SPEECH_BASE_URL === null)
    return { audio, speech: makeLocalSpeech({ audio }), transcription: makeLocalTranscription({ audio, limits }) }
  const endpoint = {
    baseUrl: config.SPEECH_BASE_URL,
    ...(config.SPEECH_API_KEY !== null && { apiKey: config.SPEECH_API_KEY }),
  }
  return {
    audio,
    speech: makeOpenAiSpeech(endpoint),
    transcription: makeOpenAiTranscription({ ...endpoint, audio, limits }),
  }
}

export type Providers = ReturnType<typeof wireProviders>
