import { NodeFailure } from '#engine/node'
import type { Json } from '#model/definition'
import { measureJson } from '#model/json'
import type { OutgoingResponse } from '#platform/outgoing/outgoing'
import { hasTooManyKeys } from '#platform/sandbox/keys'

// Converts the body of a response to a value: JSON if the content type says so, otherwise text, otherwise bytes.

const JSON_LIMITS = { depth: 64, nodes: 1_000_000 }

export function bodyOf({ headers, body }: Pick<OutgoingResponse, 'headers' | 'body'>): Json {
  if (body.length === 0) return null
  const type = (headers['content-type'] ?? '').split(';')[0]?.trim().toLowerCase() ?? ''
  if (/^application\/(.+\+)?json$/.test(type)) {
    return parseJson(body.toString('utf8'))
  }
  const isText =
    type === '' ||
    type.startsWith('text/') ||
    /^application\/(.+\+)?(xml|javascript|x-www-form-urlencoded|yaml|x-ndjson|jsonl)$/.test(type)
  return isText ? body.toString('utf8') : { base64: body.toString('base64'), content_type: type }
}

function parseJson(text: string): Json {
  const unreadable = (message: string): NodeFailure =>
    new NodeFailure('response_unreadable', message, { retryable: false })
  if (hasTooManyKeys(text))
    throw new NodeFailure('response_too_large', 'the objects of the answer have too many keys', { retryable: false })
  let value: Json
  try {
    value = JSON.parse(text) as Json
  } catch {
    throw unreadable('the answer says it is JSON and is not')
  }
  if (measureJson(value, JSON_LIMITS) !== 'ok')
    throw unreadable('the JSON of the answer is nested too deeply or too large')
  return value
}
