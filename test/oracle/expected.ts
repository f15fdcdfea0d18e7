import type { Json } from '#model/definition'

/** An expected value whose details may be partly unknown. */
export type Expected =
  | string
  | number
  | boolean
  | null
  | AnyId
  | AnError
  | OneOf
  | Expected[]
  | { [key: string]: Expected }

/** An id that the engine chose. */
export class AnyId {}

/** An error with these fields; its message and details are not compared. */
export class AnError {
  readonly code: string
  readonly node_id?: string
  readonly attempt?: number

  constructor({ code, node_id, attempt }: { code: string; node_id?: string; attempt?: number }) {
    this.code = code
    if (node_id !== undefined) this.node_id = node_id
    if (attempt !== undefined) this.attempt = attempt
  }
}

/** One of several values, depending on which of several failures happened first. */
export class OneOf {
  readonly options: readonly Expected[]

  constructor(options: readonly Expected[]) {
    this.options = options
  }
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

export function matches(actual: Json | undefined, expected: Expected): boolean {
  if (expected instanceof AnyId) return typeof actual === 'string' && actual !== ''
  if (expected instanceof OneOf) return expected.options.some((option) => matches(actual, option))
  if (Array.isArray(expected))
    return (
      Array.isArray(actual) &&
      actual.length === expected.length &&
      expected.every((one, at) => matches(actual[at], one))
    )
  if (!isRecord(expected)) return actual === expected
  if (!isRecord(actual)) return false
  const keys = Object.keys(expected)
  if (!(expected instanceof AnError) && Object.keys(actual).length !== keys.length) return false
  return keys.every((key) => matches(actual[key] as Json, expected[key as never] as Expected))
}
