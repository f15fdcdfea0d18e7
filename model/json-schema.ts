// An interpreter for JSON Schema 2020-12. Tenants write schemas (inputs, questions, forms), and a validator that
// compiles schemas to JavaScript would turn tenant text into host code. This interpreter only walks data, within a
// budget.

import type { Json, JsonObject } from './definition.ts'
import type { Issue } from './issue.ts'
import { at, isObject, own } from './json.ts'
import { collectEvaluated } from './json-schema-evaluated.ts'
import { hasFormat } from './json-schema-format.ts'
import { closestForm, type Tried } from './json-schema-forms.ts'
import { indexOf, REFERENCES, type SchemaIndex } from './json-schema-index.ts'
import { atLeast, atMost, checkNumber, checkType, codePoints, stableText } from './json-schema-values.ts'
import { compilePattern } from './pattern.ts'

export type ValidateOptions = {
  /** Returns true for a value that the schema does not check, such as an expression in place of its result. */
  opaque?(value: Json, schema: JsonObject): boolean
  /** Prefix of the reported paths. */
  path?: string
  /**
   * Steps that several checks share; no check may take more than the limit for one check. Below zero: the steps were
   * not enough for this check.
   */
  shared?: { steps: number }
}

const MAX_ISSUES = 50
/** A step is the check of one value by one schema, or the same amount of other work: 0.3 to 0.6 µs. */
export const MAX_STEPS = 100_000
const MAX_DEPTH = 128

class TooCostly extends Error {}

/**
 * Returns the errors of `value`; an empty list means that it is valid. Check a tenant's schema with `checkSchema`
 * first.
 */
export function validateJson(schema: Json, value: Json, options: ValidateOptions = {}): Issue[] {
  const walk = new Walk(schema, options)
  const issues: Issue[] = []
  try {
    walk.visit(schema, value, options.path ?? '', issues, 0)
  } catch (error) {
    if (!(error instanceof TooCostly)) throw error
    return [{ path: options.path ?? '', message: 'checking this takes too much work; simplify the schema or the data' }]
  }
  return issues.slice(0, MAX_ISSUES)
}

class Walk {
  private steps: number
  /** Above zero during a check that needs only a yes or no: the first error is enough, and its message is not shown. */
  private quiet = 0
  readonly index: SchemaIndex
  /** The addresses of the parts that the walk is in, outermost first. */
  readonly scope: string[] = []
  private readonly options: ValidateOptions

  constructor(root: Json, options: ValidateOptions) {
    this.index = indexOf(root)
    this.options = options
    this.steps = MAX_STEPS
  }

  spend(steps: number): void {
    const { shared } = this.options
    this.steps -= steps
    if (shared) shared.steps -= steps
    if (this.steps < 0 || (shared && shared.steps < 0)) throw new TooCostly()
  }

  passes(schema: Json, value: Json, depth: number, judged = false): boolean {
    const issues: Issue[] = []
    this.quiet += 1
    this.visit(schema, value, '', issues, depth, judged)
    this.quiet -= 1
    return issues.length === 0
  }

  /**
   * Checks a value against a schema. `judged`: an outer schema of the same value has already decided to check the
   * value.
   */
  visit(schema: Json, value: Json, path: string, issues: Issue[], depth: number, judged = false): void {
    this.deepen(depth)
    if (schema === true) return
    if (schema === false) {
      issues.push({ path, message: 'is not allowed' })
      return
    }
    if (!isObject(schema) || (!judged && this.options.opaque?.(value, schema))) return
    if (this.isEnough(issues)) return
    if (this.index.addressOf(schema) === undefined) this.visitKeywords(schema, value, path, issues, depth)
    else this.within(schema, () => this.visitKeywords(schema, value, path, issues, depth))
  }

