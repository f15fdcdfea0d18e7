import { globSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { mailTexts } from '#model/mail-texts'
import { composedTexts, noticeTexts, phraseTexts } from '#model/notice-texts'
import { inConsoleWords } from '#model/translate-messages'

const words = join(import.meta.dirname, '../web/words')

/** Prints the texts of mails, in every language of the console's catalogue. */
export function printMailWords(): string {
  const texts = [...new Set([mailTexts, noticeTexts, composedTexts, phraseTexts].flat().map(inConsoleWords))].sort()
  const languages = globSync('*.json', { cwd: words })
    .filter((file) => !file.endsWith('.generated.json'))
    .sort()
  const printed = languages.map((file) => {
    const catalogue = JSON.parse(readFileSync(join(words, file), 'utf8')) as Record<string, string>
    return [basename(file, '.json'), Object.fromEntries(texts.map((text) => [text, catalogue[text] ?? text]))]
  })
  return `${JSON.stringify(Object.fromEntries(printed), null, 2)}\n`
}
