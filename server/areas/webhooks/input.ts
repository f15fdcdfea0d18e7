import { isUtf8 } from 'node:buffer'
import type { JsonObject } from '#model/definition'
import { invalid, isProblem, Problem } from '#platform/errors'
import { parseJson } from '#platform/http/body'

/**
 * A JSON object is the input; other content becomes `{body, content_type}`. Nothing in it selects the tenant or the
 * workflow.
 */
export function inputOf(bytes: Buffer, contentType: string | undefined, maxDepth: number): JsonObject {
  const type = contentType?.split(';')[0]?.trim().toLowerCase() ?? ''
  if (bytes.length === 0) return {}
  if (type === '' || type === 'application/json' || type.endsWith('+json')) {
    const value = parseJson(bytes, maxDepth)
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as JsonObject
    if (type !== '') return { body: value as never, content_type: type }
  }
  if (!isUtf8(bytes) || bytes.includes(0))
    throw invalid([{ path: '', message: 'must be text; send files as base64 inside JSON' }])
  // The boundary is required to parse the content.
  const content_type = type.startsWith('multipart/') ? contentType!.trim() : type || 'application/octet-stream'
  return { body: bytes.toString(), content_type }
}

/**
 * Adds the content type to the refusal of an input whose body was not read as JSON: a caller who forgot the header sees
 * only that every field is missing.
 */
export function explainContentType(error: unknown, input: JsonObject): unknown {
  const { body, content_type: type } = input
  const isWrapped = Object.keys(input).length === 2 && typeof body === 'string' && typeof type === 'string'
  if (!isWrapped || !isProblem(error, 'invalid')) return error
  const read = type === 'application/octet-stream' ? 'was sent without a content type' : `was read as ${type}`
  return new Problem(
    'invalid',
    `${error.message} The body ${read}, so it is the field "body" of the input. Send JSON with Content-Type: application/json.`,
    { cause: error, ...(error.errors && { errors: error.errors }) },
  )
}
