import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Definition, Edge, Json, Node } from '#model/definition'
import { NodeFailure } from '../node.ts'
import { advance, type Step, startGraph } from './advance.ts'
import { replay } from './apply.ts'
import type { Command } from './commands.ts'
import type { Context } from './context.ts'
import { errorOf } from './errors.ts'
import type { GraphMessage } from './graph-message.ts'
import { activeNodes, emptyState, type GraphState, hasEnded, type JournalEvent, nextDue, onlyWaits } from './state.ts'

test('an error is stored without the characters that cannot be stored', () => {
  const details: Json = { body: ['\u0089PNG\u0000', '😀'.slice(0, 1)], 'a\u0000b': 1, status: 404 }
  expect(
    errorOf(new NodeFailure('http_status', 'a\u0000b 😀'.slice(0, 5), { details, retryable: false }), 'call', 1),
  ).toEqual({
    code: 'http_status',
    message: 'ab \ufffd',
    node_id: 'call',
    attempt: 1,
    details: { body: ['\u0089PNG', '\ufffd'], ab: 1, status: 404 },
  })
})

const contextOf = (graph: Definition, input: Json = {}): Context => ({
  graph,
  input,
  execution: {},
  seed: 'seed',
  effectOf: () => 'pure',
})

type Answered = Exclude<Command, { do: 'close' }>
const isAnswered = (command: Command): command is Answered => command.do !== 'close'

/** The result of a node depends only on its path and attempt, as for real nodes. */
const answerTo = (command: Answered, failing: ReadonlySet<string>): GraphMessage => {
  const { node } = command
  switch (command.do) {
    case 'run':
      return failing.has(node) && command.attempt < 3
        ? { kind: 'error', node, attempt: command.attempt, error: { code: 'no', message: 'no' }, retryable: true }
        : { kind: 'done', node, attempt: command.attempt, output: { from: node, saw: command.args.value ?? null } }
    case 'open':
      return { kind: 'opened', node, people: command.people, data: { title: node }, dueAt: null }
    case 'child':
      return { kind: 'child', node, attempt: command.attempt, results: node, error: null }
    case 'map':
      return { kind: 'done', node, attempt: command.attempt, output: [] }
    case 'loop':
      return { kind: 'done', node, attempt: command.attempt, output: { turns: 0, state: null } }
    case 'abandon':
      return { kind: 'time' }
    case 'grace':
      return { kind: 'grace', until: 1_000_000 }
    case 'due':
      return { kind: 'postponed', node, people: command.people, dueAt: null }
  }
}

/** Returns the messages that end the waits of the state. */
const wake = (state: GraphState): GraphMessage[] =>
  activeNodes(state).flatMap(([node, { wait }]): GraphMessage[] => {
    if (wait?.kind === 'approval') return [{ kind: 'resolved', node, outcome: 'approved', output: node, data: {} }]
    if (wait?.kind === 'clarification') return [{ kind: 'answered', node, answer: node, data: {} }]
    return []
  })

type Played = { state: GraphState; events: JournalEvent[]; steps: number }

/** Plays a graph to its end. `pick` chooses which of the possible messages comes next. */
const play = (
  context: Context,
  failing: ReadonlySet<string>,
  pick: (n: number) => number,
  check: (step: Step) => void,
): Played => {
  let at = 1_000
  let step = startGraph(context, at)
  const events = [...step.events]
  let open = step.commands.filter(isAnswered)
  let steps = 0
  check(step)
  while (!hasEnded(step.state)) {
    const next: GraphMessage[] = [...open.map((command) => answerTo(command, failing)), ...wake(step.state)]
    const due = nextDue(step.state)
    if (due !== null) next.push({ kind: 'time' })
    expect(next.length, 'a graph that has not ended has something to do or waits for something').toBeGreaterThan(0)
    const message = next[pick(next.length)] as GraphMessage
    if (message.kind === 'time') at = Math.max(at, due ?? at)
    at += 1
    open = 'node' in message ? open.filter((command) => command.node !== message.node) : open
    step = advance(context, step.state, [message], at)
    open = [...open, ...step.commands.filter(isAnswered)]
    events.push(...step.events)
    check(step)
    steps += 1
    expect(steps).toBeLessThan(10_000)
  }
  return { state: step.state, events, steps }
}

