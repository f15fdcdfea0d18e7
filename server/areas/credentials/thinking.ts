import { SECOND } from '#platform/clock'
import type { Database } from '#platform/db/pool'
import type { Logger } from '#platform/log'
import { untilNextLook } from '#platform/looks'
import type { LanguageModel } from '#providers/llm/index'

const LOOK_EVERY = 5 * SECOND

/**
 * Whether a language model may answer anywhere: the installation's, or one that some workspace stored. Where none can,
 * messages are read by rules within the request; a model that was just stored is noticed within seconds.
 */
export function watchModels({ db, log, installation }: { db: Database; log: Logger; installation: LanguageModel }) {
  let stored = false
  const look = async (): Promise<void> => {
    try {
      const { rows } = await db.appPool.query<{ stored: boolean }>('select any_model_stored() as stored')
      stored = rows[0]!.stored
    } catch (error) {
      log.warn({ err: error }, 'whether a language model is stored could not be read')
    }
  }
  const needed = installation.available() !== null
  const timer = needed ? setInterval(() => void look(), untilNextLook(LOOK_EVERY)).unref() : undefined
  if (needed) void look()
  return {
    mayThink: (): boolean => !needed || stored,
    look,
    stop: () => clearInterval(timer),
  }
}
