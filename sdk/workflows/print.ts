import type { Edge, Json, JsonObject, Node } from '#model/definition'
import type { Definition } from './build.ts'

// Prints a definition as code that builds the same definition. Printing the definition that this code builds gives the
// same code.

const IDENTIFIER = /^[A-Za-z_$][\w$]*$/
const RESERVED = new Set(
  'await break case catch class const continue debugger default delete do else enum export extends false finally for function if implements import in instanceof interface let new null package private protected public return static super switch this throw true try typeof var void while with yield ref cel wf workflow body item index loopState turn execution variable arguments eval'.split(
    ' ',
  ),
)

const NODE_OPTIONS = ['name', 'retry', 'timeout_s', 'on_error', 'join', 'finally', 'disabled'] as const

const quote = (text: string): string =>
  `'${JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")}'`

const key = (name: string): string => (IDENTIFIER.test(name) ? name : quote(name))

/** Returns a name for each node that differs from the names of other nodes and of node types. */
function namesOf(nodes: Node[], taken: Set<string>): Map<string, string> {
  const names = new Map<string, string>()
  const used = new Set([...taken, ...RESERVED])
  for (const { id } of nodes) {
    const base = id.replace(/[^\w$]+(.)?/g, (_, next: string = '') => next.toUpperCase()).replace(/^(?=\d|$)/, '_')
    let name = base
    for (let n = 2; used.has(name); n++) name = `${base}${n}`
    used.add(name)
    names.set(id, name)
  }
  return names
}

const STEP = /^(?:\.([A-Za-z_$][\w$]*)|\[(\d+)\]|\[("(?:[^"\\]|\\.)*")\])/

/** Returns `.body.items[0]` as code. Undefined if a part of the path cannot be written as code. */
function printSteps(path: string): string | undefined {
  let [rest, code] = [path, '']
  while (rest !== '') {
    const [whole, name, position, text] = STEP.exec(rest) ?? []
    if (whole === undefined || name === 'toJSON' || name === 'then') return undefined
    code += text === undefined ? (name === undefined ? `[${position}]` : `.${name}`) : `[${quote(JSON.parse(text))}]`
    rest = rest.slice(whole.length)
  }
  return code
}

function printRef(path: string, names: Map<string, string>): string | undefined {
  const [head, id] = /^nodes\.([A-Za-z_]\w*)\.output(?=[.[]|$)/.exec(path) ?? []
  if (head !== undefined && names.has(id!)) {
    const steps = printSteps(path.slice(head.length))
    return steps === undefined ? undefined : `ref(${names.get(id!)})${steps}`
  }
  const [start] = /^input(?=[.[]|$)/.exec(path) ?? []
  const steps = start === undefined ? undefined : printSteps(path.slice(start.length))
  return steps === undefined ? undefined : `wf.input${steps}`
}

/**
 * Returns an expression as a `cel` template. `cel` reads the text raw, so text that would end or interpolate the
 * template is not possible.
 */
const printCel = (text: string): string | undefined => (/[`\\]|\$\{|\r/.test(text) ? undefined : `cel\`${text}\``)

function printValue(value: Json, names: Map<string, string>, indent: string): string {
  if (typeof value === 'string') return quote(value)
  if (value === null || typeof value !== 'object') return JSON.stringify(value)
  const deeper = `${indent}  `
  if (Array.isArray(value)) {
    if (value.length === 0) return '[]'
    return `[\n${value.map((one) => `${deeper}${printValue(one, names, deeper)},\n`).join('')}${indent}]`
  }
  const entries = Object.entries(value)
  if (entries.length === 0) return '{}'
  if (entries.length === 1 && typeof entries[0]![1] === 'string') {
    const [[name, text]] = entries as [[string, string]]
    const short = name === '$ref' ? printRef(text, names) : name === '$cel' ? printCel(text) : undefined
    if (short !== undefined) return short
  }
  const fields = entries.map(([name, one]) => `${deeper}${key(name)}: ${printValue(one, names, deeper)},\n`)
  return `{\n${fields.join('')}${indent}}`
}

const constructorOf = (type: string): string => type.split('.').map(key).join('.')

function printNode(node: Node, names: Map<string, string>): string {
  const { id, type, args } = node
  const spec = `${constructorOf(type)}(${args === undefined ? '' : printValue(args, names, '')})`
  const options = Object.fromEntries(
    NODE_OPTIONS.flatMap((name) => (node[name] === undefined ? [] : [[name, node[name]]])),
  )
  const more = Object.keys(options).length === 0 ? '' : `, ${printValue(options as JsonObject, names, '')}`
  return `const ${names.get(id)} = wf.node(${quote(id)}, ${spec}${more})\n`
}

function printEdge({ from, to, when }: Edge, names: Map<string, string>): string {
  const options = { ...(from.port !== undefined && { port: from.port }), ...(when && { when }) }
  const more = Object.keys(options).length === 0 ? '' : `, ${printValue(options as JsonObject, names, '')}`
  return `wf.edge(${names.get(from.node)}, ${names.get(to)}${more})\n`
}

/**
 * Returns the code of a module whose default export is the workflow. Throws if the definition has a field that code
 * cannot express.
 */
export function printWorkflow(name: string, definition: Definition): string {
  const { nodes, edges, inputs, output, layout, ...rest } = definition
  const known = new Set<string>(['id', 'type', 'args', ...NODE_OPTIONS])
  const unknown = [
    ...Object.keys(rest),
    ...nodes.flatMap((node) => Object.keys(node)).filter((field) => !known.has(field)),
  ]
  if (unknown.length > 0) throw new Error(`A workflow in code has no field ${unknown.join(', ')}.`)
  const roots = [...new Set(nodes.map(({ type }) => type.split('.')[0]!))].sort()
  const names = namesOf(nodes, new Set(roots))
  const parts = [
    ...nodes.map((node) => printNode(node, names)),
    ...(edges.length > 0 ? ['\n', ...edges.map((edge) => printEdge(edge, names))] : []),
    ...(output === undefined ? [] : [`\nwf.output(${printValue(output, names, '')})\n`]),
    ...(layout === undefined ? [] : [`\nwf.layout(${printValue(layout, new Map(), '')})\n`]),
  ].join('')
  const helpers = ['cel', 'ref'].filter((helper) => new RegExp(`\\b${helper}[(\`]`).test(parts))
  const settings = inputs === undefined ? '' : `, {\n  inputs: ${printValue(inputs, new Map(), '  ')},\n}`
  return [
    `import { ${[...helpers, ...roots, 'workflow'].sort().join(', ')} } from '@heddle/workflows'\n\n`,
    `const wf = workflow(${quote(name)}${settings})\n\n`,
    parts,
    '\nexport default wf\n',
  ].join('')
}
