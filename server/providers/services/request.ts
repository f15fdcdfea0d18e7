import type { Json, JsonObject } from '#model/definition'
import { isObject } from '#model/json'
import { escapePart } from './escape.ts'
import { encodeForm } from './form.ts'
import type { Service, ServiceAction, Values } from './manifest.ts'
import { placeBody, placeParameters } from './openapi/request.ts'
import type { RequestBody } from './request-body.ts'
import { asText, fillBody, fillTemplate, fillValues, TemplateFailure, type TemplateFiles } from './template.ts'

// Builds the request of an action. Arguments cannot escape their position: in a path they are escaped and cannot lead
// upwards, in a query or a form they are encoded, and a header with a line break is refused when it is sent.

export type ServiceRequest = {
  method: string
  url: URL
  headers: Record<string, string>
  json?: Json
  body: RequestBody
}

function segment(name: string, value: Json | undefined): string {
  const text = value === undefined ? '' : asText(value)
  if (text === '' || text === '.' || text === '..')
    throw new TemplateFailure(`"${name}" is required and cannot be "." or ".."`)
  return escapePart(text)
}

/**
 * `{name}` is one segment; `{+name}` is a path of several segments; `{'name}` is inside quotes, which OData doubles.
 */
function pathOf(path: string, args: JsonObject): string {
  return path.replace(/\{([+']?)(\w+)\}/g, (_, form: string, name: string) => {
    if (form === "'") return segment(name, asText(args[name] ?? '').replaceAll("'", "''"))
    if (form === '') return segment(name, args[name])
    const parts = asText(args[name] ?? '')
      .split('/')
      .filter((part, index, all) => part !== '' || (index > 0 && index < all.length - 1))
    if (parts.length === 0) throw new TemplateFailure(`"${name}" is required`)
    return parts.map((part) => segment(name, part)).join('/')
  })
}

/** Returns one label of a host name. Any other text is refused. */
function labelOf(name: string, value: Json | undefined): string {
  const label = asText(value ?? '')
  if (!/^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/i.test(label))
    throw new TemplateFailure(`"${name}" may contain only letters, digits and dashes`)
  return label
}

/**
 * Returns the base address: `https://api.example.com`, `https://{host}` with the credential's host, or `{site}`, an
 * argument that is an address.
 */
function baseOf(template: string, args: JsonObject, host: string | undefined): string {
  const argument = /^\{(\w+)\}/.exec(template)
  if (argument) {
    const given = String(args[argument[1]!] ?? '')
    if (!URL.canParse(given)) throw new TemplateFailure(`"${argument[1]}" must be an address that begins with https://`)
    const url = new URL(given)
    if (!/^https?:$/.test(url.protocol) || url.username || url.password)
      throw new TemplateFailure(`"${argument[1]}" must be an address that begins with https://`)
    const rest = template.slice(argument[0].length)
    // With `!`, the address is used unchanged, because the address of a feed can have its own query.
    return rest === '!' ? url.href : url.origin + url.pathname.replace(/\/+$/, '') + rest
  }
  if (!template.includes('{host}'))
    return template.replace(/\{(\w+)\}/g, (_, name: string) => labelOf(name, args[name]))
  if (host === undefined)
    throw new TemplateFailure(
      'the credential must have exactly one host, without "*": it is the address of the account',
    )
  return template.replace('{host}', host)
}

async function queryInto(url: URL, values: Values | undefined, args: JsonObject, files: TemplateFiles): Promise<void> {
  if (values === undefined) return
  const filled = await fillValues(values, args, files)
  for (const [name, value] of Object.entries(filled))
    for (const item of Array.isArray(value) ? value : [value])
      if (item !== null) url.searchParams.append(name, asText(item))
}

/** Encodes spaces as `%20`, because some vendors read `+` literally. A plus sign itself is `%2B`. */
export const withoutPlus = (url: URL): string => url.href.replace(/\?.*$/, (query) => query.replaceAll('+', '%20'))

async function headersOf(
  service: Service,
  action: ServiceAction,
  args: JsonObject,
  files: TemplateFiles,
): Promise<Record<string, string>> {
  const filled = await fillValues({ ...service.headers, ...action.headers }, args, files)
  return Object.fromEntries(Object.entries(filled).map(([name, value]) => [name.toLowerCase(), asText(value)]))
}

const JSON_TYPE = 'application/json'

async function bodyOf(
  service: Service,
  action: ServiceAction,
  args: JsonObject,
  files: TemplateFiles,
): Promise<{ body: RequestBody; json?: Json }> {
  const filled = (values: Values): Promise<JsonObject> => fillValues(values, args, files)
  if (action.json !== undefined) {
    const json = await fillBody(action.json, args, files)
    return { json, body: { kind: 'text', text: JSON.stringify(json), contentType: JSON_TYPE } }
  }
  if (action.form !== undefined) {
    const text = encodeForm(await filled(action.form), service.form_lists ?? 'index')
    return { body: { kind: 'text', text, contentType: 'application/x-www-form-urlencoded' } }
  }
  if (action.multipart !== undefined) return { body: { kind: 'multipart', parts: await filled(action.multipart) } }
  if (action.related !== undefined) {
    const { json, file } = action.related
    return { body: { kind: 'related', json: await filled(json), file: args[file.slice(1)] ?? null } }
  }
  if (action.file !== undefined) return { body: { kind: 'file', file: args[action.file.slice(1)] ?? null } }
  if (action.text !== undefined) {
    const text = asText((await fillTemplate(action.text, args, files)) ?? '')
    return { body: { kind: 'text', text, contentType: 'text/plain; charset=utf-8' } }
  }
  return { body: { kind: 'none' } }
}

/**
 * Converts a number to a text or a text to a number, as the schema requires: some vendors have numeric ids and others
 * have text ids.
 */
function asAsked(type: Json | undefined, value: Json): Json {
  if (type === 'string' && typeof value === 'number') return String(value)
  const isNumber = (type === 'integer' || type === 'number') && typeof value === 'string' && /^-?\d{1,15}$/.test(value)
  return isNumber ? Number(value) : value
}

/** Returns the arguments to send, with the defaults of absent arguments. */
export function withDefaults({ args_schema, operation }: ServiceAction, args: JsonObject): JsonObject {
  const filled = { ...args }
  for (const [name, schema] of Object.entries(args_schema.properties as JsonObject)) {
    if (!isObject(schema)) continue
    const given = filled[name]
    if (given !== undefined) filled[name] = asAsked(schema.type, given)
    // The defaults of an imported document are applied by the vendor itself.
    else if (schema.default !== undefined && operation === undefined) filled[name] = schema.default
  }
  return filled
}

export type Target = { host: string | undefined; files: TemplateFiles }

/** Builds the request for an action of an imported document. */
function buildOperation(
  service: Service,
  action: ServiceAction,
  operation: NonNullable<ServiceAction['operation']>,
  args: JsonObject,
): ServiceRequest {
  const placed = placeParameters(action.path, operation, args)
  const address = (action.base_url ?? service.base_url) + placed.path
  if (!URL.canParse(address)) throw new TemplateFailure('the address of the request is not valid')
  const url = new URL(address)
  for (const [name, value] of placed.query) url.searchParams.append(name, value)
  const headers: Record<string, string> = { ...(action.headers as Record<string, string>), ...placed.headers }
  const body = operation.body ? placeBody(operation.body, args.body) : { kind: 'none' as const }
  const contentType = body.kind === 'text' ? body.contentType : body.kind === 'file' ? operation.body?.contentType : ''
  if (contentType) headers['content-type'] = contentType
  return { method: action.method, url, headers, body }
}

/** Throws TemplateFailure if an argument is not valid at its position. */
export async function buildRequest(
  service: Service,
  action: ServiceAction,
  args: JsonObject,
  { host, files }: Target,
): Promise<ServiceRequest> {
  if (action.operation) return buildOperation(service, action, action.operation, args)
  const base = baseOf(action.base_url ?? service.base_url, args, host)
  const address =
    action.path === '/' && (action.base_url ?? service.base_url).endsWith('!') ? base : base + pathOf(action.path, args)
  if (!URL.canParse(address)) throw new TemplateFailure('the address of the request is not valid')
  const url = new URL(address)
  await queryInto(url, action.query, args, files)
  const headers = await headersOf(service, action, args, files)
  const { body, json } = await bodyOf(service, action, args, files)
  if (body.kind === 'text' && headers['content-type'] === undefined) headers['content-type'] = body.contentType
  return { method: action.method, url, headers, body, ...(json !== undefined && { json }) }
}
