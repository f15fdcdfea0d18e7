import { ConversionFailure } from './index.ts'
import { escapeXml, readXml as readElements, type XmlHandler } from './xml.ts'
import { type Member, readZip, writeZip } from './zip.ts'

// Reads the cells of one sheet of a workbook, and writes rows as a workbook. A formula yields its stored value; no
// formula is computed.

export type Cell = string | number | boolean | null

const unreadable = (message: string): ConversionFailure => new ConversionFailure('file_unreadable', message)
const MAX_CELLS = 2_000_000
const MAX_COLUMNS = 16_384

/** Reads the elements by their names without prefix, because some programs write `<x:row>` instead of `<row>`. */
function readXml(source: string, { open, text, close }: XmlHandler): void {
  const local = (name: string): string => name.slice(name.indexOf(':') + 1)
  readElements(source, {
    open: (name, attributes) => open(local(name), attributes),
    text,
    close: (name) => close(local(name)),
  })
}

const partOf = (members: Member[], name: string): string | undefined =>
  members.find((member) => member.name === name)?.bytes.toString('utf8')

export function readXlsx(file: Buffer, sheet: string | undefined): Cell[][] {
  const members = readZip(file)
  const workbook = partOf(members, 'xl/workbook.xml')
  if (workbook === undefined) throw unreadable('the file is not an XLSX workbook')
  const sheets = sheetsOf(workbook, partOf(members, 'xl/_rels/workbook.xml.rels') ?? '')
  const wanted = sheet === undefined ? sheets[0] : sheets.find(({ name }) => name === sheet)
  if (!wanted) throw unreadable(`the workbook has no sheet "${(sheet ?? '').slice(0, 60)}"`)
  const source = partOf(members, wanted.path)
  if (source === undefined) throw unreadable('the workbook refers to a sheet that it does not contain')
  const strings = stringsOf(partOf(members, 'xl/sharedStrings.xml'))
  const dates = { styles: dateStylesOf(partOf(members, 'xl/styles.xml')), epoch: epochOf(workbook) }
  return rowsOf(source, strings, dates)
}

/** The days from the first day of the workbook to 1970-01-01. Workbooks of older Macs begin in 1904. */
function epochOf(workbook: string): number {
  let is1904 = false
  readXml(workbook, {
    open: (name, { date1904 }) => {
      if (name === 'workbookPr') is1904 = date1904 === '1' || date1904 === 'true'
    },
    text: nothing,
    close: nothing,
  })
  return is1904 ? 24_107 : 25_569
}

const nothing = (): void => {}

function sheetsOf(workbook: string, relations: string): { name: string; path: string }[] {
  const targets = new Map<string, string>()
  if (relations !== '')
    readXml(relations, {
      open: (name, { Id, Target }) => {
        if (name === 'Relationship' && Id !== undefined && Target !== undefined)
          targets.set(Id, Target.startsWith('/') ? Target.slice(1) : `xl/${Target}`)
      },
      text: nothing,
      close: nothing,
    })
  const sheets: { name: string; path: string }[] = []
  readXml(workbook, {
    open: (name, attributes) => {
      if (name !== 'sheet') return
      const id = attributes['r:id'] ?? ''
      sheets.push({
        name: attributes.name ?? '',
        path: targets.get(id) ?? `xl/worksheets/sheet${sheets.length + 1}.xml`,
      })
    },
    text: nothing,
    close: nothing,
  })
  return sheets
}

function stringsOf(source: string | undefined): string[] {
  const strings: string[] = []
  if (source === undefined) return strings
  let current: string | undefined
  let inText = false
  let inPhonetic = false
  readXml(source, {
    open(name) {
      if (name === 'si') current = ''
      else if (name === 'rPh') inPhonetic = true
      else if (name === 't') inText = !inPhonetic
    },
    text(text) {
      if (inText && current !== undefined) current += text
    },
    close(name) {
      if (name === 't') inText = false
      else if (name === 'rPh') inPhonetic = false
      else if (name === 'si') {
        strings.push(current ?? '')
        current = undefined
      }
    },
  })
  return strings
}

/** The numbers of the built-in formats of dates and times; the second and the last are those of East Asian versions. */
const BUILT_IN_DATES = [
  [14, 22],
  [27, 36],
  [45, 47],
  [50, 58],
] as const

/** Returns the formats that show a number as a date: the built-in ones, and those with a date letter outside quotes. */
function dateStylesOf(source: string | undefined): ReadonlySet<number> {
  const styles = new Set<number>()
  if (source === undefined) return styles
  const custom = new Map<string, string>()
  let inCells = false
  let index = 0
  readXml(source, {
    open(name, { numFmtId = '', formatCode = '' }) {
      if (name === 'numFmt') custom.set(numFmtId, formatCode)
      else if (name === 'cellXfs') inCells = true
      else if (name === 'xf' && inCells) {
        const id = Number(numFmtId)
        const code = (custom.get(numFmtId) ?? '').replace(/"[^"]*"|\[[^\]]*\]|\\./g, '')
        if (BUILT_IN_DATES.some(([from, to]) => id >= from && id <= to) || /[ymdhs]/i.test(code)) styles.add(index)
        index += 1
      }
    },
    text: nothing,
    close(name) {
      if (name === 'cellXfs') inCells = false
    },
  })
  return styles
}

