import type { Definition, Edge, Node } from '#model/definition'
import type { Step } from './advance.ts'
import type { Context } from './context.ts'
import { compile } from './graph.ts'
import { openPass, type Pass, UNLIMITED } from './pass.ts'
import { emptyState, type GraphState, type NodeState } from './state.ts'

// Small graphs and states for the tests of the interpreter.

export const contextOf = (graph: Definition, more: Partial<Context> = {}): Context => ({
  graph,
  input: {},
  execution: {},
  seed: 'seed',
  effectOf: () => 'pure',
  ...more,
})

export const passOf = (context: Context, state: GraphState): Pass =>
  openPass(context, compile(context.graph), state, { at: 0, allowance: UNLIMITED })

export const node = (id: string, more: Partial<Node> = {}): Node => ({ id, type: 'echo', ...more })

export const edge = (from: string, to: string, port?: string, when?: string): Edge => ({
  from: { node: from, ...(port && { port }) },
  to,
  ...(when && { when: { $cel: when } }),
})

export const stateOf = (nodes: Record<string, Partial<NodeState>>): GraphState => ({
  ...emptyState(),
  seq: 10,
  nodes: Object.fromEntries(
    Object.entries(nodes).map(([id, state]) => [
      id,
      { status: 'running', attempt: 1, ready: 0, ...state } as NodeState,
    ]),
  ),
})

export const types = (step: Step): string[] => step.events.map(({ type }) => type)
export const commands = (step: Step): string[] => step.commands.map((command) => `${command.do} ${command.node}`)
