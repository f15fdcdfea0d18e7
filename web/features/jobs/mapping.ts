// A mapping as editable rows: each row fills a field of the input from a source.

export type MappingRow = { id: number; field: string; from: 'column' | 'fixed' | 'cel'; value: string }

let counter = 0
export const newRow = (field = '', from: MappingRow['from'] = 'column', value = ''): MappingRow => ({
  id: ++counter,
  field,
  from,
  value,
})

const PLAIN = /^[A-Za-z_]\w*$/

/** Returns `record.email`, or `record["e-mail"]` if the name is not a plain word. */
const recordRef = (column: string): Record<string, string> =>
  PLAIN.test(column) ? { $ref: `record.${column}` } : { $cel: `record[${JSON.stringify(column)}]` }

function columnOf(value: Record<string, unknown>): string | undefined {
  if (typeof value.$ref === 'string' && value.$ref.startsWith('record.')) return value.$ref.slice('record.'.length)
  const found = typeof value.$cel === 'string' ? /^record\[("(?:[^"\\]|\\.)*")\]$/.exec(value.$cel)?.[1] : undefined
  return found === undefined ? undefined : (JSON.parse(found) as string)
}

export function rowsOf(mapping: Record<string, unknown> | null): MappingRow[] {
  return Object.entries(mapping ?? {}).map(([field, value]) => {
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
      const given = value as Record<string, unknown>
      const column = columnOf(given)
      if (column !== undefined) return newRow(field, 'column', column)
      if (typeof given.$cel === 'string') return newRow(field, 'cel', given.$cel)
    }
    return newRow(field, 'fixed', typeof value === 'string' ? value : JSON.stringify(value))
  })
}

/** Parses a fixed value as JSON if it is valid JSON, otherwise as text. */
function fixed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

/** The input of an execution: the record unchanged, or fields computed from it. */
export type InputMapping = { asIs: boolean; rows: MappingRow[] }

export const inputMappingOf = (mapping: Record<string, unknown> | null | undefined): InputMapping => ({
  asIs: mapping === null || mapping === undefined,
  rows: rowsOf(mapping ?? null),
})

export const fromInputMapping = ({ asIs, rows }: InputMapping): Record<string, unknown> | null =>
  asIs ? null : toMapping(rows)

export function toMapping(rows: MappingRow[]): Record<string, unknown> {
  const named = rows.filter(({ field }) => field.trim() !== '')
  const seen = new Set<string>()
  for (const { field } of named) {
    if (seen.has(field)) throw new Error(`The field ${field} is given twice.`)
    seen.add(field)
  }
  return Object.fromEntries(
    named.map(({ field, from, value }) => {
      if (from === 'column' && value === '') throw new Error(`Choose a column for ${field}.`)
      return [field, from === 'column' ? recordRef(value) : from === 'cel' ? { $cel: value } : fixed(value)]
    }),
  )
}
