import { type FileValue, filesIn } from '#engine/files'
import type { Json, JsonObject } from '#model/definition'
import { isObject, own } from '#model/json'
import type { Requirement } from '#providers/extraction/index'

// Files that people send in a conversation, and the inputs of workflows that take them.

/** The most files that wait for a workflow that takes them; older ones are forgotten. */
const MAX_WAITING = 20

/** `{"type": "object", "required": ["$file"]}`, or an object with the property `$file`. */
function isFileSchema(schema: Json | undefined): boolean {
  if (!isObject(schema)) return false
  const properties = own(schema, 'properties')
  const required = own(schema, 'required')
  return (
    (isObject(properties) && Object.hasOwn(properties, '$file')) ||
    (Array.isArray(required) && required.includes('$file'))
  )
}

/** Whether a value of this schema is a file, or a list of files. */
export function filesWanted(schema: Json | undefined): 'one' | 'many' | null {
  if (isFileSchema(schema)) return 'one'
  return isObject(schema) && isFileSchema(own(schema, 'items')) ? 'many' : null
}

export const takesFiles = (requirements: Requirement[]): boolean =>
  requirements.some(({ schema }) => filesWanted(schema) !== null)

/** The values, with the files in the inputs that take them: one each in order, and all that are left where a list is wanted. */
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

/** Those of the files that the values do not hold. */
export function withoutUsed(files: FileValue[], values: Json | undefined): FileValue[] {
  const used = new Set([...filesIn(values)].map(({ $file }) => $file.file_id))
  return files.filter(({ $file }) => !used.has($file.file_id)).slice(-MAX_WAITING)
}

/** A message as it is stored and read: what was written, and the names of what was sent with it. */
export const withFileNames = (text: string, files: FileValue[]): string =>
  [text, ...files.map(({ $file }) => `File: ${$file.name}`)].filter((line) => line !== '').join('\n')
