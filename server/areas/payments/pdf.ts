import { formatMoney } from '#providers/billing/money'
import type { InvoiceRow } from './store.ts'

// An invoice of the built-in provider as a PDF: text in the fonts that every reader has, so nothing is embedded. Letters
// outside Windows-1252 are shown as question marks; the printable page has all of them.

export type FoundInvoice = { invoice: InvoiceRow; seller: string; buyer: string }

const PAGE = { width: 595, height: 842, margin: 56 }
const COLUMNS = { period: 310, right: PAGE.width - PAGE.margin }
const MAX_LETTERS = 46

type Text = { at: [x: number, y: number]; size: number; bold: boolean; text: string }

/** Bytes 0x80–0x9f of Windows-1252, the encoding of the fonts. */
const WINDOWS = '€\u0081‚ƒ„…†‡ˆ‰Š‹Œ\u008dŽ\u008f\u0090‘’“”•–—˜™š›œ\u009džŸ'

function encode(text: string): string {
  const bytes = [...text.normalize('NFC')].map((letter) => {
    const special = WINDOWS.indexOf(letter)
    if (special >= 0) return String.fromCharCode(0x80 + special)
    const code = letter.codePointAt(0)!
    if (code === 0xa0 || code === 0x202f) return ' '
    return (code >= 0x20 && code < 0x7f) || (code > 0xa0 && code <= 0xff) ? letter : '?'
  })
  return bytes.join('').replaceAll(/[\\()]/g, '\\$&')
}

/** Widths of Helvetica in thousandths of its size, for what stands in amounts; other letters are taken as digits. */
const NARROW: Record<string, number> = { ' ': 278, ',': 278, '.': 278, '-': 333 }
const widthOf = (text: string, size: number): number =>
  ([...text].reduce((sum, letter) => sum + (NARROW[letter] ?? 556), 0) / 1000) * size

function wrap(text: string): string[] {
  const lines = ['']
  for (const word of text.split(/\s+/).flatMap((part) => part.match(new RegExp(`.{1,${MAX_LETTERS}}`, 'gu')) ?? [])) {
    const last = lines.at(-1)!
    if (last !== '' && last.length + 1 + word.length > MAX_LETTERS) lines.push(word)
    else lines[lines.length - 1] = last === '' ? word : `${last} ${word}`
  }
  return lines
}

const day = (time: Date | string): string => new Date(time).toISOString().slice(0, 10)

/** The texts of each page, from the top down. */
function layOut({ invoice, seller, buyer }: FoundInvoice): Text[][] {
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

const drawn = (texts: Text[]): string =>
  texts
    .map(
      ({ at: [x, y], size, bold, text }) =>
        `BT /${bold ? 'B' : 'R'} ${size} Tf ${x.toFixed(2)} ${y.toFixed(2)} Td (${encode(text)}) Tj ET`,
    )
    .join('\n')

export function invoicePdf(found: FoundInvoice): Buffer {
  const pages = layOut(found).map(drawn)
  const font = (name: string): string =>
    `<< /Type /Font /Subtype /Type1 /BaseFont /${name} /Encoding /WinAnsiEncoding >>`
  // Objects 1 to 4 are the catalogue, the list of pages and the fonts; then two for each page.
  const objects = [
    '<< /Type /Catalog /Pages 2 0 R >>',
    `<< /Type /Pages /Count ${pages.length} /Kids [${pages.map((_, at) => `${5 + 2 * at} 0 R`).join(' ')}] >>`,
    font('Helvetica'),
    font('Helvetica-Bold'),
    ...pages.flatMap((content, at) => [
      `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 ${PAGE.width} ${PAGE.height}] /Resources << /Font << /R 3 0 R /B 4 0 R >> >> /Contents ${6 + 2 * at} 0 R >>`,
      `<< /Length ${content.length} >>\nstream\n${content}\nendstream`,
    ]),
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
