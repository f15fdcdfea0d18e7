import type { Json, JsonObject } from '#model/definition'
import { isObject } from '#model/json'

// Parameters of a template may be missing or have an unexpected type: such a parameter counts as empty.

export const listOf = (value: Json | undefined): JsonObject[] => (Array.isArray(value) ? value.filter(isObject) : [])
export const objectOf = (value: Json | undefined): JsonObject => (isObject(value) ? value : {})

/** Checks whether a parameter was left empty; `=` is an expression without a text. */
export const isEmpty = (value: Json | undefined): boolean =>
  value === undefined || value === null || value === '' || value === '='