type Dates = { styles: ReadonlySet<number>; epoch: number }

function rowsOf(source: string, strings: string[], { styles, epoch }: Dates): Cell[][] {
  const rows: Cell[][] = []
  let cells = 0
  let row: Cell[] = []
  let cell: { type: string; style: number; column: number } | undefined
  let text = ''
  let inValue = false
  readXml(source, {
    open(name, { r, t, s }) {
      if (name === 'row') row = []
      else if (name === 'c') {
        cell = { type: t ?? 'n', style: Number(s ?? -1), column: r === undefined ? row.length : columnOf(r) }
        text = ''
      } else if (name === 'v' || (name === 't' && cell?.type === 'inlineStr')) inValue = true
    },
    text(part) {
      if (inValue) text += part
    },
    close(name) {
      if (name === 'v' || name === 't') inValue = false
      else if (name === 'c' && cell) {
        cells += 1
        if (cells > MAX_CELLS || cell.column >= MAX_COLUMNS)
          throw unreadable(`a sheet may have at most ${MAX_CELLS} cells`)
        while (row.length < cell.column) row.push(null)
        row[cell.column] = cellValue(cell.type, text, strings, styles.has(cell.style) ? epoch : undefined)
        cell = undefined
      } else if (name === 'row') rows.push(row)
    },
  })
  return rows
}

function columnOf(reference: string): number {
  let column = 0
  for (const letter of /^[A-Z]{1,3}/.exec(reference)?.[0] ?? 'A') column = column * 26 + letter.charCodeAt(0) - 64
  return column - 1
}

/** `epoch` is that of the dates, if the cell shows a date. */
function cellValue(type: string, text: string, strings: string[], epoch: number | undefined): Cell {
  if (type === 's') return strings[Number(text)] ?? null
  if (type === 'b') return text === '1'
  if (type === 'inlineStr' || type === 'str' || type === 'e') return text
  if (text === '') return null
  const number = Number(text)
  if (!Number.isFinite(number)) return text
  if (epoch === undefined) return number
  // The number of days; the fraction is the time.
  const date = new Date(Math.round((number - epoch) * 86_400) * 1000)
  if (Number.isNaN(date.getTime())) return number
  return Number.isInteger(number) ? date.toISOString().slice(0, 10) : date.toISOString()
}

const letters = (column: number): string =>
  column < 26 ? String.fromCharCode(65 + column) : letters(Math.floor(column / 26) - 1) + letters(column % 26)

const HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>'
const MAIN = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main'
const OFFICE = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships'
const PACKAGE = 'http://schemas.openxmlformats.org/package/2006'
const SHEET = 'application/vnd.openxmlformats-officedocument.spreadsheetml'

/** Writes texts as texts, so that a text that looks like a formula does not become one. */
export function writeXlsx(rows: Cell[][], sheet = 'Sheet1'): Buffer {
  const lines = rows.map((row, index) => {
    const cells = row.map((cell, column) => cellXml(cell, `${letters(column)}${index + 1}`))
    return `<row r="${index + 1}">${cells.join('')}</row>`
  })
  const name = escapeXml(sheet.replace(/[[\]:*?/\\]/g, ' ').slice(0, 31) || 'Sheet1')
  const parts: [string, string][] = [
    [
      '[Content_Types].xml',
      `<Types xmlns="${PACKAGE}/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/><Override PartName="/xl/workbook.xml" ContentType="${SHEET}.sheet.main+xml"/><Override PartName="/xl/worksheets/sheet1.xml" ContentType="${SHEET}.worksheet+xml"/></Types>`,
    ],
    [
      '_rels/.rels',
      `<Relationships xmlns="${PACKAGE}/relationships"><Relationship Id="rId1" Type="${OFFICE}/officeDocument" Target="xl/workbook.xml"/></Relationships>`,
    ],
    [
      'xl/workbook.xml',
      `<workbook xmlns="${MAIN}" xmlns:r="${OFFICE}"><sheets><sheet name="${name}" sheetId="1" r:id="rId1"/></sheets></workbook>`,
    ],
    [
      'xl/_rels/workbook.xml.rels',
      `<Relationships xmlns="${PACKAGE}/relationships"><Relationship Id="rId1" Type="${OFFICE}/worksheet" Target="worksheets/sheet1.xml"/></Relationships>`,
    ],
    ['xl/worksheets/sheet1.xml', `<worksheet xmlns="${MAIN}"><sheetData>${lines.join('')}</sheetData></worksheet>`],
  ]
  return writeZip(parts.map(([path, text]) => ({ name: path, bytes: Buffer.from(HEAD + text) })))
}

function cellXml(cell: Cell, at: string): string {
  if (cell === null) return ''
  if (typeof cell === 'number') return `<c r="${at}"><v>${cell}</v></c>`
  if (typeof cell === 'boolean') return `<c r="${at}" t="b"><v>${cell ? 1 : 0}</v></c>`
  return `<c r="${at}" t="inlineStr"><is><t xml:space="preserve">${escapeXml(cell)}</t></is></c>`
}
