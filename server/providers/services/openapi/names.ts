import type { Json, JsonObject } from '#model/definition'
import { shortText } from './schema.ts'

const MAX_NAME = 100

export const asWords = (text: string): string =>
  text
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .replace(/[^A-Za-z0-9]+/g, '_')
    .replace(/^_+|_+$/g, '')
    .toLowerCase()

/**
 * Returns the name of an action, which starts with its method. From a definition alone it is then clear whether a call
 * may be repeated, even after the service was deleted or imported again.
 */
export function nameOf(taken: Set<string>, operationId: Json | undefined, method: string, path: string): string {
  const words = asWords(typeof operationId === 'string' ? operationId : '') || asWords(path) || 'root'
  const whole = words === method || words.startsWith(`${method}_`) ? words : `${method}_${words}`
  const base = whole.slice(0, MAX_NAME).replace(/_+$/, '')
  let name = base
  for (let number = 2; taken.has(name); number += 1) name = `${base}_${number}`
  taken.add(name)
  return name
}

export function titleOfOperation(operation: JsonObject, method: string, path: string): string {
  const summary = shortText(operation.summary, 120)
  if (summary) return summary
  const words = typeof operation.operationId === 'string' ? asWords(operation.operationId).replaceAll('_', ' ') : ''
  return words
    ? (words.charAt(0).toUpperCase() + words.slice(1)).slice(0, 120)
    : `${method.toUpperCase()} ${path}`.slice(0, 120)
}
