import { type Files, isFileValue } from '#engine/files'
import { type NodeCall, NodeFailure } from '#engine/node'
import { bodyOf, textOf } from '#engine/nodes/http-body'
import { fileBody, formBody, relatedBody, type Sent, savingAnswer } from '#engine/nodes/http-files'
import type { Json, JsonObject } from '#model/definition'
import { isObject } from '#model/json'
import { validateJson } from '#model/json-schema'
import { jsonSize, MAX_VALUE_SIZE } from '#model/size'
import { SECOND } from '#platform/clock'
import type { OutgoingCredential } from '#platform/outgoing/credential'
import { OutgoingFailure } from '#platform/outgoing/failure'
import type { Outgoing, OutgoingResponse } from '#platform/outgoing/outgoing'
import type { Conversion } from '#providers/conversion/index'
import { refusalIn, type ServiceAnswer } from '#providers/services/answer'
import type { Pages, Service, ServiceAction } from '#providers/services/manifest'
import { firstPage, itemsOf, nextPage, PagesFailure, pageArgs } from '#providers/services/pages'
import { valueAt } from '#providers/services/paths'
import { buildRequest, type ServiceRequest, withDefaults, withoutPlus } from '#providers/services/request'
import { asText, fillTemplate, TemplateFailure } from '#providers/services/template'
import { filesForTemplate } from './template-files.ts'
import { xmlBody } from './xml.ts'

// The only executor: runs an action of any service as HTTP. It knows no vendor; everything that differs is in the
// manifest.

const TIMEOUT = 120 * SECOND
const FILE_TIMEOUT = 900 * SECOND
const MAX_BYTES = 5 * 1024 * 1024
const MAX_PAGES = 1_000
const MAX_JOURNALLED = 256 * 1024
const MAX_ERROR_TEXT = 1_000

/** The part of a node call that an action needs. Outside an execution there are no files. */
export type ServiceRun = Pick<
  NodeCall,
  'workspaceId' | 'executionId' | 'effectKey' | 'signal' | 'step' | 'progress' | 'traceparent'
>

export type ServiceDeps = {
  outgoing: Pick<Outgoing, 'request'>
  files: Files
  conversion: Pick<Conversion, 'convert'>
}

export type ServiceCall = {
  service: Service
  action: ServiceAction
  args: JsonObject
  credential: OutgoingCredential | undefined
}

const permanent = (code: string, message: string, details?: Json): NodeFailure =>
  new NodeFailure(code, message, { retryable: false, nothingDone: true, details })

/** Returns the single host of an account, if the address of a service depends on the account. */
const hostOf = (credential: OutgoingCredential | undefined): string | undefined =>
  credential?.hosts?.find((host) => !host.startsWith('*.'))

export function checkServiceArgs({ service, action }: Pick<ServiceCall, 'service' | 'action'>, args: JsonObject): void {
  const issues = validateJson(action.args_schema, args, { opaque: (value) => isFileValue(value) })
  const [first] = issues
  if (first === undefined) return
  const where = first.path.slice(1) || 'arguments'
  throw permanent('args_invalid', `${service.title}, ${action.title}: ${where} ${first.message}`, {
    errors: issues as unknown as Json[],
  })
}

const asNodeFailure = (error: unknown): unknown => {
  if (error instanceof TemplateFailure) return permanent('args_invalid', error.message)
  if (error instanceof PagesFailure) return permanent('pagination_invalid', error.message)
  return error
}

export async function callService(deps: ServiceDeps, call: ServiceCall, run: ServiceRun): Promise<Json> {
  const args = withDefaults(call.action, call.args)
  checkServiceArgs(call, args)
  const files = filesForTemplate(deps.files, run)
  try {
    const request = await buildRequest(call.service, call.action, args, { host: hostOf(call.credential), files })
    const { paginate } = call.action
    if (paginate) return await fetchAll(deps, call, run, { pages: paginate, request, wanted: pageArgs(args) })
    const answer = await send(deps, call, run, request, run.effectKey)
    requireContent(call, answer)
    return call.action.save
      ? await savedFile(deps, run, call.action.save, answer, args)
      : await outputOf(call.action, answer)
  } catch (error) {
    throw asNodeFailure(error)
  }
}

/** A text or binary content where JSON was expected: a login or maintenance page that has status 200, for example. */
const isUnstructured = (body: Json): boolean =>
  (body !== null && typeof body !== 'object') ||
  (isObject(body) && typeof body.base64 === 'string' && typeof body.content_type === 'string')

/**
 * Refuses the response to a read if it cannot contain the output. Otherwise such a response would look like an empty
 * list, and a trigger would take all later items for new ones.
 */
