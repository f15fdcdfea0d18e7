import { unknownNames } from '#model/code-names'
import type { JsonObject } from '#model/definition'
import { type Exit, orEmpty } from '../flow.ts'
import { NotConvertible } from '../js-ast.ts'
import { celOut } from '../out.ts'
import { withoutSecrets } from '../secrets.ts'
import type { Step } from '../step.ts'

// JavaScript of Code and Function nodes runs as it is, with the names that n8n gives it. What reaches outside is to be done by hand.

const OUTSIDE: [RegExp, string][] = [
  [/\brequire\s*\(|^\s*import\s/m, 'the code loads packages'],
  [/\bthis\.helpers\b|\$helpers\b|\bhelpers\./, 'the code calls helpers of n8n'],
  [/\bfetch\s*\(|\baxios\b|\$http\b|XMLHttpRequest/, 'the code makes requests: use http.request'],
  [/\$getWorkflowStaticData|\bgetWorkflowStaticData/, 'the code keeps data between runs: use state.get and state.set'],
  [/\bDateTime\b|\$now\b|\$today\b|\bluxon\b/, 'the code uses Luxon'],
  [/\$env\b|process\.env/, 'the code reads the environment'],
  [/\$vars\b|\$secrets\b/, 'the code reads variables'],
  [/\bBuffer\b|getBinaryDataBuffer|prepareBinaryData|\.binary\b|\bbinary\s*:/, 'the code works with files'],
  [/\bcrypto\b/, 'the code uses crypto'],
  [
    /\$jmespath\b|\$execution\b|\$workflow\b|\$prevNode\b|\$parameter\b|\$fromAI\b|\$evaluateExpression/,
    'the code uses names that are not there',
  ],
  [/\bsetTimeout\b|\bsetInterval\b/, 'the code waits: use a wait node'],
]

/** Names of the nodes that code reads, where they are written out. */
function namesIn(source: string): string[] {
  const found = new Set<string>()
  for (const [, , name] of source.matchAll(/\$(?:items|node)?\s*[([]\s*(['"`])((?:(?!\1)[^\\\n])+)\1\s*[)\],]/g))
    found.add(name!)
  for (const [, name] of source.matchAll(/\$node\.(\w+)/g)) found.add(name!)
  const calls = (source.match(/\$(?:items|node)?\s*[([]/g) ?? []).length
  const written = [...source.matchAll(/\$(?:items|node)?\s*[([]\s*(['"`])((?:(?!\1)[^\\\n])+)\1\s*[)\],]/g)].length
  const own = (source.match(/\$items\(\s*\)/g) ?? []).length
  if (calls > written + own) throw new NotConvertible('the code computes the name of a node')
  return [...found]
}

const PREAMBLE = `const wrap = (list) => (list ?? []).map((json) => ({ json }))
const view = (list) => {
  const all = wrap(list)
  return { all: () => all, first: () => all[0], last: () => all.at(-1), item: all[0], itemMatching: (at) => all[at], json: all[0]?.json, isExecuted: list !== null }
}
`

/** What a new Code node of n8n does; templates leave it out. */
const DEFAULT_CODE = 'for (const item of $input.all()) item.json.myNewField = 1\nreturn $input.all()'

export function convertCode(step: Step): Exit[] {
  const { p } = step
  const language = String(p.language ?? 'javaScript')
  if (language.startsWith('python')) throw new NotConvertible('the code is Python')
  const raw = String(p.jsCode ?? p.functionCode ?? p.code ?? '') || DEFAULT_CODE
  if (raw.startsWith('=')) throw new NotConvertible('the code is computed')
  const { text: source, found } = withoutSecrets(raw)
  if (found) step.byHand('the code held a key, which was removed: keep it in a credential')
  const plain = source.replaceAll(/\/\/[^\n]*|\/\*[\s\S]*?\*\//g, '')
  for (const [pattern, why] of OUTSIDE) if (pattern.test(plain)) throw new NotConvertible(why)
  const input: JsonObject = { items: step.guarded(celOut(orEmpty(step.input), 'list')) }
  const names = namesIn(plain)
  if (names.length > 0) {
    const others: JsonObject = {}
    for (const name of names) others[name] = step.guarded(celOut(orEmpty(step.work.view(name).flow), 'list'))
    input.nodes = others
  }
  const isEach = p.mode === 'runOnceForEachItem' || step.node.type.endsWith('.functionItem')
  const whole = isEach ? eachSource(source, names.length > 0, step) : allSource(source, names.length > 0)
  // A workflow with such code would be refused when it is saved.
  const unknown = unknownNames(`export default async function (input) { ${whole}\n}`)
  if (!unknown) throw new NotConvertible('the code is no JavaScript that can be read')
  if (unknown[0]) throw new NotConvertible(`the code uses "${unknown[0].name.slice(0, 64)}", which is not there`)
  step.add('code', {
    input,
    source: whole,
    limits: { time_ms: 10_000 },
  })
  const list = celOut(`[nodes.${step.id}.output].flatten()`, 'list')
  const aligned = isEach
    ? new Map([...step.input.aligned, ...[...step.input.same].map((name) => [name, (index: string) => index] as const)])
    : new Map()
  return [step.exit({ list, aligned })]
}

const readers = (has: boolean): string =>
  has
    ? 'const $ = (name) => view(input.nodes[name])\nconst $node = new Proxy({}, { get: (_, name) => $(String(name)) })\nconst $items = (name) => (name === undefined ? items : wrap(input.nodes[name]))\n'
    : 'const $items = () => items\n'

const FINISH = `const json = (one) => (typeof one === 'object' && one !== null && 'json' in one ? one.json : one)
return [out].flat().filter((one) => one !== null && one !== undefined).map(json)`

const allSource = (source: string, has: boolean): string => `${PREAMBLE}const items = wrap(input.items)
${readers(has)}const $input = view(input.items)
const $json = items[0]?.json
const run = async () => {
${source}
}
const out = await run()
${FINISH}`

const eachSource = (source: string, has: boolean, { node }: Step): string => `${PREAMBLE}const items = wrap(input.items)
${readers(has)}const run = async (${node.type.endsWith('.functionItem') ? 'item' : '$json'}, $itemIndex) => {
const $input = { ...view(input.items), item: items[$itemIndex] }
${source}
}
const out = []
for (const [at, one] of items.entries()) out.push(await run(one.json, at))
${FINISH}`
