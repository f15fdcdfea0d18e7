import { useState } from 'react'
import { cx } from '#web/ui/cx.ts'
import { FieldProblem } from './field-problem.tsx'
import { TextInput } from './inputs.tsx'
import { refuseName } from './refuse-name.ts'

type Props = {
  name: string
  /** The names of the other fields. */
  others: readonly string[]
  disabled: boolean
  /** Whether the field was just added: its name is selected, to be typed over. */
  focus: boolean
  className: string
  onRename(name: string): void
}

/**
 * Renames a field only when the user leaves the input: a half-typed name would become a separate field. A name that
 * cannot be used stays in the input, with the problem.
 */
export function NameInput({ name, others, disabled, focus, className, onRename }: Props) {
  const [typed, setTyped] = useState<{ name: string; text: string } | null>(null)
  const text = typed?.name === name ? typed.text : null // another field can take the place of this one
  const refused = text === null ? null : refuseName(text, others)
  const done = (): void => {
    if (text === null || refused !== null) return
    if (text.trim() !== name) onRename(text.trim())
    setTyped(null)
  }
  return (
    <div className="flex min-w-0 grow flex-col gap-1">
      <TextInput
        aria-label="Field name"
        autoFocus={focus}
        onFocus={(event) => focus && text === null && event.currentTarget.select()}
        disabled={disabled}
        aria-invalid={refused !== null}
        value={text ?? name}
        onChange={(event) => setTyped({ name, text: event.currentTarget.value })}
        onBlur={done}
        onKeyDown={(event) => event.key === 'Enter' && done()}
        className={cx(className, 'aria-invalid:border-danger!')}
      />
      {refused !== null && <FieldProblem>{refused}</FieldProblem>}
    </div>
  )
}
