import type { Json, JsonObject } from '#model/definition'
import { isObject } from '#model/json'
import type { Values } from './manifest.ts'
import { valueAt } from './paths.ts'

// Maps arguments to a request. A text that starts with `$` names an argument; an object with one key that starts with
// `$` calls one of the functions below; everything else is copied unchanged. The value of an absent argument is left
// out, and so is an object or a list that would contain only absent arguments.

/** Functions that need the bytes of files. The code that runs the action provides them. */
export type TemplateFiles = {
  base64(file: Json): Promise<string>
  mime(message: JsonObject): Promise<string>
}

export class TemplateFailure extends Error {}

type Scope = { args: JsonObject; files: TemplateFiles; asked: number; given: number }

const ABSENT = Symbol('absent')
type Resolved = Json | typeof ABSENT

const reference = (scope: Scope, text: string): Resolved => {
  const [, name = '', , inside = ''] = /^\$(\w+)(\.(.*))?$/.exec(text) ?? []
  scope.asked += 1
  const value = Object.hasOwn(scope.args, name) ? valueAt(scope.args[name], inside) : undefined
  if (value === undefined) return ABSENT
  scope.given += 1
  return value
}

export const asText = (value: Json): string => (typeof value === 'object' ? JSON.stringify(value) : String(value))

