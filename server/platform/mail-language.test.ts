import { expect, test } from 'vitest'
import { formatMoney } from '#providers/billing/money'
import { mailWords } from './mail-language.ts'

test.each([
  ['en', 'Due Nov 20, 2026, 10:11 AM UTC'],
  ['de', 'Fällig 20.11.2026, 10:11 UTC'],
])('a time in a notice is readable in %s and names its zone', (language, text) => {
  const { notice } = mailWords(language)
  expect(notice('Due 2026-11-20T10:11:12.123Z').replaceAll('\u202f', ' ')).toBe(text)
  const written = 'The lunch of 2026-11-20T10:11:12.123Z'
  expect(notice(written)).toBe(written)
})

test.each([
  ['en', 'Amount: $1,234.50', 'Amount: ¥500', 'Amount: CHF\u00a01.25'],
  ['de', 'Betrag: 1.234,50\u00a0$', 'Betrag: 500\u00a0¥', 'Betrag: 1,25\u00a0CHF'],
])('an amount in a notice has the format of the language %s, with its currency', (language, ...texts) => {
  const { notice } = mailWords(language)
  const amounts = [formatMoney(123_450, 'usd'), formatMoney(500, 'jpy'), formatMoney(125, 'chf')]
  expect(amounts.map((amount) => notice(`Amount: ${amount}`))).toEqual(texts)
  const written = 'A question for you: $1,234.50'
  expect(notice(written)).toContain('$1,234.50')
  expect(notice('$1,234.50')).toBe('$1,234.50')
  expect(notice('Amount: 12 of us')).toContain('12 of us')
})

test.each([
  ['Due 2026-99-99T99:99:99Z', 'Fällig 2026-99-99T99:99:99Z'],
  [`Amount: $1.${'0'.repeat(101)}`, `Betrag: $1.${'0'.repeat(101)}`],
  ['The budget of the workflow "TRY 3" is spent', 'Budget aufgebraucht: der Workflow "TRY 3"'],
  ['The budget of the workflow "TOP10" is spent', 'Budget aufgebraucht: der Workflow "TOP10"'],
])('a text of a tenant that only looks like a time or an amount is unchanged in %j', (text, translated) => {
  expect(mailWords('de').notice(text)).toBe(translated)
})
