import type { Json } from '#model/definition'
import type { Database, Tx } from '#platform/db/pool'
import { readStorable } from '#providers/llm/storable'
import type { AgentTurn } from './turn-store.ts'
import * as store from './turn-store.ts'

// The journal of one answer. A recorded step is never repeated, even if another process continues the turn.

/** Thrown when another process has taken over the turn. This process must stop. */
export class TurnLost extends Error {}

export type Journal = {
  has(name: string): boolean
  /**
   * Returns the results of the steps whose names start with `begin` and end with `end`, in the order of their names.
   */
  found(part: { begin?: string; end?: string }): Json[]
  /** Runs `work`, then records its result. */
  step<T extends Json>(name: string, work: () => Promise<T>): Promise<T>
  /** Commits `work` and its record together, so that the step happens exactly once. */
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

/** Returns the value as the database stores it, so that the first reader gets the same value as later readers. */
const asStored = <T extends Json>(value: T): T => readStorable(JSON.stringify(value)) as T
