import type { ExecutionError, Json } from '#model/definition'
import { ExpressionFailure } from '#model/expressions'
import { isObject } from '#model/json'
import { NodeFailure } from '../node.ts'

const isPlainFailure = (error: unknown): error is { code: string; message: string; details?: Json } =>
  typeof error === 'object' && error !== null && 'code' in error && 'message' in error

const storable = (text: string): string => text.toWellFormed().replaceAll('\u0000', '')

/**
 * Makes a value storable. An error may quote any text, and PostgreSQL can store neither NUL nor half a surrogate
 * pair.
 */
const storableJson = (value: Json): Json => {
  if (typeof value === 'string') return storable(value)
  if (Array.isArray(value)) return value.map(storableJson)
  if (!isObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [storable(key), storableJson(inner)]))
}

/** Returns the error to show. Errors that are not meant for tenants become `internal` without details. */
export const errorOf = (error: unknown, id?: string, attempt?: number): ExecutionError => {
  const known =
    error instanceof NodeFailure ||
    error instanceof ExpressionFailure ||
    (isPlainFailure(error) && !(error instanceof Error))
  const { code, message } = known
    ? (error as { code: string; message: string })
    : { code: 'internal', message: 'the node failed because of an internal error' }
  const details = known && isPlainFailure(error) ? error.details : undefined
  return {
    code: storable(code),
    message: storable(message),
    ...(id !== undefined && { node_id: id }),
    ...(attempt !== undefined && { attempt }),
    ...(details !== undefined && { details: storableJson(details) }),
  }
}
