import { existsSync } from 'node:fs'
import type { AudioProcess } from '#providers/speech/process'
import { AUDIO_LIMITS, type AudioLimits, type Transcription } from './index.ts'
import { checkSize, inspectWith } from './inspect.ts'
import { modelPath } from './moonshine.ts'

export type LocalTranscriptionSettings = {
  /** Shared with speech. The code that created the process closes it. */
  audio: AudioProcess
  limits?: AudioLimits
}

/** Transcribes English with Moonshine tiny, which comes from npm alone. */
export const makeLocalTranscription = ({
  audio,
  limits = AUDIO_LIMITS,
}: LocalTranscriptionSettings): Transcription => ({
  async transcribe({ bytes, workspaceId, signal }) {
    checkSize(bytes, limits)
    const { head } = await audio.ask({ kind: 'transcribe', limit_s: limits.duration_s }, bytes, { workspaceId, signal })
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
