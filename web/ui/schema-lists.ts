import { isObject } from '#model/json'

/** Checks whether a form for this schema contains lists, which need a wide dialog. */
export const hasLists = (schema: unknown): boolean => {
  if (!isObject(schema)) return false
  if (schema.type === 'array') return true
  return isObject(schema.properties) && Object.values(schema.properties).some(hasLists)
}
