import { Buffer } from 'node:buffer'
import { ProviderProblem } from '#providers/speech/problem'

// Determines the type of a file by its content alone, because the sender can choose any name and content type.

export type AudioFormat = 'mp3' | 'wav' | 'ogg' | 'webm'

export const audioContentTypes: Record<AudioFormat, string> = {
  mp3: 'audio/mpeg',
  wav: 'audio/wav',
  ogg: 'audio/ogg',
  webm: 'audio/webm',
}

const others: [string, (head: string) => boolean][] = [
  ['FLAC', (head) => head.startsWith('fLaC')],
  ['MP4 or M4A', (head) => head.slice(4, 8) === 'ftyp'],
  ['AIFF', (head) => head.startsWith('FORM')],
  ['MIDI', (head) => head.startsWith('MThd')],
  ['AMR', (head) => head.startsWith('#!AMR')],
  ['AVI', (head) => head.startsWith('RIFF') && head.slice(8, 12) === 'AVI '],
  ['an image', (head) => /^(?:\x89PNG|GIF8|\xff\xd8\xff|RIFF.{4}WEBP)/s.test(head)],
  ['a PDF', (head) => head.startsWith('%PDF')],
  ['a ZIP archive', (head) => head.startsWith('PK')],
]

const unsupported = (message: string) => new ProviderProblem('unsupported_audio', message)

const ACCEPTED = 'Send mp3, wav, ogg/opus or webm/opus.'

export const sniff = (bytes: Uint8Array): AudioFormat => {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const head = buffer.toString('latin1', 0, 64)
  const format = formatOf(buffer, head)
  if (!format) {
    const other = others.find(([, matches]) => matches(head))
    throw unsupported(
      other ? `This is ${other[0]}, which cannot be transcribed. ${ACCEPTED}` : `This is not audio. ${ACCEPTED}`,
    )
  }
  refusePolyglot(buffer)
  return format
}

const formatOf = (buffer: Buffer, head: string): AudioFormat | undefined => {
  if (/^(?:RIFF|RF64)/.test(head) && head.slice(8, 12) === 'WAVE') return 'wav'
  if (head.startsWith('OggS')) return 'ogg'
  if (buffer.length > 4 && buffer.readUInt32BE(0) === 0x1a45dfa3) return 'webm'
  if (
    head.startsWith('ID3') ||
    (buffer[0] === 0xff && ((buffer[1] ?? 0) & 0xe0) === 0xe0 && !head.startsWith('\xff\xd8'))
  )
    return 'mp3'
  return undefined
}

// Browsers and readers look for markup and PDFs in the first kilobytes, and for archives at the end. Audio contains
// neither.
const markup = /<(?:html|script|iframe|svg|body|head)[\s>/]|<!doctype|<\?(?:php|xml)|%PDF-/i
const ZIP_END = Buffer.from('PK\x05\x06', 'latin1')

const refusePolyglot = (buffer: Buffer) => {
  if (markup.test(buffer.toString('latin1', 0, 4096)))
    throw unsupported('This file is audio and a document at once; send the audio alone.')
  if (buffer.subarray(-66_000).includes(ZIP_END))
    throw unsupported('This file is audio and an archive at once; send the audio alone.')
}
