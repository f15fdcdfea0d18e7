import { randomBytes, randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { SECOND } from '../clock.ts'
import type { Config } from '../config.ts'
import { key32 } from '../config-parsers.ts'
import type { Database } from '../db/pool.ts'
import { invalid, problem } from '../errors.ts'
import { findSecretKey, readFacts, replaceKeyFile } from '../key.ts'
import type { Logger } from '../log.ts'
import { CURRENT, type Facts, learnKeys, type Rotation, rotationIn } from './facts.ts'
import { beginRotation, type Holder, listHolders, type RotationParts, stepRotation } from './rotate.ts'

// Every second, each process reports which keys it has, adds the keys that it lacks, and works on the current rotation.
// At most one check and one rotation step run at a time. They run concurrently: a step may take minutes, and a process
// that does not report counts as gone.

const EVERY = SECOND
/** The maximum time to wait when stopping, so that an unresponsive database does not delay the end of the process. */
const STOP_WITHIN = SECOND

export type KeyState = { current: string; rotation: Rotation | null; processes: Holder[] }

export type KeyService = {
  state(): Promise<KeyState>
  /**
   * Starts a rotation. Generates a key if none is given, which is allowed only if every process keeps its key in a
   * file.
   */
  rotate(key: string | undefined): Promise<KeyState>
  stop(): Promise<void>
}

export function watchKeys(
  parts: RotationParts & { db: Database; config: Config; configured: string; log: Logger },
): KeyService {
  const { db, vault, config, log } = parts
  const source = config.HEDDLE_SECRET_KEY === null ? 'file' : 'environment'
  const processId = randomUUID()
  let { configured } = parts
  let warned = false

  const report = (keys: string[]): Promise<unknown> =>
    db.appPool.query(
      `with gone as (delete from key_holders where seen_at < now() - interval '1 minute')
       insert into key_holders (process_id, keys, current, configured, source) values ($1, $2, $3, $4, $5)
       on conflict (process_id) do update set keys = excluded.keys, current = excluded.current,
         configured = excluded.configured, seen_at = now()`,
      [processId, keys, vault.keys.current(), configured, source],
    )

  /**
   * Adds the keys that this process lacks. A process that was disconnected during a whole rotation finds the new key in
   * the file. Without a key file it must no longer seal.
   */
  const learn = (facts: Facts): void => {
    if (learnKeys(vault, facts)) return
    const found = source === 'file' ? findSecretKey(config) : undefined
    if (found) configured = vault.keys.add(found)
    if (found && learnKeys(vault, facts)) return
    vault.keys.retire()
    throw new Error('the key was rotated while this process was not running: start it again with the new key')
  }

  const stopping = new AbortController()
  const { signal } = stopping

  const look = async (): Promise<void> => {
    const facts = await readFacts(db)
    if (signal.aborted) return
    learn(facts)
    const rotation = rotationIn(facts)
    const current = vault.keys.current()
    if (facts.has(CURRENT) && configured !== current) {
      if (source === 'file') {
        replaceKeyFile(config, configured, vault.keys.bytesOf(current))
        configured = current
      } else if (!warned) {
        warned = true
        log.warn({ key: current }, 'the key was rotated: start this process with the new HEDDLE_SECRET_KEY')
      }
    }
    const known = new Set([configured, current, ...(rotation ? [rotation.from, rotation.to] : [])])
    await report([...known].filter(vault.keys.has))
    if (rotation) step()
  }

  let failing = false
  /**
   * Logs only the message, because the error may contain a connection. Logs once, not every second while the database
   * is unavailable.
   */
  const failed = (error: unknown): void => {
    if (!failing && !signal.aborted)
      log.warn({ reason: (error as Error).message }, 'the keys of the installation could not be read')
    failing = true
  }

  let stepping: Promise<void> | undefined
  const step = (): void => {
    if (signal.aborted) return
    stepping ??= stepRotation(parts, signal)
      .catch(failed)
      .finally(() => {
        stepping = undefined
      })
  }

  let timer: NodeJS.Timeout | undefined
  const lookAgain = async (): Promise<void> => {
    try {
      await look()
      failing = false
    } catch (error) {
      failed(error)
    }
    if (signal.aborted) return
    timer = setTimeout(() => {
      looking = lookAgain()
    }, EVERY)
  }
  let looking = lookAgain()

  const state = async (): Promise<KeyState> => {
    const facts = await readFacts(db)
    return {
      current: facts.get(CURRENT)?.toString() ?? vault.keys.current(),
      rotation: rotationIn(facts) ?? null,
      processes: await listHolders(db.appPool),
    }
  }

  return {
    state,
    async rotate(text) {
      const holders = await listHolders(db.appPool)
      if (text === undefined && (source === 'environment' || holders.some((one) => one.source === 'environment')))
        throw invalid([
          {
            path: '/key',
            message: 'is required because HEDDLE_SECRET_KEY is set: 32 bytes in base64, of which you keep a copy',
          },
        ])
      const key = text === undefined ? randomBytes(32) : key32.parse(text.trim())
      if (key === undefined) throw invalid([{ path: '/key', message: `must be ${key32.allowed}` }])
      if (key.equals(vault.keys.bytesOf(vault.keys.current())))
        throw invalid([{ path: '/key', message: 'is the current key' }])
      if (!(await beginRotation(parts, key)))
        throw problem('conflict', 'A rotation is in progress. See GET /api/operations/key-rotation.')
      return state()
    },
    async stop() {
      clearTimeout(timer)
      stopping.abort()
      const ended = Promise.all([looking, stepping])
        .then(() => db.appPool.query('delete from key_holders where process_id = $1', [processId]))
        .then(ignored, ignored)
      const limit = new AbortController()
      await Promise.race([ended, delay(STOP_WITHIN, undefined, { signal: limit.signal }).catch(ignored)])
      limit.abort()
    },
  }
}

const ignored = (): void => {}
