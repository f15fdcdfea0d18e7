import { Ajv } from 'ajv'
import type { Json, JsonObject } from '#model/definition'
import { isObject } from '#model/json'
import { compilePattern } from '#model/pattern'
import type { Service, ServiceAction } from '#providers/services/manifest'
import type { CompiledAction } from '#providers/services/openapi/index'
import { buildRequest } from '#providers/services/request'

// Checks whether the request of an imported action is what the document requires. The arguments come from the form of
// the action, and an independent validator compares the request with the document.

const TEXTS = [
  'abc',
  '1',
  'a',
  '2026-01-31',
  '2026-01-31T09:30:00Z',
  '#ffffff',
  'ffffff',
  'a/b',
  '0',
  'A1',
  '1.0.0',
].concat('refs/heads/main', 'ssh-rsa AAAA', `sha256:${'f'.repeat(64)}`)

function textFor(schema: JsonObject): string {
  const { format, pattern } = schema
  const from = Number(schema.minLength ?? 0)
  const to = Number(schema.maxLength ?? Number.MAX_SAFE_INTEGER)
  const formats: Record<string, string> = {
    date: '2026-01-31',
    'date-time': '2026-01-31T09:30:00Z',
    email: 'ada@example.com',
    uri: 'https://example.com/a',
    uuid: '0f8fad5b-d9cb-469f-a165-70867728950e',
  }
  if (typeof format === 'string' && formats[format] !== undefined) return formats[format]
  const compiled = typeof pattern === 'string' ? compilePattern(pattern) : undefined
  const tried = [...TEXTS, 'f'.repeat(40), 'f'.repeat(64), 'abc'.padEnd(from, 'x')]
  const fits = (text: string): boolean =>
    text.length >= from && text.length <= to && (typeof compiled !== 'object' || compiled.test(text) === true)
  return tried.find(fits) ?? 'abc'
}

const numberFor = ({ minimum, exclusiveMinimum, maximum, exclusiveMaximum, type }: JsonObject): number => {
  const least = typeof exclusiveMinimum === 'number' ? exclusiveMinimum + 1 : Number(minimum ?? 1)
  const most = typeof exclusiveMaximum === 'number' ? exclusiveMaximum - 1 : Number(maximum ?? least)
  const value = Math.max(least, Math.min(1, most))
  return type === 'integer' ? Math.ceil(value) : value
}

/** Returns a value that a form would return: the required fields, or all fields. */
export function sampleOf(schema: Json | undefined, isWhole: boolean): Json {
  if (!isObject(schema)) return 'abc'
  if (schema.const !== undefined) return schema.const
  if (Array.isArray(schema.enum)) return schema.enum[0]!
  const required = Array.isArray(schema.required) ? schema.required : []
  if (isObject(schema.properties)) {
    // If a schema was truncated, the form does not know its fields.
    const isKnown = (inner: Json): boolean => !(isObject(inner) && inner.description === 'Any JSON')
    const wanted = Object.entries(schema.properties).filter(
      ([name, inner]) => required.includes(name) || (isWhole && isKnown(inner)),
    )
    const object = Object.fromEntries(wanted.map(([name, inner]) => [name, sampleOf(inner, isWhole)]))
    const [branch] = Array.isArray(schema.anyOf) ? schema.anyOf : []
    const more = isObject(branch) ? sampleOf({ type: 'object', ...branch }, isWhole) : {}
    const missing = isObject(branch) && Array.isArray(branch.required) ? branch.required : []
    const named = missing.flatMap((name) => {
      const inner = (schema.properties as JsonObject)[String(name)]
      return inner === undefined ? [] : [[String(name), sampleOf(inner, isWhole)]]
    })
    return { ...object, ...(isObject(more) && more), ...Object.fromEntries(named) }
  }
  if (Array.isArray(schema.anyOf)) return sampleOf(schema.anyOf[0], isWhole)
  const [type] = Array.isArray(schema.type) ? schema.type : [schema.type]
  switch (type) {
    case 'string':
      return textFor(schema)
    case 'integer':
    case 'number':
      return numberFor(schema)
    case 'boolean':
      return true
    case 'array':
      return Array.from({ length: Math.max(isWhole ? 1 : 0, Number(schema.minItems ?? 0)) }, () =>
        sampleOf(schema.items, isWhole),
      )
    case 'null':
      return null
    case 'object':
      return {}
    default:
      return isObject(schema.items) ? [] : 'abc'
  }
}

const NO_FILES = { base64: async () => '', mime: async () => '' }

export type Judge = (action: CompiledAction, args: JsonObject) => Promise<string | undefined>

const pointer = (...steps: string[]): string =>
  steps.map((step) => `/${encodeURIComponent(step.replaceAll('~', '~0').replaceAll('/', '~1'))}`).join('')

