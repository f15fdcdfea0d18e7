// Checks whether a tenant's JSON Schema can be enforced. Errors are reported when it is saved, with the path of the
// wrong keyword.

import type { Json, JsonObject } from './definition.ts'
import type { Issue } from './issue.ts'
import { at, isForbiddenKey, isObject, own } from './json.ts'
import { indexOf, LIST_OF_SCHEMAS, MAP_OF_SCHEMAS, ONE_SCHEMA, REFERENCES } from './json-schema-index.ts'
import { compilePattern } from './pattern.ts'

const MAX_DEPTH = 32
const MAX_SCHEMAS = 5_000

const TYPES = new Set(['null', 'boolean', 'object', 'array', 'number', 'string', 'integer'])
const COUNTS = [
  ['minLength', 'maxLength', 'minItems', 'maxItems', 'minProperties', 'maxProperties', 'minContains', 'maxContains'],
].flat()
const NUMBERS = ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf']
/** A keyword of an older draft. Ignoring it would accept values that the author meant to refuse. */
const UNSUPPORTED = ['$recursiveRef']
const NAMES = ['$anchor', '$dynamicAnchor']

/** Returns the errors of the schema; an empty list means that it can be used. */
export function checkSchema(schema: Json, path = ''): Issue[] {
  const issues: Issue[] = []
  let count = 0
  const visit = (current: Json | undefined, where: string, depth: number): void => {
    count += 1
    if (count > MAX_SCHEMAS || depth > MAX_DEPTH) {
      if (issues.at(-1)?.message !== TOO_LARGE) issues.push({ path: where, message: TOO_LARGE })
      return
    }
    if (typeof current === 'boolean') return
    if (!isObject(current)) {
      issues.push({ path: where, message: 'must be a JSON Schema: an object, true or false' })
      return
    }
    checkKeywords(current, where, issues)
    checkReferences(current, schema, where, issues)
    for (const keyword of ONE_SCHEMA) {
      if (Object.hasOwn(current, keyword)) visit(current[keyword], at(where, keyword), depth + 1)
    }
    for (const keyword of LIST_OF_SCHEMAS) {
      const list = own(current, keyword)
      if (list === undefined) continue
      if (!Array.isArray(list) || list.length === 0) {
        issues.push({ path: at(where, keyword), message: 'must be a list of schemas' })
        continue
      }
      for (const [index, inner] of list.entries()) visit(inner, at(at(where, keyword), index), depth + 1)
    }
    for (const keyword of MAP_OF_SCHEMAS) {
      const map = own(current, keyword)
      if (map === undefined) continue
      if (!isObject(map)) {
        issues.push({ path: at(where, keyword), message: 'must be an object whose values are schemas' })
        continue
      }
      for (const [key, inner] of Object.entries(map)) {
        const inside = at(at(where, keyword), key)
        if (isForbiddenKey(key)) issues.push({ path: inside, message: `"${key}" is not allowed as a name` })
        if (keyword === 'patternProperties') checkPattern(key, inside, issues)
        visit(inner, inside, depth + 1)
      }
    }
  }
  visit(schema, path, 0)
  return issues.slice(0, 50)
}

const TOO_LARGE = `a schema may have at most ${MAX_SCHEMAS} parts, nested at most ${MAX_DEPTH} levels deep`

function checkKeywords(schema: JsonObject, path: string, issues: Issue[]): void {
  const wrong = (keyword: string, message: string) => issues.push({ path: at(path, keyword), message })
  for (const keyword of UNSUPPORTED) if (Object.hasOwn(schema, keyword)) wrong(keyword, 'this keyword is not supported')
  for (const keyword of NAMES) {
    const name = own(schema, keyword)
    if (name !== undefined && !(typeof name === 'string' && /^[A-Za-z_][-\w.]*$/.test(name)))
      wrong(keyword, 'must be a name: letters, digits, - _ and .')
  }
  const id = own(schema, '$id')
  if (id !== undefined && !(typeof id === 'string' && URL.canParse(id, 'schema:/') && !/#./.test(id)))
    wrong('$id', 'must be an address without a fragment')
  const type = own(schema, 'type')
  if (type !== undefined) {
    const names = Array.isArray(type) ? type : [type]
    if (names.length === 0 || !names.every((name) => typeof name === 'string' && TYPES.has(name))) {
      wrong('type', `must be one of ${[...TYPES].join(', ')}`)
    }
  }
  for (const keyword of COUNTS) {
    const value = own(schema, keyword)
    if (value !== undefined && !(Number.isInteger(value) && Number(value) >= 0))
      wrong(keyword, 'must be a whole number')
  }
  for (const keyword of NUMBERS) {
    const value = own(schema, keyword)
    if (value !== undefined && typeof value !== 'number') wrong(keyword, 'must be a number')
  }
  if (Number(own(schema, 'multipleOf') ?? 1) <= 0) wrong('multipleOf', 'must be more than 0')
  const allowed = own(schema, 'enum')
  if (allowed !== undefined && !Array.isArray(allowed)) wrong('enum', 'must be a list')
  checkNames(own(schema, 'required'), at(path, 'required'), issues)
  const dependent = own(schema, 'dependentRequired')
  if (isObject(dependent)) {
    for (const [key, names] of Object.entries(dependent))
      checkNames(names, at(at(path, 'dependentRequired'), key), issues)
  } else if (dependent !== undefined) wrong('dependentRequired', 'must be an object whose values are lists')
  const pattern = own(schema, 'pattern')
  if (typeof pattern === 'string') checkPattern(pattern, at(path, 'pattern'), issues)
  else if (pattern !== undefined) wrong('pattern', 'must be a text')
}

function checkNames(names: Json | undefined, path: string, issues: Issue[]): void {
  if (names === undefined) return
  if (!Array.isArray(names) || !names.every((name) => typeof name === 'string')) {
    issues.push({ path, message: 'must be a list of names' })
  }
}

function checkPattern(pattern: string, path: string, issues: Issue[]): void {
  const compiled = compilePattern(pattern)
  if (typeof compiled === 'string') issues.push({ path, message: compiled })
}

function checkReferences(schema: JsonObject, root: Json, path: string, issues: Issue[]): void {
  for (const keyword of REFERENCES) {
    const reference = own(schema, keyword)
    if (reference === undefined) continue
    if (typeof reference !== 'string') issues.push({ path: at(path, keyword), message: 'must be a text' })
    else if (indexOf(root).find(schema, keyword, []) === undefined) {
      const outside = !reference.startsWith('#')
      const message = outside
        ? 'only references inside this schema are supported, such as #/$defs/address'
        : `the schema has no ${reference}`
      issues.push({ path: at(path, keyword), message })
    }
  }
}
