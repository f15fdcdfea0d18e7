import type { Json } from '#model/definition'
import type { JsonSchema } from '#model/node'

// What the program asks of a language model. No type of a vendor or of a library passes this file: turns are journalled,
// and a journal outlives libraries.

export type Usage = {
  input_tokens: number
  output_tokens: number
  /** What the provider says the call cost, in its own currency (most say nothing). */
  cost?: number
  /** The provider did not count: these are ours, from the length of the texts. */
  estimated?: true
}

export type ToolCall = {
  id: string
  name: string
  arguments: Json
  /** The model wrote something that is not JSON, or is not an object; `arguments` is then `{}`. */
  malformed?: true
  /** Opaque text some vendors want back with the call. */
  signature?: string
}

/** A picture for a model that takes them. */
export type Image = { base64: string; media_type: string }

export type Message =
  | { role: 'user'; text: string; images?: Image[] }
  | { role: 'assistant'; text: string; tool_calls?: ToolCall[] }
  | { role: 'tool'; call_id: string; name: string; text: string; failed?: boolean }

export type Tool = { name: string; description: string; schema: JsonSchema }

export type Prompt = {
  system?: string
  messages: Message[]
  /** Most tokens the answer may have. */
  maxTokens: number
  temperature?: number
  /** Another model of the same provider than the configured one. */
  model?: string
  signal?: AbortSignal
  /** For the whole call, tries included; the provider's usual limit when absent. */
  timeoutMs?: number
  /** Is given the text piece by piece, as the model writes it. What the call returns is the truth: pieces are only shown. */
  onText?(piece: TextPiece): void
}

/** `from` is where the piece stands in the text; a piece from 0 begins the text anew, because an attempt failed on the way. */
export type TextPiece = { from: number; text: string }

/** `refused`: the model, or a filter of its provider, declined. `length`: it ran into `maxTokens`. */
export type Finish = 'stop' | 'tools' | 'length' | 'refused' | 'other'

export type Turn = { text: string; tool_calls: ToolCall[]; finish: Finish; usage: Usage }
export type ObjectPrompt = Prompt & {
  schema: JsonSchema
  /** What the object is, in a word (`review`). */
  schemaName?: string
  /** How often an answer that does not fit the schema is sent back to be corrected; once when absent. */
  repairs?: number
}

/** Throws ModelProblem, or the signal's reason when aborted. */
export type LanguageModel = {
  /** `vendor/model`, for people; nothing secret. */
  name: string
  /** null when it can be used, else why it cannot and what to do. */
  available(): string | null
  /** A text. A refusal and an empty answer are problems. */
  generate(prompt: Prompt): Promise<{ text: string; finish: Finish; usage: Usage }>
  /** A value that was checked against the schema here, whatever the provider promises. */
  generateObject(prompt: ObjectPrompt): Promise<{ value: Json; usage: Usage }>
  /** One turn of a conversation with tools. Nothing is executed: calls are handed back. */
  turn(prompt: Prompt & { tools: Tool[]; toolChoice?: 'auto' | 'none' }): Promise<Turn>
}

export const addUsage = (a: Usage, b: Usage): Usage => ({
  input_tokens: a.input_tokens + b.input_tokens,
  output_tokens: a.output_tokens + b.output_tokens,
  ...((a.cost !== undefined || b.cost !== undefined) && { cost: (a.cost ?? 0) + (b.cost ?? 0) }),
  ...((a.estimated || b.estimated) && { estimated: true }),
})

export const NO_USAGE: Usage = { input_tokens: 0, output_tokens: 0 }
