import type { Buffer } from 'node:buffer'
import { encodeMp3, encodeWav } from './encode.ts'
import { speakSentence } from './flite.ts'
import type { Frame } from './frames.ts'
import { ProviderProblem } from './problem.ts'

// Spelling out a word of 4,096 letters would take a quarter of an hour.
const MAX_AUDIO_S = 600

/** The part of local speech that runs in the audio process. */
export const speak = async (
  head: Record<string, unknown>,
  body: Buffer,
  pause: () => Promise<void>,
): Promise<Frame> => {
  const sentences = JSON.parse(body.toString('utf8')) as string[]
  const parts: Int16Array[] = []
  let sampleRate = 16_000
  let length = 0
  for (const sentence of sentences) {
    const spoken = await speakSentence(sentence, String(head.voice))
    sampleRate = spoken.sampleRate
    parts.push(spoken.samples)
    length += spoken.samples.length
    if (length > MAX_AUDIO_S * sampleRate)
      throw new ProviderProblem('text_too_long', 'Saying this text takes more than ten minutes.')
    await pause()
  }
  const samples = new Int16Array(length)
  let at = 0
  for (const part of parts) {
    samples.set(part, at)
    at += part.length
  }
  const bytes = head.format === 'wav' ? encodeWav(samples, sampleRate) : await encodeMp3(samples, sampleRate, pause)
  return { head: { duration_s: length / sampleRate }, body: bytes }
}
