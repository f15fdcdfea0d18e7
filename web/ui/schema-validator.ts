import { type RJSFSchema, type RJSFValidationError, toErrorSchema, type ValidatorType } from '@rjsf/utils'
import type { Json, JsonObject } from '#model/definition'
import type { Issue } from '#model/issue'
import { validateJson } from '#model/json-schema'
import { translateMessage } from '#web/words/messages.ts'

// Form libraries compile schemas to functions, which the content security policy forbids; tenants' schemas must never
// become code. This validator calls the interpreter that the server uses.

/** Converts a form value to JSON: a field without input is absent, not undefined. */
const asJson = (value: unknown): Json => (value === undefined ? null : (JSON.parse(JSON.stringify(value)) as Json))

const toError = ({ path, message }: Issue): RJSFValidationError => ({
  property: path
    .split('/')
    .slice(1)
    .map((key) => (/^\d+$/.test(key) ? `[${key}]` : `.${key.replaceAll('~1', '/').replaceAll('~0', '~')}`))
    .join(''),
  message: translateMessage(message),
  stack: message,
  name: 'schema',
})

const issuesOf = (schema: RJSFSchema, value: unknown): Issue[] =>
  validateJson(schema as unknown as JsonObject, asJson(value))

export const validator: ValidatorType = {
  validateFormData(formData, schema) {
    const errors = issuesOf(schema, formData).map(toError)
    return { errors, errorSchema: toErrorSchema(errors) }
  },
  isValid(schema, formData, root) {
    const { $defs, definitions } = root ?? {}
    const whole = { ...($defs && { $defs }), ...(definitions && { definitions }), ...schema }
    return issuesOf(whole as RJSFSchema, formData).length === 0
  },
  rawValidation: (schema, formData) => ({ errors: issuesOf(schema, formData) as never[] }),
}
