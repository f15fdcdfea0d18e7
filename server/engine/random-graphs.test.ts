import type pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Graph, Json, Node } from '#model/definition'
import { SECOND } from '#platform/clock'
import { makeTestDatabase, type TestDatabase } from '#test/harness/postgres'
import { NodeFailure } from './node.ts'
import type { ExecutionView } from './ports.ts'
import { type Bench, kind, startTestEngine } from './testing.ts'

// Graphs of every kind of node, maps within maps, executed as they are in earnest: parked and taken up again, answered in any
// order. Whatever they are made of, they end, and give what their nodes give.

let database: TestDatabase
let bench: Bench
let superuser: pg.Client

beforeAll(async () => {
  database = await makeTestDatabase()
  superuser = await database.superuser()
  const slow = kind('slow', 'idempotent', async ({ args }) => {
    await new Promise((resolve) => setTimeout(resolve, Number(args.ms)))
    return { output: args.value ?? null }
  })
  const second = kind('second-time', 'idempotent', ({ attempt, args }) => {
    if (attempt === 1) throw new NodeFailure('once', 'the first time it fails')
    return { output: args.value ?? null }
  })
  bench = await startTestEngine(database.urls, { nodes: [slow, second] })
})
afterAll(async () => {
  await bench?.stop()
  await database?.drop()
})

/** The same numbers for the same seed (mulberry32). */
const random = (seed: number) => (): number => {
  seed = (seed + 0x6d2b79f5) | 0
  let t = Math.imul(seed ^ (seed >>> 15), 1 | seed)
  t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
  return ((t ^ (t >>> 14)) >>> 0) / 4294967296
}

const late = (at: number) => ({
  timeout_s: 0.2 + (at % 3) * 0.6,
  on_error: 'continue' as const,
  retry: { max_attempts: 1 + (at % 2), backoff_s: 0 },
})

type Made = { node: Node; expected: Json }

const makeNode = (next: () => number, id: string, depth: number): Made => {
  const at = Math.floor(next() * 1000)
  const kinds = [
    'echo',
    'slow',
    'second',
    'wait',
    'late',
    'late child',
    'collected',
    'question',
    'event',
    'gate',
    'child',
    'own way',
  ]
  if (depth < 2) kinds.push('map', 'map', 'map')
  const chosen = kinds[Math.floor(next() * kinds.length)]
  switch (chosen) {
    case 'slow':
      return { node: { id, type: 'slow', args: { ms: at % 40, value: at } }, expected: at }
    case 'second':
      return {
        node: { id, type: 'second-time', args: { value: at }, retry: { max_attempts: 2, backoff_s: (at % 3) * 0.6 } },
        expected: at,
      }
    case 'wait':
      // Some are longer than what is waited for in memory.
      return { node: { id, type: 'wait', args: { for_s: (at % 3) * 0.6 } }, expected: { waited_s: (at % 3) * 0.6 } }
    case 'late':
      return { node: { id, type: 'wait', args: { for_s: 600 }, ...late(at) }, expected: null }
    case 'late child': {
      const child = bench.define({ nodes: [{ id: 'w', type: 'wait', args: { for_s: 600 } }], edges: [] })
      return { node: { id, type: 'subworkflow', args: { workflow_id: child, input: {} }, ...late(at) }, expected: null }
    }
    case 'collected': {
      const body = { nodes: [{ id: 'f', type: 'fail', args: { code: 'no', message: 'no' } }], edges: [] }
      const error = { code: 'no', message: 'no', node_id: 'f', attempt: 1 }
      const args = { items: [1, 2], body: body as never, on_item_error: 'collect' }
      return { node: { id, type: 'map', args }, expected: [{ error }, { error }] }
    }
    case 'question':
      return { node: { id, type: 'clarification', args: { question: 'Well?' } }, expected: 'answered' }
    case 'event':
      return { node: { id, type: 'wait.event', args: { key: 'k' } }, expected: 'came' }
    case 'gate':
      return { node: { id, type: 'approval', args: { title: 'Well?' } }, expected: { status: 'approved' } }
    case 'child': {
      const { graph, expected } = makeGraph(next, 2)
      return { node: { id, type: 'subworkflow', args: { workflow_id: bench.define(graph), input: {} } }, expected }
    }
    case 'own way': {
      const child = bench.define({ nodes: [{ id: 'w', type: 'wait', args: { for_s: 600 } }], edges: [] })
      const args = { workflow_id: child, input: {}, wait: false }
      return { node: { id, type: 'subworkflow', args }, expected: { execution_id: expect.stringMatching(/^exe_/) } }
    }
    case 'map': {
      const { graph, expected } = makeGraph(next, depth + 1)
      const items = Array.from({ length: at % 4 }, (_, index) => index)
      const args = { items, body: graph as never, concurrency: 1 + (at % 3) }
      return { node: { id, type: 'map', args }, expected: items.map(() => expected) }
    }
    default:
      return { node: { id, type: 'echo', args: { value: at } }, expected: at }
  }
}