  /** Calls `work` in the scope of the part of the document that the schema belongs to. */
  within(schema: JsonObject, work: () => void): void {
    const address = this.index.addressOf(schema)
    const enters = address !== undefined && address !== this.scope.at(-1)
    if (enters) this.scope.push(address)
    work()
    if (enters) this.scope.pop()
  }

  deepen(depth: number): void {
    this.spend(1)
    if (depth > MAX_DEPTH) throw new TooCostly()
  }

  private visitKeywords(schema: JsonObject, value: Json, path: string, issues: Issue[], depth: number): void {
    const before = issues.length
    checkType(schema, value, path, issues)
    if (issues.length > before) return
    this.checkEquality(schema, value, path, issues)
    if (typeof value === 'number') checkNumber(schema, value, path, issues)
    else if (typeof value === 'string') this.checkText(schema, value, path, issues)
    else if (Array.isArray(value)) this.checkList(schema, value, path, issues, depth)
    else if (isObject(value)) this.checkObject(schema, value, path, issues, depth)
    this.checkCombinations(schema, value, path, issues, depth)
    if (issues.length === before && typeof value === 'object' && value !== null)
      this.checkUnevaluated(schema, value, path, issues, depth)
  }

  private isEnough(issues: Issue[]): boolean {
    return issues.length >= (this.quiet > 0 ? 1 : MAX_ISSUES)
  }

  /** Returns the text of values for a message; an empty text if the message is not shown. */
  private shown(values: Json[], most: number): string {
    if (this.quiet > 0) return ''
    let text = ''
    for (const value of values) {
      if (text.length >= most) break
      const next = JSON.stringify(typeof value === 'string' ? value.slice(0, most) : value)
      this.spend(next.length >> 6)
      text += text === '' ? next : `, ${next}`
    }
    return text.slice(0, most)
  }

  private checkEquality(schema: JsonObject, value: Json, path: string, issues: Issue[]): void {
    const expected = own(schema, 'const')
    if (expected !== undefined && !this.same(expected, value)) {
      issues.push({ path, message: `must be ${this.shown([expected], 100)}` })
    }
    const allowed = own(schema, 'enum')
    if (Array.isArray(allowed) && !allowed.some((item) => this.same(item, value))) {
      issues.push({ path, message: `must be one of ${this.shown(allowed, 200)}` })
    }
  }

  private same(a: Json, b: Json): boolean {
    this.spend(typeof a === 'string' ? 1 + (a.length >> 11) : 1)
    if (a === b) return true
    if (Array.isArray(a) && Array.isArray(b)) {
      return a.length === b.length && a.every((item, index) => this.same(item, b[index] as Json))
    }
    if (!isObject(a) || !isObject(b)) return false
    const keys = Object.keys(a)
    this.spend(keys.length)
    return (
      keys.length === Object.keys(b).length &&
      keys.every((key) => Object.hasOwn(b, key) && this.same(a[key] as Json, b[key] as Json))
    )
  }

  private checkText(schema: JsonObject, value: string, path: string, issues: Issue[]): void {
    const min = own(schema, 'minLength')
    const max = own(schema, 'maxLength')
    if (typeof min === 'number' && this.isShorter(value, min))
      issues.push({ path, message: value === '' ? 'must not be empty' : atLeast(min, 'character') })
    if (typeof max === 'number' && !this.isShorter(value, max + 1))
      issues.push({ path, message: atMost(max, 'character') })
    const pattern = own(schema, 'pattern')
    if (typeof pattern === 'string' && !this.matches(pattern, value)) {
      issues.push({ path, message: `must match the pattern ${pattern.slice(0, 100)}` })
    }
    const format = own(schema, 'format')
    if (typeof format === 'string' && !hasFormat(format, value))
      issues.push({ path, message: `must be a valid ${format}` })
  }

  /** Compares the length in characters, which are one or two code units each: most texts need no counting. */
  private isShorter(text: string, count: number): boolean {
    if (text.length < count) return true
    if (text.length >= count * 2) return false
    this.spend(text.length >> 5)
    return codePoints(text) < count
  }

