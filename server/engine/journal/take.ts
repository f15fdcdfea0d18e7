import type { StartRow } from './batch.ts'

const MAX_BATCH = 256
const MAX_BATCH_BYTES = 4 * 1024 * 1024

type Queued = { start?: StartRow | undefined; bytes: number }

const keyOf = (start: StartRow | undefined): string | undefined =>
  start?.key && start.key.credentialHash.toString('latin1') + start.key.keyHash.toString('latin1')

/**
 * What leaves with the next statement, and what stays. Of starts with the same idempotency key one at a time: a statement
 * that inserted a key twice would fail as a whole, and be halved until the two are apart.
 */
export const takeBatch = <Q>(queue: Q[], of: (queued: Q) => Queued): { batch: Q[]; left: Q[] } => {
  const batch: Q[] = []
  const later: Q[] = []
  const keys = new Set<string>()
  let bytes = 0
  let at = 0
  for (; at < queue.length && batch.length < MAX_BATCH && bytes < MAX_BATCH_BYTES; at += 1) {
    const queued = queue[at] as Q
    const { start, bytes: more } = of(queued)
    const key = keyOf(start)
    if (key !== undefined && keys.has(key)) {
      later.push(queued)
      continue
    }
    if (key !== undefined) keys.add(key)
    bytes += more
    batch.push(queued)
  }
  const rest = queue.slice(at)
  return { batch, left: later.length > 0 ? [...later, ...rest] : rest }
}
