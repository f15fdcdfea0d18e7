import type { Json, JsonObject } from '#model/definition'
import { isObject } from '#model/json'
import { type Exit, flattened } from '../flow.ts'
import { NotConvertible } from '../js-ast.ts'
import { isEmpty } from '../lenient.ts'
import { celOut, type Out, pathOut, textOf } from '../out.ts'
import type { Scope } from '../scope.ts'
import type { Step } from '../step.ts'
import { REQUESTS, type RequestOf, type VendorOf } from './request-table.ts'
import { fileOf, parameterAt } from './service-call.ts'
import { MORE_REQUESTS } from './vendor-table.ts'

// Vendors without a Heddle service: the request that their node sends becomes http.request with the credential of the
// node.

export const VENDORS: Record<string, VendorOf> = { ...REQUESTS, ...MORE_REQUESTS }

/**
 * Returns the parameter of an argument: `a|b` is the first parameter that is set, `'text` is the text itself, `#a` is a
 * number.
 */
function given(step: Step, spec: string, scope: Scope): Json | undefined {
  if (spec.startsWith("'")) return spec.slice(1)
  const isNumber = spec.startsWith('#')
  for (const path of (isNumber ? spec.slice(1) : spec).split('|')) {
    if (path.startsWith("'")) return path.slice(1)
    const raw = parameterAt(step.p, path)
    if (isEmpty(raw)) continue
    const value = step.value(raw, scope, path)
    return isNumber && typeof value === 'string' && Number.isFinite(Number(value)) ? Number(value) : value
  }
  return undefined
}

const filled = (step: Step, specs: Record<string, string>, scope: Scope): JsonObject =>
  Object.fromEntries(
    Object.entries(specs).flatMap(([name, spec]) => {
      const value = given(step, spec, scope)
      return value === undefined ? [] : [[name, value]]
    }),
  )

/** Returns an address with each `{parameter}` filled in. */
function addressOf(step: Step, url: string, scope: Scope): Json {
  const parts = url.split(/\{([^}]+)\}/)
  if (parts.length === 1) return url
  const texts = parts.map((part, at) => {
    if (at % 2 === 0) return JSON.stringify(part)
    if (part.startsWith('$vars.')) return variableAddress(step, part.slice('$vars.'.length))
    const path = part.split('|').find((one) => !isEmpty(parameterAt(step.p, one)))
    if (path === undefined) {
      step.unfilled(part.split('|')[0]!)
      return `dyn(${JSON.stringify(`To be filled in: ${part}`)}).value()`
    }
    return textOf(step.out(parameterAt(step.p, path), scope, path))
  })
  return step.guarded(celOut(texts.filter((text) => text !== '""').join(' + '), 'text'))
}

/** Returns the address of a self-hosted installation, which n8n stores in the credential and not in the node. */
function variableAddress(step: Step, name: string): string {
  step.remark(`store the address (https://…) as the variable ${name}`)
  return textOf(pathOut(['vars', name]))
}

function bodyOf(step: Step, of: RequestOf, scope: Scope): JsonObject {
  if (of.file !== undefined) {
    const name = String(step.p[of.file] ?? 'data').replace(/^=(?!.*\{\{)/, '')
    if (name.startsWith('=')) throw new NotConvertible('the name of the field with the file is computed')
    const { cel, path } = fileOf(scope, name)
    return { body: step.guarded(path ? pathOut(path) : celOut(cel)) }
  }
  if (of.whole !== undefined) {
    const raw = parameterAt(step.p, of.whole)
    if (isEmpty(raw)) return { json: {} }
    const text = typeof raw === 'string' && !raw.startsWith('=') && raw.includes('{{') ? `=${raw}` : raw
    const value = step.value(text, scope, of.whole)
    if (typeof value !== 'string') {
      const isText = isObject(value) && typeof value.$cel === 'string'
      return {
        json: isText ? { $cel: `cel.bind(v, ${value.$cel as string}, type(v) == string ? json.decode(v) : v)` } : value,
      }
    }
    try {
      return { json: JSON.parse(value) as Json }
    } catch {
      throw new NotConvertible('its body is not JSON')
    }
  }
  if (of.json === undefined) return {}
  const fields = filled(step, of.json, scope)
  return { json: nested(of.json.author === undefined ? fields : { ...fields, author: authorOf(step, scope) }) }
}

/** Returns the author of a LinkedIn post: a person or an organization. */
function authorOf(step: Step, scope: Scope): Json {
  const { p } = step
  const isCompany = p.postAs === 'organization'
  const id = isCompany ? p.organization : p.person
  if (isEmpty(id)) return step.unfilled('the author of the post')
  const urn = isCompany ? 'urn:li:organization:' : 'urn:li:person:'
  return step.text(
    typeof id === 'string' && id.startsWith('=') ? `=${urn}${id.slice(1)}` : `${urn}${String(id)}`,
    scope,
    'author',
  )
}

/** Nests fields: `a.b` is the field `b` inside `a`. */
function nested(fields: JsonObject): JsonObject {
  const result: JsonObject = {}
  for (const [name, value] of Object.entries(fields)) {
    const path = name.split('.')
    let at = result
    for (const key of path.slice(0, -1)) {
      const held = at[key]
      const inner: JsonObject = isObject(held) ? held : {}
      at[key] = inner
      at = inner
    }
    at[path.at(-1)!] = value
  }
  return result
}

export function request(step: Step, kind: string): Exit[] | undefined {
  const vendor = Object.hasOwn(VENDORS, kind) ? VENDORS[kind]! : undefined
  if (!vendor) return undefined
  const resource = String(step.p.resource ?? vendor.resource)
  const operation = String(step.p.operation ?? vendor.operations?.[resource] ?? vendor.operation)
  const sort = String(step.p.messageType ?? 'text')
  const key = `${resource}:${operation}${sort === 'text' ? '' : ` ${sort}`}`
  if (kind === 'linkedIn' && (step.p.shareMediaCategory ?? 'NONE') === 'IMAGE')
    throw new NotConvertible('LinkedIn: a post with a picture takes several requests')
  const of = Object.hasOwn(vendor.requests, key) ? vendor.requests[key]! : undefined
  if (!of)
    throw new NotConvertible(`${vendor.title}: the operation "${resource} ${operation}" is not mapped`.slice(0, 200))
  const [type, name] = Object.entries(step.node.credentials)[0] ?? [kind, vendor.title]
  return step.each(
    ({ scope, add }) => {
      const query = filled(step, of.query ?? {}, scope)
      const id = add(
        'http.request',
        {
          method: of.method,
          url: addressOf(step, of.url, scope),
          ...(of.headers && { headers: of.headers }),
          ...(Object.keys(query).length > 0 && { query }),
          ...bodyOf(step, of, scope),
          ...(of.download === true && { response: 'file' }),
        },
        { credential: { name, kind: type } },
      )
      const body: Out = pathOut([
        'nodes',
        id,
        'output',
        'body',
        ...(of.output === undefined ? [] : of.output.split('.')),
      ])
      if (of.download === true)
        return {
          cel: `{"binary": {"data": ${body.cel}}}`,
          type: 'map',
          fields: {
            binary: { ...celOut(`{"data": ${body.cel}}`, 'map'), fields: { data: { ...body, isFile: true } } },
          },
        }
      return of.list === true ? flattened({ ...body, cel: `[${body.cel}]`, path: undefined } as unknown as Out) : body
    },
    { many: of.list === true },
  )
}
