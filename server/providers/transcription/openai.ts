import { callOpenAi, type OpenAiEndpoint } from '#providers/speech/openai-call'
import { ProviderProblem } from '#providers/speech/problem'
import type { AudioProcess } from '#providers/speech/process'
import { AUDIO_LIMITS, type AudioFacts, type AudioLimits, type Transcript, type Transcription } from './index.ts'
import { inspectWith } from './inspect.ts'

export type OpenAiTranscriptionSettings = OpenAiEndpoint & {
  /** Decodes the visitors' audio before it costs a call. */
  audio: AudioProcess
  model?: string
  limits?: AudioLimits
}

const LARGEST_ANSWER = 4 * 1024 * 1024

/** Uses any service that implements OpenAI's `/audio/transcriptions`. */
export const makeOpenAiTranscription = (settings: OpenAiTranscriptionSettings): Transcription => {
  const { audio, model = 'whisper-1', limits = AUDIO_LIMITS } = settings
  const checkSpeech = inspectWith(audio, limits, true)
  return {
    async transcribe({ bytes, workspaceId, signal }) {
      const facts = await checkSpeech({ bytes, workspaceId, signal })
      const form = new FormData()
      form.set('file', new Blob([new Uint8Array(bytes)], { type: facts.contentType }), `audio.${facts.format}`)
      form.set('model', model)
      // Only the whisper models report the language; the newer models refuse this format.
      form.set('response_format', model.startsWith('gpt-') ? 'json' : 'verbose_json')
      const call = { path: '/audio/transcriptions', body: form, signal, largestAnswer: LARGEST_ANSWER } as const
      return readTranscript((await callOpenAi(settings, call)).toString('utf8'), facts)
    },
    inspect: inspectWith(audio, limits),
    available: () =>
      URL.canParse(settings.baseUrl) ? null : 'The base address of the speech provider is not a valid address.',
    async close() {},
  }
}

const readTranscript = (answer: string, facts: AudioFacts): Transcript => {
  const { text, language } = parse(answer)
  if (typeof text !== 'string')
    throw new ProviderProblem('provider_unavailable', 'The speech provider answered without a text.')
  if (text.trim() === '') throw new ProviderProblem('audio_silent', 'This audio contains no speech.')
  return { text: text.trim(), language: languageTag(language), duration_s: facts.duration_s }
}

const parse = (answer: string): { text?: unknown; language?: unknown } => {
  try {
    return JSON.parse(answer) ?? {}
  } catch {
    return {}
  }
}

const languages =
  'ar bg ca cs cy da de el en es et fa fi fr gl he hi hr hu id is it ja kk ko lt lv mk ms nb ne nl pl pt ro ru sk sl sr sv sw ta th tl tr uk ur vi zh'
const englishNames = new Intl.DisplayNames('en', { type: 'language' })
const tagOf = new Map(languages.split(' ').map((tag) => [englishNames.of(tag)?.toLowerCase(), tag]))

/** Converts the language names of Whisper (`english`) to tags (`en`). */
const languageTag = (language: unknown): string => {
  if (typeof language !== 'string') return 'und'
  const name = language.toLowerCase()
  return tagOf.get(name) ?? (/^[a-z]{2,3}(?:-[a-z0-9]{2,8})*$/.test(name) ? name : 'und')
}
