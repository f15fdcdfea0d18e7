import type { StartRow } from './batch.ts'

const MAX_BATCH = 256
/**
 * The maximum size of a batch. A larger batch takes long to serialize and to store, and everything else waits for it.
 */
const MAX_BATCH_BYTES = 1024 * 1024
/** Appends up to this size are added to any batch. */
const SMALL_BYTES = 4 * 1024

type Queued = { start?: StartRow | undefined; bytes: number }

const keyOf = (start: StartRow | undefined): string | undefined =>
  start?.key && start.key.credentialHash.toString('latin1') + start.key.keyHash.toString('latin1')

/**
 * Splits the queue into the batch for the next statement and the rest. The oldest entry is always in the batch,
 * followed by the entries that fit, so that small entries of one tenant do not wait for large ones of another. A
 * batch contains only one start per idempotency key: a statement that inserted a key twice would fail as a whole and
 * be halved until the two are separate.
 */
export const takeBatch = <Q>(queue: Q[], of: (queued: Q) => Queued, most = MAX_BATCH): { batch: Q[]; left: Q[] } => {
  const batch: Q[] = []
  const left: Q[] = []
  const keys = new Set<string>()
  let bytes = 0
  let at = 0
  for (; at < queue.length && batch.length < Math.min(most, MAX_BATCH); at += 1) {
    const queued = queue[at] as Q
    const { start, bytes: more } = of(queued)
    const key = keyOf(start)
    const fits = batch.length === 0 || more <= SMALL_BYTES || bytes + more <= MAX_BATCH_BYTES
    if (!fits || (key !== undefined && keys.has(key))) {
      left.push(queued)
      continue
    }
    if (key !== undefined) keys.add(key)
    bytes += more
    batch.push(queued)
  }
  return { batch, left: at < queue.length ? [...left, ...queue.slice(at)] : left }
}
