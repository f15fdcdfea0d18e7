import { type FieldError, Problem, problem } from '#platform/errors'
import { RecordsRefused } from './records/refused.ts'

/** What was wrong with records that came in the body of a request. */
export function refusedBody(error: unknown): unknown {
  if (!(error instanceof RecordsRefused)) return error
  const { kind, message, record } = error.refusal
  const where = record === undefined ? '' : `/records/${record}`
  switch (kind) {
    case 'syntax':
      return problem('malformed', `The body is not JSON: ${record === undefined ? '' : `record ${record} `}${message}.`)
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

/** The same of a file: people find a bad row by its line. */
export function refusedFile(error: unknown): unknown {
  if (!(error instanceof RecordsRefused)) return error
  const { kind, message, line } = error.refusal
  const told = line === undefined ? message : `line ${line}: ${message}`
  switch (kind) {
    case 'large':
      return problem('too_large', line === undefined ? message : `Line ${line}: ${message}.`)
    case 'type':
      return problem('unsupported_media_type', message)
    case 'syntax':
    case 'deep':
    case 'record':
      return badRecord(
        line === undefined ? `${message} Nothing was stored.` : `Line ${line}: ${message}. Nothing was stored.`,
        { path: '/file', message: told },
      )
  }
}

const badRecord = (detail: string, error: FieldError): Problem => new Problem('bad_record', detail, { errors: [error] })
