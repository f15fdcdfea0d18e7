import { brotliDecompressSync } from 'node:zlib'

// Reads the outlines of a WOFF 2.0 font with TrueType glyphs, as packages of web fonts contain them: W3C, WOFF File
// Format 2.0, section 5. For a variable font, this is the default instance. Hinting instructions are left out.

type Contour = { x: number; y: number; on: boolean }[]
type Component = { glyph: number; matrix: [a: number, b: number, c: number, d: number]; dx: number; dy: number }
type Outline = { contours: Contour[] } | { components: Component[] }

export type Font = {
  unitsPerEm: number
  ascent: number
  descent: number
  /** The tables `head` and `hhea`, unchanged. */
  head: Buffer
  hhea: Buffer
  glyphOf(letter: number): number | undefined
  advanceOf(glyph: number): number
  contoursOf(glyph: number): Contour[]
}

const KNOWN =
  'cmap head hhea hmtx maxp name OS/2 post cvt  fpgm glyf loca prep CFF  VORG EBDT EBLC gasp hdmx kern LTSH PCLT VDMX vhea vmtx BASE GDEF GPOS GSUB EBSC JSTF MATH CBDT CBLC COLR CPAL SVG  sbix acnt avar bdat bloc bsln cvar fdsc feat fmtx fvar gvar hsty just lcar mort morx opbd prop trak Zapf Silf Glat Gloc Feat Sill'
const KNOWN_TAGS = Array.from({ length: 63 }, (_, at) => KNOWN.slice(at * 5, at * 5 + 4))

/** Reads a buffer sequentially. */
class Reader {
  readonly bytes: Buffer
  at: number

  constructor(bytes: Buffer, at = 0) {
    this.bytes = bytes
    this.at = at
  }
  u8(): number {
    this.at += 1
    return this.bytes.readUInt8(this.at - 1)
  }
  u16(): number {
    this.at += 2
    return this.bytes.readUInt16BE(this.at - 2)
  }
  i16(): number {
    this.at += 2
    return this.bytes.readInt16BE(this.at - 2)
  }
  u32(): number {
    this.at += 4
    return this.bytes.readUInt32BE(this.at - 4)
  }
  base128(): number {
    let value = 0
    for (let count = 0; count < 5; count += 1) {
      const byte = this.u8()
      value = value * 128 + (byte & 0x7f)
      if ((byte & 0x80) === 0) break
    }
    return value
  }
  /** Reads a value of the format's type 255UInt16. */
  short(): number {
    const code = this.u8()
    if (code === 253) return this.u16()
    if (code === 254) return this.u8() + 506
    return code === 255 ? this.u8() + 253 : code
  }
}

type Table = { tag: string; length: number; isChanged: boolean }

function readTables(file: Buffer): Map<string, { bytes: Buffer; isChanged: boolean }> {
  if (file.toString('latin1', 0, 4) !== 'wOF2') throw new Error('not a font in WOFF 2.0')
  const head = new Reader(file, 12)
  const count = head.u16()
  head.at = 20
  const compressed = head.u32()
  head.at = 48
  const tables = Array.from({ length: count }, (): Table => {
    const flags = head.u8()
    const known = flags & 0x3f
    let tag = KNOWN_TAGS[known] ?? ''
    if (known === 63) {
      tag = file.toString('latin1', head.at, head.at + 4)
      head.at += 4
    }
    const length = head.base128()
    const version = flags >> 6
    const isChanged = tag === 'glyf' || tag === 'loca' ? version === 0 : version !== 0
    return { tag, length: isChanged ? head.base128() : length, isChanged }
  })
  const data = brotliDecompressSync(file.subarray(head.at, head.at + compressed))
  let at = 0
  return new Map(
    tables.map(({ tag, length, isChanged }) => {
      at += length
      return [tag, { bytes: data.subarray(at - length, at), isChanged }]
    }),
  )
}

/** Reads the distance of a point from the previous point. The flag defines the number of bytes. */
function readStep(flag: number, glyphs: Reader): [dx: number, dy: number] {
  const signed = (bits: number, size: number): number => ((bits & 1) === 1 ? size : -size)
  const kind = flag & 0x7f
  if (kind < 10) return [0, signed(kind, ((kind & 14) << 7) + glyphs.u8())]
  if (kind < 20) return [signed(kind, (((kind - 10) & 14) << 7) + glyphs.u8()), 0]
  if (kind < 84) {
    const [high, low] = [kind - 20, glyphs.u8()]
    const dx = signed(kind, 1 + (high & 0x30) + (low >> 4))
    return [dx, signed(kind >> 1, 1 + ((high & 0x0c) << 2) + (low & 0x0f))]
  }
  if (kind < 120) {
    const high = kind - 84
    const dx = signed(kind, 1 + (Math.floor(high / 12) << 8) + glyphs.u8())
    return [dx, signed(kind >> 1, 1 + (((high % 12) >> 2) << 8) + glyphs.u8())]
  }
  if (kind < 124) {
    const [first, second, third] = [glyphs.u8(), glyphs.u8(), glyphs.u8()]
    return [signed(kind, (first << 4) + (second >> 4)), signed(kind >> 1, ((second & 0x0f) << 8) + third)]
  }
  const dx = signed(kind, glyphs.u16())
  return [dx, signed(kind >> 1, glyphs.u16())]
}

const [WORDS, ARE_OFFSETS, SCALE, MORE, TWO_SCALES, MATRIX, INSTRUCTIONS] = [1, 2, 8, 32, 64, 128, 256]

