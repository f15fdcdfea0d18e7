import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ExecutionView } from '#engine/ports'
import { SECOND } from '#platform/clock'
import { newId } from '#platform/ids'
import { makeTestDatabase, type TestDatabase } from '#test/harness/postgres'
import { NodeFailure } from './node.ts'
import { type Bench, chain, kind, startTestEngine } from './testing.ts'

let database: TestDatabase
let bench: Bench
const calls: string[] = []
let flaky = 0

// The behaviour that every engine behind the port must have. To test another implementation, add a line here.
const implementations = { 'on PostgreSQL': startTestEngine }

describe.each(Object.entries(implementations))('the engine %s', (_name, startImplementation) => {
  beforeAll(async () => {
    database = await makeTestDatabase()
    bench = await startImplementation(database.urls, {
      nodes: [
        kind('counted', 'idempotent', (call) => {
          calls.push(call.effectKey)
          return { output: call.args.value ?? null }
        }),
        kind('flaky', 'idempotent', (call) => {
          flaky += 1
          if (call.attempt < 3) throw new NodeFailure('http_status', 'the server said 503')
          return { output: call.attempt }
        }),
        kind('broken', 'pure', () => {
          throw new NodeFailure('broken', 'it does not work', { retryable: false })
        }),
        kind('bad-text', 'pure', () => ({ output: 'a\0b' })),
        kind('large', 'pure', () => ({ output: 'x'.repeat(100_000) })),
        kind('length', 'pure', (call) => ({ output: String(call.args.value).length })),
        kind(
          'stubborn',
          'pure',
          (call) =>
            new Promise((resolve) => call.signal.addEventListener('abort', () => resolve({ output: 'stopped' }))),
        ),
        kind('steps', 'idempotent', async (call) => {
          const first = await call.step('first', async () => 1)
          const second = await call.step('second', async () => first + 1)
          return { output: second }
        }),
      ],
    })
  })
  afterAll(async () => {
    await bench?.stop()
    await database?.drop()
  })

  const ended = async (executionId: string): Promise<ExecutionView> =>
    (await bench.engine.waitFor(bench.workspaceId, executionId, 60 * SECOND)) as ExecutionView

  const until = async (executionId: string, status: string): Promise<ExecutionView> => {
    for (;;) {
      const view = await bench.engine.readExecution(bench.workspaceId, executionId)
      if (view?.status === status) return view
      await new Promise<void>((resolve) => {
        const off = bench.engine.onAppended(() => {
          off()
          resolve()
        })
        setTimeout(resolve, 100)
      })
    }
  }

  const tell = (executionId: string, key: string, message: Parameters<typeof bench.engine.signal>[2]) =>
    bench.db.tenant({ workspaceId: bench.workspaceId, userId: null }, (tx) =>
      bench.engine.signal(tx, { workspaceId: bench.workspaceId, executionId, key }, message),
    )

  describe('an execution', () => {
    test('runs its nodes in order and ends with the results of the definition', async () => {
      const view = await ended(await bench.run(chain(5), { value: 7 }))
      expect(view).toMatchObject({ status: 'succeeded', results: 7, waiting_for: [] })
      expect(view.nodes.map((node) => node.status)).toEqual(Array(5).fill('succeeded'))
      const events = await bench.engine.readEvents(bench.workspaceId, view.execution_id, 0, 100)
      expect(events.map((event) => event.seq)).toEqual(Array.from({ length: 12 }, (_, index) => index + 1))
      expect(events[0]?.type).toBe('execution.started')
      expect(events.at(-1)?.type).toBe('execution.succeeded')
    })

    test('that has only control nodes succeeds', async () => {
      const view = await ended(
        await bench.run(
          {
            nodes: [
              { id: 'a', type: 'set', args: { values: { x: { $cel: 'input.n + 1.0' } } } },
              { id: 'b', type: 'branch', args: { cases: [{ port: 'big', when: { $cel: 'nodes.a.output.x > 5.0' } }] } },
              { id: 'c', type: 'set', args: { values: { size: 'big' } } },
              { id: 'd', type: 'set', args: { values: { size: 'small' } } },
            ],
            edges: [
              { from: { node: 'a' }, to: 'b' },
              { from: { node: 'b', port: 'big' }, to: 'c' },
              { from: { node: 'b', port: 'default' }, to: 'd' },
            ],
            output: { $ref: 'nodes.c.output.size' },
          },
          { n: 7 },
        ),
      )
      expect(view).toMatchObject({ status: 'succeeded', results: 'big' })
      expect(view.nodes.find((node) => node.node_id === 'd')?.status).toBe('skipped')
    })

    test('is reported to the listeners of this process with its status when it ends, and not while it waits', async () => {
      const told = new Map<string, string>()
      const off = bench.engine.onEnded((ends) => {
        for (const { executionId, status } of ends) told.set(executionId, status)
      })
      const waiting = { nodes: [{ id: 'w', type: 'wait', args: { for_s: 600 } }], edges: [] }
      const parked = await bench.run(waiting)
      await until(parked, 'waiting')
      const quick = await bench.run({ nodes: [{ id: 'a', type: 'set', args: { values: {} } }], edges: [] })
      const whole = await bench.run(chain(2), { value: 7 })
      const failed = await bench.run({ nodes: [{ id: 'f', type: 'broken' }], edges: [] })
      const statuses = () => [quick, whole, failed, parked].map((id) => told.get(id))
      await expect.poll(statuses).toEqual(['succeeded', 'succeeded', 'failed', undefined])
      await tell(parked, 'cancel', { type: 'cancel', by: null })
      await expect.poll(statuses).toEqual(['succeeded', 'succeeded', 'failed', 'cancelled'])
      off()
      await ended(await bench.run(chain(1), { value: 7 }))
      expect(told.size).toBe(4)
    })

    test('retries a node according to the policy of the node', async () => {
      const view = await ended(
        await bench.run({
          nodes: [{ id: 'f', type: 'flaky', retry: { max_attempts: 3, backoff_s: 0.01 } }],
          edges: [],
          output: { $ref: 'nodes.f.output' },
        }),
      )
      expect(view).toMatchObject({ status: 'succeeded', results: 3 })
      expect(flaky).toBe(3)
    })

    test('fails with the error of the node, and its end is reported', async () => {
      const view = await ended(await bench.run({ nodes: [{ id: 'f', type: 'broken' }], edges: [] }))
      expect(view).toMatchObject({ status: 'failed', error: { code: 'broken', node_id: 'f', attempt: 1 } })
      await expect.poll(() => bench.ended.map((end) => end.executionId)).toContain(view.execution_id)
    })

    test('routes an error to the node that the definition names', async () => {
      const view = await ended(
        await bench.run({
          nodes: [
            { id: 'f', type: 'broken', on_error: 'route' },
            { id: 'saved', type: 'echo', args: { value: { $ref: 'nodes.f.output.code' } } },
          ],
          edges: [{ from: { node: 'f', port: 'error' }, to: 'saved' }],
          output: { $ref: 'nodes.saved.output' },
        }),
      )
      expect(view).toMatchObject({ status: 'succeeded', results: 'broken' })
    })

    test('that contains text which cannot be stored fails alone', async () => {
      const [bad, good] = await Promise.all([
        bench.run({ nodes: [{ id: 'b', type: 'bad-text' }], edges: [] }),
        bench.run(chain(3), { value: 'fine' }),
      ])
      expect(await ended(bad)).toMatchObject({ status: 'failed', error: { code: 'invalid_text' } })
      expect(await ended(good)).toMatchObject({ status: 'succeeded', results: 'fine' })
      // Expressions can create such text too. The execution is stored, and its journal can be read.
      for (const text of ['"a\\u0000"', '{"\\x00": 1}', '["a", "\\000"]']) {
        const set = await bench.run({
          nodes: [
            { id: 's', type: 'set', args: { values: { text: { $cel: text } } }, on_error: 'route' },
            { id: 'code', type: 'echo', args: { value: { $ref: 'nodes.s.output.code' } } },
          ],
          edges: [{ from: { node: 's', port: 'error' }, to: 'code' }],
          output: { $ref: 'nodes.code.output' },
        })
        expect(await ended(set)).toMatchObject({ status: 'succeeded', results: 'invalid_text' })
        const results = await bench.run({ nodes: [{ id: 'a', type: 'echo' }], edges: [], output: { $cel: text } })
        expect(await ended(results)).toMatchObject({ status: 'failed', error: { code: 'invalid_text' } })
      }
      await expect(bench.run(chain(1), { value: 'half \ud800' })).rejects.toMatchObject({ code: 'malformed' })
    })

    test('keeps large outputs in the blob store and reads them from there', async () => {
      const view = await ended(
        await bench.run({
          nodes: [
            { id: 'l', type: 'large' },
            { id: 'w', type: 'wait', args: { for_s: 1.5 } },
            { id: 's', type: 'length', args: { value: { $ref: 'nodes.l.output' } } },
          ],
          edges: [
            { from: { node: 'l' }, to: 'w' },
            { from: { node: 'w' }, to: 's' },
          ],
          output: { $ref: 'nodes.s.output' },
        }),
      )
      expect(view).toMatchObject({ status: 'succeeded', results: 100_000 })
      expect(view.nodes.find((node) => node.node_id === 'l')).toMatchObject({ blob: { bytes: 100_002 } })
    })

    test('times out', async () => {
      const id = await bench.run(
        { nodes: [{ id: 'w', type: 'wait', args: { for_s: 60 } }], edges: [] },
        {},
        { timeoutS: 0.2 },
      )
      expect(await ended(id)).toMatchObject({ status: 'timed_out' })
    })

    test('is cancelled while a node runs', async () => {
      const id = await bench.run({
        nodes: [
          { id: 's', type: 'stubborn' },
          { id: 't', type: 'echo' },
        ],
        edges: [{ from: { node: 's' }, to: 't' }],
      })
      expect(await tell(id, 'cancel', { type: 'cancel', by: null })).toBe('accepted')
      expect(await ended(id)).toMatchObject({ status: 'cancelled' })
      expect(await tell(id, 'again', { type: 'cancel', by: null })).toBe('ended')
    })

    test('journals the steps of a node', async () => {
      const view = await ended(
        await bench.run({ nodes: [{ id: 's', type: 'steps' }], edges: [], output: { $ref: 'nodes.s.output' } }),
      )
      expect(view.results).toBe(2)
      const events = await bench.engine.readEvents(bench.workspaceId, view.execution_id, 0, 100)
      expect(events.filter((event) => event.type === 'node.progress').map((event) => event.data.step)).toEqual([
        'first',
        'second',
      ])
    })
  })

  describe('a wait', () => {
    test('for people is a row, and the answer resumes the execution', async () => {
      const id = await bench.run({
        nodes: [
          { id: 'q', type: 'clarification', args: { question: 'How many?' } },
          { id: 'e', type: 'echo', args: { value: { $ref: 'nodes.q.output' } } },
        ],
        edges: [{ from: { node: 'q' }, to: 'e' }],
        output: { $ref: 'nodes.e.output' },
      })
      const waiting = await until(id, 'waiting')
      expect(waiting.waiting_for).toMatchObject([{ kind: 'clarification', node_id: 'q', title: 'How many?' }])
      expect(await tell(id, 'a1', { type: 'clarification.answered', nodePath: 'q', answer: 3, data: {} })).toBe(
        'accepted',
      )
      expect(await tell(id, 'a1', { type: 'clarification.answered', nodePath: 'q', answer: 4, data: {} })).toMatch(
        /duplicate|ended/,
      )
      expect(await ended(id)).toMatchObject({ status: 'succeeded', results: 3 })
      const events = await bench.engine.readEvents(bench.workspaceId, id, 0, 100)
      expect(events.map((event) => event.type)).toEqual([
        'execution.started',
        'node.started',
        'clarification.asked',
        'execution.waiting',
        'execution.resumed',
        'clarification.answered',
        'node.succeeded',
        'node.started',
        'node.succeeded',
        'execution.succeeded',
      ])
    })

    test('for a gate continues at the port of the outcome; a rejection without an edge fails', async () => {
      const definition = {
        nodes: [{ id: 'g', type: 'approval', args: { title: 'Pay?' } }],
        edges: [],
        output: { $ref: 'nodes.g.output.status' },
      }
      const [yes, no] = [await bench.run(definition), await bench.run(definition)]
      await Promise.all([until(yes, 'waiting'), until(no, 'waiting')])
      await tell(yes, 'v', { type: 'approval.voted', nodePath: 'g', data: { decision: 'approve' } })
      await tell(yes, 'r', {
        type: 'approval.resolved',
        nodePath: 'g',
        outcome: 'approved',
        output: { status: 'approved' },
        data: {},
      })
      await tell(no, 'r', {
        type: 'approval.resolved',
        nodePath: 'g',
        outcome: 'rejected',
        output: { status: 'rejected' },
        data: {},
      })
      expect(await ended(yes)).toMatchObject({ status: 'succeeded', results: 'approved' })
      expect(await ended(no)).toMatchObject({ status: 'failed', error: { code: 'approval_rejected' } })
    })

    test('for a sub-workflow ends with the results of the sub-workflow', async () => {
      const child = bench.define(chain(2))
      const id = await bench.run({
        nodes: [{ id: 'c', type: 'subworkflow', args: { workflow_id: child, input: { value: 'from the child' } } }],
        edges: [],
        output: { $ref: 'nodes.c.output' },
      })
      expect(await ended(id)).toMatchObject({ status: 'succeeded', results: 'from the child' })
    })
  })

  describe('a map', () => {
    const body = {
      nodes: [{ id: 'b', type: 'echo', args: { value: { $cel: 'item * 2.0' } } }],
      edges: [],
      output: { $ref: 'nodes.b.output' },
    }

    test('returns the outputs of its items in order', async () => {
      const items = Array.from({ length: 250 }, (_, index) => index)
      const id = await bench.run(
        {
          nodes: [{ id: 'm', type: 'map', args: { items: { $ref: 'input.items' }, body } }],
          edges: [],
          output: { $ref: 'nodes.m.output' },
        },
        { items },
      )
      const view = await ended(id)
      expect(view.results).toEqual(items.map((item) => item * 2))
    })

    test('collects the errors of items, or fails with the first error', async () => {
      const broken = { nodes: [{ id: 'b', type: 'broken' }], edges: [], output: null }
      const of = (on_item_error: string) => ({
        nodes: [{ id: 'm', type: 'map', args: { items: [1, 2], body: broken, on_item_error } }],
        edges: [],
        output: { $ref: 'nodes.m.output' },
      })
      expect(await ended(await bench.run(of('collect')))).toMatchObject({
        status: 'succeeded',
        results: [{ error: { code: 'broken' } }, { error: { code: 'broken' } }],
      })
      expect(await ended(await bench.run(of('fail')))).toMatchObject({
        status: 'failed',
        error: { code: 'broken', node_id: 'm' },
      })
    })

    test('asks people for each item, in a map within a map', async () => {
      const inner = {
        nodes: [{ id: 'q', type: 'clarification', args: { question: 'and?' } }],
        edges: [],
        output: { $ref: 'nodes.q.output' },
      }
      const outer = {
        nodes: [{ id: 'i', type: 'map', args: { items: { $ref: 'item' }, body: inner } }],
        edges: [],
        output: { $ref: 'nodes.i.output' },
      }
      const id = await bench.run({
        nodes: [{ id: 'o', type: 'map', args: { items: [[1, 2], [3]], body: outer } }],
        edges: [],
        output: { $ref: 'nodes.o.output' },
      })
      const view = await until(id, 'waiting')
      const paths = view.waiting_for.map((wait) => String(wait.node_id))
      expect(paths.sort()).toEqual(['o[0].i[0].q', 'o[0].i[1].q', 'o[1].i[0].q'])
      for (const path of paths)
        await tell(id, path, { type: 'clarification.answered', nodePath: path, answer: path, data: {} })
      expect(await ended(id)).toMatchObject({
        status: 'succeeded',
        results: [['o[0].i[0].q', 'o[0].i[1].q'], ['o[1].i[0].q']],
      })
    })
  })

  describe('a retry', () => {
    test('keeps the nodes that were settled before the restart point', async () => {
      let works = false
      const definition = {
        nodes: [
          { id: 'a', type: 'counted', args: { value: 1 } },
          { id: 'b', type: 'broken' },
        ],
        edges: [{ from: { node: 'a' }, to: 'b' }],
        output: { $ref: 'nodes.a.output' },
      }
      const first = await ended(await bench.run(definition))
      works = true
      const before = calls.length
      const fixed = bench.define({
        ...definition,
        nodes: [definition.nodes[0]!, { id: 'b', type: 'broken', on_error: 'continue' as const }],
      })
      const again = await bench.engine.retry({
        workspaceId: bench.workspaceId,
        executionId: first.execution_id,
        from: 'failed',
        target: { definitionRef: fixed, workflowId: null, versionId: null },
        startedBy: null,
        trigger: { kind: 'user', id: null },
      })
      const view = await ended(again.executionId)
      expect(works && view).toMatchObject({ status: 'succeeded', results: 1, retry_of: first.execution_id })
      expect(calls.length).toBe(before)
    })
  })

  test('an idempotency key starts one execution, and is refused with another body', async () => {
    const idempotency = {
      credentialHash: Buffer.alloc(32, 1),
      keyHash: Buffer.alloc(32, 2),
      bodySha256: Buffer.alloc(32, 3),
    }
    const ref = bench.define(chain(1))
    const ids = await Promise.all(Array.from({ length: 20 }, () => bench.run(ref, { value: 1 }, { idempotency })))
    expect(new Set(ids).size).toBe(1)
    const other = { ...idempotency, bodySha256: Buffer.alloc(32, 4) }
    await expect(bench.run(ref, { value: 2 }, { idempotency: other })).rejects.toMatchObject({
      code: 'idempotency_key_reused',
    })
    const earlier = (key: typeof idempotency) => bench.engine.startedBefore(bench.workspaceId, key)
    expect(await earlier(idempotency)).toMatchObject({ executionId: ids[0], replayed: true })
    expect(await earlier({ ...idempotency, keyHash: Buffer.alloc(32, 5) })).toBeUndefined()
    await expect(earlier(other)).rejects.toMatchObject({ code: 'idempotency_key_reused' })
  })

  test('a workflow with a limit runs no more executions at once than its limit, and completes all of them', async () => {
    const ref = bench.define(chain(2))
    const limited = await bench.rule(newId(), { max_concurrency: 2 })
    const ids = await Promise.all(Array.from({ length: 12 }, () => bench.run(ref, { value: 1 }, limited)))
    for (const id of ids) expect(await ended(id)).toMatchObject({ status: 'succeeded' })
  })

  test('an execution that was answered waits for a slot of its workflow', async () => {
    const limited = await bench.rule(newId(), { max_concurrency: 1 })
    const question = { id: 'q', type: 'clarification', args: { question: '?' } }
    const asking = await bench.run({ nodes: [question], edges: [] }, {}, limited)
    await until(asking, 'waiting')
    const busy = await bench.run({ nodes: [{ id: 's', type: 'stubborn' }], edges: [] }, {}, limited)
    await until(busy, 'running')
    await tell(asking, 'a', { type: 'clarification.answered', nodePath: 'q', answer: 1, data: {} })
    const held = await until(asking, 'waiting')
    expect(held.waiting_for).toMatchObject([{ kind: 'slot' }])
    await tell(busy, 'cancel', { type: 'cancel', by: null })
    expect(await ended(asking)).toMatchObject({ status: 'succeeded' })
  })

  test('an engine that is stopped returns its executions, and another engine continues them', async () => {
    const { promise: held, resolve: letGo } = Promise.withResolvers<void>()
    let begun = 0
    const gated = kind('gated', 'idempotent', async (call) => {
      begun += 1
      await held
      return { output: call.args.value ?? null }
    })
    const first = await startImplementation(database.urls, {
      nodes: [gated],
      workspaceId: bench.workspaceId,
      definitions: bench.definitions,
    })
    const ref = first.define({
      nodes: [
        { id: 'a', type: 'gated', args: { value: 1 } },
        { id: 'b', type: 'echo', args: { value: { $ref: 'nodes.a.output' } } },
      ],
      edges: [{ from: { node: 'a' }, to: 'b' }],
      output: { $ref: 'nodes.b.output' },
    })
    const ids = await Promise.all(Array.from({ length: 5 }, () => first.run(ref)))
    await expect.poll(() => begun).toBe(5)
    const stopping = first.stop()
    letGo()
    await stopping
    for (const id of ids) {
      expect(await ended(id)).toMatchObject({ status: 'succeeded', results: 1 })
      const done = (await bench.engine.readEvents(bench.workspaceId, id, 0, 100)).filter(
        (event) => event.type === 'node.succeeded',
      )
      expect(done.map((event) => event.data.node_id)).toEqual(['a', 'b'])
    }
    expect(begun).toBe(5)
  })

  test('the children of a cancelled parent are cancelled too', async () => {
    const child = bench.define({ nodes: [{ id: 'w', type: 'wait', args: { for_s: 600 } }], edges: [] })
    const id = await bench.run({
      nodes: [{ id: 'c', type: 'subworkflow', args: { workflow_id: child, input: {} } }],
      edges: [],
    })
    await until(id, 'waiting')
    const children = () =>
      bench.db.engine((tx) =>
        tx.rows<{ execution_id: string; status: string }>(
          'select execution_id, status from executions where parent_execution_id = $1',
          [id],
        ),
      )
    await expect.poll(async () => (await children()).map((row) => row.status)).toEqual(['waiting'])
    await tell(id, 'cancel', { type: 'cancel', by: null })
    expect(await ended(id)).toMatchObject({ status: 'cancelled' })
    await expect.poll(async () => (await children()).map((row) => row.status)).toEqual(['cancelled'])
  })

  test('a node that exceeds its timeout fails with the code timeout', async () => {
    const view = await ended(
      await bench.run({ nodes: [{ id: 's', type: 'stubborn', timeout_s: 0.05, on_error: 'continue' }], edges: [] }),
    )
    expect(view.nodes).toMatchObject([{ status: 'failed', error: { code: 'timeout' } }])
  })

  test('another workspace neither sees nor reaches an execution', async () => {
    const id = await bench.run(chain(1), { value: 1 })
    const stranger = '01900000-0000-7000-8000-000000000000'
    expect(await bench.engine.readExecution(stranger, id)).toBeUndefined()
    expect(await bench.engine.readEvents(stranger, id, 0, 10)).toEqual([])
    const outcome = await bench.db.tenant({ workspaceId: stranger, userId: null }, (tx) =>
      bench.engine.signal(
        tx,
        { workspaceId: bench.workspaceId, executionId: id, key: 'k' },
        { type: 'cancel', by: null },
      ),
    )
    expect(outcome).toBe('unknown')
  })

  test('every live execution is accounted for', async () => {
    const health = await bench.engine.health()
    expect(health.unaccounted).toEqual([])
    expect(health.workers).toHaveLength(1)
  })
})
