// The typed client, printed from openapi.json: one type per component and one entry per operation.

type Schema = { [key: string]: unknown }
type Operation = {
  operationId: string
  summary?: string
  parameters?: { name: string; in: 'path' | 'query' | 'header'; required?: boolean; schema: Schema; $ref?: string }[]
  requestBody?: { required?: boolean; content: Record<string, { schema?: Schema }> }
  responses: Record<string, { content?: Record<string, { schema?: Schema }> }>
}
type Document = { paths: Record<string, Record<string, Operation>>; components: { schemas: Record<string, Schema> } }

const quote = (name: string): string => (/^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name))

export function typeOf(schema: Schema | undefined): string {
  if (schema === undefined) return 'unknown'
  if (typeof schema.$ref === 'string') return schema.$ref.split('/').at(-1)!
  if ('const' in schema) return JSON.stringify(schema.const)
  if (Array.isArray(schema.enum)) return schema.enum.map((value) => JSON.stringify(value)).join(' | ')
  for (const key of ['anyOf', 'oneOf'] as const) {
    const options = schema[key]
    if (Array.isArray(options)) return [...new Set(options.map((option) => typeOf(option as Schema)))].join(' | ')
  }
  if (Array.isArray(schema.allOf)) return schema.allOf.map((part) => `(${typeOf(part as Schema)})`).join(' & ')
  if (Array.isArray(schema.type)) return schema.type.map((type) => typeOf({ ...schema, type })).join(' | ')
  switch (schema.type) {
    case 'string':
      return schema.format === 'binary' ? 'Blob' : 'string'
    case 'number':
    case 'integer':
      return 'number'
    case 'boolean':
      return 'boolean'
    case 'null':
      return 'null'
    case 'array':
      return `Array<${typeOf(schema.items as Schema | undefined)}>`
    case 'object':
      return objectType(schema)
    default:
      return 'unknown'
  }
}

function objectType(schema: Schema): string {
  const properties = Object.entries((schema.properties ?? {}) as Record<string, Schema>)
  const required = new Set((schema.required ?? []) as string[])
  const open = schema.additionalProperties
  if (properties.length === 0)
    return open === undefined || open === false
      ? 'Record<string, unknown>'
      : `Record<string, ${typeOf(open === true ? undefined : (open as Schema))}>`
  const fields = properties.map(([name, inner]) => `${quote(name)}${required.has(name) ? '' : '?'}: ${typeOf(inner)}`)
  return `{ ${fields.join('; ')} }`
}

/**
 * Programs create definitions and the service checks them: a union of all node types would refuse most of these
 * definitions.
 */
const NODE = '{ id: string; type: string; args?: Record<string, unknown>; [field: string]: unknown }'
const isNodeType = ({ properties }: Schema): boolean => {
  const type = (properties as Record<string, Schema> | undefined)?.type
  return type !== undefined && 'const' in type && 'args' in (properties as object)
}

type Entry = {
  id: string
  summary: string
  method: string
  path: string
  query: string[]
  raw: boolean
  input: string
  answer: string
  inputRequired: boolean
}

function entryOf(path: string, method: string, operation: Operation): Entry {
  // Parameters that operations share are headers, which the client sets itself.
  const parameters = (operation.parameters ?? []).filter((one) => one.$ref === undefined && one.in !== 'header')
  const fields = parameters.map(
    ({ name, required, schema }) => `${quote(name)}${required ? '' : '?'}: ${typeOf(schema)}`,
  )
  const content = operation.requestBody?.content ?? {}
  const json = content['application/json']?.schema
  const raw =
    operation.requestBody !== undefined &&
    (json === undefined || Object.keys(json).length === 0 || Object.keys(content).length > 1)
  const parts = [fields.length > 0 ? `{ ${fields.join('; ')} }` : '']
  if (raw) parts.push('{ body?: unknown }')
  else if (json !== undefined) parts.push(typeOf(json))
  const success = Object.entries(operation.responses).find(([status]) => status.startsWith('2'))?.[1].content
  const answer = success?.['application/json']
    ? typeOf(success['application/json'].schema)
    : success && Object.keys(success).length > 0
      ? 'Blob'
      : 'undefined'
  const inputRequired =
    parameters.some(({ required }) => required) ||
    (!raw && ((json?.required as string[] | undefined) ?? []).length > 0) ||
    (json?.$ref !== undefined && !raw)
  return {
    id: operation.operationId,
    summary: operation.summary ?? '',
    method: method.toUpperCase(),
    path,
    query: parameters.filter((parameter) => parameter.in === 'query').map(({ name }) => name),
    raw,
    input: parts.filter((part) => part !== '').join(' & ') || 'Record<string, never>',
    answer,
    inputRequired,
  }
}

export function printSdk(openapi: string): { types: string; operations: string } {
  const document = JSON.parse(openapi) as Document
  const entries = Object.entries(document.paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, operation]) => entryOf(path, method, operation)),
  )
  const head = '// Printed from openapi.json by `npm run generate`. Do not edit.\n\n'
  const types = Object.entries(document.components.schemas)
    .filter(([, schema]) => !isNodeType(schema))
    .map(([name, schema]) => `export type ${name} = ${name === 'Node' ? NODE : typeOf(schema)}\n`)
  const used = new Set(
    [...entries.flatMap(({ input, answer }) => `${input} ${answer}`.match(/\b[A-Z]\w*\b/g) ?? [])].filter(
      (name) => name in document.components.schemas,
    ),
  )
  const operations = [
    head,
    `import type {\n${[...used]
      .sort()
      .map((name) => `  ${name},`)
      .join('\n')}\n} from './types.generated.ts'\n\n`,
    'export type Operations = {\n',
    ...entries.map(
      ({ id, summary, input, answer, inputRequired }) =>
        `  /** ${summary.replaceAll('*/', '')} */\n  ${id}: { input: ${input}; answer: ${answer}; required: ${inputRequired} }\n`,
    ),
    '}\n\n',
    '/** Method, path, the names that go into the query, and whether the body is sent as it is. */\n',
    'export type Entry = readonly [method: string, path: string, query?: readonly string[], raw?: true]\n\n',
    'export const operations: { readonly [Name in keyof Operations]: Entry } = {\n',
    ...entries.map(({ id, method, path, query, raw }) => {
      const tail = query.length > 0 || raw ? `, ${JSON.stringify(query)}${raw ? ', true' : ''}` : ''
      return `  ${id}: [${JSON.stringify(method)}, ${JSON.stringify(path)}${tail}],\n`
    }),
    '}\n',
  ]
  return { types: head + types.join('\n'), operations: operations.join('') }
}
