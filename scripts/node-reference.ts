import type { Json, JsonObject } from '#model/definition'
import { isObject } from '#model/json'
import type { NodeDescriptor } from '#model/node'

// docs/nodes.md: all node types, printed from the descriptors that the registry and the editor use.

const EFFECTS: Record<NodeDescriptor['effect'], string> = {
  pure: 'Pure. Running it again changes nothing.',
  idempotent: 'Idempotent. Each attempt sends the same key, so a repeated attempt has one effect.',
  at_most_once: 'At most once. An attempt that was interrupted is not repeated; it fails with `outcome_unknown`.',
}

const cell = (text: string): string => text.replaceAll('|', '\\|').replaceAll('\n', ' ')

function typeOf(schema: Json | undefined): string {
  if (!isObject(schema)) return 'any'
  if (Array.isArray(schema.enum)) return schema.enum.map((value) => `\`${JSON.stringify(value)}\``).join(', ')
  if ('const' in schema) return `\`${JSON.stringify(schema.const)}\``
  const choices = schema.oneOf ?? schema.anyOf
  if (Array.isArray(choices)) return [...new Set(choices.map(typeOf))].join(' or ')
  if (schema.type === 'array') return `list of ${typeOf(schema.items)}`
  if (Array.isArray(schema.type)) return schema.type.join(' or ')
  return typeof schema.type === 'string' ? schema.type : 'any'
}

function rulesOf(schema: JsonObject): string[] {
  const rules: string[] = []
  if (schema['x-value'] === 'literal') rules.push('A literal, never an expression.')
  if (schema.default !== undefined) rules.push(`Default \`${JSON.stringify(schema.default)}\`.`)
  if (schema.exclusiveMinimum !== undefined) rules.push(`More than ${schema.exclusiveMinimum}.`)
  if (schema.minimum !== undefined && schema.maximum !== undefined)
    rules.push(`Range ${schema.minimum} to ${schema.maximum}.`)
  else if (schema.minimum !== undefined) rules.push(`At least ${schema.minimum}.`)
  else if (schema.maximum !== undefined) rules.push(`At most ${schema.maximum}.`)
  if (schema.maxLength !== undefined) rules.push(`At most ${schema.maxLength} characters.`)
  if (schema.maxItems !== undefined) rules.push(`At most ${schema.maxItems} items.`)
  return rules
}

function fieldRows(schema: JsonObject): string[] {
  if (!isObject(schema.properties)) return []
  const required = Array.isArray(schema.required) ? schema.required : []
  return Object.entries(schema.properties).map(([name, field]) => {
    const described = isObject(field) ? field : {}
    const about = [described.description ?? described.title].filter((text) => typeof text === 'string')
    const meaning = about.map((text) => (/[.?!]$/.test(text) ? text : `${text}.`))
    const words = [...meaning, ...rulesOf(described)].join(' ')
    return `| \`${name}\` | ${cell(typeOf(field))} | ${required.includes(name) ? 'yes' : 'no'} | ${cell(words)} |`
  })
}

function printNode({ type, title, description, args_schema, output_schema, ports, effect, defaults }: NodeDescriptor) {
  const rows = fieldRows(args_schema)
  const example = { id: type.replaceAll('.', '_'), type, args: defaults }
  return `### \`${type}\`: ${title}

${description}

${rows.length === 0 ? 'It has no arguments.' : `| argument | type | required | meaning |\n|---|---|---|---|\n${rows.join('\n')}`}

- **Output**: ${typeOf(output_schema)}${
    isObject(output_schema.properties)
      ? ` with ${Object.keys(output_schema.properties)
          .map((name) => `\`${name}\``)
          .join(', ')}`
      : ''
  }
- **Ports**: ${ports.map((port) => `\`${port}\``).join(', ')}
- **Effect**: ${EFFECTS[effect]}

\`\`\`json
${JSON.stringify(example, null, 2)}
\`\`\`
`
}

const GROUPS: [NodeDescriptor['group'], string][] = [
  ['control', 'Flow'],
  ['people', 'People'],
  ['tools', 'Tools'],
  ['services', 'Services'],
  ['data', 'Data'],
  ['messages', 'Messages'],
  ['language', 'Language'],
  ['agents', 'Agents'],
]

export function printNodes(descriptors: Iterable<NodeDescriptor>): string {
  const all = [...descriptors]
  const sections = GROUPS.map(([group, title]) => {
    const nodes = all.filter((descriptor) => descriptor.group === group)
    return nodes.length === 0 ? '' : `## ${title}\n\n${nodes.map(printNode).join('\n')}`
  })
  return `# Node reference

Printed from the registry by \`npm run generate\`. Every node also accepts \`name\`, \`retry\`, \`timeout_s\` and \`on_error\`: see [workflows.md](workflows.md).
An argument is a literal, a reference (\`{"$ref": …}\`) or an expression (\`{"$cel": …}\`) unless the table says otherwise. The example under each
node has the arguments of a new node in the editor.

${sections.filter(Boolean).join('\n')}`
}
