import { Search } from 'lucide-react'
import type { KeyboardEvent } from 'react'
import { cx } from '#web/ui/cx.ts'

/** A search field with a list below it; the arrow keys move in the list. */
export function SearchBox({
  label,
  placeholder,
  large = false,
  value,
  list,
  active,
  onSearch,
  onKeyDown,
}: {
  label: string
  placeholder: string
  large?: boolean
  value: string
  /** The id of the list, and of its active entry. */
  list: string
  active: string | undefined
  onSearch(text: string): void
  onKeyDown(event: KeyboardEvent): void
}) {
  return (
    <div className={cx('flex items-center gap-2 border-b border-line', large ? 'px-4' : 'px-3')}>
      <Search aria-hidden className="size-4 shrink-0 text-ink-3" />
      <input
        role="combobox"
        aria-expanded
        aria-controls={list}
        aria-activedescendant={active}
        aria-label={label}
        // biome-ignore lint/a11y/noAutofocus: the list was opened to type into it
        autoFocus
        value={value}
        onChange={(event) => onSearch(event.currentTarget.value)}
        onKeyDown={onKeyDown}
        placeholder={placeholder}
        className={cx(
          'w-full bg-transparent outline-none placeholder:text-ink-3',
          large ? 'h-12 text-base' : 'h-9 text-sm',
        )}
      />
    </div>
  )
}