const outcome = (state: GraphState) => ({
  status: state.status,
  results: state.results,
  nodes: Object.fromEntries(
    Object.entries(state.nodes)
      .map(
        ([id, node]) => [id, { status: node.status, output: node.output ?? null, port: node.port ?? 'out' }] as const,
      )
      .sort(([a], [b]) => (a < b ? -1 : 1)),
  ),
})

const types = ['echo', 'echo', 'set', 'branch', 'approval', 'clarification', 'wait', 'subworkflow', 'flaky'] as const

/** Random acyclic graphs. Edges lead from lower to higher nodes; some have conditions, some have ports. */
const graphs = fc
  .record({
    kinds: fc.array(fc.constantFrom(...types), { minLength: 1, maxLength: 12 }),
    links: fc.array(fc.tuple(fc.nat(11), fc.nat(11), fc.nat(5)), { maxLength: 24 }),
    joins: fc.array(fc.boolean(), { minLength: 12, maxLength: 12 }),
    handled: fc.array(fc.boolean(), { minLength: 12, maxLength: 12 }),
  })
  .map(({ kinds, links, joins, handled }): { graph: Definition; failing: Set<string> } => {
    const failing = new Set<string>()
    const nodes = kinds.map((type, index): Node => {
      const id = `n${index}`
      if (type === 'flaky') failing.add(id)
      const args: Record<string, Node['args']> = {
        set: { values: { x: { $ref: 'input.x' } } },
        branch: { cases: [{ port: 'yes', when: { $cel: 'input.x > 5.0' } }] },
        wait: { for_s: index + 1 },
        subworkflow: { workflow_id: 'w', input: {} },
      }
      return {
        id,
        type: type === 'flaky' ? 'echo' : type,
        args: args[type] ?? { value: { $ref: 'input.x' } },
        // A branch passes on the output of the node that led to it. With `any`, that depends on the order.
        ...(joins[index] && type !== 'branch' && { join: 'any' as const }),
        ...(type === 'flaky' &&
          (handled[index] ? { retry: { max_attempts: 3, backoff_s: 1 } } : { on_error: 'route' as const })),
      }
    })
    const edges = links.flatMap(([a, b, how]): Edge[] => {
      const [from, to] = [Math.min(a, b), Math.max(a, b)]
      const source = nodes[from]
      if (from === to || !nodes[to] || !source) return []
      const port =
        source.type === 'branch'
          ? ['yes', 'default'][how % 2]
          : source.type === 'approval'
            ? 'approved'
            : source.on_error === 'route'
              ? ['error', undefined][how % 2]
              : undefined
      const when = how === 5 ? { when: { $cel: 'input.x > 5.0' } } : {}
      return [{ from: { node: source.id, ...(port && { port }) }, to: `n${to}`, ...when }]
    })
    // A routed failure needs an edge. Without one, it fails the execution at a time that depends on the order.
    const kept = nodes.map((node): Node => {
      if (node.on_error !== 'route' || edges.some((edge) => edge.from.node === node.id && edge.from.port === 'error'))
        return node
      return { ...node, on_error: 'continue' }
    })
    return { graph: { nodes: kept, edges, output: { $ref: `nodes.n${kinds.length - 1}.output` } }, failing }
  })

type Expected = { status: string; output: Json; port: string }

/**
 * The result that docs/workflows.md prescribes for a graph, computed without the interpreter: the nodes in
 * topological order, each decided only by its incoming edges.
 */
