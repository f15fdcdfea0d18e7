import { MAX_COLUMNS } from './limits.ts'

export type Column = { name: string; types: string[]; nulls: number }
export type Profile = { columns: Column[]; complete: boolean }

const kinds = ['string', 'number', 'boolean', 'object', 'array'] as const

type Seen = { name: string; kinds: number; present: number }

/** Collects the types of each column, and how often its value was null or missing. */
export type Profiler = ReturnType<typeof makeProfiler>

export function makeProfiler(before?: { profile: Profile; record_count: number }) {
  const seen = new Map<string, Seen>()
  let complete = before?.profile.complete ?? true
  for (const { name, types, nulls } of before?.profile.columns ?? []) {
    const mask = types.reduce((bits, type) => bits | (1 << kinds.indexOf(type as (typeof kinds)[number])), 0)
    seen.set(name, { name, kinds: mask, present: before!.record_count - nulls })
  }

  const column = (name: string): Seen | undefined => {
    let found = seen.get(name)
    if (found === undefined) {
      if (seen.size >= MAX_COLUMNS) {
        complete = false
        return undefined
      }
      found = { name, kinds: 0, present: 0 }
      seen.set(name, found)
    }
    return found
  }

  const note = (found: Seen | undefined, value: unknown): void => {
    if (found === undefined || value === null) return
    found.present += 1
    found.kinds |= kindOf(value)
  }

  return {
    column,
    note,
    add(record: Record<string, unknown>): void {
      for (const name in record) note(column(name), record[name])
    },
    finish: (recordCount: number): Profile => ({
      complete,
      columns: [...seen.values()].map(({ name, kinds: mask, present }) => ({
        name,
        types: kinds.filter((_kind, bit) => mask & (1 << bit)),
        nulls: recordCount - present,
      })),
    }),
  }
}

function kindOf(value: unknown): number {
  switch (typeof value) {
    case 'string':
      return 1
    case 'number':
      return 2
    case 'boolean':
      return 4
    default:
      return Array.isArray(value) ? 16 : 8
  }
}
