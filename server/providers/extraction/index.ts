import type { Json, JsonObject } from '#model/definition'
import type { Effort } from './effort.ts'

export type Requirement = { name: string; description?: string; schema?: JsonObject; required?: boolean }

export type ExtractionRequest = {
  message: string
  /** A plain name stands for a requirement of that name. */
  requirements: (Requirement | string)[]
  /** Values from earlier in the conversation; only a message that names one again changes it. */
  known?: JsonObject
  /** The requirement the person was just asked for: a bare answer is taken to be its value. */
  asked?: string
  timeZone: string
  now: Date
}

export type Extraction = {
  /** Known and found values together. */
  values: JsonObject
  /** Names of the requirements that are required (as they are unless they say otherwise) and have no value. */
  missing: string[]
  /** 0 to 1 for every value. */
  confidence: Record<string, number>
  extracted_by: string
}

/** Whose day it is, and what reading may still cost. The zone must be a valid name. */
export type Place = { timeZone: string; now: Date; effort: Effort }

/** A stretch of the message, and what it was taken for. */
export type Span = { from: number; to: number }

export type Candidate = Span & {
  value: Json
  score: number
  /** The message names the requirement: the same words may then serve two requirements. */
  named: boolean
}
