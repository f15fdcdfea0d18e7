import type { Json, JsonObject } from '#model/definition'
import { isObject } from '#model/json'

// The messages over the pipes of a process behind the wall: one JSON message per line. The output of the process is not
// trusted, and lines that do not answer the request are ignored.

export type WallProtocol = {
  /** Written as soon as the process runs. */
  hello?: string
  /** Checks whether the process accepts requests now. Throws WallFailure if it cannot be used. */
  isReady(line: string): boolean
  /** Written once the process is ready. */
  afterReady?: string
  request(request: object, about: { id: string; code: string }): string
  /** Returns the answer to the request with this id, if the line contains it. */
  answerIn(line: string, id: string): JsonObject | 'unreadable' | undefined
  /** Returns the reply to a request from the process. */
  replyTo?(line: string): string | undefined
}

export function parsedLine(line: string): Json | undefined {
  try {
    return JSON.parse(line) as Json
  } catch {
    return undefined
  }
}

/** The protocol of programs that are written for this wall. */
export const ownProtocol: WallProtocol = {
  isReady: (line) => line === '{"ready":true}',
  request: (request, { id, code }) => JSON.stringify({ ...request, id, code }),
  answerIn(line, id) {
    const answer = parsedLine(line)
    if (answer === undefined) return 'unreadable'
    // Any other line comes from something that an earlier call left running.
    return isObject(answer) && answer.id === id ? answer : undefined
  },
}
