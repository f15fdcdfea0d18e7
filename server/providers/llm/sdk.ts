import { generateText, type LanguageModelUsage, type Output, type LanguageModel as SdkModel, streamText } from 'ai'
import type { JsonSchema } from '#model/node'
import { toStorableText } from '#model/storable'
import { type CallLimits, callModel, DEFAULT_LIMITS } from './calls.ts'
import type { Finish, LanguageModel, Prompt, Tool, Turn, Usage } from './index.ts'
import { fromSdkToolCall, type ProviderOptions, toSdkMessages, toSdkTools } from './messages.ts'
import { ModelProblem } from './problem.ts'
import { objectFrom } from './structured.ts'
import { modelName, openVendor, type VendorSettings } from './vendors.ts'

// Implements the interface with the AI SDK. One call is one request to the provider: the SDK's tool loop, retries and
// object parsing are not used, because the engine journals the turns and we validate the responses.

// Otherwise the library writes to the console, bypassing the logger and its redaction.
globalThis.AI_SDK_LOG_WARNINGS = false

type Wanted = {
  schema?: JsonSchema
  schemaName?: string | undefined
  tools?: Tool[]
  toolChoice?: 'auto' | 'none' | undefined
}

export const makeSdkModel = (settings: VendorSettings, usual: Partial<CallLimits> = {}): LanguageModel => {
  const open = openVendor(settings)
  const secret = settings.apiKey
  const limits: CallLimits = { ...DEFAULT_LIMITS, ...usual }

  const ask = async (prompt: Prompt, wanted: Wanted): Promise<Turn> => {
    const { signal, timeoutMs } = prompt
    const model = await open(prompt.model ?? settings.model)
    const within = timeoutMs === undefined ? limits : { ...limits, timeoutMs: Math.min(limits.timeoutMs, timeoutMs) }
    return callModel((abort) => once(model, prompt, wanted, abort), within, { signal, secret })
  }

  return {
    name: modelName(settings),
    available: () => null,
    generate: async (prompt) => {
      const { text, finish, usage } = await ask(prompt, {})
      if (finish === 'refused')
        throw new ModelProblem('model_refused', 'the language model refused to answer', { usage })
      if (text.trim() === '')
        throw new ModelProblem('model_output_invalid', emptyBecause(finish, prompt.maxTokens), { usage })
      return { text, finish, usage }
    },
    generateObject: (prompt) => {
      const { schema, schemaName } = prompt
      const system = [prompt.system, formInWords(schema)].filter((part) => part !== undefined).join('\n\n')
      return objectFrom(prompt, (messages) => ask({ ...prompt, system, messages }, { schema, schemaName }))
    },
    turn: (prompt) => ask(prompt, { tools: prompt.tools, toolChoice: prompt.toolChoice }),
  }
}

const emptyBecause = (finish: Finish, maxTokens: number): string =>
  finish === 'length'
    ? `the language model used its ${maxTokens} tokens without an answer; raise the limit`
    : 'the language model sent an empty answer'

/** Describes the schema in words as well, because not every compatible server passes the schema on to the model. */
const formInWords = (schema: JsonSchema): string =>
  `Answer with one JSON value and nothing else. It must be valid against this JSON Schema:\n${JSON.stringify(schema)}`

const once = async (model: SdkModel, prompt: Prompt, wanted: Wanted, abortSignal: AbortSignal): Promise<Turn> => {
  const { system, messages, maxTokens, temperature, onText } = prompt
  const tools = wanted.tools ?? []
  const asked = {
    model,
    messages: toSdkMessages(messages),
    maxOutputTokens: maxTokens,
    maxRetries: 0,
    abortSignal,
    providerOptions: PROVIDER_OPTIONS,
    ...(system !== undefined && { instructions: system }),
    ...(temperature !== undefined && { temperature }),
    ...(wanted.schema !== undefined && { output: jsonAsText(wanted.schema, wanted.schemaName) }),
    ...(tools.length > 0 && { tools: toSdkTools(tools), toolChoice: wanted.toolChoice ?? ('auto' as const) }),
  }
  const result =
    onText === undefined ? await generateText(asked) : await streamed(streamText({ ...asked, onError }), onText)
  const refused = result.finishReason === 'content-filter' || result.providerMetadata?.heddle?.refused === true
  const text = toStorableText(result.text)
  const tool_calls = refused ? [] : result.toolCalls.map(fromSdkToolCall)
  const finish = refused ? 'refused' : finishOf(result.finishReason, tool_calls.length > 0)
  return { text, tool_calls, finish, usage: usageOf(result.usage, prompt, text, tool_calls) }
}

/** Without this handler, the library writes the error to the console. The stream reports the error too. */
const onError = (): void => {}

type Streaming = Pick<
  ReturnType<typeof streamText>,
  'fullStream' | 'text' | 'toolCalls' | 'finishReason' | 'providerMetadata' | 'usage'
>

async function streamed(answer: Streaming, onText: NonNullable<Prompt['onText']>) {
  let from = 0
  for await (const part of answer.fullStream) {
    if (part.type === 'error') throw part.error
    if (part.type === 'abort') throw new DOMException('the call was aborted', 'AbortError')
    const text = part.type === 'text-delta' ? toStorableText(part.text) : ''
    if (text === '') continue
    onText({ from, text })
    from += text.length
  }
  const [text, toolCalls, finishReason, providerMetadata, usage] = await Promise.all([
    answer.text,
    answer.toolCalls,
    answer.finishReason,
    answer.providerMetadata,
    answer.usage,
  ])
  // The stream ended properly, but before the event that gives the reason of the end.
  if (finishReason === 'interrupted')
    throw new ModelProblem('provider_unavailable', 'the language model ended its answer in the middle')
  return { text, toolCalls, finishReason, providerMetadata, usage }
}

/**
 * The provider must not store the conversation, and a tenant's schema need not follow the restrictions of the strict
 * modes.
 */
const PROVIDER_OPTIONS: ProviderOptions = {
  openai: { store: false, strictJsonSchema: false },
  compatible: { strictJsonSchema: false },
}

/** Requests JSON and returns the text unchanged: parsing and validation happen in our code. */
const jsonAsText = (schema: JsonSchema, name = 'answer'): Output.Output<string, string, never> => ({
  name: 'json',
  responseFormat: Promise.resolve({ type: 'json', schema, name }),
  parseCompleteOutput: async ({ text }) => text,
  parsePartialOutput: async () => undefined,
  createElementStreamTransform: () => undefined,
})

const finishOf = (reason: string, calls: boolean): Finish => {
  if (calls) return 'tools'
  return reason === 'stop' || reason === 'length' ? reason : 'other'
}

const usageOf = (usage: LanguageModelUsage, prompt: Prompt, text: string, calls: unknown[]): Usage => {
  const cost = usage.raw?.cost
  const { inputTokens, outputTokens } = usage
  if (inputTokens !== undefined && outputTokens !== undefined)
    return { input_tokens: inputTokens, output_tokens: outputTokens, ...(typeof cost === 'number' && { cost }) }
  const asked = JSON.stringify(prompt.messages).length + (prompt.system?.length ?? 0)
  const answered = text.length + (calls.length > 0 ? JSON.stringify(calls).length : 0)
  return { input_tokens: Math.ceil(asked / 4), output_tokens: Math.ceil(answered / 4), estimated: true }
}
