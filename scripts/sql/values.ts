import type { FunctionNode, Module } from './modules.ts'

// The possible values of an expression: texts, and the values that texts are made of.

export type Value = string | number | boolean | null | undefined | Value[] | RegExp | Closure | Fields | Unknown
/** A part that matters only if a text is made of it. */
export type Unknown = { unknown: string }
export type Closure = { fn: FunctionNode; module: Module; frames: Frame[] }
export type Fields = { fields: Map<string, () => Value> }
/** One call of a function, with the values of its parameters. */
export type Frame = { fn: FunctionNode; args: ((at: At) => Value)[] }
export type Choices = Map<string, number>
export type At = { module: Module; frames: Frame[]; choices: Choices }

export class Unresolved extends Error {}
export const along = (value: Value, path: string[]): Value =>
  path.reduce((inside, key) => (inside === undefined ? undefined : propertyOf(inside, key)), value)

export const textOf = (value: Value): string => {
  if (typeof value === 'string' || typeof value === 'number') return String(value)
  if (Array.isArray(value)) return value.map(textOf).join(',')
  throw new Unresolved(isUnknown(value) ? value.unknown : `not a text: ${typeof value}`)
}

export const isUnknown = (value: Value): value is Unknown =>
  typeof value === 'object' && value !== null && 'unknown' in value

export const separatorOf = (value: Value): string | RegExp => (value instanceof RegExp ? value : textOf(value))

export const asArray = (value: Value): Value[] => {
  if (Array.isArray(value)) return value
  throw new Unresolved('not a list')
}

export const keysOf = (value: Value): string[] => {
  if (Array.isArray(value)) return value.map((_, index) => String(index))
  if (typeof value === 'object' && value !== null && 'fields' in value) return [...value.fields.keys()]
  throw new Unresolved('not an object')
}

export const propertyOf = (value: Value, key: string): Value => {
  if (Array.isArray(value)) return key === 'length' ? value.length : value[Number(key)]
  if (typeof value === 'object' && value !== null && 'fields' in value) return value.fields.get(key)?.()
  throw new Unresolved(`.${key}`)
}