  matches(source: string, text: string): boolean {
    const pattern = compilePattern(source)
    if (typeof pattern === 'string') return false
    this.spend(pattern.cost(text))
    return pattern.test(text) ?? false
  }

  private checkList(schema: JsonObject, value: Json[], path: string, issues: Issue[], depth: number): void {
    const min = own(schema, 'minItems')
    const max = own(schema, 'maxItems')
    if (typeof min === 'number' && value.length < min) issues.push({ path, message: atLeast(min, 'item') })
    if (typeof max === 'number' && value.length > max) issues.push({ path, message: atMost(max, 'item') })
    const prefix = own(schema, 'prefixItems')
    const prefixes = Array.isArray(prefix) ? prefix : []
    const rest = own(schema, 'items')
    for (const [index, item] of value.entries()) {
      const itemSchema = index < prefixes.length ? prefixes[index] : rest
      if (itemSchema !== undefined) this.visit(itemSchema, item, at(path, index), issues, depth + 1)
    }
    if (own(schema, 'uniqueItems') === true) this.checkUnique(value, path, issues)
    const contains = own(schema, 'contains')
    if (contains === undefined) return
    const found = value.filter((item) => this.passes(contains, item, depth + 1)).length
    const least = own(schema, 'minContains') ?? 1
    const most = own(schema, 'maxContains')
    if (found < Number(least))
      issues.push({ path, message: `must contain at least ${least} items that match the schema of contains` })
    if (typeof most === 'number' && found > most)
      issues.push({ path, message: `must contain at most ${most} items that match the schema of contains` })
  }

  private checkUnique(value: Json[], path: string, issues: Issue[]): void {
    const seen = new Set<string>()
    for (const item of value) {
      const key = stableText(item, (steps) => this.spend(steps))
      if (seen.has(key)) {
        issues.push({ path, message: 'must not contain the same item twice' })
        return
      }
      seen.add(key)
    }
  }

  private checkObject(schema: JsonObject, value: JsonObject, path: string, issues: Issue[], depth: number): void {
    const keys = Object.keys(value)
    this.spend(keys.length)
    const min = own(schema, 'minProperties')
    const max = own(schema, 'maxProperties')
    if (typeof min === 'number' && keys.length < min) issues.push({ path, message: atLeast(min, 'field') })
    if (typeof max === 'number' && keys.length > max) issues.push({ path, message: atMost(max, 'field') })
    this.require(own(schema, 'required'), value, path, issues)
    const dependent = own(schema, 'dependentRequired')
    if (isObject(dependent)) {
      for (const [key, needed] of Object.entries(dependent)) {
        this.spend(1)
        if (Object.hasOwn(value, key)) this.require(needed, value, path, issues)
      }
    }
    const dependentSchemas = own(schema, 'dependentSchemas')
    if (isObject(dependentSchemas)) {
      for (const [key, inner] of Object.entries(dependentSchemas)) {
        if (Object.hasOwn(value, key)) this.visit(inner, value, path, issues, depth + 1, true)
      }
    }
    this.checkFields(schema, value, keys, path, issues, depth)
  }

  private require(required: Json | undefined, value: JsonObject, path: string, issues: Issue[]): void {
    if (!Array.isArray(required)) return
    this.spend(required.length)
    for (const key of required) {
      if (typeof key !== 'string' || Object.hasOwn(value, key)) continue
      issues.push({ path: at(path, key), message: 'is required' })
      if (this.isEnough(issues)) return
    }
  }

