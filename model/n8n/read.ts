import type { Json, JsonObject } from '../definition.ts'
import { isForbiddenKey, isObject, measureJson, own } from '../json.ts'
import { ImportFailure, type N8nEdge, type N8nNode, type N8nWorkflow } from './types.ts'

const MAX_CHARACTERS = 8 * 1024 * 1024
const MAX_NODES = 400
const LIMITS = { depth: 100, nodes: 400_000 }

/** Reads a workflow that n8n exported, or a response of its API that contains the workflow. */
export function readN8n(text: string): N8nWorkflow {
  if (text.length > MAX_CHARACTERS) throw new ImportFailure('The file is larger than 8 MiB.')
  let value: Json
  try {
    value = JSON.parse(text) as Json
  } catch (error) {
    throw new ImportFailure(`This is not JSON: ${(error as Error).message}`)
  }
  return readWorkflow(value)
}

export function readWorkflow(value: Json): N8nWorkflow {
  const size = measureJson(value, LIMITS)
  if (size !== 'ok')
    throw new ImportFailure(size === 'too_deep' ? 'The JSON is nested too deeply.' : 'The JSON is too large.')
  const found = workflowIn(value)
  if (!found) throw new ImportFailure('This is not a workflow of n8n: it has no list "nodes".')
  const nodes = readNodes(found.nodes as Json[])
  if (nodes.length === 0) throw new ImportFailure('The workflow has no nodes.')
  if (nodes.length > MAX_NODES) throw new ImportFailure(`The workflow has more than ${MAX_NODES} nodes.`)
  return { name: nameOf(found), nodes, edges: readEdges(found.connections, new Set(nodes.map(({ name }) => name))) }
}

function workflowIn(value: Json): JsonObject | undefined {
  if (Array.isArray(value)) return value.length === 1 && value[0] !== undefined ? workflowIn(value[0]) : undefined
  if (!isObject(value)) return undefined
  if (Array.isArray(own(value, 'nodes'))) return value
  for (const key of ['workflow', 'data', 'workflowData']) {
    const inner = own(value, key)
    if (isObject(inner)) return workflowIn(inner)
  }
  return undefined
}

const nameOf = (workflow: JsonObject): string => {
  const name = own(workflow, 'name')
  return (typeof name === 'string' ? name.trim().slice(0, 150) : '') || 'Imported workflow'
}

const numberOr = (value: Json | undefined, otherwise: number): number =>
  typeof value === 'number' && Number.isFinite(value) ? value : otherwise

function readNodes(list: Json[]): N8nNode[] {
  const nodes: N8nNode[] = []
  const names = new Set<string>()
  for (const raw of list) {
    if (!isObject(raw)) throw new ImportFailure('A node is not an object.')
    const [name, type] = [own(raw, 'name'), own(raw, 'type')]
    if (typeof type !== 'string' || type === '') throw new ImportFailure('A node has no type.')
    if (typeof name !== 'string' || name === '')
      throw new ImportFailure(`A node of the type ${type.slice(0, 80)} has no name.`)
    if (names.has(name)) throw new ImportFailure(`Two nodes are called "${name.slice(0, 80)}".`)
    names.add(name)
    const parameters = own(raw, 'parameters')
    const position = own(raw, 'position')
    const [x, y] = Array.isArray(position) ? position : []
    nodes.push({
      name,
      type,
      version: numberOr(own(raw, 'typeVersion'), 1),
      parameters: isObject(parameters) ? parameters : {},
      position: [numberOr(x, 0), numberOr(y, 0)],
      disabled: own(raw, 'disabled') === true,
      settings: raw,
      credentials: readCredentials(own(raw, 'credentials')),
    })
  }
  return nodes
}

function readCredentials(value: Json | undefined): Record<string, string> {
  if (!isObject(value)) return {}
  return Object.fromEntries(
    Object.entries(value)
      .filter(([kind]) => !isForbiddenKey(kind))
      .map(([kind, of]) => {
        const name = isObject(of) ? own(of, 'name') : of
        return [kind, typeof name === 'string' && name.trim() !== '' ? name.trim().slice(0, 100) : kind]
      }),
  )
}

function readEdges(value: Json | undefined, names: ReadonlySet<string>): N8nEdge[] {
  if (value === undefined || value === null) return []
  if (!isObject(value)) throw new ImportFailure('"connections" is not an object.')
  const edges: N8nEdge[] = []
  for (const [from, kinds] of Object.entries(value)) {
    if (!names.has(from) || !isObject(kinds)) continue
    for (const [kind, ports] of Object.entries(kinds))
      for (const [port, targets] of (Array.isArray(ports) ? ports : []).entries())
        for (const target of Array.isArray(targets) ? targets : []) {
          const to = isObject(target) ? own(target, 'node') : undefined
          if (typeof to !== 'string' || !names.has(to)) continue
          edges.push({ from, port, to, slot: numberOr(isObject(target) ? own(target, 'index') : undefined, 0), kind })
        }
  }
  if (edges.length > 4_000) throw new ImportFailure('The workflow has more than 4000 connections.')
  return edges
}
