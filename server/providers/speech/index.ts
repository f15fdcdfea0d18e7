import type { Buffer } from 'node:buffer'

export type SpeechFormat = 'mp3' | 'wav'
export type Voice = { id: string; title: string; language: string }

/** `workspaceId`: the workspaces take turns at the local voice. */
export type SpeechRequest = {
  text: string
  voice?: string
  format: SpeechFormat
  workspaceId?: string
  signal?: AbortSignal
}
export type SpokenAudio = { bytes: Buffer; contentType: 'audio/mpeg' | 'audio/wav'; duration_s: number }

/** Converts text to audio and stores nothing. Throws ProviderProblem, or the signal's reason when aborted. */
export type Speech = {
  synthesize(request: SpeechRequest): Promise<SpokenAudio>
  voices(): Voice[]
  /** Returns null if speech can be used, otherwise the reason why not. */
  available(): string | null
  close(): Promise<void>
}

export const SPEECH_TEXT_LIMIT = 4096

export const contentTypeOf = { mp3: 'audio/mpeg', wav: 'audio/wav' } as const satisfies Record<SpeechFormat, string>
