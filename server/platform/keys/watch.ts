import { randomBytes, randomUUID } from 'node:crypto'
import { SECOND } from '../clock.ts'
import { type Config, key32 } from '../config.ts'
import type { Database } from '../db/pool.ts'
import { invalid, problem } from '../errors.ts'
import { readFacts, replaceKeyFile } from '../key.ts'
import type { Logger } from '../log.ts'
import { CURRENT, learnKeys, type Rotation, rotationIn } from './facts.ts'
import { beginRotation, type Holder, listHolders, type RotationParts, stepRotation } from './rotate.ts'

// Each process says every second which keys it has, takes in those it lacks, and lends a hand with the rotation under way.

const EVERY = SECOND

export type KeyState = { current: string; rotation: Rotation | null; processes: Holder[] }

export type KeyService = {
  state(): Promise<KeyState>
  /** Without a key one is made, where every process keeps its key in a file. */
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

  const tell = (keys: string[]): Promise<unknown> =>
    db.appPool.query(
      `with gone as (delete from key_holders where seen_at < now() - interval '1 minute')
       insert into key_holders (process_id, keys, current, configured, source) values ($1, $2, $3, $4, $5)
       on conflict (process_id) do update set keys = excluded.keys, current = excluded.current,
         configured = excluded.configured, seen_at = now()`,
      [processId, keys, vault.keys.current(), configured, source],
    )

  const look = async (): Promise<void> => {
    const facts = await readFacts(db)
    const isUsable = learnKeys(vault, facts)
    const rotation = rotationIn(facts)
    const current = vault.keys.current()
    if (isUsable && facts.has(CURRENT) && configured !== current) {
      if (source === 'file') {
        replaceKeyFile(config, configured, vault.keys.bytesOf(current))
        configured = current
      } else if (!warned) {
        warned = true
        log.warn({ key: current }, 'the key was rotated: start this process with the new HEDDLE_SECRET_KEY')
      }
    }
    await tell([configured, current, ...(rotation ? [rotation.from, rotation.to] : [])].filter(vault.keys.has))
    if (rotation) await stepRotation(parts)
  }

  let looking: Promise<void> = Promise.resolve()
  const lookOnce = (): Promise<void> => {
    looking = looking.then(look).catch((error: unknown) => {
      log.warn({ err: error }, 'the keys of the installation could not be looked at')
    })
    return looking
  }
  const timer = setInterval(() => void lookOnce(), EVERY)
  timer.unref()
  void lookOnce()

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
          { path: '/key', message: 'is required where HEDDLE_SECRET_KEY is set: 32 bytes in base64 that you keep' },
        ])
      const key = text === undefined ? randomBytes(32) : key32.parse(text.trim())
      if (key === undefined) throw invalid([{ path: '/key', message: `must be ${key32.allowed}` }])
      if (key.equals(vault.keys.bytesOf(vault.keys.current())))
        throw invalid([{ path: '/key', message: 'is the present key' }])
      if (!(await beginRotation(parts, key)))
        throw problem('conflict', 'A rotation is under way. Look at it with GET /api/operations/key-rotation.')
      await lookOnce()
      return state()
    },
    async stop() {
      clearInterval(timer)
      await looking
      await db.appPool.query('delete from key_holders where process_id = $1', [processId]).catch(() => {})
    },
  }
}
