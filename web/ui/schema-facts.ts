import { isObject } from '#model/json'
import { t } from '#web/words/language.ts'

type Field = { title?: unknown; oneOf?: unknown }

const MAX_SHOWN = 300

/** Returns a value of a form as readable text. */
export function inWords(value: unknown, { oneOf }: Field = {}): string {
  const choice = Array.isArray(oneOf) ? oneOf.find((one) => isObject(one) && one.const === value) : undefined
  if (isObject(choice) && typeof choice.title === 'string') return choice.title
  if (typeof value === 'boolean') return value ? t('yes') : t('no')
  if (Array.isArray(value)) return value.map((one) => inWords(one)).join(', ')
  if (isObject(value))
    return Object.entries(value)
      .map(([name, one]) => `${name}: ${inWords(one)}`)
      .join(', ')
  return String(value)
}

/** Returns the values of a form as facts: the titles of its fields, and readable values. */
export function factsOf(schema: Record<string, unknown>, filled: Record<string, unknown>): [string, string][] {
  const fields = isObject(schema.properties) ? schema.properties : {}
  return Object.entries(filled)
    .filter(([, value]) => value !== null && value !== undefined && value !== '')
    .map(([name, value]) => {
      const field: Field = isObject(fields[name]) ? fields[name] : {}
      const text = inWords(value, field)
      return [
        typeof field.title === 'string' ? field.title : name,
        text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text,
      ]
    })
}
