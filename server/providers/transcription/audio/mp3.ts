import type { Buffer } from 'node:buffer'
import { ProviderProblem } from '#providers/speech/problem'

// The decoder looks for sound in any data. So the frames are checked first: nearly all of the file must be mp3, and the
// duration is known before a sample is decoded.

const BITRATES = {
  mpeg1: [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320],
  mpeg2: [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160],
}
const RATES = [44_100, 48_000, 32_000]
const DECODED_TOGETHER = 16 * 1024
const JUNK_SHARE = 0.1

export type Mp3Facts = { duration_s: number; start: number; end: number }

type Mp3Frame = { bytes: number; seconds: number }

const unreadable = (message: string) => new ProviderProblem('audio_unreadable', message)

const readFrame = (bytes: Buffer, at: number): Mp3Frame | undefined => {
  if (at + 4 > bytes.length) return undefined
  const header = bytes.readUInt32BE(at)
  const version = (header >>> 19) & 3 // 3 = MPEG 1, 2 = MPEG 2, 0 = MPEG 2.5
  const layerThree = ((header >>> 17) & 3) === 1
  const rate = RATES[(header >>> 10) & 3]
  if (header >>> 21 !== 0x7ff || version === 1 || !layerThree || rate === undefined) return undefined
  const bitrate = BITRATES[version === 3 ? 'mpeg1' : 'mpeg2'][(header >>> 12) & 15]
  if (!bitrate) return undefined
  const sampleRate = rate / (version === 3 ? 1 : version === 2 ? 2 : 4)
  const samples = version === 3 ? 1152 : 576
  const padding = (header >>> 9) & 1
  return { bytes: Math.floor((samples / 8) * ((bitrate * 1000) / sampleRate)) + padding, seconds: samples / sampleRate }
}

const afterTags = (bytes: Buffer): number => {
  let at = 0
  while (bytes.toString('latin1', at, at + 3) === 'ID3' && at + 10 <= bytes.length) {
    const size = [6, 7, 8, 9].reduce((sum, i) => (sum << 7) | ((bytes[at + i] as number) & 0x7f), 0)
    at += 10 + size + ((bytes[at + 5] as number) & 0x10 ? 10 : 0)
    if (at > bytes.length) throw unreadable('The tag at the start of this mp3 file says it is longer than the file.')
  }
  return at
}

export const measureMp3 = (bytes: Buffer): Mp3Facts => {
  const start = afterTags(bytes)
  const end =
    bytes.toString('latin1', bytes.length - 128, bytes.length - 125) === 'TAG' ? bytes.length - 128 : bytes.length
  let at = start
  let covered = 0
  let frames = 0
  let duration_s = 0
  while (at < end) {
    const frame = readFrame(bytes, at)
    // A frame counts if another frame follows or the file ends: two matching bytes alone can be a coincidence.
    if (frame && (at + frame.bytes >= end || readFrame(bytes, at + frame.bytes))) {
      covered += Math.min(frame.bytes, end - at)
      duration_s += frame.seconds
      frames++
      at += frame.bytes
    } else {
      at++
      if (at - start - covered > Math.max(4096, (end - start) * JUNK_SHARE)) throw notMp3(frames)
    }
  }
  if (frames < 2) throw notMp3(frames)
  return { duration_s, start, end }
}

const notMp3 = (frames: number) =>
  frames < 2
    ? new ProviderProblem('unsupported_audio', 'This is not audio. Send mp3, wav, ogg/opus or webm/opus.')
    : unreadable('Large parts of this mp3 file are not mp3.')

export async function* decodeMp3(
  bytes: Buffer,
  facts: Mp3Facts,
): AsyncGenerator<{ channels: Float32Array[]; sampleRate: number }> {
  const { MPEGDecoder } = await import('mpg123-decoder')
  const decoder = new MPEGDecoder()
  await decoder.ready
  try {
    for (let at = facts.start; at < facts.end; at += DECODED_TOGETHER) {
      const decoded = decoder.decode(bytes.subarray(at, Math.min(at + DECODED_TOGETHER, facts.end)))
      if (decoded.samplesDecoded > 0) yield { channels: decoded.channelData, sampleRate: decoded.sampleRate }
    }
  } finally {
    decoder.free()
  }
}
