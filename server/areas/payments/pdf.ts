import { formatMoney } from '#providers/billing/money'
import { type Fonts, isWide, makeFonts } from './pdf-fonts.ts'
import type { InvoiceRow } from './store.ts'

// An invoice of the built-in provider as a PDF.

export type FoundInvoice = { invoice: InvoiceRow; seller: string; buyer: string }

const PAGE = { width: 595, height: 842, margin: 56 }
const COLUMNS = { period: 310, right: PAGE.width - PAGE.margin }
const MAX_LETTERS = 46

type Text = { at: [x: number, y: number]; size: number; bold: boolean; text: string }

/** Characters that are as wide as high count twice. */
const lengthOf = (text: string): number => [...text].reduce((sum, letter) => sum + (isWide(letter) ? 2 : 1), 0)

/** Splits a word into pieces that fit a line. */
function piecesOf(word: string): string[] {
  const pieces = ['']
  for (const letter of word) {
    if (lengthOf(pieces.at(-1)!) + lengthOf(letter) > MAX_LETTERS) pieces.push('')
    pieces[pieces.length - 1] += letter
  }
  return pieces
}

function wrap(text: string): string[] {
  const lines = ['']
  for (const word of text.split(/\s+/).flatMap(piecesOf)) {
    const last = lines.at(-1)!
    if (last !== '' && lengthOf(last) + 1 + lengthOf(word) > MAX_LETTERS) lines.push(word)
    else lines[lines.length - 1] = last === '' ? word : `${last} ${word}`
  }
  return lines
}

const day = (time: Date | string): string => new Date(time).toISOString().slice(0, 10)

/** Returns the texts of each page, from top to bottom. */
function layOut({ invoice, seller, buyer }: FoundInvoice, { widthOf }: Fonts): Text[][] {
  const pages: Text[][] = [[]]
  let y = PAGE.height - PAGE.margin
  const write = (x: number, text: string, { size = 10, bold = false, right = false } = {}): void => {
    const left = right ? x - widthOf(text, size) : x
    pages.at(-1)!.push({ at: [left, y], size, bold, text })
  }
  const down = (by: number): void => {
    y -= by
    if (y > PAGE.margin) return
    pages.push([])
    y = PAGE.height - PAGE.margin
  }
  const money = (amount: number): string => formatMoney(amount, invoice.currency)
  const left = PAGE.margin

  write(left, `Invoice ${invoice.number ?? ''}`, { size: 18, bold: true })
  down(22)
  for (const line of wrap(seller)) {
    write(left, line)
    down(14)
  }
  down(14)
  const facts: [string, string][] = [
    ['For', buyer],
    ['Date', day(invoice.created_at)],
    ['Period', `${day(invoice.period_start)} to ${day(invoice.period_end)}`],
    ['Status', invoice.status],
  ]
  for (const [label, value] of facts) {
    write(left, label, { bold: true })
    for (const line of wrap(value)) {
      write(left + 70, line)
      down(15)
    }
  }
  down(20)
  write(left, 'Description', { bold: true })
  write(COLUMNS.period, 'Period', { bold: true })
  write(COLUMNS.right, 'Amount', { bold: true, right: true })
  down(18)
  for (const line of invoice.lines) {
    const [first = '', ...rest] = wrap(line.description)
    write(left, first)
    write(COLUMNS.period, `${day(line.period_start)} to ${day(line.period_end)}`)
    write(COLUMNS.right, money(line.amount), { right: true })
    for (const more of rest) {
      down(13)
      write(left, more)
    }
    down(17)
  }
  down(6)
  write(left, 'Due', { bold: true })
  write(COLUMNS.right, money(invoice.amount_due), { bold: true, right: true })
  down(17)
  write(left, 'Paid', { bold: true })
  write(COLUMNS.right, money(invoice.amount_paid), { bold: true, right: true })
  return pages
}

export function invoicePdf(found: FoundInvoice): Buffer {
  const fonts = makeFonts()
  const pages = layOut(found, fonts).map((texts) =>
    texts
      .map(({ at: [x, y], text, ...look }) => `BT ${x.toFixed(2)} ${y.toFixed(2)} Td ${fonts.show(text, look)} ET`)
      .join('\n'),
  )
  // Objects 1 and 2 are the catalog and the list of pages. Two objects for each page follow, then the fonts.
  const { objects: used, resources } = fonts.objects(3 + 2 * pages.length)
  const objects = [
    '<< /Type /Catalog /Pages 2 0 R >>',
    `<< /Type /Pages /Count ${pages.length} /Kids [${pages.map((_, at) => `${3 + 2 * at} 0 R`).join(' ')}] >>`,
    ...pages.flatMap((content, at) => [
      `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 ${PAGE.width} ${PAGE.height}] /Resources << /Font << ${resources} >> >> /Contents ${4 + 2 * at} 0 R >>`,
      `<< /Length ${content.length} >>\nstream\n${content}\nendstream`,
    ]),
    ...used,
  ]
  let file = '%PDF-1.4\n'
  const offsets = objects.map((object, at) => {
    const offset = file.length
    file += `${at + 1} 0 obj\n${object}\nendobj\n`
    return offset
  })
  const start = file.length
  const table = offsets.map((offset) => `${String(offset).padStart(10, '0')} 00000 n \n`).join('')
  file += `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${table}`
  file += `trailer\n<< /Size ${objects.length + 1} /Root 1 0 R >>\nstartxref\n${start}\n%%EOF\n`
  return Buffer.from(file, 'latin1')
}
