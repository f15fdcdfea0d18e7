import type { Json, JsonObject } from '#model/definition'
import { isObject } from '#model/json'
import { usualEffect } from '../expand.ts'
import { authOf, requiresCredential } from './auth.ts'
import {
  type CompiledAction,
  type CompileOptions,
  DocumentFailure,
  type DocumentSummary,
  MAX_COMPILED_BYTES,
  MAX_NOTES,
  MAX_OPERATIONS,
  type Note,
} from './index.ts'
import { nameOf, titleOfOperation } from './names.ts'
import {
  type Arguments,
  parametersOf,
  readParameter,
  readRequestBody,
  readSwagger2Body,
  Unusable,
} from './parameters.ts'
import { resolved } from './references.ts'
import { shortText } from './schema.ts'
import { serverOf } from './servers.ts'

// Compiles a document to a service. Every operation becomes an action. An operation that cannot be called is left out
// and listed in the notes.

const METHODS = ['get', 'put', 'post', 'delete', 'patch', 'head'] as const

type Compiling = {
  document: JsonObject
  options: CompileOptions
  notes: Note[]
  skipped: number
  bytes: number
  names: Set<string>
}

export function compileDocument(
  document: JsonObject,
  options: CompileOptions,
  onAction: (action: CompiledAction) => void,
): DocumentSummary {
  const version = typeof document.openapi === 'string' ? document.openapi : String(document.swagger ?? '')
  if (!/^(3\.[012]|2\.0)(\.|$)/.test(version))
    throw new DocumentFailure('this is not an OpenAPI document: "openapi" must be 3.0 or 3.1, or "swagger" 2.0')
  if (!isObject(document.paths)) throw new DocumentFailure('the document has no paths')
  const work: Compiling = { document, options, notes: [], skipped: 0, bytes: 0, names: new Set() }
  let taken = 0
  let free = 0
  for (const [path, item] of Object.entries(document.paths)) {
    const shared = resolved(document, item)
    if (shared === undefined) {
      skip(work, path, 'its description is missing in the document')
      continue
    }
    for (const method of METHODS) {
      if (!isObject(shared[method])) continue
      if (taken + work.skipped >= MAX_OPERATIONS)
        throw new DocumentFailure(
          `a document may have at most ${MAX_OPERATIONS} operations; split it into several documents`,
        )
      const action = actionOf(work, path, method, shared, shared[method])
      if (!action) continue
      taken += 1
      if (!requiresCredential(shared[method].security ?? document.security)) free += 1
      onAction(action)
    }
  }
  if (taken === 0) throw new DocumentFailure('the document has no operation that can be called')
  return { ...about(work, version), credential_required: free === 0, notes: work.notes, skipped: work.skipped }
}

const withHttps = (address: Json | undefined): string | null =>
  typeof address === 'string' && URL.canParse(address) && /^https?:$/.test(new URL(address).protocol)
    ? address.slice(0, 2_000)
    : null

function about({ document, options }: Compiling, version: string) {
  const info = isObject(document.info) ? document.info : {}
  const docs = isObject(document.externalDocs) ? document.externalDocs : {}
  return {
    title: shortText(info.title, 100) || 'Imported service',
    description: shortText(info.description, 500),
    version: `${shortText(info.version, 40)} (OpenAPI ${version.slice(0, 10)})`.trim(),
    base_url: options.base_url ?? serverOf(document, document, options.url) ?? null,
    reference: withHttps(docs.url) ?? withHttps(options.url),
    auth: authOf(document),
  }
}

function skip(work: Compiling, path: string, message: string): void {
  work.skipped += 1
  if (work.notes.length < MAX_NOTES) work.notes.push({ path: path.slice(0, 200), message })
}

function actionOf(
  work: Compiling,
  path: string,
  method: (typeof METHODS)[number],
  shared: JsonObject,
  operation: JsonObject,
): CompiledAction | undefined {
  const where = `${method.toUpperCase()} ${path}`
  try {
    if (!path.startsWith('/') || path.length > 1_000) throw new Unusable('its path does not begin with "/"')
    const action = takeOperation(work, path, method, shared, operation)
    const text = JSON.stringify(action)
    // PostgreSQL cannot store these characters.
    if (/\\u(0000|d[89a-f])/i.test(text)) throw new Unusable('it contains characters that are not valid text')
    work.bytes += text.length
    if (work.bytes > MAX_COMPILED_BYTES)
      throw new DocumentFailure('the schemas of the document are too large; split it into several documents')
    return action
  } catch (error) {
    if (!(error instanceof Unusable)) throw error
    skip(work, where, error.message)
    return undefined
  }
}

function takeOperation(
  work: Compiling,
  path: string,
  method: string,
  shared: JsonObject,
  operation: JsonObject,
): CompiledAction {
  const { document, options } = work
  const args: Arguments = { properties: {}, required: [] }
  const declared = parametersOf(document, [shared.parameters, operation.parameters])
  const parameters = declared.flatMap((parameter) => readParameter(document, parameter, args) ?? [])
  for (const [, name] of path.matchAll(/\{([^{}]+)\}/g))
    if (!parameters.some((parameter) => parameter.in === 'path' && parameter.name === name)) {
      const missing = readParameter(
        document,
        { name: name!, in: 'path', schema: { type: 'string' }, type: 'string' },
        args,
      )
      if (missing) parameters.push(missing)
    }
  const consumes = [operation.consumes ?? document.consumes ?? []].flat()
  const body =
    document.swagger === undefined
      ? readRequestBody(document, operation.requestBody, args)
      : readSwagger2Body(document, declared, consumes, args)
  // Most clients do not send a body with these methods, and many servers refuse it.
  if (body && (method === 'get' || method === 'head')) {
    delete args.properties.body
    args.required = args.required.filter((name) => name !== 'body')
  }
  const server = serverOf(operation, document, options.url) ?? serverOf(shared, document, options.url)
  const { accept, response } = answerOf(document, operation)
  const title = titleOfOperation(operation, method, path)
  return {
    name: nameOf(work.names, operation.operationId, method, path),
    title,
    description: shortText(operation.description) || title,
    effect: usualEffect(method.toUpperCase()),
    method: method.toUpperCase(),
    path,
    ...(server !== undefined && { base_url: server }),
    ...(accept !== undefined && { headers: { accept } }),
    ...(response !== undefined && { response }),
    args_schema: {
      type: 'object',
      properties: args.properties,
      required: [...new Set(args.required)],
      additionalProperties: false,
    },
    operation: { parameters, ...(body && method !== 'get' && method !== 'head' && { body }) },
  }
}

/** Returns the format of the response: JSON or XML if possible, otherwise text, otherwise a file. */
function answerOf(document: JsonObject, operation: JsonObject): { accept?: string; response?: 'text' | 'file' } {
  const responses = isObject(operation.responses) ? operation.responses : {}
  const good = Object.keys(responses).find((status) => /^2(\d\d|XX)$/i.test(status)) ?? 'default'
  const answer = resolved(document, responses[good])
  const produced = document.swagger === undefined ? [] : [operation.produces ?? document.produces ?? []].flat()
  const types = [...produced.map(String), ...Object.keys(isObject(answer?.content) ? answer.content : {})]
  if (types.length === 0) return {}
  const readable = types.find((type) => /json/i.test(type)) ?? types.find((type) => /[/+]xml\b/i.test(type))
  if (readable !== undefined) return { accept: readable }
  const text = types.find((type) => /^text\//i.test(type))
  if (text !== undefined) return { accept: text, response: 'text' }
  return types[0]!.includes('*') ? {} : { accept: types[0]!, response: 'file' }
}
