import type { Json, JsonObject } from '#model/definition'
import { isObject } from '#model/json'

// What is said over the pipes of a process behind the wall: one message a line, in JSON. Everything that the process says is material
// to judge; what is no answer to the request is left out.

export type WallProtocol = {
  /** Written as soon as the process runs. */
  hello?: string
  /** Whether the process may be asked from now on. Throws WallFailure where it cannot be used. */
  isReady(line: string): boolean
  /** Written once it is ready. */
  afterReady?: string
  request(request: object, about: { id: string; code: string }): string
  /** The answer to the request with this id. */
  answerIn(line: string, id: string): JsonObject | 'unreadable' | undefined
  /** What is answered to a message that asks something of us. */
  replyTo?(line: string): string | undefined
}

export function parsedLine(line: string): Json | undefined {
  try {
    return JSON.parse(line) as Json
  } catch {
    return undefined
  }
}

/** Of programs that are written for this wall. */
export const ownProtocol: WallProtocol = {
  isReady: (line) => line === '{"ready":true}',
  request: (request, { id, code }) => JSON.stringify({ ...request, id, code }),
  answerIn(line, id) {
    const answer = parsedLine(line)
    if (answer === undefined) return 'unreadable'
    // Anything else was said by what an earlier call left running.
    return isObject(answer) && answer.id === id ? answer : undefined
  },
}
