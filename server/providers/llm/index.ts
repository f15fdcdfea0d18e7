import type { Json } from '#model/definition'
import type { JsonSchema } from '#model/node'

// The interface to language models. No type of a vendor or library appears here: turns are stored in the journal, and a
// journal outlives libraries.

export type Usage = {
  input_tokens: number
  output_tokens: number
  /** The cost of the call as the provider reports it, in its own currency. Most providers report none. */
  cost?: number
  /** True if the provider reported no counts; these counts are estimates from the length of the texts. */
  estimated?: true
}

export type ToolCall = {
  id: string
  name: string
  arguments: Json
  /** True if the model's arguments are not JSON or not an object; `arguments` is then `{}`. */
  malformed?: true
  /** Opaque text that some vendors require back with the call. */
  signature?: string
}

/** A picture, for a model that accepts pictures. */
export type Image = { base64: string; media_type: string }

export type Message =
  | { role: 'user'; text: string; images?: Image[] }
  | { role: 'assistant'; text: string; tool_calls?: ToolCall[] }
  | { role: 'tool'; call_id: string; name: string; text: string; failed?: boolean }

export type Tool = { name: string; description: string; schema: JsonSchema }

export type Prompt = {
  system?: string
  messages: Message[]
  /** The maximum number of tokens in the response. */
  maxTokens: number
  temperature?: number
  /** A model of the same provider to use instead of the configured model. */
  model?: string
  signal?: AbortSignal
  /** The timeout of the whole call, including retries. The provider's default applies if absent. */
  timeoutMs?: number
  /**
   * Receives the text piece by piece, as the model writes it. The pieces are only for display; the returned text is
   * authoritative.
   */
  onText?(piece: TextPiece): void
}

/**
 * `from` is the position of the piece in the text. A piece at 0 restarts the text, because an attempt failed midway.
 */
export type TextPiece = { from: number; text: string }

/** `refused`: the model or a filter of its provider declined. `length`: the response reached `maxTokens`. */
export type Finish = 'stop' | 'tools' | 'length' | 'refused' | 'other'

export type Turn = { text: string; tool_calls: ToolCall[]; finish: Finish; usage: Usage }
export type ObjectPrompt = Prompt & {
  schema: JsonSchema
  /** A one-word name of the object, such as `review`. */
  schemaName?: string
  /** The number of times a response that does not match the schema is sent back for correction. The default is one. */
  repairs?: number
}

/** Throws ModelProblem, or the signal's reason when aborted. */
export type LanguageModel = {
  /** `vendor/model`, for display. Contains no secret. */
  name: string
  /** Returns null if the model can be used, otherwise the reason and what to do. */
  available(): string | null
  /** Returns a text. A refusal or an empty response throws. */
  generate(prompt: Prompt): Promise<{ text: string; finish: Finish; usage: Usage }>
  /** Returns a value that is always validated against the schema here, even if the provider guarantees it. */
  generateObject(prompt: ObjectPrompt): Promise<{ value: Json; usage: Usage }>
  /** Performs one turn of a conversation with tools. Tools are not executed here: their calls are returned. */
  turn(prompt: Prompt & { tools: Tool[]; toolChoice?: 'auto' | 'none' }): Promise<Turn>
}

export const addUsage = (a: Usage, b: Usage): Usage => ({
  input_tokens: a.input_tokens + b.input_tokens,
  output_tokens: a.output_tokens + b.output_tokens,
  ...((a.cost !== undefined || b.cost !== undefined) && { cost: (a.cost ?? 0) + (b.cost ?? 0) }),
  ...((a.estimated || b.estimated) && { estimated: true }),
})

export const NO_USAGE: Usage = { input_tokens: 0, output_tokens: 0 }