const expectedOf = (graph: Definition, x: number, failing: ReadonlySet<string>): Record<string, Expected> => {
  const nodes: Record<string, Expected> = {}
  for (const { id, type, retry } of graph.nodes) {
    const incoming = (graph.edges ?? []).filter((edge) => edge.to === id)
    const taken = incoming.filter(({ from, when }) => {
      const source = nodes[from.node] as Expected
      return source.status !== 'skipped' && source.port === (from.port ?? 'out') && (!when || x > 5)
    })
    const input: Json = taken[0] ? (nodes[taken[0].from.node] as Expected).output : { x }
    const fails = failing.has(id) && !retry
    const error = { code: 'no', message: 'no', node_id: id, attempt: 1 }
    const routed = fails && graph.edges?.some((edge) => edge.from.node === id && edge.from.port === 'error')
    if (incoming.length > 0 && taken.length === 0) nodes[id] = { status: 'skipped', output: null, port: 'out' }
    else if (routed) nodes[id] = { status: 'failed', output: error, port: 'error' }
    else if (fails) nodes[id] = { status: 'failed', output: null, port: 'out' }
    else {
      const outputs: Record<string, Json> = {
        set: { x },
        branch: input,
        approval: id,
        clarification: id,
        wait: { waited_s: Number(id.slice(1)) + 1 },
        subworkflow: id,
      }
      const ports: Record<string, string> = { branch: x > 5 ? 'yes' : 'default', approval: 'approved' }
      const output = Object.hasOwn(outputs, type) ? (outputs[type] as Json) : { from: id, saw: x }
      nodes[id] = { status: 'succeeded', output, port: ports[type] ?? 'out' }
    }
  }
  return nodes
}

describe('the interpreter', () => {
  test('ends as the documentation says, in any order of results', () => {
    fc.assert(
      fc.property(graphs, fc.nat(10), fc.infiniteStream(fc.nat()), ({ graph, failing }, x, order) => {
        const context = contextOf(graph, { x })
        const first = play(
          context,
          failing,
          () => 0,
          () => {},
        )
        const last = play(
          context,
          failing,
          (n) => n - 1,
          () => {},
        )
        const random = play(
          context,
          failing,
          (n) => (order.next().value as number) % n,
          () => {},
        )
        const nodes = expectedOf(graph, x, failing)
        const results = nodes[`n${graph.nodes.length - 1}`]?.output
        expect(outcome(first.state)).toEqual({ status: 'succeeded', results, nodes })
        expect(outcome(last.state)).toEqual(outcome(first.state))
        expect(outcome(random.state)).toEqual(outcome(first.state))
      }),
      { numRuns: 1000 },
    )
  })

  test('ends or waits, and every node is settled at the end', () => {
    fc.assert(
      fc.property(graphs, fc.nat(10), ({ graph, failing }, x) => {
        const { state } = play(
          contextOf(graph, { x }),
          failing,
          () => 0,
          () => {},
        )
        expect(Object.keys(state.nodes)).toHaveLength(graph.nodes.length)
        expect(activeNodes(state)).toEqual([])
      }),
      { numRuns: 200 },
    )
  })

  test('has a state that survives serialization and equals the replayed journal, at every step', () => {
    fc.assert(
      fc.property(graphs, fc.nat(10), fc.infiniteStream(fc.nat()), ({ graph, failing }, x, order) => {
        const journal: JournalEvent[] = []
        play(
          contextOf(graph, { x }),
          failing,
          (n) => (order.next().value as number) % n,
          (step) => {
            journal.push(...(JSON.parse(JSON.stringify(step.events)) as JournalEvent[]))
            expect(JSON.parse(JSON.stringify(step.state))).toEqual(step.state)
            expect(replay(emptyState(), journal)).toEqual(step.state)
          },
        )
      }),
      { numRuns: 200 },
    )
  })

  test('is not changed by a result that no node waits for', () => {
    fc.assert(
      fc.property(graphs, fc.nat(10), ({ graph, failing }, x) => {
        const context = contextOf(graph, { x })
        play(
          context,
          failing,
          () => 0,
          ({ state }) => {
            for (const { id } of graph.nodes) {
              const stale: GraphMessage[] = [
                { kind: 'done', node: id, attempt: 99, output: 'stale' },
                { kind: 'child', node: `${id}x`, attempt: 1, results: null, error: null },
              ]
              expect(advance(context, state, stale, 5).state).toEqual(state)
            }
          },
        )
      }),
      { numRuns: 50 },
    )
  })
})

const node = (id: string, more: Partial<Node> = {}): Node => ({ id, type: 'echo', ...more })
const done = (id: string, output: Json = id, attempt = 1): GraphMessage => ({ kind: 'done', node: id, attempt, output })
const edge = (from: string, to: string, port?: string): Edge => ({ from: { node: from, ...(port && { port }) }, to })

