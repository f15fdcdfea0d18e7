import type { JsonObject } from '#model/definition'
import { isObject } from '#model/json'
import { nameInWords } from '#model/node-texts'
import { t } from '#web/words/language.ts'

/** Returns the arguments of a trigger with a title for each field, in place of its name on the wire. */
export function withTitles(schema: Record<string, unknown>): Record<string, unknown> {
  if (!isObject(schema.properties)) return schema
  const properties = Object.entries(schema.properties as JsonObject).map(([name, field]) => [
    name,
    isObject(field) && field.title === undefined ? { title: t(nameInWords(name)), ...field } : field,
  ])
  return { ...schema, properties: Object.fromEntries(properties) }
}
