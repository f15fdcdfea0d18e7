import { NodeFailure } from '#engine/node'
import type { Json, JsonObject } from '#model/definition'
import { isObject } from '#model/json'

// The answer to one request over streamable HTTP: a JSON body, or a stream of events in which it comes among others.

const unreadable = (message: string): NodeFailure => new NodeFailure('mcp_protocol', message, { retryable: false })

export const readAnswer = async (response: Response, id: number): Promise<JsonObject> => {
  const type = response.headers.get('content-type')?.split(';')[0]?.trim().toLowerCase()
  if (type === 'text/event-stream') return fromEvents(response, id)
  if (type !== 'application/json') {
    await response.body?.cancel()
    throw unreadable('the tool server answered with neither JSON nor an event stream')
  }
  const found = answerIn(parse(await response.text()), id)
  if (found === undefined) throw unreadable('the tool server answered with something else than was asked')
  return found
}

/** Stops listening at the answer: a server may keep the stream open. */
const fromEvents = async (response: Response, id: number): Promise<JsonObject> => {
  if (response.body === null) throw unreadable('the tool server answered with nothing')
  const reader = response.body.getReader()
  const decoder = new TextDecoder()
  let rest = ''
  let event: string[] = []
  try {
    for (;;) {
      const { done, value } = await reader.read()
      rest += done ? `${decoder.decode()}\n\n` : decoder.decode(value, { stream: true })
      const lines = rest.split(/\r\n|\n|\r(?!$)/)
      rest = done ? '' : (lines.pop() ?? '')
      for (const line of lines) {
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

const parse = (text: string): Json => {
  try {
    return JSON.parse(text) as Json
  } catch {
    throw unreadable('the tool server answered with something that is not JSON')
  }
}

const answerIn = (message: Json, id: number): JsonObject | undefined =>
  (Array.isArray(message) ? message : [message]).find(
    (one): one is JsonObject => isObject(one) && one.jsonrpc === '2.0' && one.id === id && !('method' in one),
  )
