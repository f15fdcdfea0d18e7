import { type ReactNode, useState } from 'react'
import { Button } from './button.tsx'
import type { Column } from './table.tsx'

export type Selection<Row> = {
  /** The selected rows that are still in the list. */
  chosen: Row[]
  clear(): void
  /** The column of checkboxes; undefined if no row can be selected. */
  column: Column<Row> | undefined
}

/** The maximum number of rows in one request. */
const MAX_CHOSEN = 100

/** Rows selected for an action. `can` checks which rows the user may select. */
export function useSelection<Row>(
  rows: readonly Row[] | undefined,
  { keyOf, nameOf, can }: { keyOf(row: Row): string; nameOf(row: Row): string; can(row: Row): boolean },
): Selection<Row> {
  const [keys, setKeys] = useState<ReadonlySet<string>>(new Set())
  const open = (rows ?? []).filter(can).slice(0, MAX_CHOSEN)
  const chosen = open.filter((row) => keys.has(keyOf(row)))
  const all = chosen.length > 0 && chosen.length === open.length
  const toggle = (key: string): void => {
    const next = new Set(keys)
    if (!next.delete(key)) next.add(key)
    setKeys(next)
  }
  const column: Column<Row> = {
    width: '2.5rem',
    header: (
      <input
        type="checkbox"
        aria-label="Select all"
        className="block size-4 accent-accent"
        checked={all}
        ref={(box) => {
          if (box) box.indeterminate = chosen.length > 0 && !all
        }}
        onChange={() => setKeys(new Set(all ? [] : open.map(keyOf)))}
      />
    ),
    cell: (row) =>
      open.includes(row) && (
        <input
          type="checkbox"
          aria-label={`Select ${nameOf(row)}`}
          className="block size-4 accent-accent"
          checked={keys.has(keyOf(row))}
          onChange={() => toggle(keyOf(row))}
        />
      ),
  }
  return { chosen, clear: () => setKeys(new Set()), column: open.length > 0 ? column : undefined }
}

/** Shown above the table while rows are selected. */
export const SelectionBar = <Row,>({ selection, children }: { selection: Selection<Row>; children: ReactNode }) =>
  selection.chosen.length > 0 ? (
    <div role="toolbar" aria-label="Selected" className="mb-3 flex flex-wrap items-center gap-3">
      <span className="text-ink-2">{selection.chosen.length} selected</span>
      {children}
      <Button look="quiet" onClick={selection.clear}>
        Clear
      </Button>
    </div>
  ) : null

/** Returns the errors of a bulk action; null if all items were done. */
export function refusalsIn(items: readonly { done: boolean; problem: { detail: string } | null }[]): string | null {
  const refused = items.filter(({ done }) => !done)
  const reasons = [...new Set(refused.map(({ problem }) => problem?.detail ?? ''))]
  return refused.length === 0 ? null : `${refused.length} of ${items.length} were refused. ${reasons.join(' ')}`
}
