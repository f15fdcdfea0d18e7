import { Dialog } from '@base-ui/react/dialog'
import { Search } from 'lucide-react'
import { type KeyboardEvent, useId, useState } from 'react'
import type { Person } from '#web/session.tsx'
import { cx } from '#web/ui/cx.ts'
import { useFinalFocus } from '#web/ui/final-focus.ts'
import { useEntries } from './entries.ts'
import type { Entry } from './entry.ts'

export function PaletteDialog({ me, onClose, onGo }: { me: Person; onClose(): void; onGo(to: string): void }) {
  const finalFocus = useFinalFocus(true)
  return (
    <Dialog.Root open onOpenChange={(open) => !open && onClose()}>
      <Dialog.Portal>
        <Dialog.Backdrop className="fixed inset-0 z-60 bg-[#000]/25" />
        <Dialog.Popup
          finalFocus={finalFocus}
          className="fixed top-[12vh] left-1/2 z-60 flex max-h-[70vh] w-[min(38rem,calc(100vw-2rem))] -translate-x-1/2 flex-col overflow-hidden rounded-lg border border-line bg-raised shadow-raised outline-none"
        >
          <Dialog.Title className="sr-only">Find anything</Dialog.Title>
          <Finder me={me} onClose={onClose} onGo={onGo} />
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  )
}

function Finder({ me, onClose, onGo }: { me: Person; onClose(): void; onGo(to: string): void }) {
  const [search, setSearch] = useState('')
  const [active, setActive] = useState(0)
  const id = useId()
  const { entries, searching } = useEntries(me, search)
  const current = Math.min(active, entries.length - 1)
  const choose = (entry: Entry | undefined): void => {
    if (!entry) return
    if ('to' in entry) onGo(entry.to)
    else {
      onClose()
      entry.act()
    }
  }
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key === 'ArrowDown') setActive(Math.min(current + 1, entries.length - 1))
    else if (event.key === 'ArrowUp') setActive(Math.max(current - 1, 0))
    else if (event.key === 'Enter') choose(entries[current])
    else return
    event.preventDefault()
  }
  return (
    <>
      <div className="flex items-center gap-2 border-b border-line px-4">
        <Search aria-hidden className="size-4 shrink-0 text-ink-3" />
        <input
          role="combobox"
          aria-expanded
          aria-controls={`${id}-list`}
          aria-activedescendant={entries[current] && `${id}-${current}`}
          aria-label="Find anything"
          // biome-ignore lint/a11y/noAutofocus: it was opened to type into it
          autoFocus
          value={search}
          onChange={(event) => {
            setSearch(event.currentTarget.value)
            setActive(0)
          }}
          onKeyDown={onKeyDown}
          placeholder="Find a page, a workflow, a dataset, or something to do"
          className="h-12 w-full bg-transparent text-base outline-none placeholder:text-ink-3"
        />
      </div>
      <div id={`${id}-list`} role="listbox" aria-label="Found" className="min-h-0 flex-1 overflow-y-auto p-1.5">
        {entries.map((entry, index) => (
          <div key={entry.key} role="presentation">
            {entries[index - 1]?.group !== entry.group && (
              <p className="px-2.5 pt-2 pb-1 text-xs font-medium text-ink-3">{entry.group}</p>
            )}
            {/* biome-ignore lint/a11y/useKeyWithClickEvents: the keys are those of the combobox */}
            <div
              id={`${id}-${index}`}
              role="option"
              tabIndex={-1}
              aria-selected={index === current}
              ref={(element) => {
                if (index === current) element?.scrollIntoView({ block: 'nearest' })
              }}
              className={cx(
                'flex cursor-default items-center gap-3 rounded-md px-2.5 py-1.5',
                index === current && 'bg-accent-soft',
              )}
              onMouseMove={() => setActive(index)}
              onMouseDown={(event) => event.preventDefault()}
              onClick={() => choose(entry)}
            >
              <entry.icon aria-hidden className="size-4 shrink-0 text-ink-3" />
              <span className="min-w-0 truncate">{entry.label}</span>
              {entry.hint && <span className="ml-auto shrink-0 text-xs text-ink-3">{entry.hint}</span>}
            </div>
          </div>
        ))}
        {entries.length === 0 && (
          <p className="px-3 py-6 text-center text-ink-3">{searching ? 'Searching…' : 'Nothing matches.'}</p>
        )}
      </div>
    </>
  )
}