  private checkFields(
    schema: JsonObject,
    value: JsonObject,
    keys: string[],
    path: string,
    issues: Issue[],
    depth: number,
  ): void {
    const properties = own(schema, 'properties')
    const patterns = own(schema, 'patternProperties')
    const additional = own(schema, 'additionalProperties')
    const names = own(schema, 'propertyNames')
    for (const key of keys) {
      const item = own(value, key) as Json
      let known = false
      const property = isObject(properties) ? own(properties, key) : undefined
      if (property !== undefined) {
        known = true
        this.visit(property, item, at(path, key), issues, depth + 1)
      }
      if (isObject(patterns)) {
        for (const [source, inner] of Object.entries(patterns)) {
          if (!this.matches(source, key)) continue
          known = true
          this.visit(inner, item, at(path, key), issues, depth + 1)
        }
      }
      if (!known && additional === false) issues.push({ path: at(path, key), message: 'unknown field' })
      else if (!known && additional !== undefined) this.visit(additional, item, at(path, key), issues, depth + 1)
      if (names !== undefined && !this.passes(names, key, depth + 1)) {
        issues.push({ path: at(path, key), message: 'this name is not allowed' })
      }
    }
  }

  private checkCombinations(schema: JsonObject, value: Json, path: string, issues: Issue[], depth: number): void {
    for (const keyword of REFERENCES) {
      const reference = own(schema, keyword)
      if (typeof reference !== 'string') continue
      const target = this.index.find(schema, keyword, this.scope)
      if (target === undefined) issues.push({ path, message: `the schema has no ${reference}` })
      else this.visit(target, value, path, issues, depth + 1, true)
    }
    const all = own(schema, 'allOf')
    if (Array.isArray(all)) for (const inner of all) this.visit(inner, value, path, issues, depth + 1, true)
    const any = own(schema, 'anyOf')
    if (Array.isArray(any)) this.checkAny(any, value, path, issues, depth)
    const one = own(schema, 'oneOf')
    if (Array.isArray(one)) {
      const passing = one.filter((inner) => this.passes(inner, value, depth + 1, true)).length
      if (passing === 0) this.checkAny(one, value, path, issues, depth)
      else if (passing > 1)
        issues.push({ path, message: `must match exactly one of the allowed forms, not ${passing}` })
    }
    const not = own(schema, 'not')
    if (not !== undefined && this.passes(not, value, depth + 1, true))
      issues.push({ path, message: 'has a form that is not allowed' })
    const condition = own(schema, 'if')
    if (condition !== undefined) {
      const branch = own(schema, this.passes(condition, value, depth + 1, true) ? 'then' : 'else')
      if (branch !== undefined) this.visit(branch, value, path, issues, depth + 1, true)
    }
  }

  /** Checks fields and items that no other keyword of the schema, or of the schemas it refers to, has evaluated. */
  private checkUnevaluated(
    schema: JsonObject,
    value: JsonObject | Json[],
    path: string,
    issues: Issue[],
    depth: number,
  ): void {
    const inner = own(schema, Array.isArray(value) ? 'unevaluatedItems' : 'unevaluatedProperties')
    if (inner === undefined) return
    const seen = new Set<string>()
    collectEvaluated(this, schema, value, seen, depth, true)
    for (const [key, item] of Object.entries(value)) {
      this.spend(1)
      if (seen.has(key)) continue
      if (inner === false) issues.push({ path: at(path, key), message: 'unknown field' })
      else this.visit(inner, item, at(path, key), issues, depth + 1)
      if (this.isEnough(issues)) return
    }
  }

  /**
   * Reports the errors of the alternative that the value comes closest to, so that a wrong field inside one of several
   * alternatives is named. If the value resembles none of them, names them all.
   */
  private checkAny(forms: Json[], value: Json, path: string, issues: Issue[], depth: number): void {
    const tried: Tried[] = []
    for (const form of forms) {
      const found: Issue[] = []
      this.visit(form, value, path, found, depth + 1, true)
      if (found.length === 0) return
      tried.push({ form, issues: found })
    }
    if (this.quiet > 0) issues.push(...tried[0]!.issues)
    else issues.push(...closestForm(tried, value, path))
  }
}
