import type { JsonObject, Node } from './definition.ts'
import { isObject } from './json.ts'

// Some nodes contain their own graph in `args.body`, which runs once for each item or iteration.

const WITH_BODY: ReadonlySet<string> = new Set(['map', 'loop'])

export const hasBody = (type: string): boolean => WITH_BODY.has(type)

export const bodyOf = ({ type, args }: Pick<Node, 'type' | 'args'>): JsonObject | undefined => {
  const body = WITH_BODY.has(type) ? args?.body : undefined
  return isObject(body) ? body : undefined
}
