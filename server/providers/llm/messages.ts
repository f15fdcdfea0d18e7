import {
  type AssistantContent,
  type JSONValue,
  jsonSchema,
  type ModelMessage,
  type ToolSet,
  tool,
  type UserContent,
} from 'ai'
import type { Json, JsonObject } from '#model/definition'
import { isObject } from '#model/json'
import { toStorableText } from '#model/storable'
import type { Image, Message, Tool, ToolCall } from './index.ts'
import { readStorable } from './storable.ts'

// Converts our messages and tools to the library's types, and the library's tool calls to ours.

export const toSdkMessages = (messages: Message[]): ModelMessage[] => messages.map(toSdkMessage)

const toSdkMessage = (message: Message): ModelMessage => {
  switch (message.role) {
    case 'user':
      return { role: 'user', content: userContent(message.text, message.images ?? []) }
    case 'assistant':
      return { role: 'assistant', content: assistantContent(message.text, message.tool_calls ?? []) }
    case 'tool': {
      const output = { type: message.failed ? ('error-text' as const) : ('text' as const), value: message.text }
      const { call_id: toolCallId, name: toolName } = message
      return { role: 'tool', content: [{ type: 'tool-result', toolCallId, toolName, output }] }
    }
  }
}

const userContent = (text: string, images: Image[]): UserContent =>
  images.length === 0
    ? text
    : [
        { type: 'text', text },
        ...images.map(({ base64, media_type }) => ({ type: 'image' as const, image: base64, mediaType: media_type })),
      ]

const assistantContent = (text: string, calls: ToolCall[]): AssistantContent => [
  ...(text === '' ? [] : [{ type: 'text' as const, text }]),
  ...calls.map((call) => ({
    type: 'tool-call' as const,
    toolCallId: call.id,
    toolName: call.name,
    input: call.arguments,
    ...(call.signature !== undefined && { providerOptions: { google: { thoughtSignature: call.signature } } }),
  })),
]

export const toSdkTools = (tools: Tool[]): ToolSet =>
  Object.fromEntries(
    tools.map(({ name, description, schema }) => [
      name,
      tool({ description, inputSchema: jsonSchema(plainSchema(schema)), strict: false }),
    ]),
  )

/** Vendors require an object at the top level, without alternatives. The arguments are validated by us in any case. */
const plainSchema = (schema: JsonObject): JsonObject => {
  const { anyOf: _any, oneOf: _one, allOf: _all, not: _not, if: _if, $schema: _dialect, ...rest } = schema
  return { properties: {}, ...withoutNotes(rest), type: 'object' }
}

const OF_NAMES: ReadonlySet<string> = new Set(['properties', 'patternProperties', '$defs', 'definitions'])

/**
 * Removes our editor's notes (`x-…`), which vendors do not know. Below `properties`, a field name may also start with
 * `x-`.
 */
const withoutNotes = (schema: JsonObject): JsonObject =>
  Object.fromEntries(
    Object.entries(schema)
      .filter(([keyword]) => !keyword.startsWith('x-'))
      .map(([keyword, value]) => [keyword, OF_NAMES.has(keyword) ? mapValues(value, cleaned) : cleaned(value)]),
  )

const cleaned = (value: Json): Json => {
  if (Array.isArray(value)) return value.map(cleaned)
  return isObject(value) ? withoutNotes(value) : value
}

const mapValues = (value: Json, change: (inner: Json) => Json): Json =>
  isObject(value) ? Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, change(inner)])) : value

type SdkToolCall = { toolCallId: string; toolName: string; input: unknown; providerMetadata?: unknown }

export const fromSdkToolCall = (call: SdkToolCall): ToolCall => {
  const signature = signatureIn(call.providerMetadata)
  const wellFormed = isObject(call.input)
  return {
    id: toStorableText(call.toolCallId),
    name: toStorableText(call.toolName),
    arguments: wellFormed ? readStorable(JSON.stringify(call.input)) : {},
    ...(!wellFormed && { malformed: true }),
    ...(signature !== undefined && { signature }),
  }
}

const signatureIn = (metadata: unknown): string | undefined => {
  const found = (metadata as { google?: { thoughtSignature?: unknown } } | undefined)?.google?.thoughtSignature
  return typeof found === 'string' ? found : undefined
}

export type ProviderOptions = Record<string, Record<string, JSONValue>>
