import type { JsonObject } from './definition.ts'
import { isObject } from './json.ts'
import type { NodeDescriptor } from './node.ts'

// The texts of a kind of node that people read: its title and description, and those of its arguments.

type Change = (text: string) => string

const ACRONYM = /\b(url|json|html|sql|soql|jql|csv|xml|mcp)\b/g

/** Returns the name of an argument as words, for an argument without a title. */
export const nameInWords = (name: string): string => {
  const words = name.replaceAll('_', ' ').replaceAll(ACRONYM, (word) => word.toUpperCase())
  return words.charAt(0).toUpperCase() + words.slice(1)
}

const mapList = (list: unknown, change: Change): unknown =>
  Array.isArray(list) ? list.map((part) => (isObject(part) ? schemaTexts(part, change) : part)) : list

const titleFor = (name: string, { title }: JsonObject, change: Change): JsonObject =>
  typeof title === 'string' || name.startsWith('$') ? {} : { title: change(nameInWords(name)) }

/**
 * Returns a JSON Schema with each of its texts changed. Afterwards every property has a title, except properties of
 * expressions (`$…`).
 */
function schemaTexts(schema: JsonObject, change: Change): JsonObject {
  const changed: Record<string, unknown> = { ...schema }
  for (const name of ['title', 'description']) {
    const text = schema[name]
    if (typeof text === 'string') changed[name] = change(text)
  }
  for (const name of ['items', 'additionalProperties']) {
    const inner = schema[name]
    if (isObject(inner)) changed[name] = schemaTexts(inner, change)
  }
  for (const name of ['anyOf', 'oneOf', 'allOf'])
    if (schema[name] !== undefined) changed[name] = mapList(schema[name], change)
  if (isObject(schema.properties))
    changed.properties = Object.fromEntries(
      Object.entries(schema.properties).map(([name, field]) => [
        name,
        isObject(field) ? { ...titleFor(name, field, change), ...schemaTexts(field, change) } : field,
      ]),
    )
  return changed as JsonObject
}

export function changeTexts<D extends Pick<NodeDescriptor, 'title' | 'description' | 'args_schema'>>(
  kind: D,
  change: Change,
): D {
  return {
    ...kind,
    title: change(kind.title),
    description: change(kind.description),
    args_schema: schemaTexts(kind.args_schema, change),
  }
}
