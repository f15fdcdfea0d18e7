import { Popover } from '@base-ui/react/popover'
import { type KeyboardEvent, type ReactElement, useId, useMemo, useRef, useState } from 'react'
import type { FunctionHelp } from '#model/cel-help'
import { cx } from '#web/ui/cx.ts'
import { type Check, useCheck } from '../check/load.ts'
import { SearchBox } from '../search-box.tsx'

type Props = { open: boolean; onOpenChange(open: boolean): void; onPick(call: string): void; anchor: ReactElement }

/** The functions of expressions, each with an example. */
export function FunctionPicker({ open, onOpenChange, onPick, anchor }: Props) {
  const place = useRef<HTMLSpanElement>(null)
  return (
    <Popover.Root open={open} onOpenChange={onOpenChange}>
      <span ref={place} className="inline-flex">
        {anchor}
      </span>
      <Popover.Portal>
        <Popover.Positioner anchor={place} side="left" align="start" sideOffset={8} className="z-50">
          <Popover.Popup
            aria-label="Pick a function"
            className="w-96 rounded-lg border border-line bg-raised shadow-raised outline-none"
          >
            {open && (
              <List
                onPick={(call) => {
                  onOpenChange(false)
                  onPick(call)
                }}
              />
            )}
          </Popover.Popup>
        </Popover.Positioner>
      </Popover.Portal>
    </Popover.Root>
  )
}

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
  const [active, setActive] = useState(0)
  const id = useId()
  const groups = useCheck()?.functionHelp
  const rows = useMemo(() => rowsFor(groups ?? [], search), [groups, search])
  const current = Math.min(active, rows.length - 1)
  const go = (index: number): void => {
    setActive(Math.max(0, Math.min(rows.length - 1, index)))
    document.getElementById(`${id}-${index}`)?.scrollIntoView({ block: 'nearest' })
  }
  const onKeyDown = (event: KeyboardEvent): void => {
    const row = rows[current]
    if (event.key === 'ArrowDown') go(current + 1)
    else if (event.key === 'ArrowUp') go(current - 1)
    else if (event.key === 'Enter' && row) onPick(row.call)
    else return
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
