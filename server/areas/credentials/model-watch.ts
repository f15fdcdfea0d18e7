import { SECOND } from '#platform/clock'
import type { Database } from '#platform/db/pool'
import type { Logger } from '#platform/log'
import { msUntilNextCheck } from '#platform/periodic-check'
import type { LanguageModel } from '#providers/llm/index'

const POLL_EVERY = 5 * SECOND

/**
 * Watches whether any language model is available: the installation's, or one that a workspace stored. If none is
 * available, rules read messages within the request. A new model is noticed within seconds.
 */
export function watchModels({ db, log, installation }: { db: Database; log: Logger; installation: LanguageModel }) {
  let stored = false
  const look = async (): Promise<void> => {
    try {
      const { rows } = await db.appPool.query<{ stored: boolean }>('select any_model_stored() as stored')
      stored = rows[0]!.stored
    } catch (error) {
      log.warn({ err: error }, 'could not check whether a language model is stored')
    }
  }
  const needed = installation.available() !== null
  const timer = needed ? setInterval(() => void look(), msUntilNextCheck(POLL_EVERY)).unref() : undefined
  if (needed) void look()
  return {
    hasModel: (): boolean => !needed || stored,
    look,
    stop: () => clearInterval(timer),
  }
}
