import type { Json, JsonObject } from '#model/definition'
import { isObject } from '#model/json'
import { escapePart } from '../escape.ts'
import { encodeForm } from '../form.ts'
import type { RequestBody } from '../request-body.ts'
import { asText, TemplateFailure } from '../template.ts'
import type { Operation, OperationBody, Parameter } from './index.ts'

// Encodes the arguments of an action as OpenAPI requires: each parameter by its style, and the body by its content
// type.

const listed = (value: Json): Json[] => (Array.isArray(value) ? value : [value])
const entries = (value: JsonObject): [string, Json][] => Object.entries(value).filter(([, inner]) => inner !== null)

const joined = (value: Json, { explode }: Parameter, between: string, encode: (text: string) => string): string =>
  isObject(value)
    ? entries(value)
        .map(([key, inner]) => `${encode(key)}${explode ? '=' : between}${encode(asText(inner))}`)
        .join(between)
    : listed(value)
        .map((item) => encode(asText(item)))
        .join(between)

function inPath(parameter: Parameter, value: Json): string {
  if (parameter.json) return escapePart(JSON.stringify(value))
  switch (parameter.style) {
    case 'label':
      return `.${joined(value, parameter, parameter.explode ? '.' : ',', escapePart)}`
    case 'matrix':
      if (!parameter.explode) return `;${escapePart(parameter.name)}=${joined(value, parameter, ',', escapePart)}`
      return isObject(value)
        ? entries(value)
            .map(([key, inner]) => `;${escapePart(key)}=${escapePart(asText(inner))}`)
            .join('')
        : listed(value)
            .map((item) => `;${escapePart(parameter.name)}=${escapePart(asText(item))}`)
            .join('')
    default:
      return joined(value, parameter, ',', escapePart)
  }
}

const SEPARATORS: Readonly<Record<string, string>> = {
  spaceDelimited: ' ',
  pipeDelimited: '|',
  tabDelimited: '\t',
  form: ',',
}

function* inQuery(parameter: Parameter, value: Json): Generator<[string, string]> {
  const { name, style, explode } = parameter
  if (parameter.json) yield [name, JSON.stringify(value)]
  else if (style === 'deepObject' && isObject(value))
    yield* new URLSearchParams(encodeForm({ [name]: value }, 'brackets'))
  else if (explode && Array.isArray(value)) for (const item of value) yield [name, asText(item)]
  else if (explode && isObject(value)) for (const [key, inner] of entries(value)) yield [key, asText(inner)]
  else yield [name, joined(value, { ...parameter, explode: false }, SEPARATORS[style] ?? ',', (text) => text)]
}

const asIs = (text: string): string => text

export function placeParameters(
  path: string,
  { parameters }: Operation,
  args: JsonObject,
): { path: string; query: [string, string][]; headers: Record<string, string> } {
  const inAddress = new Map<string, string>()
  const query: [string, string][] = []
  const headers: Record<string, string> = {}
  const cookies: string[] = []
  for (const parameter of parameters) {
    const value = Object.hasOwn(args, parameter.arg) ? args[parameter.arg] : undefined
    if (value === undefined || value === null) continue
    if (parameter.in === 'path') inAddress.set(parameter.name, inPath(parameter, value))
    else if (parameter.in === 'query') query.push(...inQuery(parameter, value))
    else if (parameter.in === 'header')
      headers[parameter.name.toLowerCase()] = parameter.json
        ? JSON.stringify(value)
        : joined(value, parameter, ',', asIs)
    else
      cookies.push(`${escapePart(parameter.name)}=${joined(value, { ...parameter, explode: false }, ',', escapePart)}`)
  }
  if (cookies.length > 0) headers.cookie = cookies.join('; ')
  const filled = path.replace(/\{([^{}]+)\}/g, (_, name: string) => {
    const text = inAddress.get(name) ?? ''
    // An argument is one segment of the path and must not lead upwards.
    if (text === '' || /^(\.|%2e){1,2}$/i.test(text))
      throw new TemplateFailure(`"${name}" is required and cannot be "." or ".."`)
    return text
  })
  return { path: filled, query, headers }
}

export function placeBody(body: OperationBody, value: Json | undefined): RequestBody {
  if (value === undefined) return { kind: 'none' }
  const { contentType } = body
  switch (body.kind) {
    case 'json':
      return { kind: 'text', text: JSON.stringify(value), contentType }
    case 'form':
      return { kind: 'text', text: formText(body, isObject(value) ? value : {}), contentType }
    case 'multipart':
      return { kind: 'multipart', parts: partsOf(isObject(value) ? value : {}) }
    case 'raw':
      if (isObject(value) && '$file' in value) return { kind: 'file', file: value }
      return { kind: 'text', text: asText(value), contentType: contentType || 'text/plain; charset=utf-8' }
  }
}

/** Encodes a form. Lists repeat the name, unless the document requires brackets. */
function formText({ deep = [] }: OperationBody, fields: JsonObject): string {
  const isDeep = (name: string): boolean => deep.includes(name)
  const parts = Object.entries(fields).map(([name, value]) =>
    encodeForm({ [name]: value }, isDeep(name) ? 'index' : 'repeat'),
  )
  return parts.filter((part) => part !== '').join('&')
}

/** Converts each part to a text or a file. Any other value becomes JSON. */
function partsOf(fields: JsonObject): JsonObject {
  const one = (value: Json): Json => (isObject(value) && !('$file' in value) ? JSON.stringify(value) : value)
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [name, Array.isArray(value) ? value.map(one) : one(value)]),
  )
}
