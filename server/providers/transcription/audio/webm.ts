import type { Buffer } from 'node:buffer'
import { ProviderProblem } from '#providers/speech/problem'
import type { OpusStream } from './opus.ts'

// Reads the few Matroska elements of a browser recording: one Opus track in blocks. Clusters of a live recording have
// an unknown size, so parents are entered and their children are read in sequence until the bytes end.

const EBML = 0x1a45dfa3
const PARENTS = new Set([0x18538067, 0x1654ae6b, 0x1f43b675, 0xa0]) // Segment, Tracks, Cluster, BlockGroup
const TRACK_ENTRY = 0xae
const BLOCKS = new Set([0xa3, 0xa1]) // SimpleBlock, Block
const [TRACK_NUMBER, CODEC, CODEC_PRIVATE, ENCODINGS] = [0xd7, 0x86, 0x63a2, 0x6d80]
const LACING = 0x06
const TRAILING_BYTES = 1024

const unreadable = (message: string) => new ProviderProblem('audio_unreadable', message)
const unsupported = (message: string) => new ProviderProblem('unsupported_audio', message)

type Element = { id: number; body: number; end: number }

const widthOf = (byte: number) => Math.clz32(byte) - 23

const readElement = (bytes: Buffer, at: number, limit: number): Element | undefined => {
  const idWidth = widthOf(bytes[at] ?? 0)
  if (idWidth > 4 || at + idWidth >= limit) return undefined
  const id = bytes.readUIntBE(at, idWidth)
  const sizeAt = at + idWidth
  const sizeWidth = widthOf(bytes[sizeAt] ?? 0)
  if (sizeWidth > 8 || sizeAt + sizeWidth > limit) return undefined
  let size = (bytes[sizeAt] as number) & (0xff >> sizeWidth)
  let unknown = size === 0xff >> sizeWidth
  for (let i = 1; i < sizeWidth; i++) {
    const byte = bytes[sizeAt + i] as number
    unknown &&= byte === 0xff
    size = size * 256 + byte
  }
  const body = sizeAt + sizeWidth
  return { id, body, end: unknown ? limit : Math.min(body + size, limit) }
}

function* children(bytes: Buffer, from: number, to: number): Generator<Element> {
  let at = from
  while (at < to) {
    const element = readElement(bytes, at, to)
    if (!element) return
    yield element
    at = element.end
  }
}

/** Yields elements at any depth of the parents above, in order. */
function* walk(bytes: Buffer): Generator<Element> {
  let at = 0
  while (at < bytes.length) {
    const element = readElement(bytes, at, bytes.length)
    if (!element) {
      if (bytes.length - at > TRAILING_BYTES) throw unreadable('This webm file is broken in the middle.')
      return
    }
    if (!PARENTS.has(element.id)) yield element
    at = PARENTS.has(element.id) ? element.body : element.end
  }
}

type Track = { number: number; codec: string; head: Buffer | undefined; encoded: boolean }

const readTrack = (bytes: Buffer, entry: Element): Track => {
  const track: Track = { number: 0, codec: '', head: undefined, encoded: false }
  for (const { id, body, end } of children(bytes, entry.body, entry.end)) {
    if (id === TRACK_NUMBER && end - body >= 1 && end - body <= 6) track.number = bytes.readUIntBE(body, end - body)
    if (id === CODEC) track.codec = bytes.toString('latin1', body, end)
    if (id === CODEC_PRIVATE) track.head = bytes.subarray(body, end)
    if (id === ENCODINGS) track.encoded = true
  }
  return track
}

export const readWebm = (bytes: Buffer): OpusStream => {
  const tracks: Track[] = []
  const packets: Buffer[] = []
  let opus: Track | undefined
  for (const element of walk(bytes)) {
    if (element.id === EBML && element.body > 16)
      throw unsupported('This webm file contains two recordings; send one recording.')
    if (element.id === TRACK_ENTRY) tracks.push(readTrack(bytes, element))
    if (!BLOCKS.has(element.id)) continue
    opus ??= chooseTrack(tracks)
    const packet = readBlock(bytes, element, opus.number)
    if (packet) packets.push(packet)
  }
  opus ??= chooseTrack(tracks)
  return { head: opus.head as Buffer, packets }
}

const chooseTrack = (tracks: Track[]): Track => {
  const opus = tracks.find(({ codec }) => codec === 'A_OPUS')
  if (!opus) {
    const codecs = tracks.map(({ codec }) => codec.replace(/[^\w/.-]/g, '').slice(0, 30)).filter(Boolean)
    throw codecs.length > 0
      ? unsupported(`This webm file holds ${codecs.join(', ')}; send Opus, mp3 or wav.`)
      : unreadable('This webm file names no audio track.')
  }
  if (opus.encoded || !opus.head)
    throw unsupported('The Opus track of this webm file is stored in a way that cannot be read.')
  return opus
}

const readBlock = (bytes: Buffer, { body, end }: Element, track: number): Buffer | undefined => {
  const width = widthOf(bytes[body] ?? 0)
  if (width > 8 || body + width + 3 > end) return undefined
  const number = width <= 6 ? bytes.readUIntBE(body, width) - 2 ** (7 * width) : -1
  if (number !== track) return undefined
  if ((bytes[body + width + 2] as number) & LACING)
    throw unsupported('This webm file uses lacing, which cannot be read; send mp3 or wav.')
  return bytes.subarray(body + width + 3, end)
}
