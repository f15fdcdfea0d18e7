import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Definition, Json } from '#model/definition'
import { newId, toWire } from '#platform/ids'
import { makeTestDatabase, type TestDatabase } from '#test/harness/postgres'
import type { ExecutionView, Start } from '../ports.ts'
import { type Bench, kind, startTestEngine } from '../testing.ts'
import type { FlowSettings } from './rules.ts'

// The rules of a workflow, on three engines with one database. A `gate` node blocks until a test releases it, so a
// test knows exactly which executions are running and does not depend on timing.

let database: TestDatabase
const engines: Bench[] = []
let bench: Bench

/** Executions that are inside a `gate` node, by id, with the function that releases each of them. */
const open = new Map<string, () => void>()
let most = 0
/** The number of starts of the node, by execution. */
const begun = new Map<string, number>()
const gate = kind('gate', 'idempotent', async ({ executionId, signal }) => {
  const { promise, resolve } = Promise.withResolvers<void>()
  begun.set(executionId, (begun.get(executionId) ?? 0) + 1)
  open.set(executionId, resolve)
  most = Math.max(most, open.size)
  signal.addEventListener('abort', () => resolve())
  await promise
  if (open.get(executionId) === resolve) open.delete(executionId)
  return { output: null }
})

beforeAll(async () => {
  database = await makeTestDatabase()
  const workspaceId = newId()
  const definitions = new Map<string, Definition>()
  for (let n = 0; n < 3; n += 1)
    engines.push(await startTestEngine(database.urls, { nodes: [gate], workspaceId, definitions }))
  bench = engines[0]!
})
afterAll(async () => {
  for (const letGo of open.values()) letGo()
  await Promise.all(engines.map((engine) => engine.stop()))
  await database?.drop()
})

const gated: Definition = { nodes: [{ id: 'g', type: 'gate' }], edges: [] }
const asking: Definition = {
  nodes: [
    { id: 'q', type: 'clarification', args: { question: '?' } },
    { id: 'g', type: 'gate' },
  ],
  edges: [{ from: { node: 'q' }, to: 'g' }],
}

const view = async (id: string): Promise<ExecutionView> => (await bench.engine.readExecution(bench.workspaceId, id))!
const becomes = (id: string, status: string): Promise<void> =>
  expect.poll(async () => (await view(id)).status).toBe(status)
const isOpen = (...ids: string[]): Promise<void> =>
  expect.poll(() => [...open.keys()].filter((id) => ids.includes(id)).sort()).toEqual([...ids].sort())
const letGo = async (id: string): Promise<void> => {
  await isOpen(id)
  open.get(id)!()
  await becomes(id, 'succeeded')
}
const reason = async (id: string) => (await view(id)).waiting_for[0]?.reason
const asks = (id: string): Promise<void> =>
  expect.poll(async () => (await view(id)).waiting_for[0]?.kind).toBe('clarification')
const answer = (id: string) =>
  bench.db.engine((tx) =>
    bench.engine.signal(
      tx,
      { workspaceId: bench.workspaceId, executionId: id, key: 'a' },
      { type: 'clarification.answered', nodePath: 'q', answer: 1, data: {} },
    ),
  )
const waitsFor = (id: string, why: string): Promise<void> => expect.poll(() => reason(id)).toBe(why)

/** Creates a workflow with these rules, whose executions are started by each engine in turn. */
const withRules = async (settings: FlowSettings, definition = gated) => {
  const rules = await bench.rule(newId(), settings)
  let turn = 0
  return {
    ...rules,
    run: (input: Json = {}, more: Partial<Start> = {}) =>
      engines[turn++ % 3]!.run(bench.define(definition), input, { ...rules, ...more }),
  }
}
/** Waits until every pending decision was made. */
const settled = (): Promise<void> =>
  expect.poll(async () => (await bench.db.engine((tx) => tx.rows('select from flow_dirty'))).length).toBe(0)

const wasSentAway = async (id: string, code: string, other: string) => {
  await becomes(id, 'cancelled')
  const { error } = await view(id)
  expect(error).toMatchObject({ code, details: { execution_id: toWire('exe', other) } })
}

