import { problem } from '../errors.ts'
import { type Answer, etagOf } from './answer.ts'
import { fieldsOf } from './input.ts'
import type { AnyRoute } from './route.ts'
import type { Encode } from './schema.ts'

export type ChosenResponse = { status: number; headers: Record<string, string> }

export type Rendering = {
  encode: Encode | undefined
  /** The response is a resource that can be read alone, so that its ETag is meaningful. */
  tagged: boolean
  /** Check the response against its schema. */
  check: boolean
}

/** The maximum size of a JSON response. Larger content is fetched in parts, or streamed. */
export const MAX_ANSWER_BYTES = 8 * 1024 * 1024

function toBytes(value: unknown): Buffer {
  const text = JSON.stringify(value)
  const body = text.length > MAX_ANSWER_BYTES ? undefined : Buffer.from(text)
  if (body === undefined || body.length > MAX_ANSWER_BYTES)
    throw problem('answer_too_large', 'Request less at once: a smaller page, or the parts one by one.')
  return body
}

export function render(
  route: AnyRoute,
  { encode, tagged, check }: Rendering,
  result: unknown,
  chosen: ChosenResponse,
  path: string,
): Answer {
  if (!route.answer || chosen.status === 204)
    return { status: route.answer ? chosen.status : (route.status ?? 204), headers: chosen.headers, body: null }
  const encoded = encode ? encode(result) : result
  const body = toBytes(encoded)
  if (check) checkAnswer(route, body)
  const headers: Record<string, string> = {
    'content-type': 'application/json; charset=utf-8',
    'cache-control': 'no-store',
    ...chosen.headers,
  }
  if (route.location && chosen.status === 201) headers.location = route.location(encoded as never, path)
  if (tagged) headers.etag = etagOf(route.besides ? toBytes(without(encoded, route.besides)) : body)
  return { status: chosen.status, headers, body }
}

const without = (answer: unknown, field: string): unknown => ({ ...(answer as object), [field]: undefined })

export const toJson = (encode: Encode | undefined, value: unknown): Buffer =>
  Buffer.from(JSON.stringify(encode ? encode(value) : value))

/**
 * Checks whether the response of the route is a resource: one that is read alone, or changed with If-Match. Other
 * routes with the same response schema also send its ETag.
 */
export const isResource = (route: AnyRoute): boolean =>
  route.current !== undefined || (route.method === 'GET' && !fieldsOf(route.answer).has('next_cursor'))

function checkAnswer(route: AnyRoute, body: Buffer): void {
  const result = route.answer!.safeParse(JSON.parse(body.toString()))
  if (!result.success)
    throw new Error(`the answer of ${route.operation} is not what its schema says: ${result.error.message}`)
}
