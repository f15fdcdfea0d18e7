import { ChevronDown, ChevronRight } from 'lucide-react'
import { type KeyboardEvent, useMemo, useState } from 'react'
import { cx } from '#web/ui/cx.ts'
import { SearchBox } from '../search-box.tsx'
import { Picker, type PickerProps, useActiveRow } from './picker.tsx'
import { type Row, rowsOf } from './reference-rows.ts'
import { useFieldScope } from './scope.tsx'
import { shortJson } from './short-json.ts'

/** The outputs of earlier nodes as a tree to select from, with the data of the last execution beside it. */
export const ReferencePicker = (props: PickerProps) => <Picker label="Pick data" list={Tree} {...props} />

function Tree({ onPick }: { onPick(reference: string): void }) {
  const { sources, sample } = useFieldScope()
  const [search, setSearch] = useState('')
  const [toggled, setToggled] = useState<ReadonlyMap<string, boolean>>(new Map())
  const { id, setActive, currentOf, move } = useActiveRow()
  const rows = useMemo(
    () => rowsOf(sources, (reference, depth) => toggled.get(reference) ?? depth === 0, search),
    [sources, toggled, search],
  )
  const current = currentOf(rows.length)
  const toggle = (row: Row): void => setToggled(new Map(toggled).set(row.reference, !row.expanded))
  const onKeyDown = (event: KeyboardEvent): void => {
    const row = rows[current]
    if (event.key === 'Enter' && row) onPick(row.reference)
    else if (event.key === 'ArrowRight' && row?.expandable && !row.expanded && search === '') toggle(row)
    else if (event.key === 'ArrowLeft' && row?.expanded && search === '') toggle(row)
    else if (!move(event, current, rows.length)) return
    event.preventDefault()
  }
  return (
    <>
      <SearchBox
        label="Search the data"
        placeholder="Search"
        value={search}
        list={`${id}-tree`}
        active={rows[current] && `${id}-${current}`}
        onSearch={(text) => {
          setSearch(text)
          setActive(0)
        }}
        onKeyDown={onKeyDown}
      />
      <div id={`${id}-tree`} role="tree" aria-label="Data" className="max-h-80 overflow-y-auto p-1">
        {rows.map((row, index) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the keys are those of the combobox
          <div
            key={row.reference}
            id={`${id}-${index}`}
            role="treeitem"
            tabIndex={-1}
            aria-level={row.depth + 1}
            aria-expanded={row.expandable ? row.expanded : undefined}
            aria-selected={index === current}
            aria-label={row.reference}
            className={cx('flex h-7 cursor-default items-center gap-1 rounded pr-2', index === current && 'bg-hover')}
            style={{ paddingLeft: 4 + (search === '' ? row.depth * 14 : 0) }}
            onMouseMove={() => setActive(index)}
            onMouseDown={(event) => event.preventDefault()}
            onClick={() => onPick(row.reference)}
          >
            <span
              aria-hidden
              className="grid size-5 shrink-0 place-items-center text-ink-3"
              onClick={(event) => {
                event.stopPropagation()
                if (row.expandable) toggle(row)
              }}
            >
              {row.expandable &&
                search === '' &&
                (row.expanded ? <ChevronDown className="size-3.5" /> : <ChevronRight className="size-3.5" />)}
            </span>
            <span className={cx('shrink-0 truncate', row.depth === 0 ? 'font-medium' : 'font-mono text-xs')}>
              {search === '' ? row.name : row.reference}
            </span>
            <span className="ml-auto min-w-0 truncate pl-2 font-mono text-[11px] text-ink-3">
              {row.sample !== undefined ? shortJson(row.sample, 40) : row.hint}
            </span>
          </div>
        ))}
        {rows.length === 0 && <p className="px-3 py-4 text-center text-ink-3">No earlier step matches.</p>}
      </div>
      {!sample && <p className="border-t border-line px-3 py-2 text-xs text-ink-3">Run once to see sample data.</p>}
    </>
  )
}
