import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { languageOf, t } from './words.ts'

test('every text of the widget exists in every language', () => {
  const sources = globSync('*.{ts,tsx}', { cwd: import.meta.dirname }).filter((file) => !file.includes('words'))
  const texts = sources.flatMap((file) =>
    [...readFileSync(join(import.meta.dirname, file), 'utf8').matchAll(/\bt\('([^']+)'\)/g)].map(([, text]) => text!),
  )
  expect(texts.length).toBeGreaterThan(20)
  for (const text of texts)
    for (const tag of ['de', 'fr', 'es', 'no'])
      if (text !== 'Conversation' && text !== 'Send')
        expect(t(text, languageOf(tag)), `${text} in ${tag}`).not.toBe(text)
})

test.each([
  ['de-CH', 'Senden'],
  ['FR', 'Envoyer'],
  ['es-419', 'Enviar'],
  ['nb-NO', 'Send'],
  ['ja', 'Send'],
  ['', 'Send'],
])('a browser in %j shows %s', (tag, text) => {
  expect(t('Send', languageOf(tag))).toBe(text)
})
