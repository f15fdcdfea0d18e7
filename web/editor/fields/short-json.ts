import { t } from '#web/words/language.ts'

/** Returns JSON text that fits on one line of the screen. */
export const shortJson = (value: unknown, maxLength = 80): string => {
  const text = JSON.stringify(value) ?? t('nothing')
  return text.length > maxLength ? `${text.slice(0, maxLength)}…` : text
}
