import { t } from '#web/words/language.ts'

/** JSON text for a line of the screen. */
export const short = (value: unknown, maxLength = 80): string => {
  const text = JSON.stringify(value) ?? t('nothing')
  return text.length > maxLength ? `${text.slice(0, maxLength)}…` : text
}
