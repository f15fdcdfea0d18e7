import { isObject } from '#model/json'
import { t } from '#web/words/language.ts'

/** A record for display: each field is a text or, for a list of flat objects, rows. */
export type Shape = ({ name: string; text: string; rows?: never } | { name: string; rows: Record<string, string>[] })[]

const MAX_FIELDS = 24
const MAX_ROWS = 20
const MAX_COLUMNS = 6

const isPlain = (value: unknown): value is string | number | boolean | null =>
  value === null || ['string', 'number', 'boolean'].includes(typeof value)

const textOf = (value: string | number | boolean | null): string =>
  value === null ? '–' : typeof value === 'boolean' ? (value ? t('yes') : t('no')) : String(value)

function rowsOf(value: unknown): Record<string, string>[] | null {
  if (!Array.isArray(value) || value.length === 0 || value.length > MAX_ROWS) return null
  const rows: Record<string, string>[] = []
  for (const item of value) {
    if (!isObject(item)) return null
    const entries = Object.entries(item)
    if (entries.length > MAX_COLUMNS || !entries.every(([, one]) => isPlain(one))) return null
    rows.push(Object.fromEntries(entries.map(([key, one]) => [key, textOf(one as string)])))
  }
  return rows
}

/**
 * Returns null if the record is too large or too deep for any form but JSON. No part of the record is ever left out.
 */
export function shapeOf(value: unknown): Shape | null {
  const entries = isObject(value) ? Object.entries(value) : []
  if (entries.length === 0 || entries.length > MAX_FIELDS) return null
  const shape: Shape = []
  for (const [name, one] of entries) {
    if (isPlain(one)) shape.push({ name, text: textOf(one) })
    else if (Array.isArray(one) && one.length > 0 && one.length <= MAX_ROWS && one.every(isPlain))
      shape.push({ name, text: one.map(textOf).join(', ') })
    else {
      const rows = rowsOf(one)
      if (rows === null) return null
      shape.push({ name, rows })
    }
  }
  return shape
}
