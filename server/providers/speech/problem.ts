// The problems of speech and transcription. Areas convert these codes to API problems.

export const providerProblemCodes = [
  'audio_unreadable', // a known kind of audio that cannot be decoded
  'unsupported_audio', // not audio, another codec, or audio with other data attached
  'audio_too_large',
  'audio_too_long',
  'audio_silent', // decoded, but without speech
  'text_too_long',
  'text_unspeakable', // empty, or without a word that the voice can speak
  'unknown_voice',
  'provider_busy', // the queue is full: retry later
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

/** Reads a code from another process. An unknown code means that the provider does not work. */
export const problemCode = (code: unknown): ProviderProblemCode =>
  typeof code === 'string' && known.has(code) ? (code as ProviderProblemCode) : 'provider_unavailable'