describe('concurrency', () => {
  test('never runs more executions at once than the limit, over three engines, in the order of their starts', async () => {
    const { run } = await withRules({ max_concurrency: 2 })
    const ids: string[] = []
    for (let n = 0; n < 9; n += 1) ids.push(await run())
    await settled()
    most = 0
    for (const [n, id] of ids.entries()) {
      await isOpen(...ids.slice(n, n + 2))
      expect(await reason(ids.at(-1)!)).toBe(n < 7 ? 'concurrency' : undefined)
      await letGo(id)
    }
    expect(most).toBeLessThanOrEqual(2)
  })

  test('lets executions with different keys run at the same time; executions without a valid key share one group', async () => {
    const { run } = await withRules({ concurrency: { key: { $cel: 'input.customer' }, limit: 1 } })
    const [a, b, c, d] = [
      await run({ customer: 'a' }),
      await run({ customer: 'b' }),
      await run({}),
      await run({ customer: [1] }),
    ]
    const second = await run({ customer: 'a' })
    await isOpen(a, b, c)
    await waitsFor(second, 'concurrency')
    await waitsFor(d, 'concurrency')
    await letGo(a)
    await isOpen(second, b, c)
    for (const id of [b, c, d, second]) await letGo(id)
  })

  test('uses a given concurrency key instead of the expression', async () => {
    const { run } = await withRules({ concurrency: { key: { $cel: 'input.customer' }, limit: 1 } })
    const a = await run({ customer: 'a' }, { concurrencyKey: 'x' })
    const b = await run({ customer: 'b' }, { concurrencyKey: 'x' })
    const c = await run({ customer: 'a' })
    await isOpen(a, c)
    await waitsFor(b, 'concurrency')
    for (const id of [a, b, c]) await letGo(id)
  })

  test.each([
    { count: 'running', secondRuns: true },
    { count: 'live', secondRuns: false },
  ] as const)('$count: while one waits for an answer, another runs: $secondRuns', async ({ count, secondRuns }) => {
    const { run } = await withRules({ concurrency: { limit: 1, count } }, asking)
    const first = await run()
    await asks(first)
    const second = await run()
    if (secondRuns) await asks(second)
    else await settled()
    expect(await reason(second)).toBe(secondRuns ? undefined : 'concurrency')
    await answer(first)
    await isOpen(first)
    if (secondRuns) {
      await answer(second)
      await waitsFor(second, 'concurrency')
    }
    await letGo(first)
    if (!secondRuns) {
      await asks(second)
      await answer(second)
    }
    await letGo(second)
  })

  test('skip: cancels an execution that finds no place, and names the execution that has the place', async () => {
    const { run } = await withRules({ concurrency: { limit: 1, when_full: 'skip' } })
    const first = await run()
    await isOpen(first)
    const second = await run()
    await wasSentAway(second, 'skipped', first)
    await letGo(first)
    await letGo(await run())
  })

  test('cancel_oldest: runs the newest execution and cancels the earlier one', async () => {
    const { run } = await withRules({ concurrency: { limit: 1, when_full: 'cancel_oldest' } })
    const first = await run()
    await isOpen(first)
    const second = await run()
    await wasSentAway(first, 'replaced', second)
    await letGo(second)
  })

  test('ends an execution at its timeout, even if it needs a place again and none is free', async () => {
    const { run } = await withRules({ max_concurrency: 1 }, asking)
    const [answered, asked] = [await run({}, { timeoutS: 3600 }), await run({}, { timeoutS: 3600 })]
    for (const id of [answered, asked]) await asks(id)
    const other = await run()
    await asks(other)
    await answer(other)
    await isOpen(other)
    await answer(answered)
    await waitsFor(answered, 'concurrency')
    const anHourPasses = `update executions set started_at = started_at - interval '1 hour', due_at = due_at - interval '1 hour'
      where execution_id = any ($1) and status = 'waiting'`
    await bench.db.engine((tx) => tx.rows(anHourPasses, [[answered, asked]]))
    for (const id of [answered, asked]) await becomes(id, 'timed_out')
    expect(begun.has(answered)).toBe(false)
    await letGo(other)
  })

  test('applies a higher limit and the removal of a limit to executions that already wait', async () => {
    const { run, workflowId } = await withRules({ concurrency: { limit: 1, count: 'live' } })
    const ids = [await run(), await run(), await run(), await run()]
    await isOpen(ids[0]!)
    await bench.rule(workflowId!, { concurrency: { limit: 2, count: 'live' } })
    await isOpen(...ids.slice(0, 2))
    await bench.rule(workflowId!, {})
    await isOpen(...ids)
    for (const id of ids) await letGo(id)
  })

  test('frees the places of a dead worker after its executions ended on another worker', async () => {
    const dying = await startTestEngine(database.urls, {
      nodes: [gate],
      workspaceId: bench.workspaceId,
      definitions: bench.definitions,
    })
    const { workflowId, flow } = await withRules({ concurrency: { limit: 1, count: 'live' } })
    const first = await dying.run(bench.define(gated), {}, { workflowId: workflowId!, flow: flow! })
    await isOpen(first)
    const second = await bench.run(bench.define(gated), {}, { workflowId: workflowId!, flow: flow! })
    await waitsFor(second, 'concurrency')
    const { worker_id } = (await bench.db.engine((tx) =>
      tx.row<{ worker_id: string }>('select worker_id from executions where execution_id = $1', [first]),
    ))!
    await bench.db.engine((tx) => tx.rows('select engine.bury($1)', [worker_id]))
    await expect.poll(() => begun.get(first)).toBe(2)
    expect(await reason(second)).toBe('concurrency')
    await letGo(first)
    await letGo(second)
    await dying.stop()
  })
})

