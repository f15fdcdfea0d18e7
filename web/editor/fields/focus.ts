const CONTROLS = ':is(input,textarea,select,[role=switch],[data-code]):not([disabled],[aria-hidden=true])'

const soon = (act: () => void): void => void requestAnimationFrame(() => requestAnimationFrame(act))

/** Focuses the field at this place, or the nearest visible field around it. As with Tab, its value is selected. */
export function focusField(pointer: string): void {
  soon(() => {
    const fields = [...document.querySelectorAll<HTMLElement>('[data-inspector] [data-field]')]
    const best = fields
      .filter(({ dataset }) => pointer === dataset.field || pointer.startsWith(`${dataset.field}/`))
      .sort((a, b) => b.dataset.field!.length - a.dataset.field!.length)[0]
    best?.scrollIntoView({ block: 'nearest' })
    const controls = [...(best?.querySelectorAll<HTMLElement>(CONTROLS) ?? [])]
    const own = controls.find((control) => control.closest('[data-head]') === null)
    const target = own ?? controls[0] ?? best?.querySelector<HTMLElement>('[data-add]')
    target?.focus()
    if (target instanceof HTMLInputElement) target.select()
  })
}

/** Focuses the button that adds an entry, after the focused entry was removed. */
export function focusBeside(removed: HTMLElement): void {
  const list = removed.closest('[data-fields]')
  soon(() => list?.querySelector<HTMLElement>(':scope > [data-add], :scope > * > [data-add]')?.focus())
}
