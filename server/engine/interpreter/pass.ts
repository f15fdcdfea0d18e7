import type { JsonObject } from '#model/definition'
import { apply } from './apply.ts'
import type { Command } from './commands.ts'
import type { Compiled } from './graph.ts'
import type { Context } from './scope.ts'
import type { Fact, GraphState } from './state.ts'

/** One pass over a graph: the state being built, what is to be journalled, what is to be done. */
export type Pass = {
  context: Context
  compiled: Compiled
  state: GraphState
  at: number
  facts: Fact[]
  commands: Command[]
  /** Nodes to look at again because something before them settled. */
  look: string[]
}

export const record = (pass: Pass, type: Fact['type'], data: JsonObject): void => {
  const fact = { type, at: pass.at, data }
  apply(pass.state, fact)
  pass.facts.push(fact)
}

export const settle = (pass: Pass, id: string): void => {
  for (const edge of pass.compiled.outgoing.get(id) ?? []) pass.look.push(edge.to)
}
