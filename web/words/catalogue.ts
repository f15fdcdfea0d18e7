import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { FUNCTION_HELP } from '#model/cel-help-table'
import { eventTypes } from '#model/event-types'
import { mailTexts } from '#model/mail-texts'
import { composedTexts, noticeTexts, phraseTexts } from '#model/notice-texts'
import { notificationKinds } from '#model/notification-kinds'
import { inConsoleWords } from '#model/translate-messages'
import { recipes } from '#web/features/workflows/gallery/recipes.ts'
import { changeOffered } from '#web/features/workflows/gallery/texts.ts'
import { blank, starters } from '#web/features/workflows/starters.ts'
import { textsIn } from './find-texts.ts'
import { checkTexts, expressionTexts, libraryTexts, problemTexts, runTexts, stepTexts } from './service-texts.ts'

// Collects the texts that the console shows, and checks whether every language has them: the texts in its sources, of
// the kinds of nodes, of the workflows that it offers, of the built-in services with their actions and arguments, of
// the model (functions of expressions, kinds of notices and mails), and the error messages of the service.

const web = join(import.meta.dirname, '..')

const textsOfModel = [
  ...notificationKinds.map(({ title }) => title),
  ...mailTexts,
  ...Object.values(eventTypes).map(inConsoleWords),
  ...FUNCTION_HELP.flatMap(({ group, functions }) => [group, ...functions.map(({ does }) => does)]),
]

function textsOfOffered(): string[] {
  const texts = new Set<string>()
  const keep = (text: string): string => {
    texts.add(text)
    return text
  }
  for (const offered of [...recipes, ...starters, blank]) changeOffered(offered, keep)
  return [...texts].filter((text) => text !== '')
}

const textsOfService = [
  '(at character {0})',
  ...[
    problemTexts,
    runTexts,
    stepTexts,
    checkTexts,
    expressionTexts,
    libraryTexts,
    noticeTexts,
    composedTexts,
    phraseTexts,
  ]
    .flat()
    .map(inConsoleWords),
]

/** Returns the texts of the kinds of nodes and the services, which `npm run generate` writes. */
const textsOfData = (): string[] =>
  globSync('*.generated.json', { cwd: import.meta.dirname }).flatMap(
    (file) => JSON.parse(readFileSync(join(import.meta.dirname, file), 'utf8')) as string[],
  )

/** Returns every text of the console, with the files that contain it. */
export function allTexts(): Map<string, string[]> {
  const texts = new Map<string, string[]>()
  for (const file of globSync('**/*.{ts,tsx}', { cwd: web }).sort())
    for (const { text } of textsIn(`/${file}`, readFileSync(join(web, file), 'utf8')))
      texts.set(text, [...(texts.get(text) ?? []), file])
  for (const text of [...textsOfData(), ...textsOfOffered(), ...textsOfModel, ...textsOfService])
    texts.set(text, [...(texts.get(text) ?? []), 'data'])
  return texts
}

/** Returns the missing texts of a language, the texts that lost a value, and the texts that nothing shows. */
export function faultsOf(catalogue: Readonly<Record<string, string>>, texts: ReadonlyMap<string, string[]>): string[] {
  const valuesIn = (text: string): string => [...text.matchAll(/\{\d\}/g)].map(String).sort().join()
  return [
    ...[...texts].flatMap(([text, files]) =>
      Object.hasOwn(catalogue, text) ? [] : [`missing: ${JSON.stringify(text)} (${files[0]})`],
    ),
    ...Object.entries(catalogue).flatMap(([text, said]) => {
      if (!texts.has(text)) return [`unused: ${JSON.stringify(text)}`]
      return valuesIn(text) === valuesIn(said) && said.trim() !== '' ? [] : [`other values: ${JSON.stringify(text)}`]
    }),
  ]
}

/** Checks `web/words/de.json` and all other languages beside it. */
export function checkLanguages(): string | undefined {
  const texts = allTexts()
  const languages = globSync('words/*.json', { cwd: web }).filter((file) => !file.endsWith('.generated.json'))
  const faults = languages.flatMap((file) => {
    const found = faultsOf(JSON.parse(readFileSync(join(web, file), 'utf8')) as Record<string, string>, texts)
    return found.length === 0 ? [] : [`web/${file}:`, ...found]
  })
  return faults.length === 0
    ? undefined
    : [
        'Every text of the console has a line in every language. Add what is missing with its translation, remove what is unused:',
        ...faults,
      ].join('\n')
}

if (import.meta.main) {
  if (process.argv.includes('--list')) for (const text of allTexts().keys()) console.log(JSON.stringify(text))
  else console.log(checkLanguages() ?? 'Every text is in every language.')
}
