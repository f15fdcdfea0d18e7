import { describe, expect, test } from 'vitest'
import type { ExecutionError, Graph, Json, JsonObject } from '#model/definition'
import { differences, type Ended } from '#test/oracle/compare'
import { makeGraph, random } from '#test/oracle/graphs'
import { endOf } from '#test/oracle/model'
import { advance, startGraph } from './advance.ts'
import type { Command } from './commands.ts'
import type { Context } from './context.ts'
import type { GraphMessage } from './graph-message.ts'
import { activeNodes, type GraphState, hasEnded, nextDue } from './state.ts'
import { contextOf } from './testing.ts'

// Random graphs, played with results in a random order, must end as the model of the documentation says.

const GRAPHS = 1_500
const SEED = 20261116

type Play = { definitions: Map<string, Graph>; below(limit: number): number }

const NO = { code: 'no', message: 'no' }
const LATE = { code: 'timeout', message: 'it took too long' }

/** Returns the result of an attempt of a node that a worker runs. */
function resultOf({ node, attempt, args }: Command & { do: 'run' }): GraphMessage {
  const { fails = 0, late = 0 } = args as { fails?: number; late?: number }
  if (attempt <= fails) return { kind: 'error', node, attempt, error: NO, retryable: args.final !== true }
  if (attempt <= fails + late) return { kind: 'error', node, attempt, error: LATE, retryable: true }
  return { kind: 'done', node, attempt, output: args.value ?? null }
}

function childOf(play: Play, { node, attempt, args }: Command & { do: 'child' }): GraphMessage {
  const child = (results: Json, error: ExecutionError | null): GraphMessage => ({
    kind: 'child',
    node,
    attempt,
    results,
    error,
  })
  if (args.wait === false) return child({ execution_id: 'exe_1' }, null)
  const graph = play.definitions.get(String(args.workflow_id))!
  const { results, error } = playGraph(play, contextWith(graph, { input: args.input ?? {} }))
  return child(results ?? null, error ?? null)
}

function mapOf(
  play: Play,
  context: Context,
  state: GraphState,
  { node, attempt, args }: Command & { do: 'map' },
): GraphMessage {
  const outer = { ...context.outer }
  for (const [id, { output, settled }] of Object.entries(state.nodes))
    if (settled !== undefined) outer[id] = { output: output ?? null }
  const { input } = context
  const ends = args.items.map((item, index) => playGraph(play, contextWith(args.body, { input, item, index, outer })))
  const error = ends.find((end) => end.error)?.error
  if (error && args.onItemError === 'fail') return { kind: 'error', node, attempt, error, retryable: true }
  const output = ends.map((end): Json => (end.error ? { error: end.error as JsonObject } : (end.results ?? null)))
  return { kind: 'done', node, attempt, output }
}

function answerTo(play: Play, context: Context, state: GraphState, command: Command): GraphMessage[] {
  const { node } = command
  switch (command.do) {
    case 'run':
      return [resultOf(command)]
    case 'child':
      return [childOf(play, command)]
    case 'map':
      return [mapOf(play, context, state, command)]
    case 'open':
      return [
        { kind: 'opened', node, people: command.people, data: { asked: Object.values(command.args)[0]! }, dueAt: null },
      ]
    default:
      return []
  }
}

/** Returns the answers that may be given to the nodes that ask. */
const answersTo = (state: GraphState): GraphMessage[] =>
  activeNodes(state).flatMap(([node, { wait }]): GraphMessage[] => {
    if (!wait || !('data' in wait) || wait.data.asked === 'never') return []
    if (wait.kind === 'clarification') return [{ kind: 'answered', node, answer: 'answered', data: {} }]
    if (wait.kind === 'event') return [{ kind: 'received', node, output: 'came', data: {} }]
    const outcome = wait.data.asked === 'no' ? 'rejected' : 'approved'
    return [{ kind: 'resolved', node, outcome, output: { status: outcome }, data: {} }]
  })

const contextWith = (graph: Graph, more: Partial<Context>): Context =>
  contextOf(graph, { effectOf: (type) => (type === 'once' ? 'at_most_once' : 'pure'), ...more })

function playGraph(play: Play, context: Context): GraphState {
  let at = 1_000
  let step = startGraph(context, at)
  let open: GraphMessage[] = step.commands.flatMap((command) => answerTo(play, context, step.state, command))
  while (!hasEnded(step.state)) {
    const due = nextDue(step.state)
    const possible = [...open, ...answersTo(step.state), ...(due === null ? [] : [{ kind: 'time' } as const])]
    const message = possible[play.below(possible.length)]
    if (!message) throw new Error('nothing is left that could happen')
    if (message.kind === 'time') at = Math.max(at, due!)
    open = open.filter((other) => other !== message)
    step = advance(context, step.state, [message], at)
    open.push(...step.commands.flatMap((command) => answerTo(play, context, step.state, command)))
  }
  return step.state
}

const endedOf = ({ status, results, error, nodes }: GraphState): Ended => ({
  status,
  results,
  error,
  nodes: new Map(
    Object.entries(nodes).map(([id, { output, port, ...node }]) => [
      id,
      { ...node, output: output ?? null, port: port ?? 'out' },
    ]),
  ),
})

describe('random graphs', () => {
  test('end as the documentation says, in any order of results', () => {
    const wrong: unknown[] = []
    const kinds = new Set<string>()
    for (let at = 0; at < GRAPHS && wrong.length === 0; at += 1) {
      const next = random(SEED + at)
      const definitions = new Map<string, Graph>()
      const define = (graph: Graph): string => {
        const id = `wf_${definitions.size}`
        definitions.set(id, graph)
        return id
      }
      const graph = makeGraph({ next, define, withOnce: true, withLoops: false, virtualTime: true })
      const input = { x: Math.floor(next() * 11) }
      const end = endOf(graph, { input, definitions })
      const state = playGraph(
        { definitions, below: (limit) => Math.floor(next() * limit) },
        contextWith(graph, { input }),
      )
      const found = differences(endedOf(state), end)
      if (found.length > 0) wrong.push({ seed: SEED + at, found, graph: JSON.stringify(graph) })
      for (const { status } of Object.values(end.nodes))
        kinds.add(`${status} ${end.errors.length > 0 ? 'in a failed run' : ''}`)
    }
    expect(wrong).toEqual([])
    // The graphs cover every kind of outcome that the model knows.
    expect([...kinds].sort()).toEqual([
      'failed ',
      'failed in a failed run',
      'skipped ',
      'skipped in a failed run',
      'succeeded ',
      'succeeded in a failed run',
      'unreached in a failed run',
    ])
  })
})
