import type { Buffer } from 'node:buffer'
import { ProviderProblem } from '#providers/speech/problem'

// RIFF headers contain all lengths, but recorders that stream write wrong lengths. Only the actual number of bytes
// counts.

type Format = { encoding: number; channels: number; sampleRate: number; bits: number }
type Reader = (at: number) => number

const PCM = 1
const FLOAT = 3
const A_LAW = 6
const MU_LAW = 7
const EXTENSIBLE = 0xfffe
const CHUNK_SECONDS = 10
const TRAILING_BYTES = 1024

const unreadable = (message: string) => new ProviderProblem('audio_unreadable', message)

export function* decodeWav(bytes: Buffer): Generator<{ channels: Float32Array[]; sampleRate: number }> {
  const { format, data } = readChunks(bytes)
  const width = format.bits / 8
  const block = width * format.channels
  const read = readerOf(data, format)
  const frames = Math.floor(data.length / block)
  const step = format.sampleRate * CHUNK_SECONDS
  for (let from = 0; from < frames; from += step) {
    const length = Math.min(step, frames - from)
    const channels = Array.from({ length: format.channels }, (_, channel) => {
      const samples = new Float32Array(length)
      for (let i = 0; i < length; i++) {
        const sample = read((from + i) * block + channel * width)
        samples[i] = Number.isFinite(sample) ? Math.max(-1, Math.min(1, sample)) : 0
      }
      return samples
    })
    yield { channels, sampleRate: format.sampleRate }
  }
}

export const measureWav = (bytes: Buffer): number => {
  const { format, data } = readChunks(bytes)
  return data.length / ((format.bits / 8) * format.channels) / format.sampleRate
}

const readChunks = (bytes: Buffer): { format: Format; data: Buffer } => {
  let format: Format | undefined
  let at = 12
  while (at + 8 <= bytes.length) {
    const name = bytes.toString('latin1', at, at + 4)
    const claimed = bytes.readUInt32LE(at + 4)
    const body = at + 8
    const length = Math.min(claimed, bytes.length - body)
    if (name === 'fmt ') format = readFormat(bytes.subarray(body, body + length))
    if (name === 'data') {
      if (!format) throw unreadable('This wav file describes no sample format before its samples.')
      const streamed = claimed === 0 || claimed === 0xffffffff
      const end = streamed ? bytes.length : body + length
      refuseAttachment(bytes, end + (end % 2))
      return { format, data: bytes.subarray(body, end) }
    }
    at = body + length + (length % 2)
  }
  throw unreadable('This wav file holds no samples.')
}

/** After the samples, only a few small metadata chunks are allowed. */
const refuseAttachment = (bytes: Buffer, end: number) => {
  let at = end
  while (at + 8 <= bytes.length && /^[\w ]{4}$/.test(bytes.toString('latin1', at, at + 4))) {
    const length = bytes.readUInt32LE(at + 4)
    at += 8 + length + (length % 2)
  }
  if (bytes.length - at > TRAILING_BYTES)
    throw new ProviderProblem(
      'unsupported_audio',
      'Something that is not audio follows the sound in this file; send the audio alone.',
    )
}

const readFormat = (chunk: Buffer): Format => {
  if (chunk.length < 16) throw unreadable('The format of this wav file is cut off.')
  let encoding = chunk.readUInt16LE(0)
  if (encoding === EXTENSIBLE && chunk.length >= 26) encoding = chunk.readUInt16LE(24)
  const format = {
    encoding,
    channels: chunk.readUInt16LE(2),
    sampleRate: chunk.readUInt32LE(4),
    bits: chunk.readUInt16LE(14),
  }
  if (format.channels < 1 || format.channels > 8)
    throw unreadable(`This wav file says it has ${format.channels} channels.`)
  if (format.sampleRate < 4000 || format.sampleRate > 192_000)
    throw unreadable(`This wav file says it has ${format.sampleRate} samples a second.`)
  if (format.bits < 8 || format.bits % 8 !== 0)
    throw unreadable(`This wav file says it has ${format.bits} bits a sample.`)
  return format
}

const readerOf = (data: Buffer, { encoding, bits }: Format): Reader => {
  const readers: Record<string, Reader> = {
    [`${PCM}/8`]: (at) => ((data[at] as number) - 128) / 128,
    [`${PCM}/16`]: (at) => data.readInt16LE(at) / 32_768,
    [`${PCM}/24`]: (at) => data.readIntLE(at, 3) / 8_388_608,
    [`${PCM}/32`]: (at) => data.readInt32LE(at) / 2_147_483_648,
    [`${FLOAT}/32`]: (at) => data.readFloatLE(at),
    [`${FLOAT}/64`]: (at) => data.readDoubleLE(at),
    [`${A_LAW}/8`]: (at) => fromALaw(data[at] as number),
    [`${MU_LAW}/8`]: (at) => fromMuLaw(data[at] as number),
  }
  const reader = readers[`${encoding}/${bits}`]
  if (!reader)
    throw new ProviderProblem(
      'unsupported_audio',
      `This wav file holds encoding ${encoding} with ${bits} bits; send PCM samples.`,
    )
  return reader
}

const fromMuLaw = (byte: number): number => {
  const inverted = ~byte & 0xff
  const magnitude = (((inverted & 0x0f) << 3) + 0x84) << ((inverted & 0x70) >> 4)
  return ((inverted & 0x80 ? -1 : 1) * (magnitude - 0x84)) / 32_768
}

const fromALaw = (byte: number): number => {
  const toggled = byte ^ 0x55
  const exponent = (toggled & 0x70) >> 4
  const mantissa = (toggled & 0x0f) << 4
  const magnitude = exponent === 0 ? mantissa + 8 : (mantissa + 0x108) << (exponent - 1)
  return ((toggled & 0x80 ? 1 : -1) * magnitude) / 32_768
}
