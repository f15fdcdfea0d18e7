import { bodyOf } from '#model/body'
import type { Ast } from '#model/cel-ast'
import { parseCel } from '#model/cel-parser'
import { children, memberOf } from '#model/cel-tree'
import type { Json, JsonObject } from '#model/definition'
import { ExpressionFailure } from '#model/expression-failure'
import type { Issue } from '#model/issue'
import { at, isObject } from '#model/json'
import { nearest } from '#model/nearest'
import { parseReference } from '#model/reference'
import { t } from '#web/words/language.ts'
import type { Doc, DocGraph, GraphPath } from '../document/document.ts'
import { closedFields, fieldOf, makeShapes, type Shapes } from '../document/shapes.ts'
import { isCelValue, isReferenceValue } from '../document/value.ts'
import type { KindTable } from '../kinds.ts'

// Fields that an expression reads but that are not declared. The workflow can be saved, because the data of an
// execution may contain more than its schema declares; mostly it is a mistake.

type Reading = { doc: Doc; shapes: Shapes; found: Issue[] }

export function undeclaredFields(doc: Doc, kinds: KindTable): Issue[] {
  const reading: Reading = { doc, shapes: makeShapes(doc, kinds), found: [] }
  visitGraph(doc, [], '', reading)
  return reading.found
}

function visitGraph(graph: DocGraph, path: GraphPath, where: string, reading: Reading): void {
  for (const [index, node] of graph.nodes.entries()) {
    const place = `${where}/nodes/${index}/args`
    for (const [key, value] of Object.entries(node.args ?? {})) {
      const body = key === 'body' ? bodyOf(node) : undefined
      if (body && Array.isArray(body.nodes))
        visitGraph({ edges: [], ...body } as unknown as DocGraph, [...path, node.id], `${place}/body`, reading)
      else visitValue(value, path, at(place, key), reading, node.type === 'map' && key === 'items')
    }
  }
  for (const [index, edge] of graph.edges.entries())
    if (edge.when) visitValue(edge.when as Json, path, `${where}/edges/${index}/when`, reading)
  if (graph.output !== undefined) visitValue(graph.output, path, `${where}/output`, reading)
}

function visitValue(value: Json, path: GraphPath, place: string, reading: Reading, isList = false): void {
  if (typeof value !== 'object' || value === null) return
  if (isReferenceValue(value)) {
    const parsed = parseReference(value.$ref)
    if (parsed.ok) report(parsed.segments.map(String), path, place, reading, isList)
  } else if (isCelValue(value)) {
    for (const names of namesIn(value.$cel)) report(names, path, place, reading)
  } else if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) visitValue(item, path, at(place, index), reading)
  } else for (const [key, item] of Object.entries(value)) visitValue(item, path, at(place, key), reading)
}

/**
 * Reports an undeclared field. `must`: reports it even if no input is declared at all, because the value must be a
 * list.
 */
function report(names: readonly string[], path: GraphPath, place: string, reading: Reading, must = false): void {
  const [root, first, second, third] = names
  if (root === 'input' && first !== undefined) {
    const declared = declaredFields(reading.doc.inputs)
    if (declared === undefined || (declared.length === 0 && !must) || declared.includes(first)) return
    const message = t('the input declares no field "{0}"', [first]) + suggestion(first, declared)
    reading.found.push({ path: place, message })
  } else if (root === 'nodes' && second === 'output' && third !== undefined) {
    const fields = closedFields(reading.shapes.of({ $ref: `nodes["${first}"].output` }, path))
    if (fields === undefined || fields.includes(third)) return
    reading.found.push({
      path: place,
      message: t('"{0}" has no field "{1}" in its output', [first, third]) + suggestion(third, fields),
    })
  } else if (root === 'item' && first !== undefined) {
    const item = reading.shapes.itemAt(path)
    const fields = declaredFields(item)
    if (fields === undefined || fields.length === 0 || fieldOf(item, first)) return
    reading.found.push({ path: place, message: t('an item has no field "{0}"', [first]) + suggestion(first, fields) })
  }
}

function suggestion(word: string, candidates: readonly string[]): string {
  const found = nearest(word, candidates)
  return found === undefined ? '' : t('; did you mean "{0}"?', [found])
}

/** Returns the fields that a schema declares; undefined if the schema allows others. */
function declaredFields(schema: Json | undefined): string[] | undefined {
  if (schema === undefined) return []
  if (!isObject(schema)) return undefined
  const more = ['patternProperties', '$ref', 'allOf', 'anyOf', 'oneOf'].some((key) => Object.hasOwn(schema, key))
  if (more || (schema.additionalProperties !== undefined && schema.additionalProperties !== false)) return undefined
  return isObject(schema.properties) ? Object.keys(schema.properties as JsonObject) : []
}

/** Returns every chain of names in an expression, except inside `has()`, whose argument may be absent. */
function namesIn(cel: string): string[][] {
  try {
    const found: string[][] = []
    collect(parseCel(cel), found)
    return found
  } catch (error) {
    if (error instanceof ExpressionFailure) return []
    throw error
  }
}

function collect(node: Ast, found: string[][]): void {
  if (node.op === 'call' && node.args[0] === 'has') return
  if (node.op === '.?' || node.op === '[?]') return
  const names = chain(node)
  if (names) found.push(names)
  else for (const child of children(node)) collect(child, found)
}

function chain(node: Ast): string[] | undefined {
  if (node.op === 'id') return [node.args]
  const member = memberOf(node)
  const before = member && chain(member.target)
  return before && [...before, member.key]
}
