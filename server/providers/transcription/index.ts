import type { AudioFormat } from './audio/sniff.ts'

export type Transcript = {
  text: string
  /** BCP 47, `und` where the provider does not say. */
  language: string
  duration_s: number
}

export type AudioFacts = { format: AudioFormat; contentType: string; duration_s: number }

/** Audio in, text out; nothing is stored. Throws ProviderProblem, or the signal's reason when aborted. */
export type Transcription = {
  transcribe(request: { bytes: Uint8Array; signal?: AbortSignal }): Promise<Transcript>
  /** Decodes without listening: what a clip truly is, for anyone who wants to keep it. Silence passes. */
  inspect(request: { bytes: Uint8Array; signal?: AbortSignal }): Promise<AudioFacts>
  /** null when it can be used, else why it cannot. */
  available(): string | null
  close(): Promise<void>
}

export type AudioLimits = { bytes: number; duration_s: number }

export const AUDIO_LIMITS: AudioLimits = { bytes: 25 * 1024 * 1024, duration_s: 600 }
