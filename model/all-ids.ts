import type { Json } from './definition.ts'
import { isObject } from './json.ts'

/** Returns every node id in a value that may not be a valid graph yet, including ids in bodies. */
export function idsIn(source: Json | undefined, found: Set<string> = new Set()): Set<string> {
  const nodes = isObject(source) && Array.isArray(source.nodes) ? source.nodes : []
  for (const node of nodes) {
    if (!isObject(node)) continue
    if (typeof node.id === 'string') found.add(node.id)
    if (isObject(node.args)) idsIn(node.args.body, found)
  }
  return found
}