/**
 * Adapts a schema to the validator, which refuses `nullable` without `type` (where it has no meaning) and boolean
 * bounds, and does not know that `readOnly` fields are not sent.
 */
const asDraft7 = (value: Json): Json => {
  if (Array.isArray(value)) return value.map(asDraft7)
  if (!isObject(value)) return value
  const { nullable, exclusiveMinimum, ...rest } = value
  const kept: JsonObject =
    exclusiveMinimum === true
      ? { ...rest, exclusiveMinimum: rest.minimum! }
      : typeof nullable === 'boolean' && rest.type === undefined
        ? rest
        : { ...value }
  const { properties, required } = kept
  if (isObject(properties) && Array.isArray(required))
    kept.required = required.filter((name) => {
      const property = properties[String(name)]
      return !(isObject(property) && property.readOnly === true)
    })
  return Object.fromEntries(Object.entries(kept).map(([key, inner]) => [key, asDraft7(inner)]))
}

/** Returns a function that reports what the document forbids in the request of an action; undefined if nothing. */
export function makeJudge(document: JsonObject, service: Pick<Service, 'base_url'>): Judge {
  const plain = new Ajv({ strict: false, validateFormats: false, allErrors: false, logger: false })
  const fromText = new Ajv({ strict: false, validateFormats: false, coerceTypes: 'array', logger: false })
  for (const ajv of [plain, fromText]) ajv.addSchema(asDraft7(document) as JsonObject, 'document')
  const check = (ajv: Ajv, where: string, value: unknown): string | undefined => {
    const validate = ajv.getSchema(`document#${where}`) ?? ajv.compile({ $ref: `document#${where}` })
    if (validate(value)) return undefined
    const [first] = validate.errors ?? []
    return `${decodeURIComponent(where)}: ${first?.instancePath} ${first?.message}`
  }
  const deref = (value: Json | undefined, where: string): { value: JsonObject; where: string } => {
    const reference = isObject(value) && typeof value.$ref === 'string' ? value.$ref : undefined
    if (reference === undefined) return { value: value as JsonObject, where }
    const steps = reference.slice(2).split('/')
    let found: Json | undefined = document
    for (const step of steps) found = (found as JsonObject)[step.replaceAll('~1', '/').replaceAll('~0', '~')]
    return deref(found, `/${steps.map(encodeURIComponent).join('/')}`)
  }

  return async (action, args) => {
    const request = await buildRequest(service as Service, action as unknown as ServiceAction, args, {
      host: undefined,
      files: NO_FILES,
    })
    const item = (document.paths as Record<string, JsonObject>)[action.path]!
    const method = action.method.toLowerCase()
    const operation = item[method] as JsonObject
    const at = pointer('paths', action.path, method)
    const shape = new RegExp(`${action.path.replace(/[.*+?^$()|[\]\\]/g, '\\$&').replace(/\{[^{}]+\}/g, '[^/?]+')}$`)
    if (request.method !== action.method) return `the method is ${request.method}`
    if (!shape.test(request.url.pathname)) return `${request.url.pathname} is not ${action.path}`
    const declared = [
      ...((item.parameters as Json[] | undefined) ?? []).map((one, index) =>
        deref(one, `${pointer('paths', action.path, 'parameters')}/${index}`),
      ),
      ...((operation.parameters as Json[] | undefined) ?? []).map((one, index) =>
        deref(one, `${at}/parameters/${index}`),
      ),
    ]
    for (const { value, where } of declared.filter((one) => one.value.in === 'query')) {
      const given = request.url.searchParams.getAll(String(value.name))
      if (given.length === 0 && value.required === true && !String(value.style).startsWith('deep'))
        return `the query has no ${value.name}`
      if (given.length === 0 || value.schema === undefined) continue
      const { type } = deref(value.schema, '').value
      // Objects can have many styles as text, which other tests compare.
      if (type === 'object') continue
      const wrong = check(fromText, `${where}/schema`, type === 'array' ? given : given[0])
      if (wrong !== undefined) return wrong
    }
    if (operation.requestBody === undefined || request.body.kind === 'none') {
      const body = operation.requestBody === undefined ? undefined : deref(operation.requestBody, '').value
      return body?.required === true && method !== 'get' ? 'the body is missing' : undefined
    }
    const body = deref(operation.requestBody, `${at}/requestBody`)
    const type = request.headers['content-type'] ?? ''
    const content = body.value.content as JsonObject
    if (request.body.kind !== 'text') return undefined
    if (content[type] === undefined) return `${type} is not a content type of the body`
    if (!/json/.test(type)) return undefined
    return check(plain, `${body.where}/content${pointer(type)}/schema`, JSON.parse(request.body.text))
  }
}
