import { pino } from 'pino'
import type { NodeCall } from '#engine/node'
import type { Json } from '#model/definition'

// An attempt of a node without the engine. Its journal outlives the attempt, so it contains what a crash would leave.

export class Crash extends Error {}

export type StepJournal = Map<string, Json>

export const makeNodeCall = (
  more: Partial<NodeCall> & { journal?: StepJournal; crashWhen?: CrashPoint } = {},
): NodeCall => {
  const { journal = new Map<string, Json>(), crashWhen, ...rest } = more
  return {
    workspaceId: '0199aaaa-0000-7000-8000-000000000001',
    workflowId: null,
    executionId: '0199aaaa-0000-7000-8000-000000000002',
    nodePath: 'agent',
    attempt: 1,
    args: {},
    effectKey: 'exe_1:agent',
    principalId: null,
    credentialIds: new Set(),
    startedBy: null,
    signal: new AbortController().signal,
    log: pino({ level: 'silent' }),
    progress: () => {},
    step: async <T extends Json>(name: string, work: () => Promise<T>): Promise<T> => {
      const recorded = journal.get(name)
      if (recorded !== undefined) return structuredClone(recorded) as T
      if (crashWhen?.({ name, moment: 'before' })) throw new Crash()
      const result = await work()
      if (crashWhen?.({ name, moment: 'done' })) throw new Crash()
      // As in the engine, only values that survive serialization are returned.
      journal.set(name, JSON.parse(JSON.stringify(result)) as Json)
      if (crashWhen?.({ name, moment: 'recorded' })) throw new Crash()
      return result
    },
    ...rest,
  }
}

/** `done`: the effect has happened, but is not recorded. */
export type CrashPoint = (at: { name: string; moment: 'before' | 'done' | 'recorded' }) => boolean
