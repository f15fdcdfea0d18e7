import type { Json, JsonObject } from '#model/definition'
import { isObject } from '#model/json'
import { isCelValue, isReferenceValue } from './value.ts'

// Updates references, so that renaming a node does not break them.

const escaped = (text: string): string => text.replace(/[.*+?^${}()|[\]\\-]/g, '\\$&')

type Renames = ReadonlyMap<string, string>

/** Returns `value` with the new node ids in every reference and expression, at any depth. */
export function renameReferences(value: Json, renames: Renames): Json {
  if (renames.size === 0) return value
  if (Array.isArray(value)) return value.map((item) => renameReferences(item, renames))
  if (!isObject(value)) return value
  if (isReferenceValue(value)) return { $ref: renameIn(value.$ref, renames) }
  if (isCelValue(value)) return { $cel: renameIn(value.$cel, renames) }
  const copy: JsonObject = {}
  for (const [key, item] of Object.entries(value)) copy[key] = renameReferences(item, renames)
  return copy
}

function renameIn(text: string, renames: Renames): string {
  const ids = [...renames.keys()].map(escaped).join('|')
  const named = new RegExp(`\\bnodes(?:\\.(${ids})(?![\\w-])|\\[(["'])(${ids})\\2\\])`, 'g')
  return text.replace(
    named,
    (whole, plain: string | undefined, quote: string | undefined, quoted: string | undefined) => {
      const id = renames.get(plain ?? quoted ?? '') ?? whole
      if (quote !== undefined || id.includes('-')) return `nodes[${quote ?? '"'}${id}${quote ?? '"'}]`
      return `nodes.${id}`
    },
  )
}
