import type { AudioFormat } from './audio/sniff.ts'

export type Transcript = {
  text: string
  /** BCP 47; `und` if the provider does not report the language. */
  language: string
  duration_s: number
}

export type AudioFacts = { format: AudioFormat; contentType: string; duration_s: number }

/** `workspaceId`: the workspaces take turns at the local process. */
export type AudioRequest = { bytes: Uint8Array; workspaceId?: string; signal?: AbortSignal }

/** Converts audio to text and stores nothing. Throws ProviderProblem, or the signal's reason when aborted. */
export type Transcription = {
  transcribe(request: AudioRequest): Promise<Transcript>
  /**
   * Decodes without transcribing and returns the actual format and duration, for callers that store a clip. Silence is
   * accepted.
   */
  inspect(request: AudioRequest): Promise<AudioFacts>
  /** Returns null if transcription can be used, otherwise the reason why not. */
  available(): string | null
  close(): Promise<void>
}

export type AudioLimits = { bytes: number; duration_s: number }

export const AUDIO_LIMITS: AudioLimits = { bytes: 25 * 1024 * 1024, duration_s: 600 }
