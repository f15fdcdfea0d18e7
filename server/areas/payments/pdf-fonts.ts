import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { deflateSync } from 'node:zlib'
import { writeTrueType } from '#platform/fonts/truetype'
import { type Font, readWoff2 } from '#platform/fonts/woff2'

// The fonts of a PDF. Text in Windows-1252 uses Helvetica, which every reader has. Other text uses Inter, the typeface
// of the console; only the glyphs that the document shows are embedded. Chinese, Japanese and Korean text uses the
// fonts that readers supply (ISO 32000, 9.7.5.2). Characters of other scripts become question marks; the printable page
// shows them.

/** Bytes 0x80–0x9f of Windows-1252, the encoding of Helvetica. */
const WINDOWS = '€\u0081‚ƒ„…†‡ˆ‰Š‹Œ\u008dŽ\u008f\u0090‘’“”•–—˜™š›œ\u009džŸ'

function inWindows(letter: string): string | undefined {
  const special = WINDOWS.indexOf(letter)
  if (special >= 0) return String.fromCharCode(0x80 + special)
  const code = letter.codePointAt(0)!
  return (code >= 0x20 && code < 0x7f) || (code > 0xa0 && code <= 0xff) ? letter : undefined
}

const SUBSETS = ['latin', 'latin-ext', 'cyrillic', 'cyrillic-ext', 'greek', 'greek-ext', 'vietnamese'] as const
type Subset = (typeof SUBSETS)[number]

const read = new Map<Subset, Font>()
function interOf(subset: Subset): Font {
  const known = read.get(subset)
  if (known) return known
  const file = import.meta.resolve(`@fontsource-variable/inter/files/inter-${subset}-wght-normal.woff2`)
  const font = readWoff2(readFileSync(fileURLToPath(file)))
  read.set(subset, font)
  return font
}

const HAN = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\u3000-\u303f\uff00-\uffef]/u
const EAST = {
  Japan1: { font: 'HeiseiKakuGo-W5', encoding: 'UniJIS-UCS2-H', supplement: 2 },
  Korea1: { font: 'HYGoThic-Medium', encoding: 'UniKS-UCS2-H', supplement: 1 },
  GB1: { font: 'STSong-Light', encoding: 'UniGB-UCS2-H', supplement: 2 },
} as const
type East = keyof typeof EAST

const eastOf = (text: string): East =>
  /[\p{Script=Hiragana}\p{Script=Katakana}]/u.test(text) ? 'Japan1' : /\p{Script=Hangul}/u.test(text) ? 'Korea1' : 'GB1'

/** Checks whether a character is as wide as it is high. */
export const isWide = (letter: string): boolean => HAN.test(letter)

/**
 * Widths of Helvetica in thousandths of the font size, for the characters of amounts. Other characters count as digits.
 */
const NARROW: Record<string, number> = { ' ': 278, ',': 278, '.': 278, '-': 333 }

type Run = { font: string; shown: string; width: number }

const hex = (value: number): string => value.toString(16).padStart(4, '0')

const stream = (fields: string, bytes: Buffer): string => {
  const packed = deflateSync(bytes)
  const head = `<< ${fields} /Filter /FlateDecode /Length ${packed.length} >>`
  return `${head}\nstream\n${packed.toString('latin1')}\nendstream`
}

/** Maps the codes of a font to Unicode, so that text can be searched and copied. */
const toUnicode = (letters: readonly [code: number, letter: number][]): string => {
  const lines = letters.map(([code, letter]) => `<${hex(code)}> <${hex(letter)}>`)
  const groups = Array.from({ length: Math.ceil(lines.length / 100) }, (_, at) => lines.slice(at * 100, at * 100 + 100))
  const maps = groups.map((group) => `${group.length} beginbfchar\n${group.join('\n')}\nendbfchar`)
  const text = `/CIDInit /ProcSet findresource begin 12 dict begin begincmap
/CIDSystemInfo << /Registry (Adobe) /Ordering (UCS) /Supplement 0 >> def
/CMapName /Adobe-Identity-UCS def /CMapType 2 def
1 begincodespacerange <0000> <ffff> endcodespacerange
${maps.join('\n')}
endcmap CMapName currentdict /CMap defineresource pop end end`
  return stream('', Buffer.from(text, 'latin1'))
}

/** The glyphs of one font subset that the document shows. Code 0 is the glyph for missing characters. */
class Embedded {
  readonly font: Font
  readonly letters: number[] = []

  constructor(font: Font) {
    this.font = font
  }
  codeOf(letter: number): number {
    const known = this.letters.indexOf(letter)
    return known >= 0 ? known + 1 : this.letters.push(letter)
  }
  widthOf(letter: number): number {
    return Math.round((this.font.advanceOf(this.font.glyphOf(letter)!) * 1000) / this.font.unitsPerEm)
  }
}

export type Fonts = ReturnType<typeof makeFonts>

