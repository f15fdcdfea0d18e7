import type pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Graph } from '#model/definition'
import { SECOND } from '#platform/clock'
import { makeTestDatabase, type TestDatabase } from '#test/harness/postgres'
import { isSlowRun } from '#test/harness/slow'
import { differences } from '#test/oracle/compare'
import { makeGraph, random } from '#test/oracle/graphs'
import { endOf } from '#test/oracle/model'
import { type NodeCall, NodeFailure, type NodeKind, type NodeResult } from './node.ts'
import type { ExecutionView, Signal } from './ports.ts'
import { type Bench, kind, startTestEngine } from './testing.ts'

// Random graphs, executed by a real engine: parked, resumed, and answered in any order. They must end as the model of
// the documentation says.

/** Fails the first `fails` attempts. `late`: does not end by itself. */
const work = async ({ attempt, args, signal }: NodeCall): Promise<NodeResult> => {
  if (attempt <= Number(args.fails ?? 0)) throw new NodeFailure('no', 'no', { retryable: args.final !== true })
  if (args.late) await new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
  return { output: args.value ?? null }
}

/** Without effects if it can end at once. Such nodes run before the previous results are durable. */
const sometimesPure: NodeKind = {
  ...kind('work', 'idempotent', work),
  effectOf: ({ fails, late }) => (fails || late ? 'idempotent' : 'pure'),
}

let database: TestDatabase
let bench: Bench
let superuser: pg.Client

beforeAll(async () => {
  database = await makeTestDatabase()
  superuser = await database.superuser()
  bench = await startTestEngine(database.urls, {
    nodes: [sometimesPure, kind('once', 'at_most_once', work)],
    ports: { awaitEvent: async ({ args }) => ({ data: { title: args.key ?? null } }) },
  })
})
afterAll(async () => {
  await bench?.stop()
  await database?.drop()
})

type Asked = { kind: string; node_id: string; title?: string }

async function answerOne(executionId: string, { kind: what, node_id: nodePath, title }: Asked): Promise<void> {
  await bench.db.tenant({ workspaceId: bench.workspaceId, userId: null }, async (tx) => {
    const tell = (key: string, signal: Signal) =>
      bench.engine.signal(tx, { workspaceId: bench.workspaceId, executionId, key: `${key} ${nodePath}` }, signal)
    if (what === 'event') return tell('e', { type: 'event.received', nodePath, output: 'came', data: {} })
    if (what === 'clarification')
      return tell('a', { type: 'clarification.answered', nodePath, answer: 'answered', data: {} })
    const outcome = title === 'no' ? 'rejected' : 'approved'
    await tell('v', { type: 'approval.voted', nodePath, data: {} })
    return tell('r', { type: 'approval.resolved', nodePath, outcome, output: { status: outcome }, data: {} })
  })
}

/** Answers all questions, gates and events of the workspace until `isOver`. */
async function answerAll(isOver: () => boolean): Promise<void> {
  const told = new Set<string>()
  while (!isOver()) {
    const asked = await bench.db.engine((tx) =>
      tx.rows<{ execution_id: string; waiting_for: Asked[] }>(
        `select execution_id, waiting_for from executions where workspace_id = $1 and status = 'waiting'`,
        [bench.workspaceId],
      ),
    )
    for (const { execution_id: executionId, waiting_for } of asked)
      for (const wait of waiting_for) {
        const key = `${executionId} ${wait.node_id}`
        if (!['clarification', 'approval', 'event'].includes(wait.kind) || wait.title === 'never' || told.has(key))
          continue
        told.add(key)
        await answerOne(executionId, wait)
      }
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

/**
 * Declares every worker dead, but not so often that an execution becomes suspect. The workers continue under new ids.
 */
async function bury(isOver: () => boolean): Promise<void> {
  for (let times = 0; times < 4 && !isOver(); times++) {
    await new Promise((resolve) => setTimeout(resolve, 400))
    await superuser.query('select engine.bury(worker_id) from workers where not dead')
  }
}

/** Repeats a start if the fence left its outcome unknown. */
async function start(graph: Graph, input: { x: number }): Promise<string> {
  for (;;) {
    try {
      return await bench.run(graph, input)
    } catch (error) {
      if (!/again/.test(String(error))) throw error
    }
  }
}

const endedOf = ({ status, results, error, nodes }: ExecutionView) => ({
  status,
  results,
  error,
  nodes: new Map(nodes.map(({ node_id, ...node }) => [node_id, { ...node, output: node.output ?? null }])),
})

test.each([
  ['', isSlowRun ? 80 : 40, true, []],
  // Another worker does not repeat an at_most_once node, so whether such a node fails would depend on timing.
  [', even if their workers are declared dead while they run', isSlowRun ? 40 : 20, false, [bury]],
] as [string, number, boolean, (typeof bury)[]][])(
  'random graphs end as the documentation says%s',
  async (_name, count, withOnce, disturbances) => {
    const seed = Number(process.env.SEED ?? 20261115)
    const next = random(seed)
    const define = (graph: Graph): string => bench.define(graph)
    const made = Array.from({ length: Number(process.env.GRAPHS ?? count) }, () => ({
      graph: makeGraph({ next, define, withOnce, withLoops: true, virtualTime: false }),
      input: { x: Math.floor(next() * 11) },
    }))
    let over = false
    const meanwhile = [answerAll, ...disturbances].map((work) => work(() => over))
    const views = await Promise.all(
      made.map(async ({ graph, input }) => {
        const id = await start(graph, input)
        return (await bench.engine.waitFor(bench.workspaceId, id, 45 * SECOND)) as ExecutionView
      }),
    )
    over = true
    await Promise.all(meanwhile)
    const wrong = views.flatMap((view, n) => {
      const { graph, input } = made[n]!
      const found = differences(endedOf(view), endOf(graph, { input, definitions: bench.definitions }))
      return found.length === 0 ? [] : [{ found, waiting_for: view.waiting_for, graph: JSON.stringify(graph) }]
    })
    expect(wrong, `seed ${seed}`).toEqual([])
    expect((await bench.engine.health()).unaccounted).toEqual([])
  },
)
