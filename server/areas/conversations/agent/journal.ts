import type { Json } from '#model/definition'
import type { Database, Tx } from '#platform/db/pool'
import { readStorable } from '#providers/llm/storable'
import type { AgentTurn } from './turn-store.ts'
import * as store from './turn-store.ts'

// The journal of one answer. A step that is written is never done again, also when another process continues the turn.

/** Another process has taken the turn over: this one must do nothing more. */
export class TurnLost extends Error {}

export type Journal = {
  has(name: string): boolean
  /** What the steps gave whose names begin or end so, in the order of their names. */
  found(part: { begin?: string; end?: string }): Json[]
  /** Does `work`, then writes what it gave. */
  step<T extends Json>(name: string, work: () => Promise<T>): Promise<T>
  /** `work` and its record commit together: it happens exactly once. */
  stepInTransaction<T extends Json>(name: string, work: (tx: Tx) => Promise<T>): Promise<T>
}

export async function openJournal(db: Database, turn: AgentTurn, runner: string): Promise<Journal> {
  const { workspace_id: workspaceId, turn_id: turnId } = turn
  const inScope = <T>(work: (tx: Tx) => Promise<T>): Promise<T> => db.tenant({ workspaceId, userId: null }, work)
  const steps = await inScope((tx) => store.readSteps(tx, workspaceId, turnId))

  const write = async (tx: Tx, name: string, result: Json): Promise<void> => {
    if ((await store.insertStep(tx, workspaceId, turnId, runner, name, result)) === 0) throw new TurnLost()
  }

  return {
    has: (name) => steps.has(name),

    found: ({ begin = '', end = '' }) =>
      [...steps]
        .filter(([name]) => name.startsWith(begin) && name.endsWith(end))
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([, result]) => result),

    async step<T extends Json>(name: string, work: () => Promise<T>): Promise<T> {
      if (steps.has(name)) return steps.get(name) as T
      const result = asStored(await work())
      await inScope((tx) => write(tx, name, result))
      steps.set(name, result)
      return result
    },

    async stepInTransaction<T extends Json>(name: string, work: (tx: Tx) => Promise<T>): Promise<T> {
      if (steps.has(name)) return steps.get(name) as T
      const result = await inScope(async (tx) => {
        const made = asStored(await work(tx))
        await write(tx, name, made)
        return made
      })
      steps.set(name, result)
      return result
    },
  }
}

/** What comes back from the database is what the first reader gets too. */
const asStored = <T extends Json>(value: T): T => readStorable(JSON.stringify(value)) as T
