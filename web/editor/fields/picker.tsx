import { Popover } from '@base-ui/react/popover'
import { type ComponentType, type KeyboardEvent, type ReactElement, useId, useRef, useState } from 'react'
import { useFinalFocus } from '#web/ui/final-focus.ts'
import { useSaveKey } from '#web/ui/save-key.ts'

export type PickerProps = {
  open: boolean
  onOpenChange(open: boolean): void
  onPick(text: string): void
  anchor: ReactElement
}

type Options = PickerProps & { label: string; list: ComponentType<{ onPick(text: string): void }> }

/** A searchable list next to a field, to select from. */
export function Picker({ label, list: List, open, onOpenChange, onPick, anchor }: Options) {
  const place = useRef<HTMLSpanElement>(null)
  const onKeyDown = useSaveKey(() => onOpenChange(false))
  const popup = useRef<HTMLDivElement>(null)
  const finalFocus = useFinalFocus(open)
  /** A pick that was inserted into an expression has moved the focus there. */
  const hasMoved = (): boolean => {
    const { activeElement } = document
    return activeElement !== null && activeElement !== document.body && !popup.current?.contains(activeElement)
  }
  return (
    <Popover.Root open={open} onOpenChange={onOpenChange}>
      <span ref={place} className="inline-flex">
        {anchor}
      </span>
      <Popover.Portal>
        <Popover.Positioner anchor={place} side="left" align="start" sideOffset={8} className="z-50">
          <Popover.Popup
            aria-label={label}
            ref={popup}
            finalFocus={() => (hasMoved() ? false : finalFocus())}
            onKeyDown={onKeyDown}
            className="w-96 rounded-lg border border-line bg-raised shadow-raised outline-none"
          >
            {open && (
              <List
                onPick={(text) => {
                  onOpenChange(false)
                  onPick(text)
                }}
              />
            )}
          </Popover.Popup>
        </Popover.Positioner>
      </Popover.Portal>
    </Popover.Root>
  )
}

/** Tracks the active row of the keyboard and the mouse. Rows have the ids `${id}-0`, `${id}-1` … */
export function useActiveRow() {
  const [active, setActive] = useState(0)
  const id = useId()
  return {
    id,
    setActive,
    currentOf: (length: number): number => Math.min(active, length - 1),
    /** Handles the arrow keys; returns whether the key moved the active row. */
    move(event: KeyboardEvent, current: number, length: number): boolean {
      if (event.key !== 'ArrowDown' && event.key !== 'ArrowUp') return false
      const index = current + (event.key === 'ArrowDown' ? 1 : -1)
      setActive(Math.max(0, Math.min(length - 1, index)))
      document.getElementById(`${id}-${index}`)?.scrollIntoView({ block: 'nearest' })
      return true
    },
  }
}
