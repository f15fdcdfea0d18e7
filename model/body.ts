import type { JsonObject, Node } from './definition.ts'
import { isObject } from './json.ts'

// Some nodes hold a graph of their own in `args.body`, which runs once for each item or turn.

const WITH_BODY: ReadonlySet<string> = new Set(['map', 'loop'])

export const hasBody = (type: string): boolean => WITH_BODY.has(type)

export const bodyOf = ({ type, args }: Pick<Node, 'type' | 'args'>): JsonObject | undefined => {
  const body = WITH_BODY.has(type) ? args?.body : undefined
  return isObject(body) ? body : undefined
}
