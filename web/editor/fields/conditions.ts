import { t } from '#web/words/language.ts'

// Conditions that rows can express: field, operator, value, all joined by "and" or all by "or".

export const operators = {
  '==': t('is'),
  '!=': t('is not'),
  '>': t('is more than'),
  '>=': t('is at least'),
  '<': t('is less than'),
  '<=': t('is at most'),
  contains: t('contains'),
  startsWith: t('starts with'),
  endsWith: t('ends with'),
  has: t('exists'),
  '!has': t('is missing'),
} as const
export type Operator = keyof typeof operators
export type Literal = string | number | boolean | null
export type Row = { field: string; operator: Operator; value: Literal }
export type Conditions = { join: '&&' | '||'; rows: Row[] }

export const hasValue = (operator: Operator): boolean => operator !== 'has' && operator !== '!has'

export function writeConditions({ join, rows }: Conditions): string {
  if (rows.length === 0) return 'true'
  return rows.map(writeRow).join(` ${join} `)
}

function writeRow({ field, operator, value }: Row): string {
  switch (operator) {
    case 'has':
      return `has(${field})`
    case '!has':
      return `!has(${field})`
    case 'contains':
    case 'startsWith':
    case 'endsWith':
      return `${field}.${operator}(${JSON.stringify(String(value ?? ''))})`
    default:
      return `${field} ${operator} ${JSON.stringify(value)}`
  }
}

/** Returns the text of a value in its field: a text that could be read as another type is quoted. */
export const shownValue = (value: Literal): string =>
  typeof value !== 'string' ? String(value) : readsAsJson(value) ? JSON.stringify(value) : value

export const readValue = (text: string): Literal => (readsAsJson(text) ? (JSON.parse(text) as Literal) : text)

const readsAsJson = (text: string): boolean => /^(?:-?\d+(?:\.\d+)?|true|false|null|"(?:[^"\\]|\\.)*")$/.test(text)
