import type { Json, JsonObject } from '#model/definition'
import { checkNames, namesIn, REFUSED, surroundingSource, surroundings } from '../computed.ts'
import { type Exit, orEmpty } from '../flow.ts'
import { NotConvertible } from '../js-ast.ts'
import { celOut, type Out, pathOut } from '../out.ts'
import { preludeOf } from '../prelude.ts'
import { withoutSecrets } from '../secrets.ts'
import type { Step } from '../step.ts'
import { finishSource, itemsSource, type Needs, readersSource } from './code-source.ts'

// The JavaScript of Code and Function nodes runs unchanged, with the names that n8n provides. Code that needs external
// access is to be done by hand.

const OUTSIDE: readonly [RegExp, string][] = [
  [
    /\brequire\s*\(\s*(?!['"`](?:node:)?(?:crypto|luxon|buffer|url|querystring)['"`])|^\s*import\s/m,
    'the code loads packages',
  ],
  [
    /\bthis\.helpers\b(?!\.(?:getBinaryDataBuffer|prepareBinaryData)\b)|\$helpers\b|(?<!this\.)\bhelpers\.(?!getBinaryDataBuffer|prepareBinaryData)/,
    'the code calls helpers of n8n',
  ],
  [/\bfetch\s*\(|\baxios\b|\$http\b|XMLHttpRequest/, 'the code makes requests: use http.request'],
  [/process\.(?!env\b)/, 'the code reads the process'],
  [/\bsetTimeout\b|\bsetInterval\b/, 'the code waits: use a wait node'],
  [/\$fromAI\b/, '$fromAI lets a model fill in an argument'],
  ...REFUSED,
]

/** The code of a new Code node in n8n; templates omit it. */
const DEFAULT_CODE = 'for (const item of $input.all()) item.json.myNewField = 1\nreturn $input.all()'

/** Files that are only passed on, or of which only the name and type are read. */
const HANDED_ON =
  /\bbinary\s*:\s*[\w$.?[\]()'"]*\.binary\b(?!\s*\??[.[])|\.binary\b\s*(?=[,;)}\]\n|&:?])|Object\.(?:keys|values|entries)\(\s*[\w$.?[\]()'"]*\.binary\b[^)]*\)|\.binary(?:\??\.\w+|\??\.?\[[^\]]*\])\??\.(?:fileName|mimeType|fileExtension|fileSize|fileType|id|directory)\b/g

function needsOf(source: string): Needs {
  const files = source.replaceAll(HANDED_ON, '')
  return {
    reads: /\.binary\b\s*\??[.[]|getBinaryDataBuffer|\bbinary\s*\}\s*=/.test(files),
    writes:
      /\bbinary\s*:(?!\s*[\w$.?[\]()'"]*\.binary\b(?!\s*\??[.[]))|\.binary\b[^=\n]{0,60}=(?!=)|prepareBinaryData/.test(
        source,
      ),
    keeps: /getWorkflowStaticData/.test(source),
  }
}

export function convertCode(step: Step): Exit[] {
  const { p } = step
  const language = String(p.language ?? 'javaScript')
  if (language.startsWith('python')) throw new NotConvertible('the code is Python')
  const raw = String(p.jsCode ?? p.functionCode ?? p.code ?? '') || DEFAULT_CODE
  if (raw.startsWith('=')) throw new NotConvertible('the code is computed')
  const { text, found } = withoutSecrets(raw)
  if (found) step.byHand('the code held a key, which was removed: keep it in a credential')
  const source = text.replaceAll(/\bprocess\.env\b/g, '$env')
  const plain = source.replaceAll(/(?<![:'"`\\])\/\/[^\n]*|\/\*[\s\S]*?\*\//g, '')
  for (const [pattern, why] of OUTSIDE) if (pattern.test(plain)) throw new NotConvertible(why)
  const names = namesOf(step, plain)
  const needs = needsOf(plain)
  const around = surroundings(plain, { workflowName: step.work.workflowName, remark: (why) => step.remark(why) })
  const items = celOut(orEmpty(step.input), 'list')
  const input: JsonObject = { items: step.guarded(items), ...around }
  if (names.length > 0) {
    const others: JsonObject = {}
    for (const name of names) others[name] = itemsOf(step, name, plain)
    input.nodes = others
  }
  const isEach = p.mode === 'runOnceForEachItem' || step.node.type.endsWith('.functionItem')
  const whole = [
    preludeOf(needs.reads || needs.writes ? `${plain} Buffer` : plain),
    surroundingSource(around),
    itemsSource(needs, plain),
    readersSource(names.length > 0),
    isEach ? eachSource(source, step) : allSource(source),
    finishSource(needs),
  ].join('')
  checkNames(whole)
  if (needs.reads) input.files = filesRead(step, items)
  if (needs.keeps) input.kept = { $ref: `nodes.${keptState(step)}.output.value` }
  const id = step.add('code', { input, source: whole, limits: { time_ms: 10_000 } })
  const list = after(step, id, needs)
  const aligned = isEach
    ? new Map([...step.input.aligned, ...[...step.input.same].map((name) => [name, (index: string) => index] as const)])
    : new Map()
  return [step.exit({ list, aligned })]
}

/** Returns the nodes that code reads: the nodes it names, or all nodes before it if it computes a name. */
function namesOf(step: Step, source: string): string[] {
  try {
    return namesIn(source)
  } catch (error) {
    const all = step.work.names()
    if (!(error instanceof NotConvertible) || all.length > 30) throw error
    step.remark('it computes the name of a node, so it receives the items of all nodes before it')
    return all
  }
}

/**
 * Returns the items of a node. If the code checks whether the node has run, a node that cannot have run before it gives
 * null.
 */
function itemsOf(step: Step, name: string, source: string): Json {
  try {
    return step.guarded(celOut(orEmpty(step.work.view(name).flow), 'list'))
  } catch (error) {
    if (!(error instanceof NotConvertible) || !/\bisExecuted\b|\btry\s*\{/.test(source)) throw error
    step.remark(`"${name.slice(0, 80)}" has not run before it here`)
    return null
  }
}

const STATE_KEY = 'static_data'

function keptState(step: Step): string {
  step.remark('its static data is stored as state of the workflow')
  return step.add('state.get', { key: STATE_KEY, default: {} }, { isHelper: true })
}

/** Reads the contents of all files of the items, with the item and the field that each file belongs to. */
function filesRead(step: Step, items: Out): JsonObject {
  const list = step.add(
    'set',
    {
      values: {
        files: {
          $cel: `${items.cel}.transformList(index_, x, x?.binary.orElse({}).map(k, {"at": index_, "key": k, "file": x.binary[k]})).flatten()`,
        },
      },
    },
    { isHelper: true },
  )
  const read = step.work.uniqueId(`${step.id}_file`)
  const body = {
    nodes: [{ id: read, type: 'file.read', args: { file: { $ref: 'item.file' }, as: 'base64' } }],
    edges: [],
    output: { at: { $ref: 'item.at' }, key: { $ref: 'item.key' }, content: { $ref: `nodes.${read}.output.content` } },
  }
  const contents = step.add(
    'map',
    { items: { $ref: `nodes.${list}.output.files` }, body: body as unknown as JsonObject },
    { isHelper: true },
  )
  return { $ref: `nodes.${contents}.output` }
}

/** Writes the files that the code created, and stores the data that it keeps. */
function after(step: Step, id: string, { writes, keeps }: Needs): Out {
  if (keeps) step.add('state.set', { key: STATE_KEY, value: { $ref: `nodes.${id}.output.kept` } })
  if (!writes) return celOut(keeps ? `nodes.${id}.output.items` : `[nodes.${id}.output].flatten()`, 'list')
  const write = step.work.uniqueId(`${step.id}_write`)
  const body = {
    nodes: [
      {
        id: write,
        type: 'file.write',
        args: {
          name: { $ref: 'item.name' },
          media_type: { $ref: 'item.media_type' },
          base64: { $ref: 'item.base64' },
        },
      },
    ],
    edges: [],
    output: { $ref: `nodes.${write}.output` },
  }
  const files = step.add('map', { items: { $ref: `nodes.${id}.output.files` }, body: body as unknown as JsonObject })
  const joined = step.add('code', {
    input: {
      items: { $ref: `nodes.${id}.output.items` },
      files: { $ref: `nodes.${id}.output.files` },
      written: { $ref: `nodes.${files}.output` },
    },
    source: `for (const [index, { at, key }] of input.files.entries()) input.items[at].binary[key] = input.written[index]
return input.items`,
  })
  return { ...pathOut(['nodes', joined, 'output']), type: 'list' }
}

const allSource = (source: string): string => `const $input = view(items)
const $json = items[0]?.json
const $binary = items[0]?.binary
const item = items[0]
const $itemIndex = 0
const $runIndex = 0
const run = async function () {
${source}
}
const out = await run.call(self)
`

const eachSource = (source: string, { node }: Step): string => `const $runIndex = 0
const run = async function (${node.type.endsWith('.functionItem') ? 'item' : '$json'}, $itemIndex) {
const $input = { ...view(items), item: items[$itemIndex] }
const $binary = items[$itemIndex].binary
${source}
}
const out = []
for (const [at, one] of items.entries()) out.push(await run.call(self, one.json, at))
`
