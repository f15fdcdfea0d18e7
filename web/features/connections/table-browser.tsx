import { useState } from 'react'
import { useApi } from '#web/api.ts'
import { cx } from '#web/ui/cx.ts'
import { inputClass } from '#web/ui/field.tsx'
import { messageOf } from '#web/ui/messages.ts'
import { Loaded, Loading } from '#web/ui/states.tsx'

const MAX_LISTED = 200

/** The contents of the warehouse: tables by name, the columns of one table, and its first rows. */
export function TableBrowser({
  connectionId,
  chosen,
  onChoose,
}: {
  connectionId: string
  chosen: string
  onChoose(table: string): void
}) {
  const [wanted, setWanted] = useState('')
  const tables = useApi('browseTables', { connection_id: connectionId }, { staleTime: 60_000 })
  return (
    <section aria-label="Tables of the warehouse" className="rounded-md border border-line">
      <Loaded of={tables} what="the tables" rows={3}>
        {(found) => {
          const fitting = found.tables.filter(({ table }) => table.toLowerCase().includes(wanted.toLowerCase()))
          const shown = found.tables.find(({ table }) => table === chosen)
          if (found.tables.length === 0)
            return <p className="p-3 text-ink-2">No tables could be listed. Type the name of one.</p>
          return (
            <>
              <div className="border-b border-line p-2">
                <input
                  type="search"
                  aria-label="Find a table"
                  placeholder="Find a table"
                  value={wanted}
                  onChange={(event) => setWanted(event.currentTarget.value)}
                  className={cx(inputClass, 'h-8')}
                />
              </div>
              <ul aria-label="Tables" className="max-h-44 overflow-y-auto p-1">
                {fitting.slice(0, MAX_LISTED).map(({ table, columns }) => (
                  <li key={table}>
                    <button
                      type="button"
                      aria-pressed={table === chosen}
                      onClick={() => onChoose(table)}
                      className={cx(
                        'flex w-full items-baseline gap-2 rounded px-2 py-1 text-left hover:bg-hover',
                        table === chosen && 'bg-accent-soft',
                      )}
                    >
                      <span className="truncate font-mono text-xs">{table}</span>
                      <span className="ml-auto shrink-0 text-xs text-ink-2">{columns.length} columns</span>
                    </button>
                  </li>
                ))}
                {fitting.length === 0 && <li className="px-2 py-1 text-ink-2">Nothing matches.</li>}
              </ul>
              {shown && <Preview connectionId={connectionId} table={shown.table} columns={shown.columns} />}
            </>
          )
        }}
      </Loaded>
    </section>
  )
}

function Preview({
  connectionId,
  table,
  columns,
}: {
  connectionId: string
  table: string
  columns: { name: string; type: string }[]
}) {
  const preview = useApi('previewTable', { connection_id: connectionId, table }, { staleTime: 60_000 })
  return (
    <section
      aria-label={`Rows of ${table}`}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: a wide table is scrolled by keyboard too
      tabIndex={0}
      className="max-h-56 overflow-auto border-t border-line"
    >
      <table className="w-full text-xs">
        <thead className="sticky top-0 bg-raised text-left">
          <tr>
            {columns.map(({ name, type }) => (
              <th key={name} scope="col" className="px-2 py-1 font-medium whitespace-nowrap">
                {name} <span className="font-normal text-ink-2">{type}</span>
              </th>
            ))}
          </tr>
        </thead>
        <tbody className="font-mono">
          {preview.data?.rows.map((row, at) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: rows of a preview have no name
            <tr key={at} className="border-t border-line">
              {columns.map(({ name }) => (
                <td key={name} className="max-w-48 truncate px-2 py-1">
                  {shownValue(row[name])}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {preview.isPending && <Loading rows={2} />}
      {preview.error && <p className="p-2 text-danger">{messageOf(preview.error)}</p>}
    </section>
  )
}

const shownValue = (value: unknown): string =>
  value === null || value === undefined ? '' : typeof value === 'string' ? value : JSON.stringify(value)
