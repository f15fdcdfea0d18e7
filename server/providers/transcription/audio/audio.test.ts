import { Buffer } from 'node:buffer'
import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { encodeMp3, encodeWav } from '#providers/speech/encode'
import { ProviderProblem } from '#providers/speech/problem'
import { isSlowRun } from '#test/harness/slow'
import { decodeAudio } from './decode.ts'
import { makeResampler } from './resample.ts'

const pause = async () => {}
const tone = (seconds: number, rate: number) =>
  Int16Array.from({ length: seconds * rate }, (_, i) => 12_000 * Math.sin((2 * Math.PI * 440 * i) / rate))
const wav = encodeWav(tone(1, 16_000), 16_000)
const mp3 = await encodeMp3(tone(2, 44_100), 44_100, pause)
const fixture = (name: string) => readFileSync(new URL(`../fixtures/${name}`, import.meta.url))
const ogg = fixture('voice.ogg')
const webm = fixture('browser.webm')

const edited = (bytes: Buffer, edit: (copy: Buffer) => void) => {
  const copy = Buffer.from(bytes)
  edit(copy)
  return copy
}

/** Returns a wav of any format, with one sample repeated. */
const wavOf = (encoding: number, bits: number, channels: number, sample: Buffer, frames = 16_000) => {
  const header = Buffer.from(wav.subarray(0, 44))
  const data = Buffer.alloc(frames * channels * sample.length, sample)
  header.writeUInt16LE(encoding, 20)
  header.writeUInt16LE(channels, 22)
  header.writeUInt16LE(bits, 34)
  header.writeUInt32LE(data.length, 40)
  return Buffer.concat([header, data])
}

const half = (write: (buffer: Buffer) => void, size: number) => edited(Buffer.alloc(size), write)

describe('samples of every common width are decoded to the same values', () => {
  test.each([
    ['8 bit', wavOf(1, 8, 1, Buffer.from([192]))],
    [
      '16 bit',
      wavOf(
        1,
        16,
        2,
        half((b) => b.writeInt16LE(16_384), 2),
      ),
    ],
    [
      '24 bit',
      wavOf(
        1,
        24,
        1,
        half((b) => b.writeIntLE(4_194_304, 0, 3), 3),
      ),
    ],
    [
      '32 bit',
      wavOf(
        1,
        32,
        6,
        half((b) => b.writeInt32LE(1_073_741_824), 4),
      ),
    ],
    [
      'float',
      wavOf(
        3,
        32,
        1,
        half((b) => b.writeFloatLE(0.5), 4),
      ),
    ],
    [
      'double',
      wavOf(
        3,
        64,
        2,
        half((b) => b.writeDoubleLE(0.5), 8),
      ),
    ],
    ['mu-law', wavOf(7, 8, 1, Buffer.from([0x8f]))],
    ['A-law', wavOf(6, 8, 1, Buffer.from([0xba]))],
  ])('%s', async (_name, bytes) => {
    const { samples, duration_s } = await decodeAudio(bytes, 10, pause)
    expect(duration_s).toBe(1)
    expect(samples[8000]).toBeCloseTo(0.5, 1)
  })
})

describe('the content decides, not the claims of the sender', () => {
  test.each([
    ['a second of wav whose header claims 24 hours', edited(wav, (b) => b.writeUInt32LE(0xf0000000, 40)), 1],
    ['wav written as a stream, with the length 0', edited(wav, (b) => b.writeUInt32LE(0, 40)), 1],
    ['wav written as a stream, with the length -1', edited(wav, (b) => b.writeUInt32LE(0xffffffff, 40)), 1],
    ['wav cut off in the middle', wav.subarray(0, 44 + 16_000), 0.5],
    ['a webm recording cut off in the middle', webm.subarray(0, 6000), 1.7],
    ['an ogg cut off in the middle of a page', ogg.subarray(0, 6000), 1.9],
  ])('%s', async (_name, bytes, seconds) => {
    expect(Math.abs((await decodeAudio(bytes, 10, pause)).duration_s - seconds)).toBeLessThan(0.6)
  })

  test('a week of silence in a few bytes is refused before it is decoded', async () => {
    // A page of 255 packets of three bytes, each 120 ms of digital silence.
    const page = (sequence: number, packets: Buffer[]) => {
      const head = Buffer.alloc(27)
      head.write('OggS', 0, 'latin1')
      head.writeUInt32LE(7, 14)
      head.writeUInt32LE(sequence, 18)
      head[26] = packets.length
      return Buffer.concat([head, Buffer.from(packets.map(({ length }) => length)), ...packets])
    }
    const opusHead = Buffer.concat([Buffer.from('OpusHead\x01\x01', 'latin1'), Buffer.alloc(9)])
    const silence = Array.from({ length: 255 }, () => Buffer.from([0x1b, 0x02, 0x00]))
    const bomb = Buffer.concat([
      page(0, [opusHead]),
      page(1, [Buffer.from('OpusTags')]),
      ...Array.from({ length: 200 }, (_, i) => page(i + 2, silence)),
    ])
    await expect(decodeAudio(bomb, 600, pause)).rejects.toMatchObject({ code: 'audio_too_long' })
  })
})

const tagged = (text: string) => {
  const head = Buffer.from('ID3\x04\x00\x00\x00\x00\x00\x00', 'latin1')
  head[9] = text.length
  return Buffer.concat([head, Buffer.from(text), mp3])
}

