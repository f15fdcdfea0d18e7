import { Braces, Link2, SquareFunction, X } from 'lucide-react'
import { useId, useState } from 'react'
import type { Json } from '#model/definition'
import { cx } from '#web/ui/cx.ts'
import { type Form, formOf, isCelValue, isReferenceValue } from '../document/value.ts'
import { CelField } from './cel-field.tsx'
import { FieldProblem, FieldWarning } from './field-problem.tsx'
import { focusBeside } from './focus.ts'
import { LiteralField } from './literal-field.tsx'
import { ReferenceField } from './reference-field.tsx'
import { ReferencePicker } from './reference-picker.tsx'
import { emptyOf, fieldKindOf, isFixed } from './schema.ts'
import { useFieldScope } from './scope.tsx'
import type { ValueProps } from './value-props.ts'

/** One value: fixed, a reference to earlier data, or computed. */
export function ValueField(props: ValueProps) {
  const { schema, value, pointer, label, required, onChange, onRemove, heading, plain } = props
  const { problemAt, warningAt, readOnly } = useFieldScope()
  const [picking, setPicking] = useState(false)
  const id = useId()
  const form = formOf(value)
  const problem = problemAt(pointer)
  const warning = warningAt(pointer)
  const choose = (next: Form): void => {
    if (next === form) return
    if (next === 'literal') onChange(emptyOf(schema))
    else if (next === 'reference') setPicking(true)
    else onChange({ $cel: isReferenceValue(value) ? value.$ref : celOf(value) })
  }
  return (
    <div className="flex min-w-0 flex-col gap-1" data-field={pointer}>
      <div data-head className="flex min-h-6 items-center gap-2">
        {heading && (
          <label htmlFor={id} className="sr-only">
            {label}
          </label>
        )}
        {heading ?? (
          <label htmlFor={id} className="min-w-0 font-medium break-words">
            {label}
            {required && (
              <span aria-hidden className="text-ink-3">
                {' '}
                *
              </span>
            )}
          </label>
        )}
        <span className="ml-auto flex shrink-0 items-center gap-1">
          {!isFixed(schema) && !readOnly && !(plain && form === 'literal') && (
            <ReferencePicker
              open={picking}
              onOpenChange={setPicking}
              onPick={(reference) => onChange({ $ref: reference })}
              anchor={<FormSwitch label={label} form={form} onChoose={choose} />}
            />
          )}
          {onRemove && !readOnly && (
            <button
              type="button"
              aria-label={`Remove ${label}`}
              title={`Remove ${label}`}
              onClick={(event) => {
                focusBeside(event.currentTarget)
                onRemove()
              }}
              className="rounded p-0.5 text-ink-3 hover:bg-hover hover:text-danger"
            >
              <X aria-hidden className="size-3.5" />
            </button>
          )}
        </span>
      </div>
      {isReferenceValue(value) && !isFixed(schema) ? (
        <ReferenceField
          id={id}
          reference={value.$ref}
          label={label}
          onChange={(reference) => onChange({ $ref: reference })}
        />
      ) : isCelValue(value) && !isFixed(schema) ? (
        <CelField
          cel={value.$cel}
          label={label}
          problem={problem}
          warning={warning}
          onChange={(cel) => onChange({ $cel: cel })}
        />
      ) : (
        <LiteralField {...props} id={id} ValueField={ValueField} />
      )}
      {typeof schema.description === 'string' && form === 'literal' && !SPEAKS_FOR_ITSELF.has(fieldKindOf(schema)) && (
        <p className="text-xs text-ink-3">{schema.description}</p>
      )}
      {problem && <FieldProblem>{problem}</FieldProblem>}
      {!problem && warning && <FieldWarning>{warning}</FieldWarning>}
    </div>
  )
}

const SPEAKS_FOR_ITSELF: ReadonlySet<string> = new Set(['quorum', 'cases', 'condition'])

const celOf = (value: Json | undefined): string =>
  value === undefined || value === ''
    ? "''"
    : typeof value === 'string'
      ? `'${value.replace(/[\\']/g, '\\$&').replaceAll('\n', '\\n')}'`
      : JSON.stringify(value)

const forms: { form: Form; icon: typeof Link2; word: string }[] = [
  { form: 'literal', icon: Braces, word: 'Fixed' },
  { form: 'reference', icon: Link2, word: 'From data' },
  { form: 'cel', icon: SquareFunction, word: 'Expression' },
]

function FormSwitch({ label, form, onChoose }: { label: string; form: Form; onChoose(form: Form): void }) {
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset inside a label's row would break it
    <span role="group" aria-label={`${label} is`} className="flex rounded border border-line">
      {forms.map(({ form: each, icon: Icon, word }) => (
        <button
          key={each}
          type="button"
          aria-pressed={form === each}
          aria-label={word}
          title={word}
          onClick={() => onChoose(each)}
          className={cx(
            'grid h-5 w-6 place-items-center first:rounded-l last:rounded-r',
            form === each ? 'bg-accent-soft text-accent-strong' : 'text-ink-3 hover:bg-hover hover:text-ink',
          )}
        >
          <Icon aria-hidden className="size-3" />
        </button>
      ))}
    </span>
  )
}
