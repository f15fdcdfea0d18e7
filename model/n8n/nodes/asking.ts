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

/** Returns the time limit of the question in seconds, if it has one. The defaults are those of n8n's fields. */
function limitOf(step: Step): number | undefined {
  const { values } = objectOf(objectOf(step.p.options).limitWaitTime)
  if (values === undefined) return undefined
  const { limitType, resumeAmount = 1, resumeUnit = 'hours' } = objectOf(values)
  const seconds = Number(resumeAmount) * (SECONDS[String(resumeUnit)] ?? 3_600)
  if (limitType === 'atSpecifiedTime' || !(seconds > 0)) {
    step.remark('its time limit is not a number of minutes, hours or days, so it waits without a limit')
    return undefined
  }
  return Math.min(31_536_000, seconds)
}

export function askAndWait(step: Step): Exit[] {
  const { p, node } = step
  step.remark(`people of the workspace are asked in their inbox, not through ${node.type.split('.').at(-1)}`)
  const due_in_s = limitOf(step)
  // If nobody answers in time, n8n continues without a response. Only a node that has an error port leaves by it.
  const on_error = node.settings.onError === 'continueErrorOutput' ? 'route' : 'continue'
  if (due_in_s !== undefined)
    step.remark(
      on_error === 'route'
        ? 'if nobody answers in time, it continues at the error output'
        : 'if nobody answers in time, it continues with empty data',
    )
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
    const asked = { question, schema: answerOf(step) }
    const id =
      due_in_s === undefined
        ? add('clarification', asked)
        : add('clarification', { ...asked, due_in_s, on_due: 'fail' }, { handling: { on_error } })
    return fieldsOut({ data: pathOut(['nodes', id, 'output']) })
  })
}
