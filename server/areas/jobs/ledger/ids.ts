import { createHash } from 'node:crypto'

/**
 * The execution of one try of one record, made of the run, the position and the try: a process that begins it again after a crash
 * begins the same one. A UUIDv7 with the time of the run, so that it falls into the run's week of the journal; the position
 * stands before the rest, so that neighbours stand together in the index.
 */
export function executionIdOf(runId: string, position: number, attempt: number): string {
  const time = runId.slice(0, 13)
  const at = position.toString(16).padStart(8, '0')
  const tail = tailOf(runId)
  // 32 bits of position around the version and variant bits, 8 of the try, 42 of the run.
  const first = at.slice(0, 3)
  const second = (8 | (tail.charCodeAt(0) & 3)).toString(16)
  return `${time}-7${first}-${second}${at.slice(3, 6)}-${at.slice(6)}${(attempt & 0xff).toString(16).padStart(2, '0')}${tail.slice(1, 9)}`
}

let known = { runId: '', tail: '' }

function tailOf(runId: string): string {
  if (known.runId !== runId) known = { runId, tail: createHash('sha256').update(runId).digest('hex').slice(0, 9) }
  return known.tail
}
