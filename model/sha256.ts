// SHA-256 and HMAC for expressions: synchronous, and identical in the editor's browser and on the server. Model code
// can call neither node:crypto nor crypto.subtle.

const K = new Uint32Array([
  0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5, 0xd807aa98,
  0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786,
  0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8,
  0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13,
  0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819,
  0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a,
  0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7,
  0xc67178f2,
])

const START = [0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19]

const turned = (word: number, bits: number): number => (word >>> bits) | (word << (32 - bits))

export function sha256(message: Uint8Array): Uint8Array {
  const padded = new Uint8Array(((message.length + 8) >> 6) * 64 + 64)
  padded.set(message)
  padded[message.length] = 0x80
  const view = new DataView(padded.buffer)
  view.setUint32(padded.length - 8, Math.floor(message.length / 0x20000000))
  view.setUint32(padded.length - 4, (message.length << 3) >>> 0)
  const state = new Uint32Array(START)
  const words = new Uint32Array(64)
  for (let at = 0; at < padded.length; at += 64) absorb(state, words, view, at)
  const digest = new Uint8Array(32)
  const out = new DataView(digest.buffer)
  for (let n = 0; n < 8; n += 1) out.setUint32(n * 4, state[n] as number)
  return digest
}

function absorb(state: Uint32Array, w: Uint32Array, view: DataView, at: number): void {
  for (let n = 0; n < 16; n += 1) w[n] = view.getUint32(at + n * 4)
  for (let n = 16; n < 64; n += 1) {
    const [before, last] = [w[n - 15] as number, w[n - 2] as number]
    const s0 = turned(before, 7) ^ turned(before, 18) ^ (before >>> 3)
    const s1 = turned(last, 17) ^ turned(last, 19) ^ (last >>> 10)
    w[n] = ((w[n - 16] as number) + s0 + (w[n - 7] as number) + s1) | 0
  }
  let [a, b, c, d, e, f, g, h] = state as unknown as [number, number, number, number, number, number, number, number]
  for (let n = 0; n < 64; n += 1) {
    const s1 = turned(e, 6) ^ turned(e, 11) ^ turned(e, 25)
    const t1 = (h + s1 + ((e & f) ^ (~e & g)) + (K[n] as number) + (w[n] as number)) | 0
    const s0 = turned(a, 2) ^ turned(a, 13) ^ turned(a, 22)
    const t2 = (s0 + ((a & b) ^ (a & c) ^ (b & c))) | 0
    h = g
    g = f
    f = e
    e = (d + t1) | 0
    d = c
    c = b
    b = a
    a = (t1 + t2) | 0
  }
  const added = [a, b, c, d, e, f, g, h]
  for (let n = 0; n < 8; n += 1) state[n] = ((state[n] as number) + (added[n] as number)) | 0
}

export function hmacSha256(key: Uint8Array, message: Uint8Array): Uint8Array {
  const block = new Uint8Array(64)
  block.set(key.length > 64 ? sha256(key) : key)
  const within = (pad: number, rest: Uint8Array): Uint8Array => {
    const joined = new Uint8Array(64 + rest.length)
    for (let n = 0; n < 64; n += 1) joined[n] = (block[n] as number) ^ pad
    joined.set(rest, 64)
    return sha256(joined)
  }
  return within(0x5c, within(0x36, message))
}

export const hexOf = (bytes: Uint8Array): string => {
  let text = ''
  for (const byte of bytes) text += byte.toString(16).padStart(2, '0')
  return text
}
