import type { NewSuite } from '#sdk/types.generated'

export type Check = NewSuite['checks'][number]
export type CheckRow = { id: number; kind: Check['kind']; text: string; fields: string }

let counter = 0
export const newCheck = (kind: Check['kind'] = 'equal', text = 'record.expected', fields = ''): CheckRow => ({
  id: ++counter,
  kind,
  text,
  fields,
})

const pathIn = (value: unknown): string =>
  typeof value === 'object' && value !== null && '$ref' in value ? String(value.$ref) : JSON.stringify(value)

function rowOf(check: Check): CheckRow {
  switch (check.kind) {
    case 'equal':
      return newCheck('equal', pathIn(check.expected), check.fields?.join(', ') ?? '')
    case 'cel':
      return newCheck('cel', check.expression)
    case 'judge':
      return newCheck('judge', check.instructions)
  }
}

export const rowsOf = (checks: Record<string, unknown>[]): CheckRow[] =>
  checks.map((check) => rowOf(check as unknown as Check))

/** Parses an expected value: `record.expected` is a reference; any other text that is valid JSON is that value. */
function expectedOf(text: string): unknown {
  if (/^record(\.\w+)*$/.test(text.trim())) return { $ref: text.trim() }
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

function checkOf({ kind, text, fields }: CheckRow): Check {
  switch (kind) {
    case 'equal': {
      const named = fields
        .split(',')
        .map((field) => field.trim())
        .filter((field) => field !== '')
      return { kind, expected: expectedOf(text), ...(named.length > 0 && { fields: named }) }
    }
    case 'cel':
      return { kind, expression: text }
    case 'judge':
      return { kind, instructions: text }
  }
}

export const toChecks = (rows: CheckRow[]): Check[] => rows.map(checkOf)
