import { pino } from 'pino'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { Node } from '#model/definition'
import { SECOND } from '#platform/clock'
import type { Command } from '../interpreter/commands.ts'
import type { Append } from '../journal/batch.ts'
import { makeLive } from './live.ts'
import type { Live } from './live-types.ts'
import { ownedFromStart } from './owned.ts'

// An execution that a stopping worker releases, on a clock of the test.

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const settled = () => vi.advanceTimersByTimeAsync(0)

const STEPS = 1_000

const started = {
  definitionRef: 'adhoc:x',
  workflowId: null,
  versionId: null,
  input: {},
  trigger: { kind: 'user' as const, id: null },
  startedBy: null,
  initiatedBy: [],
  depth: 0,
  tellEnd: false,
}

/** Starts an execution whose effects run until the test ends them, and whose appends the test accepts. */
async function execution(nodes: Node[]) {
  const appends: Append[] = []
  const commands: Command[] = []
  let isAccepting = true
  const waiting: (() => void)[] = []
  const allowance = { left: STEPS }
  const slices: (() => void)[] = []
  const owned = ownedFromStart(
    {
      workspaceId: '0198f0c4-0000-7000-8000-000000000001',
      executionId: '0198f0c4-0000-7000-8000-000000000002',
      clock: Date.now(),
    },
    started,
    { nodes, edges: [] },
    undefined,
    () => 'idempotent',
  )
  const live: Live = makeLive(
    {
      journal: {
        append: (append) => {
          appends.push(append)
          return new Promise((resolve) => {
            const accept = () => resolve({ moved: append.rowUpdate !== undefined, started: append.start !== undefined })
            if (isAccepting) accept()
            else waiting.push(accept)
          })
        },
        waiting: () => 0,
        stalledFor: () => 0,
        close: async () => {},
      },
      clock: () => Date.now(),
      log: pino({ level: 'silent' }),
      executeCommand: (of, _frame, command) => {
        commands.push(command)
        of.busy(1)
      },
      readInbox: async () => [],
      onLeft: () => {},
      onProgress: () => {},
      onJournalLost: () => {},
      reportNotStarted: () => {},
      offload: async () => undefined,
      turns: {
        now: () => allowance,
        next: async () => {
          await new Promise<void>((resolve) => slices.push(resolve))
          allowance.left = STEPS
        },
      },
      onAppended: () => {},
    },
    owned,
  )
  await live.begin(started)
  return {
    live,
    commands,
    allowance,
    slices,
    updates: () => appends.flatMap(({ rowUpdate }) => (rowUpdate ? [rowUpdate.status] : [])),
    hold: () => {
      isAccepting = false
    },
    accept: async () => {
      isAccepting = true
      for (const accept of waiting.splice(0)) accept()
      await settled()
    },
  }
}

const gate: Node = { id: 'gate', type: 'approval', args: { title: 'Go?' } }
const effect: Node = { id: 'effect', type: 'effect', args: {} }

/** An execution with a running effect and an open gate that is due so soon that the execution does not park. */
async function withGate() {
  const run = await execution([gate, effect])
  const dueAt = Date.now() + SECOND / 2
  run.live.busy(-1, () =>
    run.live.sendUnawaited(run.live.top, { kind: 'opened', node: 'gate', people: 'approval', data: {}, dueAt }),
  )
  await settled()
  expect(run.commands.splice(0).map((command) => command.do)).toEqual(['open', 'run'])
  return run
}

const end = ({ live }: { live: Live }): void =>
  live.busy(-1, () => live.sendUnawaited(live.top, { kind: 'done', node: 'effect', attempt: 1, output: 1 }))

test('a gate that becomes due during an append is handed over when the append is written', async () => {
  const run = await withGate()
  run.hold()
  end(run)
  await vi.advanceTimersByTimeAsync(SECOND)
  run.live.release()
  await run.accept()
  expect(run.updates()).toEqual(['queued'])
  expect(run.live.isGone()).toBe(true)
  expect(run.commands).toEqual([])
})

test('a due gate is not looked at again and again while a releasing execution waits for an effect', async () => {
  const run = await withGate()
  run.live.release()
  await vi.advanceTimersByTimeAsync(SECOND)
  expect(vi.getTimerCount()).toBe(0)
  expect(run.commands).toEqual([])
  end(run)
  await settled()
  expect(run.updates()).toEqual(['queued'])
})

test('an execution that is released while it computes is handed over with the gate that became due', async () => {
  const { live, ...run } = await withGate()
  const spendTurn = () =>
    live.post(() => {
      run.allowance.left = 0
    })
  run.hold()
  end({ live })
  void spendTurn()
  await vi.advanceTimersByTimeAsync(SECOND)
  void spendTurn()
  void live.post(() => {})
  await run.accept()
  run.slices.shift()?.()
  await settled()
  expect(run.slices).toHaveLength(1)
  live.release()
  run.slices.shift()?.()
  await settled()
  expect(run.updates()).toEqual(['queued'])
  expect(run.commands).toEqual([])
})
