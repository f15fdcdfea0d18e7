import { existsSync } from 'node:fs'
import { ProviderProblem } from '#providers/speech/problem'
import type { AudioProcess } from '#providers/speech/process'
import { AUDIO_LIMITS, type AudioFacts, type AudioLimits, type Transcription } from './index.ts'
import { modelPath } from './moonshine.ts'

export type LocalTranscriptionSettings = {
  /** Shared with speech; whoever made it closes it. */
  audio: AudioProcess
  limits?: AudioLimits
}

/** Moonshine tiny, from npm alone. English. */
export const makeLocalTranscription = ({
  audio,
  limits = AUDIO_LIMITS,
}: LocalTranscriptionSettings): Transcription => ({
  async transcribe({ bytes, signal }) {
    checkSize(bytes, limits)
    const { head } = await audio.ask({ kind: 'transcribe', limit_s: limits.duration_s }, bytes, signal)
    return { text: String(head.text), language: String(head.language), duration_s: Number(head.duration_s) }
  },
  inspect: inspectWith(audio, limits),
  available() {
    try {
      return existsSync(modelPath('encoder_model')) ? null : 'The package @moonshine-ai/moonshine-js holds no weights.'
    } catch {
      return 'The package @moonshine-ai/moonshine-js is not installed.'
    }
  },
  async close() {},
})

export const checkSize = (bytes: Uint8Array, limits: AudioLimits) => {
  if (bytes.length > limits.bytes)
    throw new ProviderProblem(
      'audio_too_large',
      `Audio may have ${Math.floor(limits.bytes / 1024 / 1024)} MiB at most.`,
    )
  if (bytes.length === 0) throw new ProviderProblem('audio_unreadable', 'There is no audio in the request.')
}

/** Every provider decodes here first: a lie about the type or the length costs nobody a call to a vendor. */
export const inspectWith =
  (audio: AudioProcess, limits: AudioLimits, speech = false) =>
  async ({ bytes, signal }: { bytes: Uint8Array; signal?: AbortSignal }): Promise<AudioFacts> => {
    checkSize(bytes, limits)
    const { head } = await audio.ask({ kind: 'inspect', limit_s: limits.duration_s, speech }, bytes, signal)
    const { format, contentType, duration_s } = head as AudioFacts
    return { format, contentType, duration_s }
  }
