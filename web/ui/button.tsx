import { Link, type LinkProps } from '@tanstack/react-router'
import { LoaderCircle, type LucideIcon, Pencil, Trash2 } from 'lucide-react'
import type { ComponentProps, ReactNode } from 'react'
import { cx } from './cx.ts'

export type ButtonVariant = 'primary' | 'secondary' | 'quiet' | 'danger'
type Size = 'medium' | 'small'

const variants: Record<ButtonVariant, string> = {
  primary: 'bg-accent text-accent-ink hover:bg-accent-strong border-transparent',
  secondary: 'bg-surface text-ink border-line hover:bg-hover',
  quiet: 'bg-transparent text-ink-2 border-transparent hover:bg-hover hover:text-ink',
  danger: 'bg-danger text-danger-ink border-transparent hover:opacity-90',
}

export const buttonClass = (look: ButtonVariant = 'secondary', size: Size = 'medium'): string =>
  cx(
    'inline-flex shrink-0 items-center justify-center gap-1.5 rounded-md border font-medium whitespace-nowrap transition-colors',
    'disabled:opacity-55 disabled:pointer-events-none aria-disabled:opacity-55',
    size === 'small' ? 'h-7 px-2 text-xs' : 'h-9 px-3 text-sm',
    variants[look],
  )

type Own = { look?: ButtonVariant; size?: Size; icon?: LucideIcon; children?: ReactNode }
export type ButtonProps = Own & { pending?: boolean } & ComponentProps<'button'>

/**
 * A pending button does nothing, but it is not disabled: the browser takes the focus from a disabled button, and a
 * keyboard would start again at the top of the page.
 */
export function Button({ look, size, icon: Icon, pending = false, children, className, ...rest }: ButtonProps) {
  const Shown = pending ? LoaderCircle : Icon
  return (
    <button
      type="button"
      {...rest}
      aria-disabled={pending || undefined}
      aria-busy={pending || undefined}
      onClick={pending ? (event) => event.preventDefault() : rest.onClick}
      className={cx(buttonClass(look, size), className)}
    >
      {Shown && <Shown aria-hidden className={cx('size-4', pending && 'animate-spin')} />}
      {children}
    </button>
  )
}

/** A button with only an icon; `label` is its accessible name. */
export function IconButton({
  icon: Icon,
  label,
  size,
  className,
  ...rest
}: { icon: LucideIcon; label: string; size?: Size } & ComponentProps<'button'>) {
  return (
    <button
      type="button"
      aria-label={label}
      title={label}
      {...rest}
      className={cx(
        'inline-grid shrink-0 place-items-center rounded-md text-ink-2 hover:bg-hover hover:text-ink disabled:opacity-50',
        size === 'small' ? 'size-7' : 'size-9',
        className,
      )}
    >
      <Icon aria-hidden className="size-4" />
    </button>
  )
}

/** A link that looks like a button. */
export function ButtonLink({
  look,
  size,
  icon: Icon,
  children,
  className,
  ...rest
}: Own & LinkProps & { className?: string }) {
  return (
    <Link {...rest} className={cx(buttonClass(look, size), className)}>
      {Icon && <Icon aria-hidden className="size-4" />}
      {children}
    </Link>
  )
}

/** The buttons on the page of one resource, for users who may change it. */
export function ChangeAndDelete({ onChange, onDelete }: { onChange(): void; onDelete(): void }) {
  return (
    <>
      <Button icon={Pencil} onClick={onChange}>
        Change
      </Button>
      <Button icon={Trash2} onClick={onDelete}>
        Delete
      </Button>
    </>
  )
}
