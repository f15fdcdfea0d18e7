import { Menu as Base } from '@base-ui/react/menu'
import { Link } from '@tanstack/react-router'
import type { LucideIcon } from 'lucide-react'
import type { ReactElement, ReactNode } from 'react'
import { cx } from './cx.ts'

// <Menu trigger={<Button>…</Button>}><MenuItem onSelect={…}>…</MenuItem></Menu>

const itemClass =
  'flex w-full cursor-default items-center gap-2 rounded px-2 py-1.5 text-sm outline-none select-none data-[highlighted]:bg-hover data-[disabled]:opacity-50'

export function Menu({
  trigger,
  children,
  align = 'end',
  defaultOpen = false,
}: {
  trigger: ReactElement
  children: ReactNode
  align?: 'start' | 'end'
  defaultOpen?: boolean
}) {
  return (
    <Base.Root defaultOpen={defaultOpen}>
      <Base.Trigger render={trigger} />
      <Base.Portal>
        <Base.Positioner sideOffset={6} align={align} className="z-50 outline-none">
          <Base.Popup className="max-h-[min(70dvh,32rem)] min-w-48 overflow-y-auto rounded-lg border border-line bg-raised p-1 shadow-raised outline-none">
            {children}
          </Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  )
}

export function MenuItem({
  icon: Icon,
  onSelect,
  to,
  danger = false,
  disabled,
  children,
}: {
  icon?: LucideIcon
  onSelect?: () => void
  to?: string
  danger?: boolean
  disabled?: boolean
  children: ReactNode
}) {
  const inside = (
    <>
      {Icon && <Icon aria-hidden className="size-4 shrink-0 text-ink-3" />}
      {children}
    </>
  )
  const className = cx(itemClass, danger && 'text-danger')
  if (to !== undefined) return <Base.Item className={className} render={<Link to={to}>{inside}</Link>} />
  return (
    <Base.Item className={className} disabled={disabled} onClick={onSelect}>
      {inside}
    </Base.Item>
  )
}

export const MenuSeparator = () => <Base.Separator className="my-1 h-px bg-line" />
export const MenuGroup = ({ label, children }: { label: string; children: ReactNode }) => (
  <Base.Group>
    <Base.GroupLabel className="px-2 pt-1.5 pb-1 text-xs font-medium text-ink-3">{label}</Base.GroupLabel>
    {children}
  </Base.Group>
)

/** One of several choices; the selected one is marked. */
export function MenuChoice<Value extends string>({
  value,
  options,
  onChange,
}: {
  value: Value
  options: readonly { value: Value; label: ReactNode }[]
  onChange(value: Value): void
}) {
  return (
    <Base.RadioGroup value={value} onValueChange={(next) => onChange(next as Value)}>
      {options.map((option) => (
        <Base.RadioItem key={option.value} value={option.value} className={itemClass} closeOnClick>
          <span className="grid size-4 shrink-0 place-items-center">
            <Base.RadioItemIndicator className="size-2 rounded-full bg-accent" />
          </span>
          {option.label}
        </Base.RadioItem>
      ))}
    </Base.RadioGroup>
  )
}
