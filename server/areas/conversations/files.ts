import { type FileValue, filesIn } from '#engine/files'
import type { Json, JsonObject } from '#model/definition'
import { isObject, own } from '#model/json'
import type { Requirement } from '#providers/extraction/index'

// Files that people send in a conversation, and the inputs of workflows that accept files.

/** The maximum number of files that wait for a workflow. Older files are dropped. */
const MAX_WAITING = 20

/** Checks for `{"type": "object", "required": ["$file"]}` or an object with the property `$file`. */
function isFileSchema(schema: Json | undefined): boolean {
  if (!isObject(schema)) return false
  const properties = own(schema, 'properties')
  const required = own(schema, 'required')
  return (
    (isObject(properties) && Object.hasOwn(properties, '$file')) ||
    (Array.isArray(required) && required.includes('$file'))
  )
}

/** Returns whether a value of this schema is a file or a list of files. Null if neither. */
export function filesWanted(schema: Json | undefined): 'one' | 'many' | null {
  if (isFileSchema(schema)) return 'one'
  return isObject(schema) && isFileSchema(own(schema, 'items')) ? 'many' : null
}

export const takesFiles = (requirements: Requirement[]): boolean =>
  requirements.some(({ schema }) => filesWanted(schema) !== null)

/**
 * Adds files to the inputs that accept them, in order: one file for a single input, and all remaining files for a
 * list.
 */
export function withFiles(requirements: Requirement[], known: JsonObject, files: FileValue[]): JsonObject {
  const values = { ...known }
  const left = [...files]
  for (const { name, schema } of requirements) {
    const wanted = filesWanted(schema)
    if (wanted === null || left.length === 0 || Object.hasOwn(values, name)) continue
    values[name] = (wanted === 'one' ? left.shift()! : left.splice(0)) as unknown as Json
  }
  return values
}

/** Returns the files that the values do not contain. */
export function withoutUsed(files: FileValue[], values: Json | undefined): FileValue[] {
  const used = new Set([...filesIn(values)].map(({ $file }) => $file.file_id))
  return files.filter(({ $file }) => !used.has($file.file_id)).slice(-MAX_WAITING)
}

/** Returns a message as it is stored and shown: the text and the names of its files. */
export const withFileNames = (text: string, files: FileValue[]): string =>
  [text, ...files.map(({ $file }) => `File: ${$file.name}`)].filter((line) => line !== '').join('\n')
