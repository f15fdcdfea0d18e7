import { unknownNames } from '../code-names.ts'
import type { Json, JsonObject } from '../definition.ts'
import { NotConvertible } from './js-ast.ts'
import { celOut, type Out, pathOut, toValue } from './out.ts'
import { piecesOf } from './pieces.ts'
import { preludeOf } from './prelude.ts'
import type { Scope } from './scope.ts'

// If CEL cannot express an expression, a code node before the node that needs it computes the value: it runs the
// unchanged JavaScript, with the names that n8n provides.

const QUOTED = String.raw`(['"\`])((?:\\.|(?!\1)[^\\\n])+)\1`
const READS = new RegExp(String.raw`\$(?:items|node)?\s*[([]\s*${QUOTED}\s*[)\],]`, 'g')

/** Returns the names of the nodes that code reads; throws if a name is computed. */
export function namesIn(source: string): string[] {
  const found = new Set<string>()
  for (const [, , name] of source.matchAll(READS)) found.add(name!.replaceAll(/\\(.)/g, '$1'))
  for (const [, name] of source.matchAll(/\$node\.(\w+)/g)) found.add(name!)
  const calls = (source.match(/\$(?:items|node)?\s*[([]/g) ?? []).length
  const written = [...source.matchAll(READS)].length
  const own = (source.match(/\$items\(\s*\)/g) ?? []).length
  if (calls > written + own) throw new NotConvertible('the name of a node is computed')
  return [...found]
}

/**
 * Returns the input of code besides its items: `vars`, the execution and the workflow. Empty if the code names none of
 * them.
 */
export function surroundings(
  source: string,
  { workflowName, remark }: Pick<Scope, 'workflowName' | 'remark'>,
): JsonObject {
  const given: JsonObject = {}
  const vars: JsonObject = {}
  for (const [, root, name] of source.matchAll(/\$(vars|env)\??\.(\w+)/g)) {
    vars[name!] = { $ref: `vars.${name}` }
    if (root === 'env')
      remark(`$env.${name!.slice(0, 60)} is read from the variable ${name!.slice(0, 60)} of the workspace`)
  }
  if (Object.keys(vars).length > 0) given.vars = vars
  if (/\$(?:vars|env)\??\.?\[|\$(?:vars|env)\b(?!\??\.\w)/.test(source))
    throw new NotConvertible('the name of a variable is computed')
  if (/\$execution\b/.test(source)) {
    if (/\$execution\??\.(?!id\b|mode\b)/.test(source))
      throw new NotConvertible('it reads fields of $execution other than id')
    given.execution = { id: { $ref: 'execution.execution_id' }, mode: 'production' }
  }
  if (/\$workflow\b/.test(source))
    given.workflow = { id: { $ref: 'execution.workflow_id' }, name: workflowName, active: true }
  return given
}

/** Returns the source that declares the names of `surroundings`. */
export const surroundingSource = (given: JsonObject): string =>
  [
    given.vars ? 'const $vars = input.vars\nconst $env = input.vars\n' : '',
    given.execution ? 'const $execution = input.execution\n' : '',
    given.workflow ? 'const $workflow = input.workflow\n' : '',
  ].join('')

const VIEWS = `const wrap = (json) => (json === null || json === undefined ? undefined : { json, binary: json.binary })
const viewOf = (given, at) => {
  const all = (given?.items ?? []).map(wrap)
  const item = given?.each ? wrap(given.each[at]) : 'item' in (given ?? {}) ? wrap(given.item) : all[at] ?? all[0]
  return { all: () => all, first: () => all[0] ?? item, last: () => all.at(-1) ?? item, item, itemMatching: (index) => all[index], json: item?.json, binary: item?.binary, isExecuted: given?.ran !== false, context: {}, params: {} }
}
const textOf = (value) => (value === null || value === undefined ? '' : typeof value === 'object' && typeof value.toISOString !== 'function' && typeof value.toISO !== 'function' ? JSON.stringify(value) : String(value))
`

const evaluation = (body: string): string => `const evaluate = (item, $itemIndex) => {
const $json = item
const $data = item
const $binary = item?.binary
const $runIndex = 0
const $input = viewOf({ items: input.items, item }, $itemIndex)
const $item = (at) => ({ $node: new Proxy({}, { get: (_, name) => { const seen = viewOf(input.nodes[String(name)], at); return { ...seen, ...(seen.all()[at] ?? seen.item) } } }), $json: item })
const $fromAI = (name, _about, _type, otherwise) => input.filled?.[name] ?? otherwise
const $ = (name) => viewOf(input.nodes[name], $itemIndex)
const $node = new Proxy({}, { get: (_, name) => $(String(name)) })
const $items = (name) => (name === undefined ? $input.all() : $(name).all())
return ${body}
}
`

/** Checks whether the code reads the matching item of the node, its list, or both. */
function usesOf(source: string, name: string): { item: boolean; list: boolean } {
  const escaped = name.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&').replaceAll(/(['"`])/g, '\\\\?$1')
  const after = new RegExp(
    String.raw`(\$(?:items|node)?)\s*(?:[([]\s*['"\`]${escaped}['"\`]\s*[)\]]|\.${escaped})\s*(\??\.\s*\w+)?`,
    'g',
  )
  const uses = { item: false, list: false }
  for (const [, root, member] of source.matchAll(after)) {
    const key = (member ?? '').replaceAll(/[?.\s]/g, '')
    if (/\$item\(/.test(source)) uses.list = true
    if (root === '$items' || ['all', 'first', 'last', 'itemMatching'].includes(key)) uses.list = true
    else if (key === 'params' || key === 'context') throw new NotConvertible(`it reads "${key}" of a node`)
    else if (key !== 'isExecuted') uses.item = true
  }
  return uses
}

function nodesOf(source: string, scope: Scope, list: Out | undefined): JsonObject {
  const nodes: JsonObject = {}
  for (const name of namesIn(source)) {
    const view = scope.node(name)
    const { item, list: whole } = usesOf(source, name)
    const given: JsonObject = {}
    if (whole && !view.one) given.items = toValue(view.list)
    if (item || view.one) {
      const paired = view.one ?? view.paired()
      if (list && !view.one) given.each = { $cel: `${list.cel}.transformList(${scope.index.cel}, x, ${paired.cel})` }
      else given.item = toValue(paired)
    }
    if (/isExecuted/.test(source) && view.ran) given.ran = toValue(view.ran)
    nodes[name] = given
  }
  return nodes
}

/** Returns the values that a model, or the caller of a tool, fills in: `$fromAI('name')`. */
function filledIn(source: string, { filledByModel }: Scope): JsonObject {
  const names = [...source.matchAll(/\$fromAI\(\s*(['"`])((?:(?!\1).)+)\1/g)].map(([, , name]) => name!)
  if (!/\$fromAI\b/.test(source)) return {}
  if (!filledByModel || names.length < (source.match(/\$fromAI\b/g) ?? []).length)
    throw new NotConvertible('$fromAI lets a model fill in an argument')
  return { filled: Object.fromEntries(names.map((name) => [name, toValue(filledByModel(name))])) }
}

/** Returns the value of `=… {{ … }} …` as the output of a code node; throws if code cannot express it either. */
export function computedValue(template: string, scope: Scope): Out {
  const { place } = scope
  if (!place) throw new NotConvertible('it cannot be computed here')
  const pieces = piecesOf(template.slice(1))
  const sources = pieces.flatMap((piece) => ('source' in piece && piece.source !== '' ? [piece.source] : []))
  const isAlone = sources.length === 1 && pieces.every((piece) => 'source' in piece || piece.text.trim() === '')
  const all = sources.join('\n')
  for (const [pattern, why] of REFUSED) if (pattern.test(all)) throw new NotConvertible(why)
  const body = isAlone
    ? `(${sources[0]!.replace(/;\s*$/, '')}\n)`
    : `[${pieces.map((piece) => ('text' in piece ? JSON.stringify(piece.text) : piece.source === '' ? '""' : `textOf(${piece.source.replace(/;\s*$/, '')}\n)`)).join(', ')}].join('')`
  const nodes = nodesOf(all, scope, place.list)
  const around = surroundings(all, scope)
  const usesList = /\$input\s*\.\s*(?:all|first|last)|\$items\(\s*\)/.test(all)
  const input: JsonObject = {
    ...(place.list
      ? { items: toValue(place.list) }
      : {
          item: toValue(scope.input.paired()),
          index: toValue(scope.index),
          ...(usesList && { items: toValue(scope.input.list) }),
        }),
    ...(Object.keys(nodes).length > 0 && { nodes }),
    ...filledIn(all, scope),
    ...around,
  }
  const run = place.list
    ? 'return input.items.map((item, at) => evaluate(item, at) ?? null)'
    : 'return evaluate(input.item, input.index) ?? null'
  const source = `${preludeOf(all, true)}${VIEWS}${surroundingSource(around)}${evaluation(body)}${run}`
  checkNames(source)
  const id = place.add('code', { input: input as Json, source })
  const whole = pathOut(['nodes', id, 'output'])
  return place.list ? celOut(`${whole.cel}[?${scope.index.cel}].orValue(null)`) : whole
}

/** Throws if code uses undefined names: a workflow with such code would be refused when it is saved. */
export function checkNames(source: string): void {
  const unknown = unknownNames(`export default async function (input) { ${source}\n}`)
  if (!unknown) throw new NotConvertible('it is not valid JavaScript')
  if (unknown[0]) throw new NotConvertible(`it uses "${unknown[0].name.slice(0, 64)}", which is not available`)
}

/** Features that neither CEL nor the sandbox has. */
export const REFUSED: readonly [RegExp, string][] = [
  [
    /\$jmespath\b|\$evaluateExpression\b|\$getPairedItem\b|\$secrets\b|\$parameter\b|\$prevNode\b/,
    'it uses names that are not available',
  ],
  [
    /\btoLocale(?:Date|Time)?String\(\s*(?:\[\s*)?['"`](?!(?:en|de|es|it|pt|fr|nl|id|tr)\b)/,
    'it formats numbers or dates for another language',
  ],
  [
    /\btoLocale(?:Date|Time)?String\(\s*(?:\[\s*)?['"`](?!en)[^)]*(?:weekday|month:\s*['"`](?:long|short))/,
    'it formats the names of months or days in another language',
  ],
  [/\bIntl\b/, 'it uses Intl'],
]
