import type { Font } from './woff2.ts'

// Writes a TrueType font with a few glyphs of another font, for a document that shows only these glyphs. Glyph 0 stands
// for missing characters.

type Glyph = { bytes: Buffer; xMin: number; points: number; contours: number }

function drawGlyph(contours: ReturnType<Font['contoursOf']>): Glyph {
  const points = contours.flat()
  if (points.length === 0) return { bytes: Buffer.alloc(0), xMin: 0, points: 0, contours: 0 }
  const [xs, ys] = [points.map(({ x }) => x), points.map(({ y }) => y)]
  const [xMin, xMax] = [Math.min(...xs), Math.max(...xs)]
  const box = [contours.length, xMin, Math.min(...ys), xMax, Math.max(...ys)]
  let last = -1
  const ends = contours.map((contour) => {
    last += contour.length
    return last
  })
  // The bounding box and the contour ends are followed by: no instructions, a flag for each point, and the distance of
  // each point from the previous point in two bytes.
  const steps = (values: number[]): number[] => values.map((value, at) => value - (values[at - 1] ?? 0))
  const words = [...box, ...ends, 0]
  const bytes = Buffer.alloc(Math.ceil((words.length * 2 + points.length * 5) / 4) * 4)
  let at = 0
  for (const word of words) at = bytes.writeInt16BE(word, at)
  for (const { on } of points) at = bytes.writeUInt8(on ? 1 : 0, at)
  for (const step of [...steps(xs), ...steps(ys)]) at = bytes.writeInt16BE(step, at)
  return { bytes, xMin, points: points.length, contours: contours.length }
}

const checksum = (bytes: Buffer): number => {
  let sum = 0
  for (let at = 0; at < bytes.length; at += 4) sum = (sum + bytes.readUInt32BE(at)) >>> 0
  return sum
}

const padded = (bytes: Buffer): Buffer => Buffer.concat([bytes, Buffer.alloc((4 - (bytes.length % 4)) % 4)])

export function writeTrueType(font: Font, glyphs: readonly number[]): Buffer {
  const drawn = glyphs.map((glyph) => drawGlyph(font.contoursOf(glyph)))
  const hmtx = Buffer.alloc(4 * glyphs.length)
  const loca = Buffer.alloc(4 * (glyphs.length + 1))
  let end = 0
  for (const [at, { bytes, xMin }] of drawn.entries()) {
    hmtx.writeUInt16BE(font.advanceOf(glyphs[at]!), 4 * at)
    hmtx.writeInt16BE(xMin, 4 * at + 2)
    end += bytes.length
    loca.writeUInt32BE(end, 4 * (at + 1))
  }
  const head = Buffer.from(font.head)
  head.writeUInt32BE(0, 8)
  head.writeInt16BE(1, 50)
  const hhea = Buffer.from(font.hhea)
  hhea.writeUInt16BE(glyphs.length, 34)
  const maxp = Buffer.alloc(32)
  maxp.writeUInt32BE(0x0001_0000, 0)
  maxp.writeUInt16BE(glyphs.length, 4)
  maxp.writeUInt16BE(Math.max(0, ...drawn.map(({ points }) => points)), 6)
  maxp.writeUInt16BE(Math.max(0, ...drawn.map(({ contours }) => contours)), 8)
  maxp.writeUInt16BE(2, 14)
  const tables: [tag: string, bytes: Buffer][] = [
    ['glyf', Buffer.concat(drawn.map(({ bytes }) => bytes))],
    ['head', head],
    ['hhea', hhea],
    ['hmtx', hmtx],
    ['loca', loca],
    ['maxp', maxp],
  ]
  return assemble(tables)
}

function assemble(tables: [tag: string, bytes: Buffer][]): Buffer {
  const directory = Buffer.alloc(12 + 16 * tables.length)
  const power = 2 ** Math.floor(Math.log2(tables.length))
  directory.writeUInt32BE(0x0001_0000, 0)
  directory.writeUInt16BE(tables.length, 4)
  directory.writeUInt16BE(power * 16, 6)
  directory.writeUInt16BE(Math.log2(power), 8)
  directory.writeUInt16BE((tables.length - power) * 16, 10)
  let offset = directory.length
  const bodies = tables.map(([tag, bytes], index) => {
    const body = padded(bytes)
    const at = 12 + 16 * index
    directory.write(tag, at, 'latin1')
    directory.writeUInt32BE(checksum(body), at + 4)
    directory.writeUInt32BE(offset, at + 8)
    directory.writeUInt32BE(bytes.length, at + 12)
    offset += body.length
    return body
  })
  return Buffer.concat([directory, ...bodies])
}
