import type { Definition, JsonObject, Node } from '../definition.ts'
import { validateDefinition } from '../graph.ts'
import { isObject } from '../json.ts'
import { isNote } from './plan.ts'
import type { Work } from './step.ts'
import type { ConvertOptions, CredentialWanted, N8nWorkflow } from './types.ts'

// The parts of the result that concern the workflow as a whole, created after its nodes are converted.

/** Returns the inputs that assistants see for a workflow that offers tools. */
export function inputsOf({ triggers }: Work): JsonObject | undefined {
  const [server] = triggers
  if (triggers.length !== 1 || server?.kind !== 'mcp' || !Array.isArray(server.settings.tools)) return undefined
  if (server.settings.tools.length === 0) return undefined
  return {
    type: 'object',
    properties: {
      tool: { type: 'string', enum: [...new Set(server.settings.tools)], description: server.settings.about ?? '' },
      arguments: { type: 'object', description: 'What the tool asks for, by name' },
    },
    required: ['tool'],
  }
}

/** Returns the positions of the notes on the canvas. */
export function layoutOf({ nodes }: N8nWorkflow, notes: string[]): JsonObject {
  const stuck = nodes.filter(isNote)
  return notes.length === 0
    ? {}
    : { notes: notes.slice(0, 100).map((text, at) => ({ text, x: stuck[at]!.position[0], y: stuck[at]!.position[1] })) }
}

/**
 * Replaces nodes that our validation refuses by nodes to be done by hand, and drops refused edges and outputs, until
 * the definition is valid or 8 rounds have passed.
 */
export function accepted(definition: Definition, { kinds }: ConvertOptions, work: Work): Definition {
  let current = definition
  for (let round = 0; round < 8; round += 1) {
    const result = validateDefinition(current, kinds)
    if (result.ok) return result.definition
    const wrong = new Map<number, string>()
    for (const { path, message } of result.errors) {
      const [, index] = /^\/nodes\/(\d+)/.exec(path) ?? []
      if (index !== undefined && !wrong.has(Number(index)))
        wrong.set(Number(index), `${path.replace(/^\/nodes\/\d+/, '')} ${message}`)
    }
    const edges = new Set(result.errors.flatMap(({ path }) => /^\/edges\/(\d+)/.exec(path)?.[1] ?? []).map(Number))
    const isOutput = result.errors.some(({ path }) => path.startsWith('/output'))
    if (wrong.size === 0 && edges.size === 0 && !isOutput) return current
    const { output, ...rest } = current
    current = {
      ...rest,
      ...(output !== undefined && !isOutput && { output }),
      nodes: current.nodes.map((node, index) => (wrong.has(index) ? refused(node, wrong.get(index)!, work) : node)),
      edges: current.edges.filter((_, index) => !edges.has(index)),
    }
  }
  return current
}

function refused(node: Node, why: string, { report }: Work): Node {
  const line = report.find(({ node: name }) => name === node.name || node.name === `Input of ${name}`)
  if (line) {
    line.outcome = 'by_hand'
    line.why = line.why === '' ? why.slice(0, 300) : `${line.why}; ${why.slice(0, 300)}`
  }
  const source = `throw new Error(${JSON.stringify(`To do by hand: ${node.name ?? node.id}. ${why}`.slice(0, 500))})`
  return { id: node.id, type: 'code', ...(node.name && { name: node.name }), args: { source } }
}

/** Returns the credentials that nodes of the definition need, by name, with pointers to their arguments. */
export function credentialsOf(definition: Definition, work: Work): CredentialWanted[] {
  const wanted = new Map<string, CredentialWanted>()
  const visit = (nodes: readonly Node[], path: string): void => {
    for (const [index, node] of nodes.entries()) {
      const where = `${path}/nodes/${index}/args`
      for (const found of work.credentials) {
        if (found.node.id !== node.id || found.node.type !== node.type) continue
        const key = `${found.kind}\n${found.name}`
        const line = wanted.get(key) ?? { name: found.name, kind: found.kind, paths: [] }
        line.paths.push(`${where}${found.at}`)
        wanted.set(key, line)
      }
      const body = node.args?.body
      if ((node.type === 'map' || node.type === 'loop') && isObject(body) && Array.isArray(body.nodes))
        visit(body.nodes as unknown as Node[], `${where}/body`)
    }
  }
  visit(definition.nodes, '')
  return [...wanted.values()]
}