describe('files that are not audio, or not only audio, are refused with a specific message', () => {
  test.each([
    ['text', Buffer.from('just some words, long enough to be something'), 'unsupported_audio', /not audio/],
    ['a picture', Buffer.from('\x89PNG\r\n\x1a\n0000', 'latin1'), 'unsupported_audio', /image/],
    ['an iPhone recording', Buffer.from('\0\0\0\x20ftypM4A 0000', 'latin1'), 'unsupported_audio', /MP4/],
    ['FLAC', Buffer.from('fLaC0000'), 'unsupported_audio', /FLAC/],
    ['Vorbis in ogg', edited(ogg, (b) => b.write('\x01vorbis\0', 28, 'latin1')), 'unsupported_audio', /Vorbis/],
    [
      'Vorbis in webm',
      edited(webm, (b) => b.write('A_VORB', b.indexOf('A_OPUS'), 'latin1')),
      'unsupported_audio',
      /A_VORB/,
    ],
    [
      'an HTML page after an mp3 sync word',
      Buffer.concat([Buffer.from([0xff, 0xfb]), Buffer.from('<html>'.repeat(900))]),
      'unsupported_audio',
      /./,
    ],
    ['an HTML page in the tag of an mp3', tagged('TXXX <script>alert(1)</script>'), 'unsupported_audio', /document/],
    [
      'an HTML page inside a wav',
      edited(wav, (b) => b.write('<html><body onload=x>', 60, 'latin1')),
      'unsupported_audio',
      /document/,
    ],
    [
      'an archive after a wav',
      Buffer.concat([wav, Buffer.from('PK\x05\x06', 'latin1'), Buffer.alloc(18)]),
      'unsupported_audio',
      /archive/,
    ],
    ['unknown data after a wav', Buffer.concat([wav, Buffer.alloc(5000, '\x01')]), 'unsupported_audio', /follows/],
    ['unknown data after an ogg', Buffer.concat([ogg, Buffer.alloc(5000, '\x01')]), 'unsupported_audio', /follows/],
    ['two recordings in one file', Buffer.concat([webm, webm]), 'unsupported_audio', /two recordings/],
    ['mp3 followed by noise', Buffer.concat([mp3, Buffer.alloc(60_000, 7)]), 'audio_unreadable', /not mp3/],
    ['an mp3 tag longer than the file', edited(tagged('x'), (b) => b.fill(0x7f, 6, 10)), 'audio_unreadable', /tag/],
    ['no samples', wav.subarray(0, 44), 'audio_unreadable', /./],
    ['samples without a format', Buffer.concat([wav.subarray(0, 12), wav.subarray(36)]), 'audio_unreadable', /format/],
    ['300 channels', edited(wav, (b) => b.writeUInt16LE(300, 22)), 'audio_unreadable', /300 channels/],
    ['a sample rate of 0', edited(wav, (b) => b.writeUInt32LE(0, 24)), 'audio_unreadable', /0 samples/],
    [
      'a wav with a compressed codec',
      edited(wav, (b) => b.writeUInt16LE(0x55, 20)),
      'unsupported_audio',
      /encoding 85/,
    ],
    ['an Opus header with 9 channels', edited(ogg, (b) => b.writeUInt8(9, 28 + 9)), 'audio_unreadable', /9 channels/],
  ])('%s', async (_name, bytes, code, message) => {
    const problem = await decodeAudio(bytes, 600, pause).catch((cause) => cause)
    expect(problem).toBeInstanceOf(ProviderProblem)
    expect(problem.code).toBe(code)
    expect(problem.message).toMatch(message)
  })
})

test('damaged files are decoded or refused, without any other error', async () => {
  let seed = 1
  const random = (below: number) => {
    seed = (Math.imul(seed, 1_103_515_245) + 12_345) & 0x7fffffff
    return seed % below
  }
  const outcomes = { decoded: 0, refused: 0 }
  const rounds = isSlowRun ? 60 : 15
  for (const original of [wav, mp3, ogg, webm]) {
    for (let round = 0; round < rounds; round++) {
      const damaged = edited(original, (b) => {
        // Damage to the header matters most.
        for (let i = 0; i <= random(12); i++)
          b[random(2) ? random(Math.min(160, b.length)) : random(b.length)] = random(256)
      }).subarray(0, random(4) ? original.length : random(original.length))
      const outcome = await decodeAudio(damaged, 600, pause).catch((cause) => cause)
      if (outcome instanceof Error) expect(outcome).toBeInstanceOf(ProviderProblem)
      outcomes[outcome instanceof Error ? 'refused' : 'decoded']++
    }
  }
  expect(outcomes.decoded).toBeGreaterThan(rounds / 3)
  expect(outcomes.refused).toBeGreaterThan(rounds / 3)
})

describe('resampling keeps length and pitch for chunks of any size', () => {
  test.each([8000, 11_025, 22_050, 44_100, 48_000, 96_000])('from %i', (rate) => {
    const input = Float32Array.from(tone(1, rate), (sample) => sample / 32_768)
    const resampler = makeResampler(rate, 16_000)
    const parts: number[] = []
    for (let at = 0; at < input.length; at += 777) parts.push(...resampler.push(input.subarray(at, at + 777)))
    parts.push(...resampler.end())
    expect(Math.abs(parts.length - 16_000)).toBeLessThan(4)
    const expected = tone(1, 16_000)
    const worst = parts
      .slice(200, -200)
      .reduce((most, sample, i) => Math.max(most, Math.abs(sample - (expected[i + 200] as number) / 32_768)), 0)
    expect(worst).toBeLessThan(0.01)
  })

  test('frequencies above the limit of 16 kHz audio are removed, not aliased', () => {
    const high = Float32Array.from({ length: 48_000 }, (_, i) => Math.sin((2 * Math.PI * 12_000 * i) / 48_000))
    const resampled = makeResampler(48_000, 16_000).push(high)
    expect(Math.max(...resampled.slice(100).map(Math.abs))).toBeLessThan(0.01)
  })
})
