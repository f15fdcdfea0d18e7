import { Buffer } from 'node:buffer'
import type { Frame } from '#providers/speech/frames'
import { ProviderProblem } from '#providers/speech/problem'
import { decodeMp3, measureMp3 } from './mp3.ts'
import { readOgg } from './ogg.ts'
import { decodeOpus, measureOpus, type OpusStream } from './opus.ts'
import { makeResampler, type Resampler } from './resample.ts'
import { type AudioFormat, audioContentTypes, sniff } from './sniff.ts'
import { decodeWav } from './wav.ts'
import { readWebm } from './webm.ts'

// Decodes untrusted audio to 16 kHz mono. Decoding stops at the limit: three bytes of Opus can be 0.12 s, so 25 MiB can
// be a week.

export const SAMPLE_RATE = 16_000

export type DecodedAudio = { format: AudioFormat; samples: Float32Array; duration_s: number }

type Chunk = { channels: Float32Array[]; sampleRate: number }
type Source = Iterable<Chunk> | AsyncIterable<Chunk>

const tooLong = (limit_s: number) =>
  new ProviderProblem('audio_too_long', `Audio may last ${limit_s / 60} minutes at most.`)

const open = (format: AudioFormat, bytes: Buffer): { source: Source; duration_s?: number } => {
  const opus = (stream: OpusStream) => ({ source: decodeOpus(stream), duration_s: measureOpus(stream) })
  switch (format) {
    case 'wav':
      return { source: decodeWav(bytes) }
    case 'mp3': {
      const facts = measureMp3(bytes)
      return { source: decodeMp3(bytes, facts), duration_s: facts.duration_s }
    }
    case 'ogg':
      return opus(readOgg(bytes))
    case 'webm':
      return opus(readWebm(bytes))
  }
}

const toMono = ({ channels }: Chunk): Float32Array => {
  const [first = new Float32Array(0), ...others] = channels
  if (others.length === 0) return first
  return first.map(
    (sample, i) => others.reduce((sum, channel) => sum + (channel[i] as number), sample) / channels.length,
  )
}

export const decodeAudio = async (
  bytes: Buffer,
  limit_s: number,
  pause: () => Promise<void>,
): Promise<DecodedAudio> => {
  const format = sniff(bytes)
  const { source, duration_s: measured = 0 } = open(format, bytes)
  if (measured > limit_s + 1) throw tooLong(limit_s)
  const parts: Float32Array[] = []
  let length = 0
  let resampler: { rate: number; to16k: Resampler } | undefined
  const keep = (samples: Float32Array) => {
    parts.push(samples)
    length += samples.length
    if (length > (limit_s + 1) * SAMPLE_RATE) throw tooLong(limit_s)
  }
  for await (const chunk of source) {
    if (resampler?.rate !== chunk.sampleRate)
      resampler = { rate: chunk.sampleRate, to16k: makeResampler(chunk.sampleRate, SAMPLE_RATE) }
    keep(resampler.to16k.push(toMono(chunk)))
    await pause()
  }
  if (resampler) keep(resampler.to16k.end())
  if (length === 0) throw new ProviderProblem('audio_unreadable', `This ${format} file contains no sound.`)
  const samples = new Float32Array(length)
  let at = 0
  for (const part of parts) {
    samples.set(part, at)
    at += part.length
  }
  return { format, samples, duration_s: Math.round((length / SAMPLE_RATE) * 1000) / 1000 }
}

/** The part of `inspect` that runs in the audio process. With `speech`, silence is refused as well. */
export const inspect = async (
  head: Record<string, unknown>,
  body: Buffer,
  pause: () => Promise<void>,
): Promise<Frame> => {
  const { format, samples, duration_s } = await decodeAudio(body, Number(head.limit_s), pause)
  if (head.speech) refuseSilence(samples)
  return { head: { format, contentType: audioContentTypes[format], duration_s }, body: Buffer.alloc(0) }
}

const FRAME = SAMPLE_RATE / 50
const SILENCE = 10 ** (-50 / 20) // -50 dB of full scale; a whisper into a laptop is near -40

export const loudness = (samples: Float32Array): Float32Array => {
  const frames = new Float32Array(Math.ceil(samples.length / FRAME))
  for (let n = 0; n < frames.length; n++) {
    const frame = samples.subarray(n * FRAME, (n + 1) * FRAME)
    let energy = 0
    for (let i = 0; i < frame.length; i++) energy += (frame[i] as number) ** 2
    frames[n] = Math.sqrt(energy / frame.length)
  }
  return frames
}

export const refuseSilence = (samples: Float32Array) => {
  const loudParts = loudness(samples).reduce((count, level) => count + (level > SILENCE ? 1 : 0), 0)
  if (loudParts < 5) throw new ProviderProblem('audio_silent', 'This audio contains no speech.')
}