describe('dedupe', () => {
  test.each([
    { name: 'the same key', keys: ['k', 'k'], repeated: true },
    { name: 'another key', keys: ['k1', 'k2'], repeated: false },
    { name: 'no key', keys: [null, null], repeated: false },
    { name: 'a number and a text of the same digits', keys: [1, '1'], repeated: false },
  ])('with $name, the second execution is a duplicate: $repeated', async ({ keys, repeated }) => {
    const { run } = await withRules({ dedupe: { key: { $cel: 'input.id' }, window_s: 600 } })
    const first = await run({ id: keys[0]! })
    await isOpen(first)
    const second = await run({ id: keys[1]! })
    if (repeated) await wasSentAway(second, 'duplicate', first)
    else await letGo(second)
    await letGo(first)
  })

  test('runs the same key again after the window', async () => {
    const { run } = await withRules({ dedupe: { key: { $cel: 'input.id' }, window_s: 600 } })
    await letGo(await run({ id: 'w' }))
    await bench.db.engine((tx) => tx.rows('update flow_marks set until = now()'))
    await letGo(await run({ id: 'w' }))
  })
})

describe('debounce', () => {
  test('runs only the newest execution, after the window has passed', async () => {
    const { run } = await withRules({ debounce: { window_s: 600 } })
    const first = await run({ n: 1 })
    await waitsFor(first, 'debounce')
    const second = await run({ n: 2 })
    await wasSentAway(first, 'debounced', second)
    await waitsFor(second, 'debounce')
    expect((await view(second)).waiting_for[0]?.until).toBeDefined()
    await bench.db.engine((tx) =>
      tx.rows(`update executions set due_at = now() where execution_id = $1 and status = 'waiting'`, [second]),
    )
    await letGo(second)
  })

  test('has a window per key, and does not delay an execution without a key', async () => {
    const { run } = await withRules({ debounce: { key: { $cel: 'input.k' }, window_s: 600 } })
    const [a, b] = [await run({ k: 'a' }), await run({ k: 'b' })]
    await letGo(await run({}))
    await waitsFor(a, 'debounce')
    await waitsFor(b, 'debounce')
  })
})

