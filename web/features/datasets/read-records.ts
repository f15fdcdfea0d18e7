import { t } from '#web/words/language.ts'

type Records = Record<string, unknown>[]

/** Parses typed records; errors are written for the user who typed them. */
export function readRecords(text: string): Records {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    throw new Error(`This is not valid JSON: ${(error as Error).message}`)
  }
  if (!Array.isArray(value)) throw new Error(t('Records must be a list: [ { … }, { … } ].'))
  const odd = value.findIndex((item) => typeof item !== 'object' || item === null || Array.isArray(item))
  if (odd !== -1) throw new Error(t('Record {0} is not an object { … }.', [odd + 1]))
  return value as Records
}
