import { NodeFailure } from '#engine/node'
import type { Json, JsonObject } from '#model/definition'
import { isObject, measureJson } from '#model/json'
import { hasTooManyKeys } from '#platform/sandbox/keys'

// Reads the answer to one request over streamable HTTP: a JSON body, or a stream in which the answer is one of the
// events.

const unreadable = (message: string): NodeFailure => new NodeFailure('mcp_protocol', message, { retryable: false })

const LIMITS = { depth: 64, nodes: 1_000_000 }

export const readAnswer = async (response: Response, id: number): Promise<JsonObject> => {
  const type = response.headers.get('content-type')?.split(';')[0]?.trim().toLowerCase()
  if (type === 'text/event-stream') return fromEvents(response, id)
  if (type !== 'application/json') {
    await response.body?.cancel()
    throw unreadable('the tool server answered with neither JSON nor an event stream')
  }
  const found = answerIn(parse(await response.text()), id)
  if (found === undefined) throw unreadable('the tool server sent a response to another request')
  return found
}

/** Stops reading at the answer, because a server may keep the stream open. */
const fromEvents = async (response: Response, id: number): Promise<JsonObject> => {
  if (response.body === null) throw unreadable('the tool server sent an empty response')
  const reader = response.body.getReader()
  const decoder = new TextDecoder()
  const lines = makeLines()
  let event: string[] = []
  try {
    for (;;) {
      const { done, value } = await reader.read()
      for (const line of lines(done ? `${decoder.decode()}\n\n` : decoder.decode(value, { stream: true }))) {
        if (line.startsWith('data:')) event.push(line.slice(5).replace(/^ /, ''))
        if (line !== '' || event.length === 0) continue
        const found = answerIn(parse(event.join('\n')), id)
        if (found !== undefined) return found
        event = []
      }
      if (done) throw unreadable('the tool server ended the stream without an answer')
    }
  } finally {
    reader.cancel().catch(() => {})
  }
}

/** Splits chunks into whole lines, which end with CR, LF or both. Each chunk is searched only once. */
const makeLines = (): ((chunk: string) => string[]) => {
  let begun: string[] = []
  let afterReturn = false
  return (chunk) => {
    const fresh = afterReturn && chunk.startsWith('\n') ? chunk.slice(1) : chunk
    if (chunk !== '') afterReturn = chunk.endsWith('\r')
    const [first = '', ...others] = fresh.split(/\r\n|\n|\r/)
    begun.push(first)
    const last = others.pop()
    if (last === undefined) return []
    const whole = [begun.join(''), ...others]
    begun = [last]
    return whole
  }
}

const parse = (text: string): Json => {
  if (hasTooManyKeys(text)) throw unreadable('objects in the response of the tool server have too many keys')
  let value: Json
  try {
    value = JSON.parse(text) as Json
  } catch {
    throw unreadable('the tool server answered with something that is not JSON')
  }
  if (measureJson(value, LIMITS) !== 'ok')
    throw unreadable('the answer of the tool server is nested too deeply or too large')
  return value
}

const answerIn = (message: Json, id: number): JsonObject | undefined =>
  (Array.isArray(message) ? message : [message]).find(
    (one): one is JsonObject => isObject(one) && one.jsonrpc === '2.0' && one.id === id && !('method' in one),
  )
