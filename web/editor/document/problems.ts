import { bodyOf } from '#model/body'
import type { Graph } from '#model/definition'
import type { Issue } from '#model/issue'
import { isObject } from '#model/json'
import { capitalize } from '#web/ui/format.ts'
import { t } from '#web/words/language.ts'
import { translateMessage } from '#web/words/messages.ts'
import type { KindTable } from '../kinds.ts'
import { type Doc, type DocGraph, type GraphPath, titleOf } from './document.ts'

// Converts a path of the validator, or of an error of the service, to a place in the editor.

export type Place = { path: GraphPath; field: string } & (
  | { kind: 'node'; id: string }
  | { kind: 'edge'; id: string }
  | { kind: 'inputs' }
  | { kind: 'output' }
  | { kind: 'workflow' }
)

export type Problem = { message: string; place: Place; where: string; level: 'error' | 'warning' }

export function locate(doc: DocGraph, pointer: string): Place {
  let graph: DocGraph = doc
  let path: GraphPath = []
  let rest = pointer
  for (;;) {
    const found = /^\/(nodes|edges|output|inputs)(?:\/(\d+))?(\/.*)?$/.exec(rest)
    const [, list, index, field = ''] = found ?? []
    if (list === 'output') return { kind: 'output', path, field: rest.slice('/output'.length) }
    if (list === 'inputs') return { kind: 'inputs', path, field: rest.slice('/inputs'.length) }
    if (list === 'edges') {
      const edge = graph.edges[Number(index)]
      return edge ? { kind: 'edge', path, id: edge.id, field } : { kind: 'workflow', path, field: rest }
    }
    const node = list === 'nodes' ? graph.nodes[Number(index)] : undefined
    if (!node) return { kind: 'workflow', path, field: rest }
    const inside = /^\/args\/body(\/(?:nodes|edges|output)\b.*)$/.exec(field)
    const body = node.args?.body
    if (!inside || !isObject(body) || !Array.isArray(body.nodes)) return { kind: 'node', path, id: node.id, field }
    graph = body as unknown as DocGraph
    path = [...path, node.id]
    rest = inside[1]!
  }
}

export function toProblem(doc: Doc, { path: pointer, message }: Issue): Problem {
  const place = locate(doc, pointer)
  const field = place.field
    .replace(/^\/args/, '')
    .slice(1)
    .replaceAll('/', ' › ')
  return {
    place,
    level: 'error',
    where: whereOf(doc, place),
    message:
      field === '' ? capitalize(translateMessage(message)) : `${capitalize(field)}: ${translateMessage(message)}`,
  }
}

function whereOf(doc: Doc, place: Place): string {
  let graph: Graph = doc
  const names: string[] = []
  for (const id of place.path) {
    const map = graph.nodes.find((node) => node.id === id)
    if (!map) break
    names.push(titleOf(map))
    graph = (map.args?.body ?? { nodes: [], edges: [] }) as unknown as Graph
  }
  const name = (id: string): string => titleOf(graph.nodes.find((node) => node.id === id) ?? { id })
  if (place.kind === 'node') names.push(name(place.id))
  else if (place.kind === 'edge') {
    const edge = graph.edges.find((candidate) => candidate.id === place.id)
    names.push(edge ? `${name(edge.from.node)} → ${name(edge.to)}` : t('Connection'))
  } else names.push({ inputs: 'Input', output: 'Result', workflow: 'Workflow' }[place.kind])
  return names.join(' › ')
}

/** Returns warnings for kinds that this installation cannot run now: the workflow can be saved, but would fail. */
export function unavailable(doc: Doc, kinds: KindTable): Problem[] {
  const found: Problem[] = []
  const visit = (graph: Graph, path: GraphPath): void => {
    for (const node of graph.nodes) {
      const kind = kinds.get(node.type)
      const place: Place = { kind: 'node', path, id: node.id, field: '' }
      if (kind && !kind.available)
        found.push({
          place,
          where: whereOf(doc, place),
          level: 'warning',
          message: capitalize(
            kind.unavailable_reason === null ? t('is not configured') : translateMessage(kind.unavailable_reason),
          ),
        })
      const body = bodyOf(node)
      if (body && Array.isArray(body.nodes)) visit(body as unknown as Graph, [...path, node.id])
    }
  }
  visit(doc, [])
  return found
}

const samePath = (a: GraphPath, b: GraphPath): boolean =>
  a.length === b.length && a.every((id, index) => id === b[index])

/** Returns the most severe problem at each node and edge of one graph; a problem in a body also counts for its map. */
export function marksIn(problems: readonly Problem[], path: GraphPath): ReadonlyMap<string, Problem['level']> {
  const marks = new Map<string, Problem['level']>()
  const mark = (id: string, level: Problem['level']): void => {
    if (marks.get(id) !== 'error') marks.set(id, level)
  }
  for (const { place, level } of problems) {
    if (samePath(place.path, path)) {
      if (place.kind === 'node' || place.kind === 'edge') mark(place.id, level)
    } else if (samePath(place.path.slice(0, path.length), path)) mark(place.path[path.length]!, level)
  }
  return marks
}

export const problemsOfNode = (problems: readonly Problem[], path: GraphPath, id: string): Problem[] =>
  problems.filter(({ place }) => place.kind === 'node' && place.id === id && samePath(place.path, path))

export const problemsOf = (problems: readonly Problem[], path: GraphPath, kind: Place['kind']): Problem[] =>
  problems.filter(({ place }) => place.kind === kind && samePath(place.path, path))