function readComponents(composites: Reader, glyphs: Reader): Component[] {
  const components: Component[] = []
  const fraction = (): number => composites.i16() / 16_384
  for (let flags = MORE; (flags & MORE) !== 0; ) {
    flags = composites.u16()
    const glyph = composites.u16()
    const read = (): number => ((flags & WORDS) !== 0 ? composites.i16() : (composites.u8() << 24) >> 24)
    const [first, second] = [read(), read()]
    const isOffset = (flags & ARE_OFFSETS) !== 0
    const matrix: Component['matrix'] = [1, 0, 0, 1]
    if ((flags & SCALE) !== 0) matrix[0] = matrix[3] = fraction()
    else if ((flags & TWO_SCALES) !== 0) [matrix[0], matrix[3]] = [fraction(), fraction()]
    else if ((flags & MATRIX) !== 0) for (const at of [0, 1, 2, 3] as const) matrix[at] = fraction()
    components.push({ glyph, matrix, dx: isOffset ? first : 0, dy: isOffset ? second : 0 })
    if ((flags & (MORE | INSTRUCTIONS)) === INSTRUCTIONS) glyphs.short()
  }
  return components
}

function readOutlines(table: Buffer): Outline[] {
  const head = new Reader(table, 4)
  const count = head.u16()
  head.u16()
  let at = 36
  const sizes = Array.from({ length: 7 }, () => head.u32())
  const [contours, points, flags, glyphs, composites] = sizes.map((size) => {
    at += size
    return new Reader(table, at - size)
  }) as [Reader, Reader, Reader, Reader, Reader]
  return Array.from({ length: count }, (): Outline => {
    const ends = contours.i16()
    if (ends === -1) return { components: readComponents(composites, glyphs) }
    if (ends === 0) return { contours: [] }
    const lengths = Array.from({ length: ends }, () => points.short())
    let [x, y] = [0, 0]
    const drawn = lengths.map((length) =>
      Array.from({ length }, () => {
        const flag = flags.u8()
        const [dx, dy] = readStep(flag, glyphs)
        x += dx
        y += dy
        return { x, y, on: (flag & 0x80) === 0 }
      }),
    )
    glyphs.short()
    return { contours: drawn }
  })
}

/** Returns the glyph of each letter, from the largest character table of the font. */
function readLetters(table: Buffer): Map<number, number> {
  const letters = new Map<number, number>()
  const head = new Reader(table, 2)
  const places = Array.from({ length: head.u16() }, () => {
    head.u32()
    return head.u32()
  })
  for (const place of new Set(places)) {
    const reader = new Reader(table, place)
    const format = reader.u16()
    if (format === 12) {
      reader.at = place + 12
      for (let groups = reader.u32(); groups > 0; groups -= 1) {
        const [first, last, glyph] = [reader.u32(), reader.u32(), reader.u32()]
        for (let letter = first; letter <= last; letter += 1) letters.set(letter, glyph + letter - first)
      }
    } else if (format === 4) readSegments(table, place, letters)
  }
  return letters
}

function readSegments(table: Buffer, place: number, letters: Map<number, number>): void {
  const doubled = table.readUInt16BE(place + 6)
  for (let segment = 0; segment < doubled; segment += 2) {
    const end = table.readUInt16BE(place + 14 + segment)
    const start = table.readUInt16BE(place + 16 + doubled + segment)
    const delta = table.readInt16BE(place + 16 + 2 * doubled + segment)
    const at = place + 16 + 3 * doubled + segment
    const offset = table.readUInt16BE(at)
    for (let letter = start; letter <= end && letter !== 0xffff; letter += 1) {
      const found = offset === 0 ? letter : table.readUInt16BE(at + offset + 2 * (letter - start))
      const glyph = found === 0 && offset !== 0 ? 0 : (found + delta) & 0xffff
      if (glyph !== 0) letters.set(letter, glyph)
    }
  }
}

export function readWoff2(file: Buffer): Font {
  const tables = readTables(file)
  const need = (tag: string): { bytes: Buffer; isChanged: boolean } => {
    const table = tables.get(tag)
    if (!table) throw new Error(`the font has no table ${tag}`)
    return table
  }
  const [head, hhea, hmtx, glyf] = [need('head').bytes, need('hhea').bytes, need('hmtx'), need('glyf')]
  if (!glyf.isChanged) throw new Error('the outlines of the font are not as WOFF 2.0 packs them')
  const outlines = readOutlines(glyf.bytes)
  const letters = readLetters(need('cmap').bytes)
  const widths = hhea.readUInt16BE(34)
  const advanceOf = (glyph: number): number => {
    const at = Math.min(glyph, widths - 1)
    return hmtx.isChanged ? hmtx.bytes.readUInt16BE(1 + 2 * at) : hmtx.bytes.readUInt16BE(4 * at)
  }
  const contoursOf = (glyph: number, depth = 0): Contour[] => {
    const outline = outlines[glyph]
    if (!outline || depth > 8) return []
    if ('contours' in outline) return outline.contours
    return outline.components.flatMap(({ glyph: part, matrix: [a, b, c, d], dx, dy }) =>
      contoursOf(part, depth + 1).map((contour) =>
        contour.map(({ x, y, on }) => ({
          x: Math.round(a * x + c * y) + dx,
          y: Math.round(b * x + d * y) + dy,
          on,
        })),
      ),
    )
  }
  return {
    unitsPerEm: head.readUInt16BE(18),
    ascent: hhea.readInt16BE(4),
    descent: hhea.readInt16BE(6),
    head,
    hhea,
    glyphOf: (letter) => letters.get(letter),
    advanceOf,
    contoursOf: (glyph) => contoursOf(glyph),
  }
}
