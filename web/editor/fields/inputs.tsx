import type { CompletionSource } from '@codemirror/autocomplete'
import { type ComponentProps, useState } from 'react'
import { cx } from '#web/ui/cx.ts'
import { inputClass } from '#web/ui/field.tsx'
import { CodeField } from '../code/code-field.tsx'

// Plain controls. The document changes while the user types; text that cannot be parsed yet stays in the control until
// it can.

export const TextInput = ({ className, ...rest }: ComponentProps<'input'>) => (
  <input {...rest} spellCheck={false} autoComplete="off" className={cx(inputClass, 'h-8', className)} />
)

export const SelectInput = ({ className, ...rest }: ComponentProps<'select'>) => (
  <select {...rest} className={cx(inputClass, 'h-8 pr-7', className)} />
)

type AreaProps = Omit<ComponentProps<'textarea'>, 'onChange' | 'value'> & {
  value: string
  onText(text: string): void
}

/** A text area that grows with its text. */
export const TextArea = ({ value, onText, className, rows = 2, ...rest }: AreaProps) => (
  <textarea
    {...rest}
    value={value}
    rows={Math.min(24, Math.max(rows, value.split('\n').length))}
    onChange={(event) => onText(event.currentTarget.value)}
    className={cx(inputClass, 'resize-y py-1.5', className)}
  />
)

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

type JsonProps = {
  label: string
  value: unknown
  disabled?: boolean
  complete?: CompletionSource
  onJson(value: unknown): void
}

/** JSON as text; a change takes effect once the text is valid JSON. */
export function JsonArea({ label, value, disabled = false, complete, onJson }: JsonProps) {
  const [text, setText] = useState<string | null>(null)
  const [wrong, setWrong] = useState<string | null>(null)
  return (
    <>
      <CodeField
        label={label}
        language="json"
        invalid={wrong !== null}
        rows={4}
        disabled={disabled}
        value={text ?? JSON.stringify(value, null, 2) ?? ''}
        complete={complete}
        onChange={(next) => {
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
