import { Buffer } from 'node:buffer'

export const encodeWav = (samples: Int16Array, sampleRate: number): Buffer => {
  const header = Buffer.alloc(44)
  const length = samples.byteLength
  header.write('RIFF', 0, 'latin1')
  header.writeUInt32LE(36 + length, 4)
  header.write('WAVEfmt ', 8, 'latin1')
  header.writeUInt32LE(16, 16)
  header.writeUInt16LE(1, 20)
  header.writeUInt16LE(1, 22)
  header.writeUInt32LE(sampleRate, 24)
  header.writeUInt32LE(sampleRate * 2, 28)
  header.writeUInt16LE(2, 32)
  header.writeUInt16LE(16, 34)
  header.write('data', 36, 'latin1')
  header.writeUInt32LE(length, 40)
  return Buffer.concat([header, Buffer.from(samples.buffer, samples.byteOffset, length)])
}

/**
 * Encodes mono mp3 at 64 kbit/s: a higher bit rate does not improve speech at 16 kHz. `pause` lets other requests
 * proceed.
 */
export const encodeMp3 = async (
  samples: Int16Array,
  sampleRate: number,
  pause: () => Promise<void>,
): Promise<Buffer> => {
  const { createMp3Encoder } = await import('wasm-media-encoders')
  const encoder = await createMp3Encoder()
  encoder.configure({ sampleRate, channels: 1, bitrate: 64 })
  const parts: Buffer[] = []
  const STEP = sampleRate * 10
  for (let at = 0; at < samples.length; at += STEP) {
    const slice = samples.subarray(at, at + STEP)
    const floats = new Float32Array(slice.length)
    for (let i = 0; i < slice.length; i++) floats[i] = (slice[i] as number) / 32_768
    // The encoder reuses the returned buffer for the next call, so the buffer is copied.
    parts.push(Buffer.from(encoder.encode([floats])))
    await pause()
  }
  parts.push(Buffer.from(encoder.finalize()))
  return Buffer.concat(parts)
}
