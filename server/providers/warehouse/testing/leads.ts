// The table that the stand-ins allow writes to: `leads (id, name)`. A statement is refused if it is not exactly one of
// the statements that the service writes, or if its parameters do not match its markers.

export type Leads = Map<number, string | null>

export type Wanted = { kind: 'insert' | 'merge'; rows: [number, string | null][] }

/** Returns rows of two parameters each. Undefined if the number of parameters does not match. */
export function rowsOf(markers: number, values: unknown[]): [number, string | null][] | undefined {
  if (markers !== values.length || markers === 0 || markers % 2 !== 0) return undefined
  return Array.from({ length: markers / 2 }, (_, at) => [
    Number(values[2 * at]),
    values[2 * at + 1] == null ? null : String(values[2 * at + 1]),
  ])
}

/** Enforces the primary key. Returns the server's error message, or undefined on success. */
export function apply(leads: Leads, { kind, rows }: Wanted): string | undefined {
  if (kind === 'insert' && rows.some(([id]) => leads.has(id))) return 'duplicate key in leads'
  for (const [id, name] of rows) leads.set(id, name)
  return undefined
}

export const countMarkers = (text: string): number => text.split('?').length - 1