const makeGraph = (next: () => number, depth: number): { graph: Graph; expected: Json } => {
  const made = Array.from({ length: 1 + Math.floor(next() * 3) }, (_, n) => makeNode(next, `n${n}`, depth))
  const edges = made.flatMap(({ node }, n) =>
    n > 0 && next() < 0.5 ? [{ from: { node: `n${n - 1}`, ...portOf(made[n - 1]!.node) }, to: node.id }] : [],
  )
  return {
    graph: {
      nodes: made.map(({ node }) => node),
      edges,
      output: Object.fromEntries(made.map(({ node }) => [node.id, { $ref: `nodes.${node.id}.output` }])),
    },
    expected: Object.fromEntries(made.map(({ node, expected }) => [node.id, expected])),
  }
}

const portOf = ({ type }: Node): { port?: string } => (type === 'approval' ? { port: 'approved' } : {})

/** As `toEqual` sees it: an expected id is any id. */
function isEqual(results: unknown, expected: unknown): boolean {
  try {
    expect(results).toEqual(expected)
    return true
  } catch {
    return false
  }
}

/** Says what everybody in the workspace is asked, until nobody is. */
async function answerAll(isOver: () => boolean): Promise<void> {
  const told = new Set<string>()
  while (!isOver()) {
    const asked = await bench.db.engine((tx) =>
      tx.rows<{ execution_id: string; waiting_for: { kind: string; node_id: string }[] }>(
        `select execution_id, waiting_for from executions where workspace_id = $1 and status = 'waiting'`,
        [bench.workspaceId],
      ),
    )
    for (const { execution_id: executionId, waiting_for } of asked)
      for (const { kind: what, node_id: nodePath } of waiting_for) {
        const key = `${executionId} ${nodePath}`
        if (!['clarification', 'approval', 'event'].includes(what) || told.has(key)) continue
        told.add(key)
        await bench.db.tenant({ workspaceId: bench.workspaceId, userId: null }, async (tx) => {
          const at = (message: string) => ({
            workspaceId: bench.workspaceId,
            executionId,
            key: `${message} ${nodePath}`,
          })
          if (what === 'event') {
            await bench.engine.signal(tx, at('e'), { type: 'event.received', nodePath, output: 'came', data: {} })
            return
          }
          if (what === 'clarification') {
            await bench.engine.signal(tx, at('a'), {
              type: 'clarification.answered',
              nodePath,
              answer: 'answered',
              data: {},
            })
            return
          }
          await bench.engine.signal(tx, at('v'), { type: 'approval.voted', nodePath, data: {} })
          await bench.engine.signal(tx, at('r'), {
            type: 'approval.resolved',
            nodePath,
            outcome: 'approved',
            output: { status: 'approved' },
            data: {},
          })
        })
      }
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

/** Declares every worker dead, as often as no execution is suspected of it: what they were at is taken up under another name. */
async function bury(isOver: () => boolean): Promise<void> {
  for (let times = 0; times < 4 && !isOver(); times++) {
    await new Promise((resolve) => setTimeout(resolve, 400))
    await superuser.query('select engine.bury(worker_id) from workers where not dead')
  }
}

/** A start whose fate the fence left unknown is made again. */
async function start(graph: Graph): Promise<string> {
  for (;;) {
    try {
      return await bench.run(graph)
    } catch (error) {
      if (!/again/.test(String(error))) throw error
    }
  }
}

test.each([
  ['', 80, []],
  [', though their workers are declared dead in the middle', 40, [bury]],
] as [string, number, (typeof bury)[]][])(
  'graphs of any kind of node end with what their nodes give%s',
  async (_name, count, disturbances) => {
    const seed = Number(process.env.SEED ?? 20261115)
    const next = random(seed)
    const made = Array.from({ length: Number(process.env.GRAPHS ?? count) }, () => makeGraph(next, 0))
    let over = false
    const meanwhile = [answerAll, ...disturbances].map((work) => work(() => over))
    const views = await Promise.all(
      made.map(async ({ graph }) => {
        const id = await start(graph)
        return (await bench.engine.waitFor(bench.workspaceId, id, 45 * SECOND)) as ExecutionView
      }),
    )
    over = true
    await Promise.all(meanwhile)
    const wrong = views.flatMap((view, n) => {
      const { graph, expected } = made[n]!
      const { status, results, waiting_for, error } = view
      const isRight = status === 'succeeded' && isEqual(results, expected)
      return isRight ? [] : [{ graph: JSON.stringify(graph), expected, status, results, waiting_for, error }]
    })
    expect(wrong, `seed ${seed}`).toEqual([])
    expect((await bench.engine.health()).unaccounted).toEqual([])
  },
)
