import type { ExecutionError, Json } from '#model/definition'
import { ExpressionFailure } from '#model/expressions'
import { toStorable, toStorableText } from '#model/storable'
import { NodeFailure } from '../node.ts'

const isPlainFailure = (error: unknown): error is { code: string; message: string; details?: Json } =>
  typeof error === 'object' && error !== null && 'code' in error && 'message' in error

/**
 * Returns the error to show. Errors that are not meant for tenants become `internal` without details. An error may
 * quote any text, so it is made storable.
 */
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
    code: toStorableText(code),
    message: toStorableText(message),
    ...(id !== undefined && { node_id: id }),
    ...(attempt !== undefined && { attempt }),
    ...(details !== undefined && { details: toStorable(details) }),
  }
}