describe('rate', () => {
  test('spaces permits so that no window has more than the limit; executions without a permit wait for one', async () => {
    const { run } = await withRules({ rate: { limit: 2, per_s: 600 } })
    const ids: string[] = []
    for (let n = 0; n < 5; n += 1) {
      ids.push(await run())
      await settled()
    }
    await isOpen(ids[0]!, ids[1]!)
    for (const id of ids.slice(2)) await waitsFor(id, 'rate')
    const permits = await bench.db.engine((tx) =>
      tx.rows<{ at: Date }>('select at from flow_marks where execution_id = any ($1) order by n', [ids]),
    )
    const times = permits.map(({ at }) => at.getTime())
    for (let n = 2; n < times.length; n += 1) expect(times[n]! - times[n - 2]!).toBeGreaterThanOrEqual(600_000)
    await bench.db.engine((tx) =>
      tx.rows(`update executions set due_at = now() where execution_id = $1 and status = 'waiting'`, [ids[2]]),
    )
    for (const id of ids.slice(0, 3)) await letGo(id)
  })
})

describe('pause', () => {
  const paused = { paused_at: new Date().toISOString() }

  test('keeps new executions and those that have not started waiting, and runs all of them at resume', async () => {
    const { workflowId, run } = await withRules({ max_concurrency: 1 })
    const [first, second] = [await run(), await run()]
    await isOpen(first)
    await bench.rule(workflowId!, { max_concurrency: 1, ...paused })
    await letGo(first)
    await settled()
    expect(await reason(second)).toBe('paused')
    const third = await run({}, { flow: { concurrency: { limit: 1 }, paused: true } })
    await settled()
    expect(await reason(third)).toBe('paused')
    await bench.rule(workflowId!, { max_concurrency: 1 })
    await letGo(second)
    await letGo(third)
  })

  test('prevents the delayed start of an execution', async () => {
    const workflowId = newId()
    const later = await bench.run(bench.define(gated), {}, { workflowId, startInS: 3600 })
    expect((await view(later)).waiting_for).toMatchObject([{ kind: 'timer', reason: 'start_at' }])
    await bench.rule(workflowId, paused)
    await bench.db.engine((tx) =>
      tx.rows(`update executions set due_at = now() where execution_id = $1 and status = 'waiting'`, [later]),
    )
    await expect.poll(() => reason(later)).toBe('paused')
    await settled()
    await bench.rule(workflowId, {})
    await letGo(later)
  })

  test('lets executions that have started continue, within the limit, and shows what they wait for', async () => {
    const { workflowId, run } = await withRules({ max_concurrency: 1 }, asking)
    const [first, second] = [await run(), await run()]
    for (const id of [first, second]) await asks(id)
    await bench.rule(workflowId!, { max_concurrency: 1, ...paused })
    const third = await run({}, { flow: { concurrency: { limit: 1 }, paused: true } })
    await waitsFor(third, 'paused')
    expect((await view(first)).waiting_for).toMatchObject([{ kind: 'clarification' }])
    await answer(first)
    await isOpen(first)
    await answer(second)
    await waitsFor(second, 'concurrency')
    await letGo(first)
    await letGo(second)
    expect(await reason(third)).toBe('paused')
  })

  test('ends a waiting execution at once when it is cancelled', async () => {
    const { run } = await withRules(paused)
    const id = await run()
    await waitsFor(id, 'paused')
    await bench.db.engine((tx) => bench.engine.cancel(tx, { workspaceId: bench.workspaceId, executionId: id }, null))
    await becomes(id, 'cancelled')
  })
})

describe('start later and priority', () => {
  test('runs an execution with a higher priority before earlier ones', async () => {
    const { run } = await withRules({ concurrency: { limit: 1, count: 'live' } })
    const first = await run()
    await isOpen(first)
    const low = await run({}, { labels: { priority: -10 } })
    const normal = await run()
    const high = await run({}, { labels: { priority: 10 } })
    for (const id of [first, high, normal, low]) await letGo(id)
  })

  test('starts an execution at once if its start time has passed', async () => {
    await letGo(await bench.run(gated, {}, { startAt: new Date(0) }))
  })

  test('stores and shows labels', async () => {
    const labels = {
      priority: 3,
      tags: ['nightly', 'eu'],
      metadata: { order: 7 },
      scheduledAt: new Date(1_700_000_000_000),
    }
    const id = await bench.run(gated, {}, { labels })
    await letGo(id)
    expect(await view(id)).toMatchObject({
      priority: 3,
      tags: ['nightly', 'eu'],
      metadata: { order: 7 },
      scheduled_at: labels.scheduledAt,
    })
  })
})
