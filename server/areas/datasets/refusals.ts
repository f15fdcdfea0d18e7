import { type FieldError, Problem, problem } from '#platform/errors'
import { RecordsRefused } from './records/refused.ts'

/** Converts a refusal of records in a request body to a problem. */
export function refusedBody(error: unknown): unknown {
  if (!(error instanceof RecordsRefused)) return error
  const { kind, message, record } = error.refusal
  const where = record === undefined ? '' : `/records/${record}`
  switch (kind) {
    case 'syntax':
      return problem(
        'malformed',
        `The body cannot be read: ${record === undefined ? '' : `record ${record} `}${message}.`,
      )
    case 'deep':
      return problem('too_deep', `${record === undefined ? 'The body' : `Record ${record}`} ${message}.`)
    case 'large':
      return problem('too_large', record === undefined ? message : `Record ${record} ${message}.`)
    case 'type':
      return problem('unsupported_media_type', message)
    case 'record':
      return badRecord(`Record ${record} ${message}. Nothing was stored.`, { path: where, message })
  }
}

/**
 * Converts a refusal of a file to a problem. It names the line, and the number of the record if the file is an array.
 */
export function refusedFile(error: unknown): unknown {
  if (!(error instanceof RecordsRefused)) return error
  const { kind, message, line, record } = error.refusal
  const where = line === undefined ? '' : `line ${line}${record === undefined ? '' : `, record ${record + 1}`}: `
  const told = `${where}${message}${where === '' ? '' : '.'}`
  switch (kind) {
    case 'large':
      return problem('too_large', asSentence(told))
    case 'type':
      return problem('unsupported_media_type', message)
    case 'syntax':
    case 'deep':
    case 'record':
      return badRecord(`${asSentence(told)} Nothing was stored.`, { path: '/file', message: where + message })
  }
}

const asSentence = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)

const badRecord = (detail: string, error: FieldError): Problem => new Problem('bad_record', detail, { errors: [error] })
