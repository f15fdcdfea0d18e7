import { NodeFailure } from '#engine/node'
import type { Json } from '#model/definition'
import { measureJson } from '#model/json'
import type { Mask } from '#platform/outgoing/mask'
import type { OutgoingResponse } from '#platform/outgoing/outgoing'
import { hasTooManyKeys } from '#platform/sandbox/keys'

// Converts the body of a response to a value: JSON if the content type says so, otherwise text, otherwise bytes.

const JSON_LIMITS = { depth: 64, nodes: 1_000_000 }

type Answer = Pick<OutgoingResponse, 'headers' | 'body'>

export function bodyOf(answer: Answer, mask?: Mask): Json {
  const { headers, body } = answer
  if (body.length === 0) return null
  const type = (headers['content-type'] ?? '').split(';')[0]?.trim().toLowerCase() ?? ''
  if (/^(application|text)\/(.+\+)?json$/.test(type)) return parseJson(textOf(answer, mask))
  const isText =
    type === '' ||
    type.startsWith('text/') ||
    /^application\/(.+\+)?(xml|javascript|x-www-form-urlencoded|yaml|x-ndjson|jsonl)$/.test(type)
  return isText ? textOf(answer, mask) : { base64: body.toString('base64'), content_type: type }
}

/** Returns the charset of a content type. Undefined for UTF-8. */
export const charsetOf = (contentType: string | undefined): string | undefined => {
  const name = /;\s*charset\s*=\s*"?([\w:.-]{1,40})/i.exec(contentType ?? '')?.[1]?.toLowerCase()
  return name === 'utf-8' || name === 'utf8' ? undefined : name
}

/**
 * Decodes the body by the charset of its content type, as UTF-8 if the charset is absent or unknown, and without the
 * byte order mark. The bytes were masked as UTF-8, so a text in another charset is masked again.
 */
export function textOf({ headers, body }: Answer, mask?: Mask): string {
  const charset = charsetOf(headers['content-type'])
  const decoder = charset === undefined ? undefined : decoderOf(charset)
  if (!decoder) return new TextDecoder().decode(body)
  const text = decoder.decode(body)
  return mask?.text(text) ?? text
}

/** UTF-16 is not supported: the mask of a renewed token is known only for texts that contain ASCII as it is. */
function decoderOf(charset: string): TextDecoder | undefined {
  try {
    const decoder = new TextDecoder(charset)
    return decoder.encoding.startsWith('utf-16') ? undefined : decoder
  } catch {
    return undefined
  }
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
