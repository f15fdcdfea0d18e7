import type { Json, JsonObject } from '../definition.ts'
import { isForbiddenKey } from '../json.ts'
import { NotConvertible } from './js-ast.ts'

// What an expression of n8n becomes: a path where that is all it is, CEL otherwise.

export type Type = 'any' | 'text' | 'number' | 'bool' | 'list' | 'map' | 'time'

/** What other expressions can read of a node of n8n. */
export type View = {
  /** Its only item, where it always gives exactly one. */
  one?: Out | undefined
  list: Out
  /** The item that the current one came from. */
  paired(): Out
  /** Whether it has run. */
  ran?: Out | undefined
}

export type Out = {
  cel: string
  type: Type
  /** Where it is a plain path: `nodes`, id, `output`, then fields. */
  path?: (string | number)[]
  /** An object whose fields are known one by one. */
  fields?: Record<string, Out>
  /** A list of items of n8n, or one of them: `.json` and `.binary` lead to the content. */
  holds?: 'items' | 'item'
  /** `$('name')`, `$input`: something to ask for items. */
  view?: View
  /** A time that is shown in this zone, as CEL. */
  zone?: string
  /** A file, of which n8n reads `fileName` and `mimeType`. */
  isFile?: boolean
}

/** Where helper nodes are added. `list`: the expression is for each of these items, whose position is `index`. */
export type HelperPlace = { add(type: string, args: JsonObject): string; list?: Out | undefined }

const IDENTIFIER = /^[A-Za-z_][A-Za-z0-9_]*$/
/** Names that CEL keeps for itself. */
const RESERVED = new Set(
  'as break const continue else false for function if import in let loop null package namespace return true var void while'.split(
    ' ',
  ),
)
/** Whether CEL keeps the word for itself. */
export const isReserved = (word: string): boolean => RESERVED.has(word)
export const quote = (text: string): string =>
  JSON.stringify(text).replaceAll('\u2028', '\\u2028').replaceAll('\u2029', '\\u2029')

const isPlain = (key: string | number): key is string =>
  typeof key === 'string' && IDENTIFIER.test(key) && !RESERVED.has(key)

const rootLength = (path: readonly (string | number)[]): number =>
  path[0] === 'nodes' ? 3 : path[0] === 'vars' ? 2 : 1

const step = (key: string | number): string =>
  isPlain(key) ? `.${key}` : `[${typeof key === 'number' ? key : quote(key)}]`
const maybeStep = (key: string | number): string =>
  isPlain(key) ? `?.${key}` : `[?${typeof key === 'number' ? key : quote(key)}]`

const rootOf = (path: readonly (string | number)[]): string =>
  path
    .slice(0, rootLength(path))
    .map((part, index) => (index === 0 ? String(part) : step(part)))
    .join('')

/** As CEL that gives `otherwise` where the path leads nowhere. */
export function readPath(path: readonly (string | number)[], otherwise = 'null'): string {
  const root = rootOf(path)
  const [first, ...rest] = path.slice(rootLength(path))
  if (first === undefined) return root
  const method = otherwise === 'null' ? 'orValue' : 'orElse'
  return `${root}${maybeStep(first)}${rest.map(step).join('')}.${method}(${otherwise})`
}

/** The text of a `$ref`. */
export const refText = (path: readonly (string | number)[]): string =>
  path
    .map((part, index) =>
      index === 0
        ? String(part)
        : typeof part === 'string' && IDENTIFIER.test(part)
          ? `.${part}`
          : `[${typeof part === 'number' ? part : JSON.stringify(part)}]`,
    )
    .join('')

export const pathOut = (path: (string | number)[], type: Type = 'any'): Out => ({ cel: readPath(path), type, path })
export const celOut = (cel: string, type: Type = 'any'): Out => ({ cel, type })
export const textOut = (text: string): Out => celOut(quote(text), 'text')
export const NULL: Out = celOut('null')

/** An object of which each field is known. */
export const fieldsOut = (fields: Record<string, Out>): Out => ({
  cel: `{${Object.entries(fields)
    .map(([key, value]) => `${quote(key)}: ${value.cel}`)
    .join(', ')}}`,
  type: 'map',
  fields,
})

const FILE_FIELDS: Record<string, string> = {
  fileName: 'name',
  mimeType: 'media_type',
  fileSize: 'bytes',
  id: 'file_id',
}

export function member(of: Out, key: string | number): Out {
  if (isForbiddenKey(String(key))) throw new NotConvertible(`"${key}" cannot be read`)
  if (of.holds === 'item') {
    if (key === 'json') return unwrapped(of)
    if (key === 'binary') return member(unwrapped(of), 'binary')
    if (key === 'pairedItem') throw new NotConvertible('it reads which item came from which')
    return member(unwrapped(of), key)
  }
  if (of.isFile) {
    const field = FILE_FIELDS[String(key)]
    if (field === undefined) throw new NotConvertible(`it reads "${key}" of a file`)
    return { ...member(member(plainOf(of), '$file'), field), type: key === 'fileSize' ? 'number' : 'text' }
  }
  if (of.fields) return Object.hasOwn(of.fields, String(key)) ? of.fields[String(key)]! : NULL
  const found = of.path ? pathOut([...of.path, key]) : celOut(`(${of.cel})${maybeStep(key)}.orValue(null)`)
  if (of.holds === 'items' && typeof key === 'number') return { ...found, holds: 'item' }
  const isFile = of.path?.at(-1) === 'binary' && typeof key === 'string'
  return isFile ? { ...found, isFile } : found
}

const plainOf = ({ cel, type, path, fields }: Out): Out => ({
  cel,
  type,
  ...(path && { path }),
  ...(fields && { fields }),
})
export const unwrapped = (of: Out): Out => plainOf(of)
export const asItem = (of: Out): Out => ({ ...plainOf(of), holds: 'item' })
export const asItems = (of: Out): Out => ({ ...plainOf(of), type: 'list', holds: 'items' })

/** As a text inside other text. Nothing and null are empty, as in n8n. */
export function textOf(of: Out): string {
  if (of.type === 'text' && !of.path) return of.cel
  if (of.path && of.path.length > rootLength(of.path)) return `string(${readPath(of.path, '""')})`
  if (of.type === 'list') return `${of.cel}.map(x, string(x)).join(",")`
  if (of.type === 'map') return `json.encode(${of.cel})`
  return `string(${of.cel})`
}

/** As a condition, by JavaScript's idea of truth. */
export function truth(of: Out): string {
  if (of.type === 'bool' && !of.path) return of.cel
  if (of.type === 'text' && !of.path) return `${of.cel} != ""`
  if (of.type === 'number' && !of.path) return `${of.cel} != 0`
  if (of.type === 'time' || of.type === 'map') return 'true'
  return `!(${of.cel} in [null, false, 0, ""])`
}

/** As the value of an argument. */
export function toValue(of: Out): Json {
  if (of.view) throw new NotConvertible('it reads a whole node')
  if (of.path) return { $ref: refText(of.path) }
  if (of.fields) return Object.fromEntries(Object.entries(of.fields).map(([key, value]) => [key, toValue(value)]))
  if (of.cel.length > 4_000) throw new NotConvertible('the expression becomes too long')
  return { $cel: of.cel }
}
