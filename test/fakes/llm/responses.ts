import { DEFAULT_USAGE, type FakeAnswer } from './answers.ts'
import { type Asked, isStrict } from './chat.ts'
import { checkFunction, type Fields, fieldsOf, listOf, makePairing, need, only, textOf } from './strict.ts'

// POST /v1/responses: the newer of OpenAI's two protocols.

const PARAMETERS =
  'model input instructions tools tool_choice text max_output_tokens temperature store include stream'.split(' ')

export const readResponses = (body: Fields): Asked => {
  only(body, PARAMETERS, '')
  need(body.store === false, 'tenant data would be kept: store must be false')
  const pairing = makePairing()
  const said = listOf(body.input, 'input').map((entry, index) =>
    readItem(fieldsOf(entry, `input[${index}]`), index, pairing),
  )
  pairing.said()
  const tools = body.tools === undefined ? [] : listOf(body.tools, 'tools')
  need(body.tool_choice === undefined || tools.length > 0, 'tool_choice needs tools')
  const names = tools.map((entry, index) => checkFunction(fieldsOf(entry, `tools[${index}]`), `tools[${index}]`))
  const format = (body.text as { format?: Fields } | undefined)?.format
  if (format !== undefined) {
    need(format.type === 'json_schema', 'text.format.type must be json_schema')
    need(format.strict !== true || isStrict(format.schema), 'the schema does not fit the strict mode')
  }
  const instructions = typeof body.instructions === 'string' ? [{ role: 'system', text: body.instructions }] : []
  const all = [...instructions, ...said]
  return {
    protocol: 'responses',
    model: textOf(body.model, 'model'),
    system: all
      .filter(({ role }) => role === 'system')
      .map(({ text }) => text)
      .join('\n'),
    messages: all.filter(({ role }) => role !== 'system'),
    tools: names,
    toolChoice: body.tool_choice ?? null,
    schema: (format?.schema as Fields | undefined) ?? null,
    maxTokens: (body.max_output_tokens as number | undefined) ?? null,
    temperature: (body.temperature as number | undefined) ?? null,
    body,
  }
}

const readItem = (
  item: Fields,
  index: number,
  pairing: ReturnType<typeof makePairing>,
): { role: string; text: string } => {
  const where = `input[${index}]`
  if (item.type === 'function_call') {
    pairing.called(textOf(item.call_id, `${where}.call_id`))
    fieldsOf(JSON.parse(textOf(item.arguments, `${where}.arguments`)), `${where}.arguments`)
    return { role: 'assistant', text: '' }
  }
  if (item.type === 'function_call_output') {
    pairing.answered(textOf(item.call_id, `${where}.call_id`))
    return { role: 'tool', text: textOf(item.output, `${where}.output`) }
  }
  need(item.type !== 'item_reference', 'nothing is kept here that could be referred to')
  pairing.said()
  const role = textOf(item.role, `${where}.role`)
  need(['system', 'developer', 'user', 'assistant'].includes(role), `${where}.role is unknown`)
  const text =
    typeof item.content === 'string'
      ? item.content
      : listOf(item.content, `${where}.content`)
          .map((part) => textOf(fieldsOf(part, where).text, `${where}.content.text`))
          .join('')
  return { role: role === 'developer' ? 'system' : role, text }
}

export const writeResponses = (answer: FakeAnswer, number: number): Fields => {
  const usage = ('usage' in answer ? answer.usage : undefined) ?? DEFAULT_USAGE
  const cutOff = answer.kind === 'text' && answer.finish !== undefined && answer.finish !== 'stop'
  return {
    id: `resp_${number}`,
    object: 'response',
    created_at: 1_700_000_000,
    model: 'fake-model',
    status: cutOff ? 'incomplete' : 'completed',
    error: null,
    incomplete_details: cutOff ? { reason: answer.finish === 'length' ? 'max_output_tokens' : 'content_filter' } : null,
    output: outputOf(answer, number),
    usage: {
      input_tokens: usage.input,
      output_tokens: usage.output,
      total_tokens: usage.input + usage.output,
      input_tokens_details: { cached_tokens: 0 },
      output_tokens_details: { reasoning_tokens: 0 },
    },
  }
}

const outputOf = (answer: FakeAnswer, number: number): Fields[] => {
  const message = (content: Fields): Fields => ({
    type: 'message',
    id: `msg_${number}`,
    role: 'assistant',
    status: 'completed',
    content: [content],
  })
  switch (answer.kind) {
    case 'text':
      return [message({ type: 'output_text', text: answer.text, annotations: [], logprobs: [] })]
    case 'refusal':
      return [message({ type: 'refusal', refusal: answer.text })]
    case 'tools':
      return answer.calls.map((call, index) => ({
        type: 'function_call',
        id: `fc_${number}_${index}`,
        call_id: call.id ?? `call_${number}_${index}`,
        name: call.name,
        arguments: typeof call.arguments === 'string' ? call.arguments : JSON.stringify(call.arguments),
        status: 'completed',
      }))
    default:
      throw new Error(`${answer.kind} has no output`)
  }
}
