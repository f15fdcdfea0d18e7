import { type ComponentProps, type KeyboardEvent, useState } from 'react'
import { cx } from '#web/ui/cx.ts'
import { inputClass } from '#web/ui/field.tsx'

// Plain controls. The document is changed as one types; what cannot be read yet stays in the control until it can.

export const TextInput = ({ className, ...rest }: ComponentProps<'input'>) => (
  <input {...rest} spellCheck={false} autoComplete="off" className={cx(inputClass, 'h-8', className)} />
)

export const SelectInput = ({ className, ...rest }: ComponentProps<'select'>) => (
  <select {...rest} className={cx(inputClass, 'h-8 pr-7', className)} />
)

type AreaProps = Omit<ComponentProps<'textarea'>, 'onChange' | 'value'> & {
  value: string
  code?: boolean
  onText(text: string): void
}

/** Grows with its text. In code the Tab key indents; Escape, then Tab, leaves. */
export function TextArea({ value, code = false, onText, className, rows = 2, ...rest }: AreaProps) {
  const [leaving, setLeaving] = useState(false)
  const lines = Math.min(24, Math.max(rows, value.split('\n').length + (code ? 1 : 0)))
  const onKeyDown = (event: KeyboardEvent<HTMLTextAreaElement>): void => {
    rest.onKeyDown?.(event)
    if (!code) return
    if (event.key === 'Escape') setLeaving(true)
    else if (event.key === 'Tab' && !event.shiftKey && !leaving) {
      event.preventDefault()
      const { selectionStart: from, selectionEnd: to } = event.currentTarget
      event.currentTarget.setRangeText('  ', from, to, 'end')
      onText(event.currentTarget.value)
    } else setLeaving(false)
  }
  return (
    <textarea
      {...rest}
      value={value}
      rows={lines}
      spellCheck={!code}
      onKeyDown={onKeyDown}
      onChange={(event) => onText(event.currentTarget.value)}
      className={cx(inputClass, 'resize-y py-1.5', code && 'font-mono text-xs leading-5', className)}
    />
  )
}

type NumberProps = Omit<ComponentProps<'input'>, 'value' | 'onChange'> & {
  value: number | undefined
  onNumber(value: number | undefined): void
}

export function NumberInput({ value, onNumber, ...rest }: NumberProps) {
  const [text, setText] = useState<string | null>(null)
  const shown = text !== null && readNumber(text) === value ? text : (value?.toString() ?? '')
  return (
    <TextInput
      {...rest}
      inputMode="decimal"
      value={text !== null && readNumber(text) === undefined && text !== '' ? text : shown}
      onChange={(event) => {
        const next = event.currentTarget.value
        setText(next)
        const number = readNumber(next)
        if (number !== undefined || next.trim() === '') onNumber(number)
      }}
      onBlur={() => setText(null)}
    />
  )
}

const readNumber = (text: string): number | undefined => {
  const number = Number(text)
  return text.trim() === '' || !Number.isFinite(number) ? undefined : number
}

type JsonProps = { id?: string; label: string; value: unknown; disabled?: boolean; onJson(value: unknown): void }

/** JSON as text; it counts once it can be read. */
export function JsonArea({ id, label, value, disabled, onJson }: JsonProps) {
  const [text, setText] = useState<string | null>(null)
  const [wrong, setWrong] = useState<string | null>(null)
  return (
    <>
      <TextArea
        id={id}
        aria-label={id === undefined ? label : undefined}
        aria-invalid={wrong !== null}
        code
        rows={4}
        disabled={disabled}
        value={text ?? JSON.stringify(value, null, 2) ?? ''}
        onText={(next) => {
          setText(next)
          try {
            const read: unknown = JSON.parse(next)
            setWrong(null)
            onJson(read)
          } catch (error) {
            setWrong(error instanceof Error ? error.message : 'This is not valid JSON.')
          }
        }}
        onBlur={() => wrong === null && setText(null)}
      />
      {wrong && <p className="text-xs text-danger">Not valid JSON: {wrong}</p>}
    </>
  )
}
