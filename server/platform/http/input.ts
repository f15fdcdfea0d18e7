import type { FastifyRequest } from 'fastify'
import type { z } from 'zod'
import { at } from '#model/json'
import type { Config } from '../config.ts'
import { invalid, problem } from '../errors.ts'
import { parseJson } from './body.ts'
import { listOf, unbindCursor } from './cursor.ts'
import type { AnyRoute } from './route.ts'

const MAX_ISSUES = 50

/** The input of a verb, and the server-owned fields that the caller sent back. */
export type ReadInput = { value: Record<string, unknown>; echoed: [field: string, value: unknown][] }

export function readInput(
  of: AnyRoute,
  request: FastifyRequest,
  config: Config,
  params: Record<string, string>,
  serverOwned: ReadonlySet<string>,
): ReadInput {
  checkQueryText(request)
  const query = of.query ? parse(of.query, request.query) : checkNoQuery(request)
  if (typeof query.cursor === 'string' && fieldsOf(of.query).has('cursor'))
    query.cursor = unbindCursor(listOf(of.operation, params, request), query.cursor)
  if (of.bodyKind === 'stream' || of.method === 'GET') return { value: { ...query, ...params }, echoed: [] }
  if (of.bodyKind === 'any') return { value: { ...query, body: request.rawBody, ...params }, echoed: [] }
  if (request.rawBody.length > 0 && !/^application\/([\w.+-]+\+)?json\b/i.test(request.headers['content-type'] ?? '')) {
    throw problem('unsupported_media_type', 'Send JSON with Content-Type: application/json.')
  }
  const body = parseJson(request.rawBody, config.HEDDLE_MAX_JSON_DEPTH)
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    throw invalid([{ path: '', message: 'must be a JSON object' }])
  const echoed = Object.entries(body).filter(([field]) => serverOwned.has(field))
  const settable =
    echoed.length === 0 ? body : Object.fromEntries(Object.entries(body).filter(([field]) => !serverOwned.has(field)))
  if (!of.body) {
    const [unknown] = Object.keys(settable)
    if (unknown !== undefined) throw invalid([{ path: at('', unknown), message: 'is not a known field' }])
    return { value: { ...query, ...params }, echoed }
  }
  return { value: { ...query, ...(parse(of.body, settable) as object), ...params }, echoed }
}

export function fieldsOf(schema: z.ZodType | undefined): Set<string> {
  const { shape, options } = (schema ?? {}) as { shape?: Record<string, unknown>; options?: unknown }
  // A union of objects: the fields of each option.
  if (Array.isArray(options)) return new Set(options.flatMap((option: z.ZodType) => [...fieldsOf(option)]))
  return new Set(shape ? Object.keys(shape) : [])
}

/** PostgreSQL stores no NUL, so no search or filter can contain one. */
function checkQueryText({ url, query }: FastifyRequest): void {
  if (!url.includes('%00')) return
  const wrong = Object.entries(query as object).filter(([name, value]) => `${name}${value}`.includes('\0'))
  if (wrong.length > 0)
    throw invalid(
      wrong.map(([name]) => ({ path: at('', name), message: 'contains a character that cannot be stored' })),
    )
}

function checkNoQuery(request: FastifyRequest): Record<string, unknown> {
  const [unknown] = Object.keys(request.query as object)
  if (unknown !== undefined) throw invalid([{ path: at('', unknown), message: 'is not a known parameter' }])
  return {}
}

/** Our own texts for the two most common refusals. Texts of the schema take precedence. */
function inWords(issue: z.core.$ZodRawIssue): string | undefined {
  if (issue.input === undefined) return 'is required'
  if (issue.code === 'too_small' && issue.origin === 'string' && issue.minimum === 1) return 'must not be empty'
  return undefined
}

export function parse(schema: z.ZodType, value: unknown): Record<string, unknown> {
  const result = schema.safeParse(value, { error: inWords })
  if (result.success) return result.data as Record<string, unknown>
  const found = result.error.issues.slice(0, MAX_ISSUES).flatMap((issue) => {
    const place = issue.path.map(String).reduce(at, '')
    if (issue.code !== 'unrecognized_keys') return [{ path: place, message: issue.message }]
    return issue.keys.slice(0, MAX_ISSUES).map((key) => ({ path: at(place, key), message: 'is not a known field' }))
  })
  throw invalid(found.slice(0, MAX_ISSUES))
}
