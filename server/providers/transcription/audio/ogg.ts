import { Buffer } from 'node:buffer'
import { ProviderProblem } from '#providers/speech/problem'
import type { OpusStream } from './opus.ts'

// Reads Ogg pages (RFC 3533) with one Opus stream (RFC 7845). Page checksums are not verified: a wrong sample is only
// audible.

const unreadable = (message: string) => new ProviderProblem('audio_unreadable', message)

type Page = { serial: number; continued: boolean; segments: Buffer; body: Buffer; next: number }

const readPage = (bytes: Buffer, at: number): Page | undefined => {
  if (at + 27 > bytes.length || bytes.toString('latin1', at, at + 4) !== 'OggS' || bytes[at + 4] !== 0) return undefined
  const segments = bytes.subarray(at + 27, at + 27 + (bytes[at + 26] as number))
  const start = at + 27 + segments.length
  const length = segments.reduce((sum, size) => sum + size, 0)
  return {
    serial: bytes.readUInt32LE(at + 14),
    continued: ((bytes[at + 5] as number) & 1) === 1,
    segments,
    body: bytes.subarray(start, start + length), // a truncated recording ends in the middle of a page
    next: start + length,
  }
}

const refuseCodec = (packet: Buffer): never => {
  const head = packet.toString('latin1', 0, 8)
  const codec = head.startsWith('\x01vorbis')
    ? 'Vorbis'
    : head.startsWith('\x7fFLAC')
      ? 'FLAC'
      : head.startsWith('Speex')
        ? 'Speex'
        : 'another codec'
  throw new ProviderProblem('unsupported_audio', `This ogg file holds ${codec}; send Opus, mp3 or wav.`)
}

export const readOgg = (bytes: Buffer): OpusStream => {
  const first = readPage(bytes, 0)
  if (!first) throw unreadable('This ogg file is broken at its first page.')
  const packets: Buffer[] = []
  let partial: Buffer[] = []
  let at = 0
  while (at < bytes.length) {
    const page = readPage(bytes, at)
    if (!page) {
      if (bytes.length - at > 1024)
        throw new ProviderProblem(
          'unsupported_audio',
          'Something that is not audio follows the sound in this file; send the audio alone.',
        )
      break
    }
    at = page.next
    if (page.serial !== first.serial) continue
    if (!page.continued) partial = []
    let offset = 0
    for (const size of page.segments) {
      partial.push(page.body.subarray(offset, offset + size))
      offset += size
      if (size === 255) continue
      packets.push(partial.length === 1 ? (partial[0] as Buffer) : Buffer.concat(partial))
      partial = []
    }
  }
  const [head, , ...sound] = packets
  if (head?.toString('latin1', 0, 8) !== 'OpusHead') return refuseCodec(head ?? Buffer.alloc(0))
  return { head, packets: sound }
}