function requireContent({ service, action }: ServiceCall, { body }: ServiceAnswer): void {
  if (action.effect !== 'read') return
  const expects = typeof action.expects === 'string' ? [action.expects] : action.expects
  const isOther = expects?.every((path) => valueAt(body, path) === undefined)
  const isPart = action.paginate !== undefined || action.output !== undefined
  if (isOther || (isPart && action.response !== 'text' && isUnstructured(body)))
    throw permanent('response_unreadable', `the response of ${service.title} is not data that "${action.title}" reads`)
}

/** `output` is a path into the response, or a template in which `$body` is the response. */
async function outputOf({ output }: ServiceAction, { body }: ServiceAnswer): Promise<Json> {
  if (output === undefined) return body ?? {}
  const template = typeof output === 'string' && !output.startsWith('$') ? `$body.${output}` : output
  return (await fillTemplate(template, { body }, NO_FILES)) ?? null
}

async function savedFile(
  { files }: ServiceDeps,
  run: ServiceRun,
  save: NonNullable<ServiceAction['save']>,
  { body }: ServiceAnswer,
  args: JsonObject,
): Promise<Json> {
  const data = valueAt(body, save.data)
  if (typeof data !== 'string') throw permanent('response_unreadable', 'the answer holds no file')
  const filled = async (template: Json): Promise<string> =>
    asText((await fillTemplate(template, { ...args, body }, NO_FILES)) ?? '')
  async function* chunks(): AsyncGenerator<Buffer> {
    yield Buffer.from(data as string, 'base64')
  }
  const about = {
    key: `${run.effectKey}:file`,
    name: await filled(save.name),
    media_type: await filled(save.media_type),
  }
  return { file: (await files.save(run, about, chunks())) as unknown as Json }
}

const NO_FILES = { base64: async () => '', mime: async () => '' }

async function sentBody(deps: ServiceDeps, run: ServiceRun, { body }: ServiceRequest): Promise<Sent | string | null> {
  switch (body.kind) {
    case 'none':
      return null
    case 'text':
      return body.text
    case 'file':
      return fileBody(deps.files, run, body.file)
    case 'multipart':
      return formBody(deps.files, run, body.parts)
    case 'related':
      return relatedBody(deps.files, run, body.json, body.file)
  }
}

/** Sends the request, and once more if the vendor says in a body with status 200 that the token has expired. */
async function send(
  deps: ServiceDeps,
  call: ServiceCall,
  run: ServiceRun,
  request: ServiceRequest,
  key: string,
): Promise<ServiceAnswer> {
  const { service, action, credential } = call
  let answer = await sendOnce(deps, call, run, request, key)
  let refusal = refusalIn(service, action, answer)
  if (refusal?.expired && credential?.renew) {
    const renewed = await credential.renew().catch((error: unknown) => {
      throw error instanceof OutgoingFailure ? failureOf(error, action) : error
    })
    if (renewed) {
      answer = await sendOnce(deps, { ...call, credential: renewed }, run, request, key)
      refusal = refusalIn(service, action, answer)
    }
  }
  if (refusal === undefined) return answer
  const { code, message, expired: _expired, ...options } = refusal
  // An action that may have had an effect is not repeated, unless the vendor says that it had none.
  throw new NodeFailure(code, message, {
    ...options,
    retryable: options.retryable && (action.effect !== 'write' || options.nothingDone),
  })
}

async function sendOnce(
  deps: ServiceDeps,
  { service, action, credential }: ServiceCall,
  run: ServiceRun,
  request: ServiceRequest,
  key: string,
): Promise<ServiceAnswer> {
  const sent = await sentBody(deps, run, request)
  const streamed = typeof sent === 'string' || sent === null ? undefined : sent
  let kept: Json | undefined
  const keep =
    action.response === 'file'
      ? savingAnswer(deps.files, run, isGood, (file) => {
          kept = file
        })
      : undefined
  const { traceparent } = run
  const headers: Record<string, string> = { ...(traceparent && { traceparent }), ...request.headers }
  if (streamed && headers['content-type'] === undefined) headers['content-type'] = streamed.contentType
  if (service.idempotency_header !== undefined && action.effect !== 'read')
    headers[service.idempotency_header.toLowerCase()] = key
  const answer = await deps.outgoing
    .request({
      method: request.method,
      url: withoutPlus(request.url),
      headers,
      body: streamed?.body ?? (sent as string | null),
      signal: run.signal,
      timeoutMs: streamed || keep ? FILE_TIMEOUT : TIMEOUT,
      maxBytes: MAX_BYTES,
      ...(keep && { into: keep }),
      ...(credential && { credential }),
    })
    .catch((error: unknown) => {
      throw error instanceof OutgoingFailure ? failureOf(error, action) : error
    })
  return {
    status: answer.status,
    headers: answer.headers,
    body: kept === undefined ? await readBody(deps, run, { action, credential }, answer) : { file: kept },
  }
}

