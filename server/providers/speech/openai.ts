import type { Buffer } from 'node:buffer'
import { measureMp3 } from '#providers/transcription/audio/mp3'
import { sniff } from '#providers/transcription/audio/sniff'
import { measureWav } from '#providers/transcription/audio/wav'
import { checkText, checkVoice } from './check.ts'
import { contentTypeOf, SPEECH_TEXT_LIMIT, type Speech, type SpeechFormat, type Voice } from './index.ts'
import { callOpenAi, type OpenAiEndpoint } from './openai-call.ts'
import { ProviderProblem } from './problem.ts'

export type OpenAiSpeechSettings = OpenAiEndpoint & {
  model?: string
  voice?: string
  voices?: Voice[]
  textLimit?: number
}

const LARGEST_ANSWER = 64 * 1024 * 1024

const usualVoices: Voice[] = ['alloy', 'ash', 'coral', 'echo', 'fable', 'nova', 'onyx', 'sage', 'shimmer'].map(
  (id) => ({
    id,
    title: id.charAt(0).toUpperCase() + id.slice(1),
    language: 'und',
  }),
)

/** Uses any service that implements OpenAI's `/audio/speech`. */
export const makeOpenAiSpeech = (settings: OpenAiSpeechSettings): Speech => {
  const { model = 'gpt-4o-mini-tts', voices = usualVoices, textLimit = SPEECH_TEXT_LIMIT } = settings
  const usual = settings.voice ?? voices[0]?.id ?? 'alloy'
  return {
    async synthesize({ text, voice = usual, format, signal }) {
      signal?.throwIfAborted()
      checkText(text, textLimit)
      checkVoice(voice, voices)
      const bytes = await callOpenAi(settings, {
        path: '/audio/speech',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ model, input: text, voice, response_format: format }),
        signal,
        largestAnswer: LARGEST_ANSWER,
      })
      return { bytes, contentType: contentTypeOf[format], duration_s: durationOf(bytes, format) }
    },
    voices: () => voices.map((voice) => ({ ...voice })),
    available: () =>
      URL.canParse(settings.baseUrl) ? null : 'The base address of the speech provider is not a valid address.',
    async close() {},
  }
}

const durationOf = (bytes: Buffer, format: SpeechFormat): number => {
  try {
    if (sniff(bytes) !== format) throw new Error('another format')
    return format === 'mp3' ? measureMp3(bytes).duration_s : measureWav(bytes)
  } catch {
    throw new ProviderProblem(
      'provider_unavailable',
      `The speech provider answered with something that is not ${format}.`,
    )
  }
}
