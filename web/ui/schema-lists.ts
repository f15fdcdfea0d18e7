import { isObject } from '#model/json'

/** Whether a form for this schema holds lists, which want a wide dialog. */
export const hasLists = (schema: unknown): boolean => {
  if (!isObject(schema)) return false
  if (schema.type === 'array') return true
  return isObject(schema.properties) && Object.values(schema.properties).some(hasLists)
}
