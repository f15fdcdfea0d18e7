import { extractText, getDocumentProxy } from 'unpdf'
import { expect, test } from 'vitest'
import { invoicePdf } from './pdf.ts'
import type { InvoiceRow } from './store.ts'

const line = { amount: 4900, quantity: 1, proration: false, period_start: '2026-11-01', period_end: '2026-12-01' }
const invoice = (description: string): InvoiceRow =>
  ({
    number: 'A-1',
    status: 'paid',
    amount_due: 4900,
    amount_paid: 4900,
    currency: 'eur',
    lines: [{ ...line, description }],
    period_start: new Date('2026-11-01'),
    period_end: new Date('2026-12-01'),
    created_at: new Date('2026-11-01'),
  }) as unknown as InvoiceRow

const print = (buyer: string, description = 'Team'): Buffer =>
  invoicePdf({ invoice: invoice(description), seller: 'Heddle (shop)', buyer })

/** Returns the `FontName` of each embedded font. */
const embedded = (pdf: Buffer): string[] =>
  [...pdf.toString('latin1').matchAll(/\/FontName \/(\S+) [^>]*\/FontFile2/g)].map(([, name]) => name!)

async function textOf(pdf: Buffer): Promise<string> {
  const { text } = await extractText(await getDocumentProxy(new Uint8Array(pdf)), { mergePages: true })
  return text
}

test.each([
  ['Western', 'Société Générale & Müller (Köln)', []],
  ['Polish', 'Zażółć gęślą jaźń, Łódź', ['HEDDLE+Inter-latin', 'HEDDLE+Inter-latin-ext']],
  ['Greek', 'Αθήνα Ευαγγελία', ['HEDDLE+Inter-latin', 'HEDDLE+Inter-greek']],
  ['Cyrillic', 'ООО Ромашка, Київ', ['HEDDLE+Inter-latin', 'HEDDLE+Inter-cyrillic']],
  ['Vietnamese', 'Nguyễn Văn Hạnh', ['HEDDLE+Inter-latin', 'HEDDLE+Inter-latin-ext', 'HEDDLE+Inter-vietnamese']],
])('a name in %s letters is printed, with only the necessary glyphs embedded', async (_script, name, fonts) => {
  const pdf = print(name)
  expect(await textOf(pdf)).toContain(name)
  expect(new Set(embedded(pdf))).toEqual(new Set(fonts))
  expect(pdf.length).toBeLessThan(20_000)
})

test.each([
  ['Chinese', '北京织机有限公司', 'STSong-Light', 'UniGB-UCS2-H'],
  ['Japanese', '株式会社おり', 'HeiseiKakuGo-W5', 'UniJIS-UCS2-H'],
  ['Korean', '서울 직기', 'HYGoThic-Medium', 'UniKS-UCS2-H'],
])('a name in %s letters uses the font that readers supply', (_script, name, font, encoding) => {
  const pdf = print(name).toString('latin1')
  expect(pdf).toContain(`/BaseFont /${font}-${encoding} /Encoding /${encoding}`)
  const first = name.codePointAt(0)!.toString(16)
  expect(pdf).toContain(`<${first}`)
})

test('a character that no font has becomes a question mark, and long names without spaces are broken', async () => {
  expect(await textOf(print('ދިވެހި Łódź'))).toContain('?')
  const lines = print('織'.repeat(60))
    .toString('latin1')
    .match(/<(7e54)+> Tj/g)!
  expect(lines.map((shown) => (shown.length - 5) / 4)).toEqual([23, 23, 14])
})

test('the cross-reference table leads to every object', () => {
  const pdf = print('Łódź 北京').toString('latin1')
  const start = Number(/startxref\n(\d+)/.exec(pdf)![1])
  const entries = [...pdf.slice(start).matchAll(/^(\d{10}) 00000 n/gm)].map(([, offset]) => Number(offset))
  expect(entries.length).toBeGreaterThan(10)
  for (const [at, offset] of entries.entries())
    expect(pdf.slice(offset, offset + 12)).toMatch(new RegExp(`^${at + 1} 0 obj`))
})
