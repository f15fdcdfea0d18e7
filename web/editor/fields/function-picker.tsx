import { type KeyboardEvent, useMemo, useState } from 'react'
import type { FunctionHelp } from '#model/cel-help-table'
import { cx } from '#web/ui/cx.ts'
import { type Check, useCheck } from '../check/load.ts'
import { SearchBox } from '../search-box.tsx'
import { Picker, type PickerProps, useActiveRow } from './picker.tsx'

/** The functions of expressions, each with an example. */
export const FunctionPicker = (props: PickerProps) => <Picker label="Pick a function" list={List} {...props} />

type Row = FunctionHelp & { group: string; first: boolean }

const rowsFor = (groups: Check['functionHelp'], search: string): Row[] => {
  const wanted = search.trim().toLowerCase()
  return groups.flatMap(({ group, functions }) =>
    functions
      .filter(({ name, does }) => `${group} ${name} ${does}`.toLowerCase().includes(wanted))
      .map((row, index) => ({ ...row, group, first: index === 0 })),
  )
}

function List({ onPick }: { onPick(call: string): void }) {
  const [search, setSearch] = useState('')
  const { id, setActive, currentOf, move } = useActiveRow()
  const groups = useCheck()?.functionHelp
  const rows = useMemo(() => rowsFor(groups ?? [], search), [groups, search])
  const current = currentOf(rows.length)
  const onKeyDown = (event: KeyboardEvent): void => {
    const row = rows[current]
    if (event.key === 'Enter' && row) onPick(row.call)
    else if (!move(event, current, rows.length)) return
    event.preventDefault()
  }
  return (
    <>
      <SearchBox
        label="Search the functions"
        placeholder="Search"
        value={search}
        list={`${id}-list`}
        active={rows[current] && `${id}-${current}`}
        onSearch={(text) => {
          setSearch(text)
          setActive(0)
        }}
        onKeyDown={onKeyDown}
      />
      <div id={`${id}-list`} role="listbox" aria-label="Functions" className="max-h-80 overflow-y-auto p-1">
        {rows.map((row, index) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the keys are those of the combobox
          <div
            key={row.name}
            id={`${id}-${index}`}
            role="option"
            tabIndex={-1}
            aria-selected={index === current}
            className={cx('cursor-default rounded px-2 py-1', index === current && 'bg-hover')}
            onMouseMove={() => setActive(index)}
            onMouseDown={(event) => event.preventDefault()}
            onClick={() => onPick(row.call)}
          >
            {row.first && <p className="pt-1 text-[11px] text-ink-3">{row.group}</p>}
            <p className="truncate font-mono text-xs">{row.call}</p>
            <p className="text-xs text-ink-2">{row.does}</p>
            <p className="truncate font-mono text-[11px] text-ink-3" title={row.example}>
              {row.example} = {JSON.stringify(row.gives)}
            </p>
          </div>
        ))}
        {rows.length === 0 && <p className="px-3 py-4 text-center text-ink-3">No function matches.</p>}
      </div>
    </>
  )
}
