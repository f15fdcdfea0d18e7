import {
  type ComponentProps,
  type ComponentType,
  cloneElement,
  type KeyboardEvent,
  type ReactElement,
  useState,
} from 'react'
import { toast } from './toast.tsx'

type Popup<Props> = ComponentType<Props & { trigger: ReactElement }>

/**
 * A button whose popup is loaded when first needed: hover or focus fetches it, a click opens it. Measured: menus and
 * popovers are 30 kB of script, gzipped, that no first page needs.
 */
export function OnDemand<Props extends object>({
  load,
  props,
  kind = 'menu',
  children,
}: {
  /** Loads the popup, initially open, around the given button. */
  load(): Promise<Popup<Props>>
  props: Props
  kind?: 'menu' | 'dialog'
  children: ReactElement<ComponentProps<'button'>>
}) {
  const [loaded, setLoaded] = useState<{ Popup: Popup<Props> } | null>(null)
  if (loaded) return <loaded.Popup {...props} trigger={children} />
  const fetch = (): void => void load().catch(() => {})
  const open = (): void =>
    void load().then(
      (Popup) => setLoaded({ Popup }),
      (error: unknown) => toast.failed('Could not open this', error),
    )
  return cloneElement(children, {
    onPointerEnter: fetch,
    onFocus: fetch,
    onClick: open,
    onKeyDown: (event: KeyboardEvent) => {
      if (kind !== 'menu' || event.key !== 'ArrowDown') return
      event.preventDefault()
      open()
    },
    'aria-haspopup': kind,
    'aria-expanded': false,
  })
}
