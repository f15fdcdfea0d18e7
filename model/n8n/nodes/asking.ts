import type { JsonObject } from '#model/definition'
import { isForbiddenKey } from '#model/json'
import type { Exit } from '../flow.ts'
import { listOf, objectOf } from '../lenient.ts'
import { celOut, fieldsOut, pathOut, textOf } from '../out.ts'
import type { Step } from '../step.ts'

// A message that waits for an answer becomes a question to people of the workspace, who answer it where they answer all
// other questions.

const SECONDS: Record<string, number> = { minutes: 60, hours: 3_600, days: 86_400 }
/** A question has at most 4,000 characters. */
const LONGEST = 3_900

const TYPES: Record<string, JsonObject> = { number: { type: 'number' }, checkbox: { type: 'array' } }

function fieldOf(field: JsonObject): JsonObject {
  const options = listOf(objectOf(field.fieldOptions).values).map(({ option }) => String(option ?? ''))
  if (options.length > 0 && field.multiselect !== true) return { enum: [...new Set(options)] }
  return TYPES[String(field.fieldType)] ?? { type: 'string' }
}

/** Returns the form of the answer as JSON Schema. */
function answerOf({ p }: Step): JsonObject {
  if (p.responseType === 'freeText')
    return { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] }
  if (p.responseType !== 'customForm')
    return { type: 'object', properties: { approved: { type: 'boolean' } }, required: ['approved'] }
  const fields = listOf(objectOf(p.formFields).values)
    .map((field) => ({ name: String(field.fieldLabel ?? field.fieldName ?? ''), field }))
    .filter(({ name }) => name !== '' && !isForbiddenKey(name))
  return {
    type: 'object',
    properties: Object.fromEntries(fields.map(({ name, field }) => [name, fieldOf(field)])),
    required: fields.filter(({ field }) => field.requiredField === true).map(({ name }) => name),
  }
}

function dueOf({ p }: Step): JsonObject {
  const { resumeAmount, resumeUnit, limitType } = objectOf(objectOf(objectOf(p.options).limitWaitTime).values)
  const amount = Number(resumeAmount)
  if (limitType === 'atSpecifiedTime' || !(amount > 0)) return {}
  const seconds = Math.min(31_536_000, amount * (SECONDS[String(resumeUnit ?? 'minutes')] ?? 60))
  return { due_in_s: seconds, on_due: 'default', default: {} }
}

export function askAndWait(step: Step): Exit[] {
  const { p, node } = step
  step.remark(`people of the workspace are asked in their inbox, not through ${node.type.split('.').at(-1)}`)
  return step.each(({ scope, add }) => {
    const parts = [p.subject, p.message]
      .filter((part) => typeof part === 'string' && part.replace(/^=/, '').trim() !== '')
      .map((part) => textOf(step.out(part, scope, 'message')))
    const question =
      parts.length === 0
        ? 'Please answer'
        : step.guarded(
            celOut(
              `cel.bind(v, ${parts.join(' + "\\n\\n" + ')}, v == "" ? "Please answer" : size(v) > ${LONGEST} ? v.substring(0, ${LONGEST}) : v)`,
              'text',
            ),
          )
    const id = add('clarification', { question, schema: answerOf(step), ...dueOf(step) })
    return fieldsOut({ data: pathOut(['nodes', id, 'output']) })
  })
}
