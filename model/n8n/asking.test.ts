import { expect, test } from 'vitest'
import type { JsonObject } from '#model/definition'
import { unusableDefaults } from '#model/question-defaults'
import { base, byHand, convertNodes, convertOne, nodesOf } from '#test/n8n/convert'

// A message that waits for an answer asks people of the workspace.

const approval = { type: 'object', properties: { approved: { type: 'boolean' } }, required: ['approved'] }
const freeText = { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] }
const form = {
  type: 'object',
  properties: { Decision: { enum: ['Yes', 'No'] }, Why: { type: 'string' } },
  required: ['Decision'],
}
const formFields: JsonObject = {
  values: [
    {
      fieldLabel: 'Decision',
      fieldType: 'dropdown',
      fieldOptions: { values: [{ option: 'Yes' }, { option: 'No' }] },
      requiredField: true,
    },
    { fieldLabel: 'Why', fieldType: 'textarea' },
  ],
}
const limited = (values: JsonObject): JsonObject => ({ options: { limitWaitTime: { values } } })
const minutes = limited({ limitType: 'afterTimeInterval', resumeAmount: 45, resumeUnit: 'minutes' })
const ask = (parameters: JsonObject, more: JsonObject = {}) =>
  convertOne('gmail', { operation: 'sendAndWait', message: '={{ $json.text }}', ...parameters }, more)
const inTime = { due_in_s: 2_700, on_due: 'fail' }
const NO_ANSWER = 'if nobody answers in time, it continues with empty data'

test.each<[string, JsonObject, JsonObject, JsonObject]>([
  ['an approval', {}, {}, { schema: approval }],
  ['a free text', { responseType: 'freeText' }, {}, { schema: freeText }],
  ['a form', { responseType: 'customForm', formFields }, {}, { schema: form }],
  ['an approval in time', minutes, { on_error: 'continue' }, { schema: approval, ...inTime }],
  [
    'a free text in time',
    { responseType: 'freeText', ...minutes },
    { on_error: 'continue' },
    { schema: freeText, ...inTime },
  ],
  [
    'a form in time',
    { responseType: 'customForm', formFields, ...minutes },
    { on_error: 'continue' },
    { schema: form, ...inTime },
  ],
])('%s becomes a question that continues without an answer after its limit', (_what, parameters, handling, args) => {
  const converted = ask(parameters)
  expect(byHand(converted)).toEqual([])
  const [asked, ...others] = nodesOf(converted, 'clarification')
  const { id: _id, type: _type, name: _name, ...question } = asked!
  expect([question, others]).toEqual([{ ...handling, args: { ...args, question: expect.anything() } }, []])
  expect(unusableDefaults(converted.definition)).toEqual([])
  expect(converted.report.some(({ why }) => why?.includes(NO_ANSWER) === true)).toBe('due_in_s' in args)
})

test.each<[string, JsonObject, number | undefined]>([
  ['no limit', {}, undefined],
  ['the defaults of n8n', limited({}), 3_600],
  ['hours', limited({ resumeAmount: 2 }), 7_200],
  ['days', limited({ resumeAmount: 1.5, resumeUnit: 'days' }), 129_600],
  ['more than a year', limited({ resumeAmount: 400, resumeUnit: 'days' }), 31_536_000],
])('the limit of %s', (_what, parameters, seconds) => {
  expect(nodesOf(ask(parameters), 'clarification')[0]!.args!.due_in_s).toBe(seconds)
})

test.each<[string, JsonObject]>([
  ['a date', { limitType: 'atSpecifiedTime', maxDateAndTime: '2030-01-01T00:00:00' }],
  ['an expression', { resumeAmount: '={{ $json.hours }}' }],
  ['nothing', { resumeAmount: 0 }],
])('%s as the limit is reported and left out', (_what, values) => {
  const converted = ask(limited(values))
  expect(nodesOf(converted, 'clarification')[0]).not.toHaveProperty('args.due_in_s')
  expect(JSON.stringify(converted.report)).toContain('so it waits without a limit')
})

test('the error port of a question stays, and a question is not asked again when its limit has passed', () => {
  const [routed] = nodesOf(ask(minutes, { onError: 'continueErrorOutput' }), 'clarification')
  expect(routed).toMatchObject({ on_error: 'route' })
  const [retried] = nodesOf(ask(minutes, { retryOnFail: true }), 'clarification')
  expect([retried!.on_error, retried!.retry]).toEqual(['continue', undefined])
})

test('each of several items gets a question that continues without an answer', () => {
  const converted = convertNodes(
    [
      { name: 'Start', type: base('manualTrigger') },
      { name: 'List', type: base('code'), parameters: { jsCode: 'return [{ json: {} }, { json: {} }]' } },
      { name: 'It', type: base('gmail'), parameters: { operation: 'sendAndWait', message: 'Go?', ...minutes } },
    ],
    [
      ['Start', 'List'],
      ['List', 'It'],
    ],
  )
  expect(nodesOf(converted, 'clarification')).toMatchObject([{ on_error: 'continue', args: inTime }])
})
