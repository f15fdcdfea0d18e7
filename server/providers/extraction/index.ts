import type { Json, JsonObject } from '#model/definition'
import type { Effort } from './effort.ts'

export type Requirement = { name: string; description?: string; schema?: JsonObject; required?: boolean }

export type ExtractionRequest = {
  message: string
  /** A plain string is the name of a requirement without a schema. */
  requirements: (Requirement | string)[]
  /** Values from earlier in the conversation. A value changes only if the message names it again. */
  known?: JsonObject
  /** The requirement that the person was just asked for: a bare answer counts as its value. */
  asked?: string
  timeZone: string
  now: Date
}

export type Extraction = {
  /** The known values and the values found in the message. */
  values: JsonObject
  /** Names of the required requirements without a value. Requirements are required by default. */
  missing: string[]
  /** The confidence of every value, from 0 to 1. */
  confidence: Record<string, number>
  extracted_by: string
}

/** The time zone and the time of the message, and the remaining effort. The zone must be a valid name. */
export type Place = { timeZone: string; now: Date; effort: Effort }

/** A range of the message. */
export type Span = { from: number; to: number }

export type Candidate = Span & {
  value: Json
  score: number
  /** True if the message names the requirement: the same words may then be the value of two requirements. */
  named: boolean
}
