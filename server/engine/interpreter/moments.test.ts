import { expect, test } from 'vitest'
import type { Definition, JsonObject } from '#model/definition'
import { advance, resume, type Step, startGraph } from './advance.ts'
import { replay } from './apply.ts'
import { UNLIMITED } from './pass.ts'
import { emptyState } from './state.ts'
import { contextOf, edge, node } from './testing.ts'

// now() and uuid() are fixed by the journal, so every later evaluation gives the same values.

const value = { at: { $cel: 'now()' }, id: { $cel: 'uuid()' }, other: { $cel: 'uuid()' } }
const argsIn = ({ commands }: Step): JsonObject => {
  const [command] = commands
  if (command?.do !== 'run') throw new Error('nothing is run')
  return command.args
}
const iso = (ms: number): string => new Date(ms).toISOString()

test('a retry and a worker that takes over see the time and the ids of the first attempt', () => {
  const graph: Definition = { nodes: [node('a', { args: value, retry: { max_attempts: 3, backoff_s: 1 } })], edges: [] }
  const context = contextOf(graph)
  const first = startGraph(context, 1_000)
  const args = argsIn(first)
  expect(args.at).toBe(iso(1_000))
  expect(args.id).not.toBe(args.other)
  const error = { code: 'no', message: 'no' }
  const failed = advance(
    context,
    first.state,
    [{ kind: 'error', node: 'a', attempt: 1, error, retryable: true }],
    2_000,
  )
  const again = advance(context, failed.state, [{ kind: 'time' }], 60_000)
  expect(argsIn(again)).toEqual(args)
  const events = [...first.events, ...failed.events, ...again.events]
  const [resumed] = resume(context, replay(emptyState(), events), UNLIMITED)
  expect(resumed).toMatchObject({ do: 'run', attempt: 2, args })
})

test('different nodes and different executions have different ids', () => {
  const graph: Definition = { nodes: [node('a', { args: value }), node('b', { args: value })], edges: [] }
  const ids = ['one', 'two'].flatMap((seed) =>
    startGraph(contextOf(graph, { seed }), 0).commands.map((command) => command.do === 'run' && command.args.id),
  )
  expect(new Set(ids).size).toBe(4)
})

test('the condition of an edge has the same value in every later pass', () => {
  const graph: Definition = {
    nodes: [node('a'), node('b'), node('c')],
    edges: [edge('a', 'c', undefined, `now() < timestamp("${iso(5_000)}")`), edge('b', 'c')],
  }
  const context = contextOf(graph)
  const started = startGraph(context, 1_000)
  const done = (id: string) => ({ kind: 'done' as const, node: id, attempt: 1, output: null })
  const early = advance(context, started.state, [done('a')], 2_000)
  const late = advance(context, early.state, [done('b')], 9_000)
  expect(late.state.nodes.c?.status).toBe('running')
})

test('a branch and the output of an execution see the time when they are reached', () => {
  const graph: Definition = {
    nodes: [
      node('a'),
      node('b', { type: 'branch', args: { cases: [{ port: 'late', when: { $cel: 'now() > timestamp(1)' } }] } }),
    ],
    edges: [edge('a', 'b')],
    output: { $cel: 'now()' },
  }
  const context = contextOf(graph)
  const started = startGraph(context, 0)
  const ended = advance(context, started.state, [{ kind: 'done', node: 'a', attempt: 1, output: null }], 3_000)
  expect(ended.state.nodes.b?.port).toBe('late')
  expect(ended.state.results).toBe(iso(3_000))
})
