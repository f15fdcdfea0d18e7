import { SECOND } from '#platform/clock'
import type { Database } from '#platform/db/pool'
import type { TextPiece } from '#providers/llm/index'
import type { Watching } from '../types.ts'
import type { AgentTurn } from './turn-store.ts'
import * as store from './turn-store.ts'
import { TURN_HINTS } from './watchers.ts'

// The text that assistants are writing at this moment. The process that calls the model shows each piece at once. It
// also stores the text several times a second, so that a client that reads from another process, or reconnects,
// continues where it was. A draft is only shown; the answer is the message that is stored when the turn ends.

export type Draft = { round: number; text: string }

const STORE_EVERY = SECOND / 4
/** The maximum number of rounds of one attempt. Each response of the model and each failed call starts a new round. */
const MAX_ROUNDS = 1_000
const MAX_DRAFT = 64_000

export function makeDrafts(db: Pick<Database, 'tenant'>) {
  const live = new Map<string, Draft>()
  const listeners = new Map<string, Set<() => void>>()
  const tell = (turnId: string): void => {
    for (const listener of listeners.get(turnId) ?? []) listener()
  }

  return {
    read: (turnId: string): Draft | undefined => live.get(turnId),

    onChange(turnId: string, listener: () => void): () => void {
      const all = listeners.get(turnId) ?? new Set()
      listeners.set(turnId, all.add(listener))
      return () => {
        all.delete(listener)
        if (all.size === 0) listeners.delete(turnId)
      }
    },

    /** Starts the draft of one attempt at a turn that a client watches. */
    begin({ workspace_id, thread_id, turn_id, attempts }: AgentTurn, runner: string) {
      let round = attempts * MAX_ROUNDS
      let storing: Promise<unknown> | undefined
      let timer: NodeJS.Timeout | undefined
      const keep = (): void => {
        const draft = live.get(turn_id)
        timer = undefined
        if (!draft) return
        const scope = { workspaceId: workspace_id, userId: null }
        storing = (storing ?? Promise.resolve())
          .then(() =>
            db.tenant(scope, async (tx) => {
              await store.saveDraft(tx, workspace_id, turn_id, runner, draft)
              tx.hint(TURN_HINTS, thread_id)
            }),
          )
          .catch(() => {})
      }
      return {
        take({ from, text }: TextPiece): void {
          if (from === 0) round += 1
          const before = from === 0 ? '' : (live.get(turn_id)?.text ?? '')
          if (before.length + text.length > MAX_DRAFT) return
          live.set(turn_id, { round, text: before + text })
          tell(turn_id)
          timer ??= setTimeout(keep, STORE_EVERY)
        },
        async end(): Promise<void> {
          clearTimeout(timer)
          await storing
          live.delete(turn_id)
        },
      }
    },
  }
}

export type Drafts = ReturnType<typeof makeDrafts>

/**
 * Sends the text that the client does not have yet. Frame ids are `round.length`: the round, and the length of its
 * text that the client has received.
 */
export function makeDraftSender({ after, send }: Watching): (draft: Draft) => void {
  let seen = readFrame(after)
  return (draft) => {
    if (draft.round < seen.round) return
    if (draft.round > seen.round) {
      if (seen.length > 0) send('reset', {}, `${draft.round}.0`)
      seen = { round: draft.round, length: 0 }
    }
    if (draft.text.length <= seen.length) return
    const delta = draft.text.slice(seen.length)
    seen = { round: draft.round, length: draft.text.length }
    send('text', { delta }, `${seen.round}.${seen.length}`)
  }
}

function readFrame(id: string | null): { round: number; length: number } {
  const parts = /^(\d{1,9})\.(\d{1,9})$/.exec(id ?? '')
  return parts ? { round: Number(parts[1]), length: Number(parts[2]) } : { round: 0, length: 0 }
}
