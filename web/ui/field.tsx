import { Checkbox as BaseCheckbox } from '@base-ui/react/checkbox'
import { Field as BaseField } from '@base-ui/react/field'
import { Form as BaseForm } from '@base-ui/react/form'
import { Switch as BaseSwitch } from '@base-ui/react/switch'
import { Check } from 'lucide-react'
import { type ComponentProps, type ReactNode, useState } from 'react'
import { HeddleProblem } from '#sdk/problems'
import { translateMessage } from '#web/words/messages.ts'
import { Button, type ButtonVariant } from './button.tsx'
import { cx } from './cx.ts'
import { capitalize } from './format.ts'
import { messageOf } from './messages.ts'

// A form shows the service's errors in place: `errors[].path` at the field of that name, the rest above the button.

export const inputClass =
  'w-full rounded-md border border-line-strong bg-surface px-2.5 text-sm text-ink placeholder:text-ink-3 data-[invalid]:border-danger disabled:opacity-60 [input&]:read-only:bg-sunken'

export type FormProps<Values> = {
  onSubmit(values: Values): Promise<unknown>
  children: ReactNode
  submit: ReactNode
  look?: ButtonVariant
  onCancel?: () => void
  /** Additional content to the left of the buttons. */
  aside?: ReactNode
  className?: string
}

export function Form<Values extends Record<string, unknown>>(props: FormProps<Values>) {
  const [pending, setPending] = useState(false)
  const [problem, setProblem] = useState<{ errors: Record<string, string>; message: string | null }>({
    errors: {},
    message: null,
  })
  const submit = async (values: Values): Promise<void> => {
    if (pending) return
    setPending(true)
    setProblem({ errors: {}, message: null })
    try {
      await props.onSubmit(values)
    } catch (error) {
      setProblem(refusalOf(error, values))
    } finally {
      setPending(false)
    }
  }
  return (
    <BaseForm
      className={cx('flex flex-col gap-4', props.className)}
      errors={problem.errors}
      onFormSubmit={(values) => void submit(values as Values)}
    >
      {props.children}
      {problem.message && (
        <p role="alert" className="rounded-md bg-danger-soft px-3 py-2 text-danger">
          {problem.message}
        </p>
      )}
      <div className="flex items-center justify-end gap-2 pt-1">
        {props.aside && <div className="mr-auto">{props.aside}</div>}
        {props.onCancel && (
          <Button look="quiet" onClick={props.onCancel}>
            Cancel
          </Button>
        )}
        <Button type="submit" look={props.look ?? 'primary'} pending={pending}>
          {props.submit}
        </Button>
      </div>
    </BaseForm>
  )
}

function refusalOf(
  error: unknown,
  values: Record<string, unknown>,
): { errors: Record<string, string>; message: string | null } {
  if (!(error instanceof HeddleProblem)) {
    return { errors: {}, message: messageOf(error) }
  }
  const errors: Record<string, string> = {}
  const elsewhere: string[] = []
  for (const { path, message: given } of error.errors) {
    const message = translateMessage(given)
    const name = path.split('/')[1] ?? ''
    if (name in values) errors[name] ??= capitalize(message)
    else elsewhere.push(path === '' ? message : `${path.slice(1)}: ${message}`)
  }
  const placed = Object.keys(errors).length > 0 && elsewhere.length === 0
  return { errors, message: placed ? null : elsewhere.join('; ') || translateMessage(error.message) }
}

export type FieldProps = {
  name?: string
  label: ReactNode
  hint?: ReactNode
  /** Shows the label only to screen readers. */
  hideLabel?: boolean
  className?: string
  children: ReactNode
}

export function Field({ name, label, hint, hideLabel = false, className, children }: FieldProps) {
  return (
    <BaseField.Root name={name} className={cx('flex min-w-0 flex-col gap-1', className)}>
      <BaseField.Label className={hideLabel ? 'sr-only' : 'text-sm font-medium'}>{label}</BaseField.Label>
      {children}
      {hint && <BaseField.Description className="text-xs text-ink-2">{hint}</BaseField.Description>}
      <BaseField.Error className="text-xs text-danger" />
    </BaseField.Root>
  )
}

export const Input = ({ className, ...rest }: ComponentProps<typeof BaseField.Control>) => (
  <BaseField.Control {...rest} className={cx(inputClass, 'h-9', className as string)} />
)

export const Textarea = ({
  rows = 4,
  className,
  ...rest
}: Omit<ComponentProps<typeof BaseField.Control>, 'render'> & { rows?: number }) => (
  <BaseField.Control
    {...rest}
    render={<textarea rows={rows} />}
    className={cx(inputClass, 'py-2', className as string)}
  />
)

export type Option = { value: string; label: string; disabled?: boolean }

/** Adds the current value if a truncated list lacks it: otherwise the browser would select the first option instead. */
export const withPresent = (options: readonly Option[], value: string | null | undefined, label: string): Option[] =>
  value && !options.some((option) => option.value === value) ? [...options, { value, label }] : [...options]

/** The browser's own select: it works with every keyboard and screen reader. */
export function Select({
  options,
  className,
  ...rest
}: { options: readonly Option[] } & Omit<ComponentProps<typeof BaseField.Control>, 'render'>) {
  return (
    <BaseField.Control
      {...rest}
      className={cx(inputClass, 'h-9 pr-7', className as string)}
      render={
        <select>
          {options.map(({ value, label, disabled }) => (
            <option key={value} value={value} disabled={disabled}>
              {label}
            </option>
          ))}
        </select>
      }
    />
  )
}

export function Checkbox({ label, ...rest }: { label: ReactNode } & ComponentProps<typeof BaseCheckbox.Root>) {
  return (
    // biome-ignore lint/a11y/noLabelWithoutControl: the checkbox inside is a control
    <label className="flex items-start gap-2 text-sm">
      <BaseCheckbox.Root
        {...rest}
        className="mt-0.5 grid size-4 shrink-0 place-items-center rounded border border-line-strong bg-surface data-[checked]:border-accent data-[checked]:bg-accent"
      >
        <BaseCheckbox.Indicator>
          <Check aria-hidden className="size-3 text-accent-ink" strokeWidth={3} />
        </BaseCheckbox.Indicator>
      </BaseCheckbox.Root>
      <span>{label}</span>
    </label>
  )
}

export function Switch({
  label,
  hideLabel,
  ...rest
}: { label: string; hideLabel?: boolean } & ComponentProps<typeof BaseSwitch.Root>) {
  return (
    // biome-ignore lint/a11y/noLabelWithoutControl: the switch inside is a control
    <label className="inline-flex items-center gap-2 text-sm">
      <BaseSwitch.Root
        {...rest}
        aria-label={label}
        className="h-5 w-9 shrink-0 rounded-full border border-line-strong bg-sunken p-px transition-colors data-[checked]:border-accent data-[checked]:bg-accent"
      >
        <BaseSwitch.Thumb className="block size-4 rounded-full bg-line-strong transition-transform data-[checked]:translate-x-4 data-[checked]:bg-accent-ink" />
      </BaseSwitch.Root>
      {!hideLabel && <span>{label}</span>}
    </label>
  )
}
