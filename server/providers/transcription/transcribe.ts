import { Buffer } from 'node:buffer'
import type { Frame } from '#providers/speech/frames'
import { ProviderProblem } from '#providers/speech/problem'
import { decodeAudio, refuseSilence, SAMPLE_RATE } from './audio/decode.ts'
import { loadMoonshine, type TranscribeSamples } from './moonshine.ts'
import { cutInTwo, cutWindows } from './windows.ts'

const MIN_RETRY_S = 2

let loading: Promise<TranscribeSamples> | undefined

/**
 * Transcribes a window. For a long window of repeated words the model returns nothing, so the window is halved and
 * tried again.
 */
const transcribeWindow = async (
  window: Float32Array,
  listen: TranscribeSamples,
  pause: () => Promise<void>,
): Promise<string> => {
  const text = await listen(window)
  await pause()
  if (text !== '' || window.length < MIN_RETRY_S * SAMPLE_RATE) return text
  const texts: string[] = []
  for (const part of cutInTwo(window)) texts.push(await transcribeWindow(part, listen, pause))
  return texts.filter(Boolean).join(' ')
}

/** The part of local transcription that runs in the audio process. */
export const transcribe = async (
  head: Record<string, unknown>,
  body: Buffer,
  pause: () => Promise<void>,
): Promise<Frame> => {
  const { samples, duration_s } = await decodeAudio(body, Number(head.limit_s), pause)
  refuseSilence(samples)
  loading ??= loadMoonshine().catch((cause) => {
    loading = undefined
    throw cause
  })
  const listen = await loading
  const texts: string[] = []
  for (const window of cutWindows(samples)) texts.push(await transcribeWindow(window, listen, pause))
  const text = texts.filter(Boolean).join(' ')
  if (!/[\p{L}\p{N}]/u.test(text)) throw new ProviderProblem('audio_silent', 'This audio contains no speech.')
  return { head: { text, language: 'en', duration_s }, body: Buffer.alloc(0) }
}
