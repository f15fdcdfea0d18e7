import type { Json, JsonObject } from '#model/definition'
import { isObject } from '#model/json'

// Resolves references within the document. References to other documents are never followed, so no address in a
// document is requested.

const MAX_CHAIN = 20

const unescaped = (step: string): string => {
  const plain = step.includes('%') ? decoded(step) : step
  return plain.replaceAll('~1', '/').replaceAll('~0', '~')
}

const decoded = (text: string): string => {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

export function lookUp(document: JsonObject, reference: string): Json | undefined {
  if (!reference.startsWith('#/')) return undefined
  let found: Json | undefined = document
  for (const step of reference.slice(2).split('/').map(unescaped)) {
    if (Array.isArray(found)) found = found[Number(step)]
    else if (isObject(found) && Object.hasOwn(found, step)) found = found[step]
    else return undefined
  }
  return found
}

export const referenceOf = (value: Json | undefined): string | undefined =>
  isObject(value) && typeof value.$ref === 'string' ? value.$ref : undefined

/**
 * Returns the value at the end of a chain of references. Undefined if the chain is broken, circular or leaves the
 * document.
 */
export function resolved(document: JsonObject, value: Json | undefined): JsonObject | undefined {
  let current = value
  for (let steps = 0; steps < MAX_CHAIN; steps += 1) {
    const reference = referenceOf(current)
    if (reference === undefined) return isObject(current) ? current : undefined
    current = lookUp(document, reference)
  }
  return undefined
}
