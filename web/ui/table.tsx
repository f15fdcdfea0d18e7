import { Link, useNavigate } from '@tanstack/react-router'
import { type CSSProperties, type MouseEvent, type ReactNode, useEffect, useRef } from 'react'
import { Button } from './button.tsx'
import { cx } from './cx.ts'
import { useWindow } from './window.ts'

export type Column<Row> = {
  header: ReactNode
  cell(row: Row, index: number): ReactNode
  /** A CSS width; the one column without it fills the remaining width. */
  width?: string
  align?: 'left' | 'right'
  /** Hidden on narrow screens. */
  secondary?: boolean
  /** Hidden on all but wide screens. */
  wide?: boolean
  /** The column contains the row's link, for keyboards: usually the name. */
  link?: boolean
  /** Content after the link. */
  after?: (row: Row) => ReactNode
}

export type TableProps<Row> = {
  label: string
  columns: Column<Row>[]
  rows: readonly Row[]
  rowKey(row: Row, index: number): string
  /** The address that a click on the row opens; one column is the `link` to it. */
  rowTo?: (row: Row) => string
  empty?: ReactNode
  more?: { hasMore: boolean; loading: boolean; load(): void }
}

const hiddenIn = ({ secondary, wide }: Column<never>): string | undefined =>
  wide ? 'max-xl:hidden' : secondary ? 'max-md:hidden' : undefined

const ROW_HEIGHT = 44
const WINDOW_ABOVE = 100

/** Returns the width of these columns, in which a column that fills the remaining width can be read. */
const widthOf = (columns: Column<never>[]): string => `calc(${columns.map(({ width }) => width ?? '8rem').join(' + ')})`

/**
 * Returns the minimum widths of the table on narrow, medium and wide screens, below which it scrolls: the column that
 * fills the remaining width never disappears.
 */
const leastWidths = (columns: Column<never>[]): CSSProperties =>
  ({
    '--narrow': widthOf(columns.filter(({ secondary, wide }) => !secondary && !wide)),
    '--medium': widthOf(columns.filter(({ wide }) => !wide)),
    '--all': widthOf(columns),
  }) as CSSProperties

export function Table<Row>({ label, columns, rows, rowKey, rowTo, empty, more }: TableProps<Row>) {
  const scroller = useRef<HTMLDivElement>(null)
  const windowed = rows.length > WINDOW_ABOVE
  const { from, to, before, after } = useWindow(scroller, rows.length, ROW_HEIGHT, windowed)
  const navigate = useNavigate()
  const atEnd = windowed && to >= rows.length
  useEffect(() => {
    if (atEnd && more?.hasMore && !more.loading) more.load()
  }, [atEnd, more])

  if (rows.length === 0 && empty) return empty
  const open = (event: MouseEvent, row: Row): void => {
    const target = event.target as Element
    // A dialog of the row is not inside its element, but its click events bubble up to here.
    if (!rowTo || !event.currentTarget.contains(target) || target.closest('a,button,input,label,select')) return
    void navigate({ to: rowTo(row) })
  }
  return (
    <div
      ref={scroller}
      tabIndex={windowed ? 0 : undefined}
      className={cx(
        'overflow-x-auto rounded-lg border border-line bg-surface',
        windowed && 'max-h-[70dvh] overflow-y-auto',
      )}
    >
      <table
        aria-label={label}
        aria-rowcount={rows.length}
        style={leastWidths(columns)}
        className="w-full min-w-(--narrow) table-fixed border-collapse text-left md:min-w-(--medium) xl:min-w-(--all)"
      >
        <colgroup>
          {columns.map((column, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: columns do not move
            <col key={index} style={{ width: column.width }} className={hiddenIn(column)} />
          ))}
        </colgroup>
        <thead className="sticky top-0 z-10 bg-surface">
          <tr>
            {columns.map((column, index) => (
              <th
                // biome-ignore lint/suspicious/noArrayIndexKey: columns do not move
                key={index}
                scope="col"
                className={cx(
                  'h-9 border-b border-line px-3 text-xs font-medium text-ink-2',
                  column.align === 'right' && 'text-right',
                  hiddenIn(column),
                )}
              >
                {column.header}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {before > 0 && <tr aria-hidden style={{ height: before }} />}
          {rows.slice(from, to).map((row, offset) => (
            <tr
              key={rowKey(row, from + offset)}
              aria-rowindex={windowed ? from + offset + 1 : undefined}
              onClick={rowTo && ((event) => open(event, row))}
              className={cx('h-11 border-b border-line last:border-b-0', rowTo && 'cursor-pointer hover:bg-hover')}
            >
              {columns.map((column, index) => (
                <td
                  // biome-ignore lint/suspicious/noArrayIndexKey: columns do not move
                  key={index}
                  className={cx(
                    'truncate px-3 py-1.5',
                    column.align === 'right' && 'text-right tabular-nums',
                    hiddenIn(column),
                  )}
                >
                  {column.link && rowTo ? (
                    <RowLink to={rowTo(row)} text={column.cell(row, from + offset)} after={column.after?.(row)} />
                  ) : (
                    column.cell(row, from + offset)
                  )}
                </td>
              ))}
            </tr>
          ))}
          {after > 0 && <tr aria-hidden style={{ height: after }} />}
        </tbody>
      </table>
      {more?.hasMore && (
        <div className="border-t border-line p-2 text-center">
          <Button look="quiet" pending={more.loading} onClick={more.load}>
            Show more
          </Button>
        </div>
      )}
    </div>
  )
}

function RowLink({ to, text, after }: { to: string; text: ReactNode; after: ReactNode }) {
  const link = (
    <Link to={to} className="truncate font-medium hover:underline">
      {text}
    </Link>
  )
  if (!after) return link
  return (
    <span className="flex min-w-0 items-center gap-2">
      {link}
      {after}
    </span>
  )
}
