import { expect, test } from 'vitest'
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