describe('joins', () => {
  test('`all` waits for every edge, `any` for the first edge that is taken', () => {
    const graph = (join: 'all' | 'any'): Definition => ({
      nodes: [node('a'), node('b'), node('j', { join })],
      edges: [edge('a', 'j'), edge('b', 'j')],
    })
    const stateOfJoin = (join: 'all' | 'any') => {
      const context = contextOf(graph(join))
      return advance(context, startGraph(context, 1).state, [done('a')], 2).state.nodes.j?.status
    }
    expect(stateOfJoin('all')).toBeUndefined()
    expect(stateOfJoin('any')).toBe('running')
  })

  test('the arguments of a later attempt are those of the first attempt', () => {
    const context = contextOf({
      nodes: [
        node('a'),
        node('b'),
        node('j', {
          join: 'any',
          args: { value: { $ref: 'nodes.b.output' } },
          retry: { max_attempts: 2, backoff_s: 1 },
        }),
      ],
      edges: [edge('a', 'j'), edge('b', 'j')],
    })
    let step = advance(context, startGraph(context, 1).state, [done('a')], 2)
    expect(step.commands).toMatchObject([{ node: 'j', attempt: 1, args: { value: null } }])
    const error: GraphMessage = {
      kind: 'error',
      node: 'j',
      attempt: 1,
      error: { code: 'x', message: 'x' },
      retryable: true,
    }
    step = advance(context, step.state, [done('b'), error], 3)
    step = advance(context, step.state, [{ kind: 'time' }], 60_000)
    expect(step.commands).toMatchObject([{ node: 'j', attempt: 2, args: { value: null } }])
  })
})

describe('failures', () => {
  const failing = (more: Partial<Node>, edges: Edge[] = []): Step => {
    const context = contextOf({
      nodes: [node('f', more), node('after')],
      edges: edges.length > 0 ? edges : [edge('f', 'after')],
    })
    const error: GraphMessage = {
      kind: 'error',
      node: 'f',
      attempt: 1,
      error: { code: 'x', message: 'x' },
      retryable: true,
    }
    return advance(context, startGraph(context, 1).state, [error], 2)
  }

  test('`continue` continues with null, `route` takes the port error, `fail` ends the execution', () => {
    expect(failing({ on_error: 'continue' }).state.nodes).toMatchObject({
      f: { status: 'failed', output: null },
      after: { status: 'running' },
    })
    expect(failing({ on_error: 'route' }, [edge('f', 'after', 'error')]).commands).toMatchObject([{ node: 'after' }])
    expect(failing({ on_error: 'route' }).state).toMatchObject({ status: 'failed', error: { code: 'x', node_id: 'f' } })
    expect(failing({}).state).toMatchObject({ status: 'failed', nodes: { f: { status: 'failed' } } })
  })

  test('a condition that cannot be evaluated fails the node that the edge leads to', () => {
    const context = contextOf({
      nodes: [node('a'), node('b')],
      edges: [{ ...edge('a', 'b'), when: { $cel: 'input.absent > 1.0' } }],
    })
    const { state } = advance(context, startGraph(context, 1).state, [done('a')], 2)
    expect(state).toMatchObject({ status: 'failed', error: { node_id: 'b' } })
  })

  test('the backoff grows, has jitter, and is the same each time it is computed', () => {
    const context = contextOf({
      nodes: [node('f', { retry: { max_attempts: 3, backoff_s: 10, factor: 3 } })],
      edges: [],
    })
    const error = (attempt: number): GraphMessage => ({
      kind: 'error',
      node: 'f',
      attempt,
      error: { code: 'x', message: 'x' },
      retryable: true,
    })
    const first = advance(context, startGraph(context, 0).state, [error(1)], 0)
    expect(first).toEqual(advance(context, startGraph(context, 0).state, [error(1)], 0))
    const due = nextDue(first.state) ?? 0
    expect(due).toBeGreaterThanOrEqual(7_500)
    expect(due).toBeLessThanOrEqual(12_500)
    expect(onlyWaits(first.state)).toBe(true)
  })
})