/** Returns JSON with ASCII characters only, so that it can be used in a header. */
const asciiJson = (value: Json): string =>
  JSON.stringify(value).replace(
    /[\u007f-\uffff]/g,
    (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )

type Work = (scope: Scope, given: Json) => Promise<Resolved>

const each = async (scope: Scope, given: Json): Promise<Resolved> => {
  const [listed, template] = given as [Json, Json]
  const items = await resolveIn(scope, listed)
  if (!Array.isArray(items)) return ABSENT
  const mapped: Json[] = []
  for (const [index, item] of items.entries()) {
    const inner: Scope = { ...scope, args: { ...scope.args, item, index }, asked: 0, given: 0 }
    const value = await resolveIn(inner, template)
    if (value !== ABSENT) mapped.push(value)
  }
  return mapped
}

const FUNCTIONS: Readonly<Record<string, Work>> = {
  /** A text that contains `{argument}`. Absent if one of the arguments is absent. */
  $text: async (scope, given) => {
    let missing = false
    const text = String(given).replace(/\{(\w+(?:\.\w+)*)\}/g, (_, name: string) => {
      const value = reference(scope, `$${name}`)
      if (value === ABSENT) missing = true
      return value === ABSENT ? '' : asText(value)
    })
    return missing ? ABSENT : text
  },
  /** Joins a list into one text. */
  $join: async (scope, given) => {
    const [listed, between] = given as [Json, string]
    const items = await resolveIn(scope, listed)
    if (items === ABSENT) return ABSENT
    return Array.isArray(items) ? items.map(asText).join(between) : asText(items)
  },
  $json: async (scope, given) => {
    const value = await resolveIn(scope, given)
    return value === ABSENT ? ABSENT : asciiJson(value)
  },
  /** Converts each item of a list: `[list, template]`, where `$item` is the item and `$index` its index. */
  $map: each,
  /** Merges objects; later objects override earlier ones. */
  $merge: async (scope, given) => {
    const merged: JsonObject = {}
    for (const one of given as Json[]) {
      const value = await resolveIn(scope, one)
      if (isObject(value as Json)) Object.assign(merged, value)
    }
    return merged
  },
  /** The first value that is not absent. */
  $first: async (scope, given) => {
    for (const one of given as Json[]) {
      const value = await resolveIn(scope, one)
      if (value !== ABSENT) return value
    }
    return ABSENT
  },
  /** Wraps a value in a list, unless the value is already a list. */
  $list: async (scope, given) => {
    const value = await resolveIn(scope, given)
    return value === ABSENT || Array.isArray(value) ? value : [value]
  },
  /** Returns the value if the argument is present and not false or null: `[argument, value]`. */
  $if: async (scope, given) => {
    const [asked, value] = given as [Json, Json]
    const condition = await resolveIn(scope, asked)
    return condition === ABSENT || condition === false || condition === null ? ABSENT : resolveIn(scope, value)
  },
  /** Chooses a value by the text of another: `["$format", {"markdown": "md"}]`. */
  $choose: async (scope, given) => {
    const [chosen, cases] = given as [Json, JsonObject]
    const value = await resolveIn(scope, chosen)
    const found = value === ABSENT ? undefined : cases[asText(value)]
    return found === undefined ? ABSENT : resolveIn(scope, found)
  },
  /** Converts rows to objects. The first row contains the names. */
  $table: async (scope, given) => {
    const rows = await resolveIn(scope, given)
    const [head, ...rest] = Array.isArray(rows) ? rows.filter(Array.isArray) : []
    return rest.map((row) => Object.fromEntries((head ?? []).map((name, at) => [asText(name), row[at] ?? null])))
  },
  /** Encodes a text or a file. */
  $base64: async (scope, given) => {
    const file = await resolveIn(scope, given)
    if (file === ABSENT) return ABSENT
    return typeof file === 'string' ? Buffer.from(file).toString('base64') : scope.files.base64(file)
  },
  $mime: async (scope, given) => scope.files.mime((await resolveIn(scope, given)) as JsonObject),
}

export const templateFunctions: readonly string[] = Object.keys(FUNCTIONS)

async function resolveIn(scope: Scope, template: Json): Promise<Resolved> {
  if (typeof template === 'string') {
    if (!template.startsWith('$')) return template
    return template.startsWith('$$') ? template.slice(1) : reference(scope, template)
  }
  if (typeof template !== 'object' || template === null) return template
  const before = { asked: scope.asked, given: scope.given }
  let value: Json
  if (Array.isArray(template)) {
    const items: Json[] = []
    for (const item of template) {
      const resolved = await resolveIn(scope, item)
      if (resolved !== ABSENT) items.push(resolved)
    }
    value = items
  } else {
    const [key = '', ...more] = Object.keys(template)
    const work = more.length === 0 ? FUNCTIONS[key] : undefined
    if (work) return work(scope, template[key] as Json)
    const fields: JsonObject = {}
    for (const [name, inner] of Object.entries(template)) {
      const resolved = await resolveIn(scope, inner)
      if (resolved !== ABSENT) fields[name] = resolved
    }
    value = fields
  }
  const asked = scope.asked > before.asked
  return asked && scope.given === before.given ? ABSENT : value
}

/** Undefined if all arguments of the template are absent. */
export async function fillTemplate(template: Json, args: JsonObject, files: TemplateFiles): Promise<Json | undefined> {
  const value = await resolveIn({ args, files, asked: 0, given: 0 }, template)
  return value === ABSENT ? undefined : value
}

const isCall = (template: JsonObject): boolean => {
  const [key = '', ...more] = Object.keys(template)
  return more.length === 0 && Object.hasOwn(FUNCTIONS, key)
}

/** Fills the fields of a body, a query or the headers. A list of names sends each argument under its own name. */
export async function fillValues(values: Values, args: JsonObject, files: TemplateFiles): Promise<JsonObject> {
  const fields: JsonObject = Array.isArray(values)
    ? Object.fromEntries(values.map((name) => [name, `$${name}`]))
    : (values as JsonObject)
  if (isCall(fields)) {
    const filled = await fillTemplate(fields, args, files)
    return isObject(filled) ? filled : {}
  }
  const filled: JsonObject = {}
  for (const [name, template] of Object.entries(fields)) {
    const value = await fillTemplate(template, args, files)
    if (value !== undefined) filled[name] = value
  }
  return filled
}

/** Fills a body, which may also be a single argument or a list. */
export async function fillBody(template: Values | string, args: JsonObject, files: TemplateFiles): Promise<Json> {
  const isFields = typeof template === 'object' && (Array.isArray(template) || !isCall(template as JsonObject))
  if (isFields) return fillValues(template, args, files)
  return (await fillTemplate(template as Json, args, files)) ?? {}
}