export function makeFonts() {
  const embedded = new Map<Subset, Embedded>()
  const east = new Set<East>()

  function letterRun(letter: string, text: string): Run {
    const code = letter.codePointAt(0)!
    for (const subset of SUBSETS) {
      if (interOf(subset).glyphOf(code) === undefined) continue
      const font = embedded.get(subset) ?? new Embedded(interOf(subset))
      embedded.set(subset, font)
      return { font: `I-${subset}`, shown: hex(font.codeOf(code)), width: font.widthOf(code) }
    }
    if (!isWide(letter) || code > 0xffff) return letterRun('?', text)
    const found = eastOf(text)
    east.add(found)
    return { font: `E-${found}`, shown: hex(code), width: 1000 }
  }

  function runsOf(written: string, bold: boolean): Run[] {
    const text = written.normalize('NFC').replaceAll(/[\u00a0\u202f]/g, ' ')
    const letters = [...text]
    const plain = letters.map(inWindows)
    if (plain.every((letter) => letter !== undefined)) {
      const width = letters.reduce((sum, letter) => sum + (NARROW[letter] ?? 556), 0)
      return [{ font: bold ? 'B' : 'R', shown: `(${plain.join('').replaceAll(/[\\()]/g, '\\$&')})`, width }]
    }
    const runs: Run[] = []
    for (const { font, shown, width } of letters.map((letter) => letterRun(letter, text))) {
      const last = runs.at(-1)
      if (last?.font === font) Object.assign(last, { shown: last.shown + shown, width: last.width + width })
      else runs.push({ font, shown, width })
    }
    return runs.map((run) => ({ ...run, shown: `<${run.shown}>` }))
  }

  const standard = (name: string): string =>
    `<< /Type /Font /Subtype /Type1 /BaseFont /${name} /Encoding /WinAnsiEncoding >>`

  const interObjects = ([subset, { font, letters }]: [Subset, Embedded], first: number): string[] => {
    const glyphs = [0, ...letters.map((letter) => font.glyphOf(letter)!)]
    const scaled = (value: number): number => Math.round((value * 1000) / font.unitsPerEm)
    const name = `HEDDLE+Inter-${subset}`
    const program = writeTrueType(font, glyphs)
    const box = [36, 38, 40, 42].map((at) => scaled(font.head.readInt16BE(at)))
    return [
      `<< /Type /Font /Subtype /Type0 /BaseFont /${name} /Encoding /Identity-H /DescendantFonts [${first + 1} 0 R] /ToUnicode ${first + 4} 0 R >>`,
      `<< /Type /Font /Subtype /CIDFontType2 /BaseFont /${name} /CIDSystemInfo << /Registry (Adobe) /Ordering (Identity) /Supplement 0 >> /FontDescriptor ${first + 2} 0 R /CIDToGIDMap /Identity /W [0 [${glyphs.map((glyph) => scaled(font.advanceOf(glyph))).join(' ')}]] >>`,
      `<< /Type /FontDescriptor /FontName /${name} /Flags 4 /FontBBox [${box.join(' ')}] /ItalicAngle 0 /Ascent ${scaled(font.ascent)} /Descent ${scaled(font.descent)} /CapHeight ${scaled(1490)} /StemV 80 /FontFile2 ${first + 3} 0 R >>`,
      stream(`/Length1 ${program.length}`, program),
      toUnicode(letters.map((letter, at) => [at + 1, letter])),
    ]
  }

  const eastObjects = (ordering: East, first: number): string[] => {
    const { font, encoding, supplement } = EAST[ordering]
    return [
      `<< /Type /Font /Subtype /Type0 /BaseFont /${font}-${encoding} /Encoding /${encoding} /DescendantFonts [${first + 1} 0 R] >>`,
      `<< /Type /Font /Subtype /CIDFontType0 /BaseFont /${font} /CIDSystemInfo << /Registry (Adobe) /Ordering (${ordering}) /Supplement ${supplement} >> /FontDescriptor ${first + 2} 0 R /DW 1000 >>`,
      `<< /Type /FontDescriptor /FontName /${font} /Flags 6 /FontBBox [-25 -254 1000 880] /ItalicAngle 0 /Ascent 880 /Descent -120 /CapHeight 880 /StemV 93 >>`,
    ]
  }

  return {
    widthOf: (text: string, size: number): number =>
      (runsOf(text, false).reduce((sum, { width }) => sum + width, 0) / 1000) * size,

    /**
     * Returns a text as an operator in the content of a page, between BT and ET. Inter has one weight: bold is drawn
     * with an outline.
     */
    show(text: string, { size, bold }: { size: number; bold: boolean }): string {
      const shown = runsOf(text, bold).map(({ font, shown }) => `/${font} ${size} Tf ${shown} Tj`)
      const isPlain = shown.every((run) => /^\/[BR] /.test(run))
      return bold && !isPlain ? `2 Tr ${(size * 0.03).toFixed(2)} w ${shown.join(' ')} 0 Tr` : shown.join(' ')
    },

    /** Returns the objects of all used fonts, numbered from `first`, and the resources that name them on a page. */
    objects(first: number): { objects: string[]; resources: string } {
      const objects = [standard('Helvetica'), standard('Helvetica-Bold')]
      const names = [`/R ${first} 0 R`, `/B ${first + 1} 0 R`]
      for (const one of embedded) {
        names.push(`/I-${one[0]} ${first + objects.length} 0 R`)
        objects.push(...interObjects(one, first + objects.length))
      }
      for (const one of east) {
        names.push(`/E-${one} ${first + objects.length} 0 R`)
        objects.push(...eastObjects(one, first + objects.length))
      }
      return { objects, resources: names.join(' ') }
    },
  }
}
