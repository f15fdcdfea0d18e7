import { bodyOf } from '#model/body'
import type { Definition, Graph, Json, Node } from '#model/definition'
import type { Scope } from '#model/expressions'
import { type NodePath, pathTo } from '#model/node-path'
import type { Execution } from '#sdk/types.generated'
import type { Check } from '#web/editor/check/load.ts'
import { statusLabel } from '#web/ui/badge.tsx'
import { translateMessage } from '#web/words/messages.ts'
import type { NodeRun } from './shown-runs.ts'

// The steps of an execution for a search: each with all its texts.

export type FoundStep = {
  /** The address as in the address of the page. */
  address: string
  /** The names of the maps and loops around the step, then its own name. */
  names: string[]
  /** Undefined for steps inside a map or loop, which have one state for each item. */
  run: NodeRun | undefined
  /** The searched text, in lower case. */
  text: string
}

type Known = {
  execution: Execution
  definition: Pick<Definition, 'nodes'>
  titleOf(type: string): string
  /** If set, inputs are searched with their resolved values. */
  check: Check | undefined
}

/**
 * Returns the resolved input of a step, if the page knows it; arguments that cannot be evaluated again are left out.
 */
function inputOf(node: Node, run: NodeRun, execution: Execution, check: Check): Json[] {
  const over = execution.nodes.filter(({ finished_at }) => finished_at !== null && finished_at <= run.started_at!)
  const nodes = Object.fromEntries(over.map(({ node_id, output }) => [node_id, { output: (output ?? null) as Json }]))
  const scope: Scope = { input: execution.input as Json, nodes, execution: {} }
  return Object.values(node.args ?? {}).flatMap((value) => {
    const result = check.preview(value as Json, scope)
    return result.ok ? [result.value] : []
  })
}

export function stepsIn({ execution, definition, titleOf, check }: Known): FoundStep[] {
  const runs = new Map(execution.nodes.map((run) => [run.node_id, run]))
  const step = (node: Node, { bodies, names }: { bodies: NodePath['bodies']; names: string[] }): FoundStep[] => {
    const run = bodies.length === 0 ? runs.get(node.id) : undefined
    const name = node.name || node.id
    const given = check && run?.started_at ? inputOf(node, run, execution, check) : []
    const about = [
      name,
      node.id,
      node.type,
      titleOf(node.type),
      ...(run ? [run.status, statusLabel(run.status)] : []),
      ...(run?.error ? [run.error.code, run.error.message, translateMessage(run.error.message)] : []),
      ...[node.args, given, run?.output].map((value) => JSON.stringify(value) ?? ''),
    ]
    const own = { address: pathTo({ bodies, node: node.id }), names: [...names, name], run }
    const body = bodyOf(node) as unknown as Graph | undefined
    const isOpen = bodies.length > 0 || Boolean(run?.started_at)
    const inside = {
      bodies: [...bodies, { node: node.id, attempt: run?.attempt || 1, index: 0 }],
      names: [...names, name],
    }
    return [
      { ...own, text: about.join('\n').toLowerCase() },
      ...(isOpen && Array.isArray(body?.nodes) ? body.nodes.flatMap((inner) => step(inner, inside)) : []),
    ]
  }
  return definition.nodes.flatMap((node) => step(node, { bodies: [], names: [] }))
}

/** Returns the steps that contain every word. */
export function findSteps(steps: readonly FoundStep[], search: string): FoundStep[] {
  const words = search.toLowerCase().split(/\s+/)
  return steps.filter(({ text }) => words.every((word) => text.includes(word)))
}
