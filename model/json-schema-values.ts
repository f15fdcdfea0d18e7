import type { Json, JsonObject } from './definition.ts'
import type { Issue } from './issue.ts'
import { isObject, own } from './json.ts'

// Checks of a single value that do not visit subschemas.

export const atLeast = (count: number, noun: string): string =>
  `must have at least ${count} ${noun}${count === 1 ? '' : 's'}`
export const atMost = (count: number, noun: string): string =>
  `must have at most ${count} ${noun}${count === 1 ? '' : 's'}`

export function codePoints(text: string): number {
  let count = 0
  for (const _ of text) count += 1
  return count
}

export function checkNumber(schema: JsonObject, value: number, path: string, issues: Issue[]): void {
  const limit = (keyword: string) => {
    const bound = own(schema, keyword)
    return typeof bound === 'number' ? bound : undefined
  }
  const minimum = limit('minimum')
  if (minimum !== undefined && value < minimum) issues.push({ path, message: `must be at least ${minimum}` })
  const maximum = limit('maximum')
  if (maximum !== undefined && value > maximum) issues.push({ path, message: `must be at most ${maximum}` })
  const above = limit('exclusiveMinimum')
  if (above !== undefined && value <= above) issues.push({ path, message: `must be more than ${above}` })
  const below = limit('exclusiveMaximum')
  if (below !== undefined && value >= below) issues.push({ path, message: `must be less than ${below}` })
  const step = limit('multipleOf')
  if (step !== undefined && !Number.isInteger(value / step))
    issues.push({ path, message: `must be a multiple of ${step}` })
}

export function checkType(schema: JsonObject, value: Json, path: string, issues: Issue[]): void {
  const type = own(schema, 'type')
  if (type === undefined) return
  if (typeof type === 'string' && hasType(type, value)) return
  const types = Array.isArray(type) ? type : [type]
  if (!types.some((name) => hasType(String(name), value)))
    issues.push({ path, message: `must be ${types.join(' or ')}` })
}

function hasType(name: string, value: Json): boolean {
  switch (name) {
    case 'null':
      return value === null
    case 'array':
      return Array.isArray(value)
    case 'object':
      return isObject(value)
    case 'integer':
      return typeof value === 'number' && Number.isInteger(value)
    default:
      return typeof value === name
  }
}

export function stableText(value: Json, spend: (steps: number) => void): string {
  spend(1)
  if (Array.isArray(value)) return `[${value.map((item) => stableText(item, spend)).join()}]`
  if (typeof value === 'string') spend(value.length >> 6)
  if (!isObject(value)) return JSON.stringify(value)
  const keys = Object.keys(value).sort()
  return `{${keys.map((key) => `${JSON.stringify(key)}:${stableText(value[key] as Json, spend)}`).join()}}`
}
