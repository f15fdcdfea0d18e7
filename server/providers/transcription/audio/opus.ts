import type { Buffer } from 'node:buffer'
import { OpusDecoder } from 'opus-decoder'
import { ProviderProblem } from '#providers/speech/problem'

/** The contents of a container: the identification header (RFC 7845, 5.1) and the packets. */
export type OpusStream = { head: Buffer; packets: Buffer[] }

const OPUS_RATE = 48_000
const DECODED_RATE = 16_000 // the decoder resamples by itself
const PACKETS_TOGETHER = 50
const MAX_PACKET = OPUS_RATE * 0.12
const DECODER_INPUT = 3840 // bytes a channel; the decoder throws on more
const SILENT_CHANNEL = 255

const unreadable = (message: string) => new ProviderProblem('audio_unreadable', message)

/**
 * Returns the number of samples at 48 kHz, from the first bytes of a packet (RFC 6716, 3.1). 0 if the packet cannot be
 * decoded.
 */
const packetSamples = (packet: Uint8Array): number => {
  const toc = packet[0]
  if (toc === undefined) return 0
  const config = toc >> 3
  const frame_ms =
    config < 12 ? [10, 20, 40, 60][config & 3] : config < 16 ? [10, 20][config & 1] : [2.5, 5, 10, 20][config & 3]
  const frames = [1, 2, 2, (packet[1] ?? 0) & 0x3f][toc & 3]
  const samples = (frame_ms as number) * (frames as number) * (OPUS_RATE / 1000)
  return samples <= MAX_PACKET ? samples : 0
}

export const measureOpus = (stream: OpusStream): number => {
  const samples = stream.packets.reduce((sum, packet) => sum + packetSamples(packet), 0)
  return Math.max(0, samples - preSkipOf(stream.head)) / OPUS_RATE
}

const preSkipOf = (head: Buffer) => (head.length >= 12 ? head.readUInt16LE(10) : 0)

const decoderOptions = (head: Buffer) => {
  if (head.length < 19 || head.toString('latin1', 0, 8) !== 'OpusHead') throw unreadable('The Opus header is broken.')
  const channels = head[9] as number
  const family = head[18] as number
  if (channels < 1 || channels > 8 || (family === 0 && channels > 2))
    throw unreadable(`The Opus header names ${channels} channels.`)
  if (family === 0) return { channels }
  if (head.length < 21 + channels) throw unreadable('The Opus header is cut off.')
  const [streamCount, coupledStreamCount] = [head[19] as number, head[20] as number]
  const channelMappingTable = [...head.subarray(21, 21 + channels)]
  const decoded = streamCount + coupledStreamCount
  const mapped = channelMappingTable.every((index) => index < decoded || index === SILENT_CHANNEL)
  if (streamCount < 1 || coupledStreamCount > streamCount || decoded > 16 || !mapped)
    throw unreadable('The Opus header is broken.')
  return { channels, streamCount, coupledStreamCount, channelMappingTable }
}

export async function* decodeOpus(
  stream: OpusStream,
): AsyncGenerator<{ channels: Float32Array[]; sampleRate: number }> {
  const preSkip = Math.round(preSkipOf(stream.head) / (OPUS_RATE / DECODED_RATE))
  const options = decoderOptions(stream.head)
  const decoder = new OpusDecoder({ ...options, sampleRate: DECODED_RATE, preSkip })
  await decoder.ready
  const sound = stream.packets.filter(
    (packet) => packetSamples(packet) > 0 && packet.length <= DECODER_INPUT * options.channels,
  )
  let decodedSamples = 0
  try {
    for (let at = 0; at < sound.length; at += PACKETS_TOGETHER) {
      const decoded = decoder.decodeFrames(sound.slice(at, at + PACKETS_TOGETHER))
      decodedSamples += decoded.samplesDecoded
      if (decoded.samplesDecoded > 0) yield { channels: decoded.channelData, sampleRate: DECODED_RATE }
    }
  } finally {
    decoder.free()
  }
  if (decodedSamples === 0) throw unreadable('None of the Opus packets in this file can be decoded.')
}
