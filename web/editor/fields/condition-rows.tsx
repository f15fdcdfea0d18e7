import { X } from 'lucide-react'
import { useState } from 'react'
import { Button, IconButton } from '#web/ui/button.tsx'
import { asCel } from '../document/value.ts'
import { AddButton } from './add-button.tsx'
import { type Conditions, hasValue, type Operator, operators, type Row, readValue, shownValue } from './conditions.ts'
import { focusBeside } from './focus.ts'
import { SelectInput, TextInput } from './inputs.tsx'
import { ReferencePicker } from './reference-picker.tsx'
import { SampleResult } from './sample-result.tsx'
import { useFieldScope } from './scope.tsx'

type Props = { label: string; value: Conditions; onChange(value: Conditions): void }

export function ConditionRows({ label, value: { join, rows }, onChange }: Props) {
  const { readOnly } = useFieldScope()
  const set = (next: Row[]): void => onChange({ join, rows: next })
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset would break the layout of its rows
    <div role="group" aria-label={label} data-fields className="flex flex-col gap-2">
      {rows.length === 0 && <p className="text-ink-3">Always true.</p>}
      {rows.length > 1 && (
        <SelectInput
          aria-label="Combine rows with"
          disabled={readOnly}
          value={join}
          onChange={(event) => onChange({ join: event.currentTarget.value as Conditions['join'], rows })}
          className="h-7! w-44! text-xs"
        >
          <option value="&&">All of these are true</option>
          <option value="||">Any of these is true</option>
        </SelectInput>
      )}
      {rows.map((row, index) => (
        <OneRow
          // biome-ignore lint/suspicious/noArrayIndexKey: a row keeps its place while it is changed
          key={index}
          row={row}
          onChange={(next) => set(rows.with(index, next))}
          onRemove={() => set(rows.toSpliced(index, 1))}
        />
      ))}
      {!readOnly && <NewRow onPick={(field) => set([...rows, { field, operator: '==', value: '' }])} />}
    </div>
  )
}

function NewRow({ onPick }: { onPick(field: string): void }) {
  const [picking, setPicking] = useState(false)
  return (
    <ReferencePicker
      open={picking}
      onOpenChange={setPicking}
      onPick={(reference) => onPick(asCel(reference))}
      anchor={<AddButton onClick={() => setPicking(true)}>Add a condition row</AddButton>}
    />
  )
}

function OneRow({ row, onChange, onRemove }: { row: Row; onChange(row: Row): void; onRemove(): void }) {
  const { readOnly } = useFieldScope()
  const [picking, setPicking] = useState(false)
  return (
    <div className="flex flex-col gap-1 rounded-md border border-line p-2">
      <div className="flex items-center gap-1">
        <code className="min-w-0 flex-1 truncate font-mono text-xs" title={row.field}>
          {row.field}
        </code>
        {!readOnly && (
          <>
            <ReferencePicker
              open={picking}
              onOpenChange={setPicking}
              onPick={(reference) => onChange({ ...row, field: asCel(reference) })}
              anchor={
                <Button
                  size="small"
                  aria-label={`Pick another field than ${row.field}`}
                  onClick={() => setPicking(true)}
                >
                  Pick
                </Button>
              }
            />
            <IconButton
              size="small"
              icon={X}
              label={`Remove the row ${row.field}`}
              onClick={(event) => {
                focusBeside(event.currentTarget)
                onRemove()
              }}
            />
          </>
        )}
      </div>
      <div className="flex gap-1.5">
        <SelectInput
          aria-label={`Operator for ${row.field}`}
          disabled={readOnly}
          value={row.operator}
          onChange={(event) => onChange({ ...row, operator: event.currentTarget.value as Operator })}
          className="w-36!"
        >
          {Object.entries(operators).map(([operator, words]) => (
            <option key={operator} value={operator}>
              {words}
            </option>
          ))}
        </SelectInput>
        {hasValue(row.operator) && (
          <ValueInput row={row} disabled={readOnly} onChange={(value) => onChange({ ...row, value })} />
        )}
      </div>
      <SampleResult value={{ $cel: row.field }} />
    </div>
  )
}

/** Keeps the text as typed; `12` is a number and `"12"` is a text. */
function ValueInput({ row, disabled, onChange }: { row: Row; disabled: boolean; onChange(value: Row['value']): void }) {
  const [text, setText] = useState<string | null>(null)
  return (
    <TextInput
      aria-label={`Value for ${row.field}`}
      disabled={disabled}
      value={text ?? shownValue(row.value)}
      placeholder={'text, 12, true or "12"'}
      onChange={(event) => {
        setText(event.currentTarget.value)
        onChange(readValue(event.currentTarget.value))
      }}
      onBlur={() => setText(null)}
      className="flex-1"
    />
  )
}
