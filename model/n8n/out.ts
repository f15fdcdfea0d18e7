import type { Json, JsonObject } from '../definition.ts'
import { isForbiddenKey } from '../json.ts'
import { NotConvertible } from './js-ast.ts'

// The result of converting an n8n expression: a path if the expression is only a path, otherwise CEL.

export type Type = 'any' | 'text' | 'number' | 'bool' | 'list' | 'map' | 'time'

/** What other expressions can read from an n8n node. */
export type View = {
  /** The only item of the node, if it always returns exactly one. */
  one?: Out | undefined
  list: Out
  /** Returns the item that the current item came from. */
  paired(): Out
  /** Whether the node has run. */
  ran?: Out | undefined
}

export type Out = {
  cel: string
  type: Type
  /** The path, if the expression is a plain path: `nodes`, id, `output`, then fields. */
  path?: (string | number)[]
  /** The fields of an object, if each of them is known. */
  fields?: Record<string, Out>
  /** A list of n8n items, or one item: `.json` and `.binary` lead to the content. */
  holds?: 'items' | 'item'
  /** A source of items: `$('name')` or `$input`. */
  view?: View
  /** The zone in which a time is shown, as CEL. */
  zone?: string
  /** The value is a file, of which n8n reads `fileName` and `mimeType`. */
  isFile?: boolean
}

/** Returns the value alone, without what is known about its fields, items, zone and file. */
export const valueAlone = ({ cel, type, path }: Out): Out => ({ cel, type, ...(path && { path }) })

/**
 * The place where helper nodes are added. `list`: the expression is evaluated for each of these items, at position
 * `index`.
 */
export type HelperPlace = { add(type: string, args: JsonObject): string; list?: Out | undefined }

const IDENTIFIER = /^[A-Za-z_][A-Za-z0-9_]*$/
/** The reserved words of CEL. */
const RESERVED = new Set(
  'as break const continue else false for function if import in let loop null package namespace return true var void while'.split(
    ' ',
  ),
)
/** Checks whether a word is reserved in CEL. */
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

/** Returns CEL that reads a path and gives `otherwise` if the path does not exist. */
export function readPath(path: readonly (string | number)[], otherwise = 'null'): string {
  const root = rootOf(path)
  const [first, ...rest] = path.slice(rootLength(path))
  if (first === undefined) return root
  const method = otherwise === 'null' ? 'orValue' : 'orElse'
  return `${root}${maybeStep(first)}${rest.map(step).join('')}.${method}(${otherwise})`
}

/** Returns the text of a `$ref`. */
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

/** Returns an object of which each field is known. */
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

/** Converts a value to a text inside other text. Absent values and null are empty, as in n8n. */
export function textOf(of: Out): string {
  if (of.type === 'text' && !of.path) return of.cel
  if (of.path && of.path.length > rootLength(of.path)) return `string(${readPath(of.path, '""')})`
  if (of.type === 'list') return `${of.cel}.map(x, string(x)).join(",")`
  if (of.type === 'map') return `json.encode(${of.cel})`
  return `string(${of.cel})`
}

/** Converts a value to a condition by JavaScript's rules of truthiness. */
export function truth(of: Out): string {
  if (of.type === 'bool' && !of.path) return of.cel
  if (of.type === 'text' && !of.path) return `${of.cel} != ""`
  if (of.type === 'number' && !of.path) return `${of.cel} != 0`
  if (of.type === 'time' || of.type === 'map') return 'true'
  return `!(${of.cel} in [null, false, 0, ""])`
}

/** Converts an expression to the value of an argument. */
export function toValue(of: Out): Json {
  if (of.view) throw new NotConvertible('it reads a whole node')
  if (of.path) return { $ref: refText(of.path) }
  if (of.fields) return Object.fromEntries(Object.entries(of.fields).map(([key, value]) => [key, toValue(value)]))
  if (of.cel.length > 4_000) throw new NotConvertible('the expression is too long')
  return { $cel: of.cel }
}
