import type { Json, JsonObject } from '#model/definition'
import { isObject } from '#model/json'
import type { Exit } from '../flow.ts'
import { NotConvertible } from '../js-ast.ts'
import { fieldsOut, type Out, pathOut } from '../out.ts'
import type { Scope } from '../scope.ts'
import { addressWithoutSecrets, isSecretName, withoutSecrets } from '../secrets.ts'
import type { Step } from '../step.ts'
import { pagingOf } from './http-paging.ts'
import { rawObject } from './set-node.ts'

const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])

/** Returns the plain text of a value that is marked as an expression but contains none. */
const plainly = (value: Json): string =>
  String(value)
    .replace(/^=(?!.*\{\{)/s, '')
    .trim()

type Pair = { name: string; value: Json | undefined }
const pairsOf = (held: Json | undefined): Pair[] => {
  const list = isObject(held) ? (held.parameters ?? held.parameter ?? held.values) : undefined
  return (Array.isArray(list) ? list : [])
    .filter(isObject)
    .map(({ name, value, parameterType, inputDataFieldName }) => ({
      name: String(name ?? ''),
      value: parameterType === 'formBinaryData' ? { file: inputDataFieldName ?? 'data' } : value,
    }))
}

const hostOf = (url: Json): string =>
  /^https?:\/\/([^/?#{]+)/.exec(typeof url === 'string' ? url : '')?.[1] ?? 'the service'

/** A request, which can use only one credential: a second secret is to be done by hand. */
class Request {
  credential: { name: string; kind: string } | undefined
  private readonly step: Step

  constructor(step: Step) {
    this.step = step
  }

  wants(name: string, kind: string): void {
    if (this.credential && this.credential.kind !== kind)
      this.step.byHand(`${name} is a second secret of one request: a request can use only one credential`)
    this.credential ??= { name, kind }
  }

  /** Returns headers or parameters, without those that contain a secret. */
  pairs(pairs: Pair[], scope: Scope, place: 'header' | 'query', url: Json): JsonObject {
    const values: JsonObject = {}
    for (const { name, value } of pairs) {
      if (name === '' || name.startsWith('=')) {
        if (name !== '') this.step.byHand(`the name of a ${place} is computed`)
        continue
      }
      const isTyped =
        typeof value === 'string' && !(value.startsWith('=') && value.includes('{{') && !withoutSecrets(value).found)
      if (isTyped && value !== '' && (isSecretName(name) || withoutSecrets(value).found)) {
        this.wants(`${hostOf(url)} ${name}`, `${place}:${name}`)
        continue
      }
      if (/^(content-length|host|connection)$/i.test(name) && place === 'header') continue
      values[name] = this.step.text(value, scope, name)
    }
    return values
  }
}

function addressOf(step: Step, request: Request, scope: Scope): Json {
  const raw = step.p.url
  if (typeof raw !== 'string' || raw.replace(/^=/, '').trim() === '') return step.unfilled('the address')
  const { text, names } = addressWithoutSecrets(raw)
  for (const name of names) request.wants(`${hostOf(raw.replace(/^=/, ''))} ${name}`, `query:${name}`)
  const value = step.text(text.startsWith('=') ? text : text.trim(), scope, 'url')
  if (typeof value !== 'string') return value
  const plain = value.trim()
  return /^https?:\/\//i.test(plain) ? plain : `https://${plain}`
}

/** Returns the body, by the content type set in n8n. */
function bodyOf(step: Step, scope: Scope): JsonObject {
  const { p } = step
  const isOld = step.node.version < 3
  const method = plainly(p.method ?? p.requestMethod ?? 'GET')
  const sends = isOld ? !['GET', 'HEAD'].includes(method) : p.sendBody === true
  if (!sends) return {}
  const type = isOld ? String(p.bodyContentType ?? 'json') : String(p.contentType ?? 'json')
  const pairs = isOld ? pairsOf(p.bodyParametersUi) : pairsOf(p.bodyParameters)
  const fields = (): JsonObject =>
    Object.fromEntries(
      pairs
        .filter(({ name }) => name !== '' && !name.startsWith('='))
        .map(({ name, value }) => [name, fieldOf(step, name, value, scope)]),
    )
  if (type === 'multipart-form-data') return { multipart: fields() }
  if (type === 'binaryData')
    return { body: step.guarded(fileOf(scope, String(p.inputDataFieldName ?? p.binaryPropertyName ?? 'data'))) }
  if (type === 'form-urlencoded') {
    const entries = Object.entries(fields())
    const form = step.guarded({
      cel: `url.query({${entries.map(([name, value]) => `${JSON.stringify(name)}: ${celOf(value)}`).join(', ')}})`,
      type: 'text',
    })
    return { body: form }
  }
  if (type === 'raw') return { body: step.text(p.body, scope, 'body') }
  const specify = String(p.specifyBody ?? (isOld ? (p.jsonParameters === true ? 'json' : 'keypair') : 'keypair'))
  if (specify === 'json') return { json: rawObject(step, p.jsonBody ?? p.bodyParametersJson, scope) }
  if (specify === 'string') return { body: step.text(p.body, scope, 'body') }
  return { json: fields() }
}

const celOf = (value: Json): string => {
  if (isObject(value) && typeof value.$cel === 'string') return value.$cel
  if (isObject(value) && typeof value.$ref === 'string') return pathOut(segments(value.$ref)).cel
  return JSON.stringify(value)
}
const segments = (ref: string): (string | number)[] =>
  [...ref.matchAll(/\["((?:[^"\\]|\\.)*)"\]|\[(\d+)\]|([A-Za-z_]\w*)/g)].map(([, quoted, number, name]) =>
    quoted !== undefined ? (JSON.parse(`"${quoted}"`) as string) : number !== undefined ? Number(number) : name!,
  )

const fileOf = (scope: Scope, name: string): Out => {
  const item = scope.input.paired()
  return item.path
    ? pathOut([...item.path, 'binary', name])
    : { cel: `(${item.cel})?.binary[${JSON.stringify(name)}].orValue(null)`, type: 'any' }
}

function fieldOf(step: Step, name: string, value: Json | undefined, scope: Scope): Json {
  if (isObject(value) && 'file' in value) return step.guarded(fileOf(scope, String(value.file)))
  return step.value(value ?? '', scope, name)
}

function credentialOf(step: Step, request: Request): void {
  const { p, node } = step
  const kind = String(p.authentication ?? 'none')
  if (kind === 'none') return
  const type =
    kind === 'predefinedCredentialType' ? String(p.nodeCredentialType ?? '') : String(p.genericAuthType ?? kind)
  const name = node.credentials[type] ?? Object.values(node.credentials)[0] ?? type
  request.wants(name || 'Credential', type || 'httpHeaderAuth')
}

const part = (name: string, held: JsonObject): JsonObject => (Object.keys(held).length > 0 ? { [name]: held } : {})

export function httpRequest(step: Step): Exit[] {
  const { p } = step
  const options = isObject(p.options) ? p.options : {}
  const method = plainly(p.method ?? p.requestMethod ?? 'GET').toUpperCase()
  const response = isObject(options.response) && isObject(options.response.response) ? options.response.response : {}
  const format = String(response.responseFormat ?? p.responseFormat ?? 'autodetect')
  const isFile = format === 'file'
  const isText = format === 'text' || format === 'string'
  const isFull = response.fullResponse === true || options.fullResponse === true
  return step.each(
    ({ scope, add }) => {
      const request = new Request(step)
      credentialOf(step, request)
      const url = addressOf(step, request, scope)
      const isOld = step.node.version < 3
      const headers = request.pairs(
        isOld ? pairsOf(p.headerParametersUi) : p.sendHeaders === true ? headerPairs(p) : [],
        scope,
        'header',
        url,
      )
      const query = request.pairs(
        isOld ? pairsOf(p.queryParametersUi) : p.sendQuery === true ? queryPairs(p) : [],
        scope,
        'query',
        url,
      )
      const pages = pagingOf(step, scope)
      if (pages && (isFile || isText || isFull)) throw new NotConvertible('its pages are files, texts or whole answers')
      if (!METHODS.has(method)) throw new NotConvertible('its method is computed')
      const args: JsonObject = {
        method,
        url,
        ...part('headers', { ...headers, ...pages?.first.headers }),
        ...part('query', { ...query, ...pages?.first.query }),
        ...bodyOf(step, scope),
        ...(isFile && { response: 'file' }),
        ...(isText && { response: 'text' }),
        ...(response.neverError === true && {
          ok_statuses: [200, 201, 202, 204, 301, 302, 400, 401, 403, 404, 405, 409, 410, 422, 429, 500, 502, 503],
        }),
        ...(pages && { paginate: pages.paginate }),
      }
      const id = add('http.request', args, { credential: request.credential })
      if (pages) return pathOut(['nodes', id, 'output', 'items'], 'list')
      const body = pathOut(['nodes', id, 'output', 'body'])
      if (isFile)
        return fieldsOut({
          binary: fieldsOut({
            [String(response.outputPropertyName ?? p.dataPropertyName ?? 'data')]: { ...body, isFile: true },
          }),
        })
      const content = isText
        ? fieldsOut({ [String(response.outputPropertyName ?? p.dataPropertyName ?? 'data')]: { ...body, type: 'any' } })
        : body
      if (isFull)
        return fieldsOut({
          body: content,
          headers: pathOut(['nodes', id, 'output', 'headers']),
          statusCode: pathOut(['nodes', id, 'output', 'status'], 'any'),
        })
      if (isText) return content
      // A text that is not JSON becomes the field "data" of an item.
      return { cel: `(type(${body.cel}) == string ? {"data": ${body.cel}} : ${body.cel})`, type: 'any' }
    },
    { many: !isFile && !isText && !isFull },
  )
}

const jsonPairs = (text: Json | undefined): Pair[] => {
  if (typeof text !== 'string') return []
  try {
    const value = JSON.parse(text.replace(/^=/, '')) as Json
    return isObject(value)
      ? Object.entries(value).map(([name, held]) => ({
          name,
          value: typeof held === 'string' && text.startsWith('=') && held.includes('{{') ? `=${held}` : held,
        }))
      : []
  } catch {
    throw new NotConvertible('its headers or parameters are a JSON text that is computed')
  }
}
const headerPairs = (p: JsonObject): Pair[] =>
  p.specifyHeaders === 'json' ? jsonPairs(p.jsonHeaders) : pairsOf(p.headerParameters)
const queryPairs = (p: JsonObject): Pair[] =>
  p.specifyQuery === 'json' ? jsonPairs(p.jsonQuery) : pairsOf(p.queryParameters)

export function respond(step: Step): Exit[] {
  const { p } = step
  const options = isObject(p.options) ? p.options : {}
  const scope = step.scope(
    step.input.one ??
      ({ ...step.input.list, cel: `(${step.input.list.cel})[?0].orValue(null)`, path: undefined } as unknown as Out),
  )
  const headers: JsonObject = {}
  for (const { name, value } of pairsOf(
    isObject(options.responseHeaders) ? { parameters: options.responseHeaders.entries ?? [] } : undefined,
  ))
    if (name !== '' && !/^(access-control|content-length|set-cookie)/i.test(name))
      headers[name] = step.text(value, scope, name)
  const code = options.responseCode
  const kind = String(p.respondWith ?? 'firstIncomingItem')
  const body = (): Json => {
    if (kind === 'json') return rawObject(step, p.responseBody, scope)
    if (kind === 'text') return step.text(p.responseBody, scope, 'responseBody')
    if (kind === 'allIncomingItems') return step.guarded(step.input.list)
    if (kind === 'firstIncomingItem') return step.guarded(scope.input.paired())
    if (kind === 'noData') return ''
    throw new NotConvertible(`it answers with "${kind.slice(0, 30)}"`)
  }
  const sent =
    kind === 'redirect'
      ? { status: 302, headers: { ...headers, Location: step.text(p.redirectURL, scope, 'redirectURL') }, body: '' }
      : {
          ...(code !== undefined && { status: statusOf(step, code, scope) }),
          ...(Object.keys(headers).length > 0 && { headers }),
          body: body(),
        }
  step.add('http.respond', sent)
  return [step.exit(step.passed())]
}

const statusOf = (step: Step, code: Json, scope: Scope): Json => {
  const status =
    typeof code === 'string' && code.startsWith('=') ? step.value(code, scope, 'responseCode') : Number(code)
  return typeof status === 'string' ? Number(status) || 200 : status
}