const isGood = (status: number): boolean => status >= 200 && status < 300

/** Errors before a connection: the request had no effect. After a connection, the effect is unknown. */
const NOT_SENT: ReadonlySet<string> = new Set([
  'target_unresolved',
  'target_refused',
  'credential_refused',
  'credential_refresh_failed',
  'request_invalid',
])

function failureOf(error: OutgoingFailure, { effect }: ServiceAction): NodeFailure {
  const nothingDone = effect === 'read' || NOT_SENT.has(error.code)
  return new NodeFailure(error.code, error.message, { retryable: error.retryable, nothingDone })
}

/** A refusal is reported with its status, regardless of its body. */
async function readBody(
  deps: ServiceDeps,
  run: ServiceRun,
  call: Pick<ServiceCall, 'action' | 'credential'>,
  answer: OutgoingResponse,
): Promise<Json> {
  if (isGood(answer.status)) return readGood(deps, run, call, answer)
  return readGood(deps, run, call, answer).catch((error: unknown) => {
    if (error instanceof NodeFailure) return answer.body.toString('utf8', 0, MAX_ERROR_TEXT)
    throw error
  })
}

async function readGood(
  deps: ServiceDeps,
  run: ServiceRun,
  { action: { response }, credential }: Pick<ServiceCall, 'action' | 'credential'>,
  answer: OutgoingResponse,
): Promise<Json> {
  const mask = credential?.mask
  if (response === 'text' && isGood(answer.status)) return textOf(answer, mask)
  if (/[/+]xml\b/.test(answer.headers['content-type'] ?? '') || (response === 'xml' && isGood(answer.status)))
    return xmlBody(deps.conversion, run, answer, mask)
  // Some vendors send JSON with a text content type, or without one.
  const type = answer.headers['content-type'] ?? ''
  const looksLikeJson = /^(\xef\xbb\xbf)?\s*[[{]/.test(answer.body.toString('latin1', 0, 64))
  if (/^(text\/(javascript|plain|html)|$)/.test(type) && looksLikeJson && response === undefined) {
    try {
      return bodyOf({ body: answer.body, headers: { 'content-type': 'application/json' } })
    } catch {
      return textOf(answer, mask)
    }
  }
  return bodyOf(answer, mask)
}

type Walk = { pages: Pages; request: ServiceRequest; wanted: number }
type Page = { items: Json[]; next: string | null }

/** Each page is journalled, so a crash or a failed page does not repeat the pages before it. */
async function fetchAll(deps: ServiceDeps, call: ServiceCall, run: ServiceRun, walk: Walk): Promise<Json> {
  const { pages, wanted } = walk
  const items: Json[] = []
  let request: ServiceRequest | undefined = firstPage(pages, walk.request, wanted)
  let size = 0
  let page = 0
  for (; request && items.length < wanted && page < MAX_PAGES; page += 1) {
    const asked: ServiceRequest = request
    const at = { page: page + 1, seen: items.length }
    const fetched = async (): Promise<Page> => {
      const answer = await send(deps, call, run, asked, `${run.effectKey}:${at.page}`)
      requireContent(call, answer)
      const found = itemsOf(pages, answer)
      const next = nextPage(pages, asked, answer, { ...at, seen: at.seen + found.length })
      return { items: found, next: next ? JSON.stringify({ url: next.url.href, json: next.json ?? null }) : null }
    }
    let large: Page | undefined
    const kept = await run.step<Json>(`page ${page}`, async () => {
      const found = await fetched()
      if (jsonSize(found as unknown as Json, MAX_JOURNALLED) <= MAX_JOURNALLED) return found as unknown as Json
      large = found
      return null
    })
    const found: Page = large ?? (kept as unknown as Page | null) ?? (await fetched())
    size += jsonSize(found.items, MAX_VALUE_SIZE)
    if (size > MAX_VALUE_SIZE)
      throw permanent('result_too_large', 'the items of all pages are larger than 8 MiB; ask for fewer')
    items.push(...found.items)
    request = found.next === null ? undefined : resumed(asked, found.next)
    run.progress({ pages: page + 1, items: items.length })
  }
  return { items: items.slice(0, wanted), more: request !== undefined || items.length > wanted }
}

function resumed(request: ServiceRequest, next: string): ServiceRequest {
  const { url, json } = JSON.parse(next) as { url: string; json: Json }
  const moved = { ...request, url: new URL(url) }
  if (json === null) return moved
  return { ...moved, json, body: { kind: 'text', text: JSON.stringify(json), contentType: 'application/json' } }
}
