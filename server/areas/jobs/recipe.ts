import { createHash } from 'node:crypto'
import { canonicalText } from '#model/canonical'
import type { Json, JsonObject } from '#model/definition'
import { checkExpression, evaluateCondition, isReference, resolveValue } from '#model/expressions'
import { checkValue, newTally } from '#model/graph-expressions'
import type { Issue } from '#model/issue'
import { isObject, own } from '#model/json'
import { validateJson } from '#model/json-schema'
import { parseReference } from '#model/reference'
import type { FieldError } from '#platform/errors'

// How each record is processed: the definition, the mapping of the record to its input, and the condition for the
// record.

const ROOTS: ReadonlySet<string> = new Set(['record'])

export type Recipe = { mapping: JsonObject | null; only_if: string | null }

const sha256Of = (value: Json): Buffer => createHash('sha256').update(canonicalText(value)).digest()

/**
 * Returns the hash of what is done with an input. With another definition, every record is new. The mapping and the
 * condition are not included, because they only change the input and whether there is one.
 */
export const recipeHash = (definitionSha256: string): Buffer => sha256Of([2, definitionSha256])

/** The hash from when results were found by the hash of the whole record. */
export const legacyRecipeHash = (definitionSha256: string, { mapping, only_if }: Recipe): Buffer =>
  sha256Of([definitionSha256, mapping, only_if])

/** Returns the hash of everything that determines which rows of a source are processed, and how. */
export const doneHash = (
  definitionSha256: string,
  job: { mapping: Json; only_if: string | null; key_column: string | null; source_id: string | null },
): string => sha256Of([definitionSha256, job.mapping, job.only_if, job.key_column, job.source_id]).toString('hex')

/** Reports expressions that do not compile, or that refer to anything except `record`. */
export function checkMapping(mapping: JsonObject, path = '/mapping'): FieldError[] {
  const issues: Issue[] = []
  checkValue(
    mapping,
    path,
    { hasNode: () => false, inMap: false, inLoop: false, tally: newTally(), roots: ROOTS },
    issues,
  )
  return issues
}

export function checkOnlyIf(condition: string): FieldError[] {
  const message = checkExpression(condition, ROOTS)
  return message === null ? [] : [{ path: '/only_if', message }]
}

/** Reports fields that the workflow does not accept, if it accepts no additional properties. */
export function checkTargets(mapping: JsonObject, inputs: Json, path = '/mapping'): FieldError[] {
  if (!isObject(inputs) || own(inputs, 'additionalProperties') !== false) return []
  const known = own(inputs, 'properties')
  return Object.keys(mapping)
    .filter((field) => !isObject(known) || own(known, field) === undefined)
    .map((field) => ({ path: `${path}/${field}`, message: 'is not an input of the workflow' }))
}

/** Reports references to columns that the bound dataset does not have. */
export function checkColumns(mapping: JsonObject, columns: ReadonlySet<string>, path = '/mapping'): FieldError[] {
  return Object.entries(mapping).flatMap(([field, value]) => {
    if (!isReference(value)) return []
    const parsed = parseReference(value.$ref)
    const column = parsed.ok ? parsed.segments[1] : undefined
    return column === undefined || columns.has(String(column))
      ? []
      : [{ path: `${path}/${field}`, message: `the dataset has no field "${String(column).slice(0, 64)}"` }]
  })
}

const scopeOf = (record: JsonObject) => ({ input: null, nodes: {}, execution: {}, record })

export const wants = (condition: string, record: JsonObject): boolean => evaluateCondition(condition, scopeOf(record))

export type Prepared = { ok: true; input: JsonObject } | { ok: false; error: { code: string; message: string } }

export function mapRecord(mapping: JsonObject | null, record: JsonObject): Prepared {
  try {
    return { ok: true, input: mapping === null ? record : (resolveValue(mapping, scopeOf(record)) as JsonObject) }
  } catch (error) {
    return { ok: false, error: { code: 'mapping_failed', message: (error as Error).message } }
  }
}

/** Returns the input of the execution for a record. A record without a valid input is never tried again. */
export function prepareInput(mapping: JsonObject | null, inputs: Json, record: JsonObject): Prepared {
  const mapped = mapRecord(mapping, record)
  if (!mapped.ok) return mapped
  const [issue] = validateJson(inputs, mapped.input)
  if (!issue) return mapped
  return { ok: false, error: { code: 'invalid_input', message: `input${issue.path}: ${issue.message}` } }
}
