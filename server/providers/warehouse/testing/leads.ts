// The table that stand-ins let themselves be written to: `leads (id, name)`. A statement that is not exactly one of those that the
// service writes is refused, and so is one whose parameters do not fit its markers.

export type Leads = Map<number, string | null>

export type Wanted = { kind: 'insert' | 'merge'; rows: [number, string | null][] }

/** Rows of two parameters each; undefined where the parameters do not come to whole rows. */
export function rowsOf(markers: number, values: unknown[]): [number, string | null][] | undefined {
  if (markers !== values.length || markers === 0 || markers % 2 !== 0) return undefined
  return Array.from({ length: markers / 2 }, (_, at) => [
    Number(values[2 * at]),
    values[2 * at + 1] == null ? null : String(values[2 * at + 1]),
  ])
}

/** What a server says that keeps the primary key; undefined where all is well. */
export function apply(leads: Leads, { kind, rows }: Wanted): string | undefined {
  if (kind === 'insert' && rows.some(([id]) => leads.has(id))) return 'duplicate key in leads'
  for (const [id, name] of rows) leads.set(id, name)
  return undefined
}

export const countMarkers = (text: string): number => text.split('?').length - 1
