import { createHash } from 'node:crypto'

/**
 * Returns the id of the execution for one attempt of one record. It is derived from the run, the position and the
 * attempt, so that a process that repeats the start after a crash starts the same execution. It is a UUIDv7 with the
 * time of the run, so that it belongs to the run's week of the journal. The position comes before the rest, so that
 * neighbours are close to each other in the index.
 */
export function executionIdOf(runId: string, position: number, attempt: number): string {
  const time = runId.slice(0, 13)
  const at = position.toString(16).padStart(8, '0')
  const tail = tailOf(runId)
  // 32 bits of the position around the version and variant bits, 8 bits of the attempt, 42 bits of the run.
  const first = at.slice(0, 3)
  const second = (8 | (tail.charCodeAt(0) & 3)).toString(16)
  return `${time}-7${first}-${second}${at.slice(3, 6)}-${at.slice(6)}${(attempt & 0xff).toString(16).padStart(2, '0')}${tail.slice(1, 9)}`
}

let known = { runId: '', tail: '' }

function tailOf(runId: string): string {
  if (known.runId !== runId) known = { runId, tail: createHash('sha256').update(runId).digest('hex').slice(0, 9) }
  return known.tail
}
