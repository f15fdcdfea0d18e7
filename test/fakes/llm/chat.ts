import { DEFAULT_USAGE, type FakeAnswer } from './answers.ts'
import { checkFunction, type Fields, fieldsOf, listOf, makePairing, need, only, textOf } from './strict.ts'

// POST /v1/chat/completions: reads and checks the request, and writes the response.

export type Asked = {
  protocol: 'chat' | 'responses'
  model: string
  system: string
  messages: { role: string; text: string }[]
  tools: string[]
  toolChoice: unknown
  schema: Fields | null
  maxTokens: number | null
  temperature: number | null
  body: Fields
}

const PARAMETERS = [
  'model messages tools tool_choice response_format max_tokens max_completion_tokens temperature store user stream stream_options',
].flatMap((names) => names.split(' '))

export const readChat = (body: Fields): Asked => {
  only(body, PARAMETERS, '')
  const model = textOf(body.model, 'model')
  need(body.stream_options === undefined || body.stream === true, 'stream_options needs stream')
  const messages = listOf(body.messages, 'messages').map((message, index) => fieldsOf(message, `messages[${index}]`))
  need(messages.length > 0, 'messages must not be empty')
  const said = checkConversation(messages)
  const tools = body.tools === undefined ? [] : listOf(body.tools, 'tools')
  need(body.tools === undefined || tools.length > 0, 'tools must not be empty')
  need(body.tool_choice === undefined || tools.length > 0, 'tool_choice needs tools')
  const names = tools.map((entry, index) => {
    const tool = fieldsOf(entry, `tools[${index}]`)
    need(tool.type === 'function', `tools[${index}].type must be function`)
    return checkFunction(fieldsOf(tool.function, `tools[${index}].function`), `tools[${index}].function`)
  })
  need(new Set(names).size === names.length, 'tool names must differ')
  const limit = body.max_tokens ?? body.max_completion_tokens ?? null
  need(limit === null || (Number.isInteger(limit) && Number(limit) > 0), 'max_tokens must be a positive whole number')
  return {
    protocol: 'chat',
    model,
    system: said
      .filter(({ role }) => role === 'system')
      .map(({ text }) => text)
      .join('\n'),
    messages: said.filter(({ role }) => role !== 'system'),
    tools: names,
    toolChoice: body.tool_choice ?? null,
    schema: readFormat(body.response_format),
    maxTokens: limit as number | null,
    temperature: (body.temperature as number | undefined) ?? null,
    body,
  }
}

const checkConversation = (messages: Fields[]): { role: string; text: string }[] => {
  const pairing = makePairing()
  const said = messages.map((message, index) => {
    const where = `messages[${index}]`
    const role = textOf(message.role, `${where}.role`)
    if (role === 'tool') {
      pairing.answered(textOf(message.tool_call_id, `${where}.tool_call_id`))
      return { role, text: textOf(message.content, `${where}.content`) }
    }
    pairing.said()
    need(['system', 'developer', 'user', 'assistant'].includes(role), `${where}.role is unknown`)
    const calls = message.tool_calls === undefined ? [] : listOf(message.tool_calls, `${where}.tool_calls`)
    for (const entry of calls) {
      const call = fieldsOf(entry, `${where}.tool_calls`)
      pairing.called(textOf(call.id, `${where}.tool_calls.id`))
      const made = fieldsOf(call.function, `${where}.tool_calls.function`)
      fieldsOf(JSON.parse(textOf(made.arguments, `${where}.arguments`)), `${where}.arguments`)
    }
    need(message.content !== null || calls.length > 0, `${where}.content is missing`)
    return { role: role === 'developer' ? 'system' : role, text: contentOf(message.content, where) }
  })
  pairing.said()
  return said
}

const contentOf = (content: unknown, where: string): string => {
  if (content === null || content === undefined) return ''
  if (typeof content === 'string') return content
  return listOf(content, `${where}.content`)
    .map((part) => {
      const { type, text, image_url } = fieldsOf(part, where)
      if (type !== 'image_url') return textOf(text, `${where}.content.text`)
      return textOf(fieldsOf(image_url, `${where}.content.image_url`).url, `${where}.content.image_url.url`)
    })
    .join('')
}

const readFormat = (value: unknown): Fields | null => {
  if (value === undefined) return null
  const format = fieldsOf(value, 'response_format')
  need(format.type === 'json_schema', 'response_format.type must be json_schema')
  const wanted = fieldsOf(format.json_schema, 'response_format.json_schema')
  need(/^[a-zA-Z0-9_-]{1,64}$/.test(textOf(wanted.name, 'response_format.json_schema.name')), 'bad schema name')
  const schema = fieldsOf(wanted.schema, 'response_format.json_schema.schema')
  need(wanted.strict !== true || isStrict(schema), 'the schema does not fit the strict mode')
  return schema
}

/** Checks the rules of OpenAI's strict mode: every field is required, and no other field is allowed. */
export const isStrict = (schema: unknown): boolean => {
  if (typeof schema !== 'object' || schema === null) return true
  if (Array.isArray(schema)) return schema.every(isStrict)
  const { type, properties, required, additionalProperties } = schema as Fields
  if (type === 'object' || properties !== undefined) {
    const names = Object.keys((properties ?? {}) as Fields)
    if (additionalProperties !== false || !names.every((name) => ((required ?? []) as string[]).includes(name)))
      return false
  }
  return Object.values(schema).every(isStrict)
}

export const writeChat = (answer: FakeAnswer, number: number): Fields => {
  const { message, finish } = chatMessage(answer, number)
  const usage = 'usage' in answer && answer.usage !== undefined ? answer.usage : DEFAULT_USAGE
  return {
    id: `chatcmpl-${number}`,
    object: 'chat.completion',
    created: 1_700_000_000,
    model: 'fake-model',
    choices: [{ index: 0, message, finish_reason: finish, logprobs: null }],
    ...(usage && {
      usage: {
        prompt_tokens: usage.input,
        completion_tokens: usage.output,
        total_tokens: usage.input + usage.output,
        ...(usage.cost !== undefined && { cost: usage.cost }),
      },
    }),
  }
}

const chatMessage = (answer: FakeAnswer, number: number): { message: Fields; finish: string } => {
  const base = { role: 'assistant', refusal: null }
  switch (answer.kind) {
    case 'text':
      return { message: { ...base, content: answer.text }, finish: answer.finish ?? 'stop' }
    case 'refusal':
      return { message: { ...base, content: null, refusal: answer.text }, finish: 'stop' }
    case 'tools': {
      const tool_calls = answer.calls.map((call, index) => ({
        id: call.id ?? `call_${number}_${index}`,
        type: 'function',
        function: {
          name: call.name,
          arguments: typeof call.arguments === 'string' ? call.arguments : JSON.stringify(call.arguments),
        },
      }))
      return { message: { ...base, content: answer.text ?? null, tool_calls }, finish: 'tool_calls' }
    }
    default:
      throw new Error(`${answer.kind} has no message`)
  }
}
