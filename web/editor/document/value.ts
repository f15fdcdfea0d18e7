import type { Json } from '#model/definition'
import { isObject } from '#model/json'

// The three forms of a value, distinguished without the expression language itself, which is loaded later.

export type Form = 'literal' | 'reference' | 'cel'

export const isReferenceValue = (value: Json | undefined): value is { $ref: string } =>
  isObject(value) && typeof value.$ref === 'string' && !value.$ref.startsWith('#')

export const isCelValue = (value: Json | undefined): value is { $cel: string } =>
  isObject(value) && typeof value.$cel === 'string'

export const formOf = (value: Json | undefined): Form =>
  isReferenceValue(value) ? 'reference' : isCelValue(value) ? 'cel' : 'literal'

const PLAIN_NAME = /^[A-Za-z0-9_$-]+$/

/** Appends a step to a reference: `.name`, `[0]` or `["any key"]`. */
export const further = (reference: string, key: string | number): string => {
  if (typeof key === 'number') return `${reference}[${key}]`
  return PLAIN_NAME.test(key) ? `${reference}.${key}` : `${reference}[${JSON.stringify(key)}]`
}

/** Converts a reference to CEL, where `-` would subtract and a key may be absent. */
export const asCel = (reference: string): string =>
  reference.replace(/\.([A-Za-z0-9_$]*[-$][A-Za-z0-9_$-]*)/g, (_, name: string) => `[${JSON.stringify(name)}]`)

/** Checks whether data is stored as a blob, so that an execution contains only a reference to it. */
export const isLarge = (data: unknown): boolean => isObject(data) && Object.hasOwn(data, '$blob')
