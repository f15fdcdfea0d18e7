import type { Database } from '#platform/db/pool'
import { problem } from '#platform/errors'
import { nudge } from './nudges.ts'
import type { Engine, ReleaseOutcome, Signal, SignalOutcome } from './ports.ts'
import { hasBadText } from './text.ts'
import { handOver } from './worker/hand-over.ts'
import type { Worker } from './worker/worker.ts'

// Sends messages to executions, in the transaction of the sender.

const SIGNAL = 'select engine.signal($1, $2, $3, $4::json) as outcome'

const storable = (message: Signal): string => {
  const text = JSON.stringify(message)
  if (!hasBadText(text)) return text
  throw problem('malformed', 'The message contains NUL characters or unpaired surrogates, which cannot be stored.')
}

const signal: Engine['signal'] = async (tx, to, message) => {
  const values = [to.workspaceId, to.executionId, to.key, storable(message)]
  const { outcome } = await tx.row<{ outcome: SignalOutcome }>(SIGNAL, values)
  if (outcome === 'accepted') nudge(tx, to.executionId)
  return outcome
}

const releasePoison: Engine['release'] = async (tx, { workspaceId, executionId }) => {
  const { outcome } = await tx.row<{ outcome: ReleaseOutcome }>('select engine.release($1, $2) as outcome', [
    workspaceId,
    executionId,
  ])
  if (outcome === 'accepted') nudge(tx, executionId)
  return outcome
}

export const makeSignalling = (
  db: Database,
  worker: Worker | undefined,
): Pick<Engine, 'signal' | 'send' | 'cancel' | 'release'> => ({
  signal,
  send: (tx, to, message, { isLast } = { isLast: false }) => {
    const values = [to.workspaceId, to.executionId, to.key, storable(message)]
    const offer = isLast ? worker?.offer(to.executionId) : undefined
    if (offer) return handOver(db, tx, offer, values)
    tx.send(SIGNAL, values)
    nudge(tx, to.executionId)
  },
  cancel: (tx, to, by) => signal(tx, { ...to, key: 'cancel' }, { type: 'cancel', by }),
  release: releasePoison,
})
