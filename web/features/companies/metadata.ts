import { t } from '#web/words/language.ts'

/** Parses the text of a field for a JSON object. An empty text is an empty object. */
export function readObject(text: string): Record<string, unknown> {
  if (text.trim() === '') return {}
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw new Error('The notes are not valid JSON.')
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new Error(t('The notes must be a JSON object: { … }.'))
  return value as Record<string, unknown>
}
