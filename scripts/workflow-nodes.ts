import type { NodeDescriptor } from '#model/node'
import { typeOf } from './sdk.ts'

// Prints the node types for workflows in code from the registry: `http.request(args)` with the types of its arguments,
// its output and its ports.

type Tree = { descriptor?: NodeDescriptor; parts: Map<string, Tree> }

const quote = (name: string): string => (/^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name))

function treeOf(nodes: Iterable<NodeDescriptor>): Tree {
  const tree: Tree = { parts: new Map() }
  for (const descriptor of nodes) {
    let at = tree
    for (const part of descriptor.type.split('.')) {
      if (!at.parts.has(part)) at.parts.set(part, { parts: new Map() })
      at = at.parts.get(part)!
    }
    at.descriptor = descriptor
  }
  return tree
}

/** The registry's JSON Schemas use `unknown` for any JSON. In code this becomes `Untyped`, whose fields can be read. */
const typed = (schema: NodeDescriptor['args_schema']): string => typeOf(schema).replaceAll('unknown', 'Untyped')

/** The ports of a branch are the names of its cases. */
const portsOf = ({ type, ports }: NodeDescriptor): string =>
  type === 'branch' ? 'string' : ports.map((port) => JSON.stringify(port)).join(' | ') || 'string'

function printDefine(descriptor: NodeDescriptor): string {
  const { type, args_schema, output_schema } = descriptor
  return `define<${typed(args_schema)}, ${typed(output_schema)}, ${portsOf(descriptor)}>(${JSON.stringify(type)})`
}

function printTree({ descriptor, parts }: Tree): string {
  const fields = [...parts].map(([name, inner]) => `${quote(name)}: ${printTree(inner)}`).join(', ')
  if (descriptor === undefined) return `{ ${fields} }`
  return fields === '' ? printDefine(descriptor) : `Object.assign(${printDefine(descriptor)}, { ${fields} })`
}

export function printWorkflowNodes(nodes: Iterable<NodeDescriptor>): string {
  const constants = [...treeOf([...nodes].sort((a, b) => (a.type < b.type ? -1 : 1))).parts].map(([name, tree]) => {
    const about = tree.descriptor ? `/** ${tree.descriptor.description.replaceAll('*/', '')} */\n` : ''
    return name === 'set'
      ? `${about}export const set = <const V extends Record<string, unknown>>(args: { values: V }): Spec<Resolved<V>, "out"> => ({ type: "set", args })\n`
      : `${about}export const ${name} = ${printTree(tree)}\n`
  })
  return `// Printed from the registry by \`npm run generate\`. Do not edit.\n\nimport { define, type Spec } from './build.ts'\nimport type { Resolved, Untyped } from './values.ts'\n\n${constants.join('\n')}`
}
