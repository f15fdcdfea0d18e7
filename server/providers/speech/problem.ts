// What can go wrong between a caller and a voice or an ear. Areas turn these codes into problems of the API.

export const providerProblemCodes = [
  'audio_unreadable', // says it is audio of a kind we know, and cannot be decoded
  'unsupported_audio', // not audio, another codec, or audio with something else attached
  'audio_too_large',
  'audio_too_long',
  'audio_silent', // decoded, and nobody speaks in it
  'text_too_long',
  'text_unspeakable', // empty, or without a word the voice can say
  'unknown_voice',
  'provider_busy', // the queue is full: try again later
  'provider_unavailable',
] as const

export type ProviderProblemCode = (typeof providerProblemCodes)[number]

export class ProviderProblem extends Error {
  readonly code: ProviderProblemCode
  constructor(code: ProviderProblemCode, message: string) {
    super(message)
    this.name = 'ProviderProblem'
    this.code = code
  }
}

const known: ReadonlySet<string> = new Set(providerProblemCodes)

/** A code that came over a wire; anything unknown means that the provider does not work. */
export const problemCode = (code: unknown): ProviderProblemCode =>
  typeof code === 'string' && known.has(code) ? (code as ProviderProblemCode) : 'provider_unavailable'
