import { X } from 'lucide-react'
import { useState } from 'react'
import type { Json, JsonObject } from '#model/definition'
import { isObject } from '#model/json'
import { IconButton } from '#web/ui/button.tsx'
import { Checkbox } from '#web/ui/field.tsx'
import { completeSchema } from '../code/schema-completion.ts'
import { unusedName } from '../document/document.ts'
import { type FieldType, fromFields, type SchemaField, toFields } from '../document/schema-fields.ts'
import { AddButton } from './add-button.tsx'
import { focusBeside } from './focus.ts'
import { JsonArea, SelectInput, TextInput } from './inputs.tsx'
import { NameInput } from './name-input.tsx'

const types: Record<FieldType, string> = {
  text: 'Text',
  number: 'Number',
  integer: 'Whole number',
  boolean: 'Yes or no',
  choice: 'Choice',
  date: 'Date',
  list: 'List',
  object: 'Object',
  any: 'Anything',
}

type Props = {
  label: string
  value: Json | undefined
  readOnly: boolean
  onChange(value: JsonObject | undefined): void
}

/** A JSON Schema as a list of fields; as JSON if a list cannot express it. */
export function SchemaEditor({ label, value, readOnly, onChange }: Props) {
  const fields = toFields(value)
  const [asJson, setAsJson] = useState(fields === null)
  const [fresh, setFresh] = useState<number | null>(null)
  const set = (next: SchemaField[]): void => onChange(fromFields(next, value))
  const change = (index: number, more: Partial<SchemaField>): void =>
    set(fields!.with(index, { ...fields![index]!, ...more }))
  const add = (): void => {
    setFresh(fields!.length)
    set([
      ...fields!,
      {
        name: unusedName('field', new Set(fields!.map(({ name }) => name))),
        type: 'text',
        required: true,
        description: '',
        choices: [],
        more: {},
      },
    ])
  }
  return (
    <div data-fields className="flex flex-col gap-2">
      {asJson || fields === null ? (
        <JsonArea
          label={label}
          disabled={readOnly}
          complete={completeSchema}
          value={value ?? { type: 'object', properties: {} }}
          onJson={(next) => onChange(isObject(next) ? next : undefined)}
        />
      ) : (
        fields.map((field, index) => (
          <FieldRow
            // biome-ignore lint/suspicious/noArrayIndexKey: a field keeps its place while it is renamed
            key={index}
            field={field}
            readOnly={readOnly}
            focus={index === fresh}
            others={fields.toSpliced(index, 1).map(({ name }) => name)}
            onChange={(more) => change(index, more)}
            onRemove={() => set(fields.toSpliced(index, 1))}
          />
        ))
      )}
      <div className="flex items-center gap-2">
        {!asJson && fields !== null && !readOnly && <AddButton onClick={add}>Add a field</AddButton>}
        {fields !== null && (
          <button
            type="button"
            aria-pressed={asJson}
            onClick={() => setAsJson(!asJson)}
            className="ml-auto text-xs text-ink-2 underline hover:text-ink"
          >
            {asJson ? 'As a list of fields' : 'As JSON Schema'}
          </button>
        )}
      </div>
    </div>
  )
}

type RowProps = {
  field: SchemaField
  readOnly: boolean
  /** Whether the field was just added: its name is selected, to be typed over. */
  focus: boolean
  /** The names of the other fields. */
  others: readonly string[]
  onChange(more: Partial<SchemaField>): void
  onRemove(): void
}

function FieldRow({ field, others, readOnly, focus, onChange, onRemove }: RowProps) {
  return (
    <div className="flex flex-col gap-1.5 rounded-md border border-line p-2">
      <div className="flex items-start gap-1.5">
        <NameInput
          name={field.name}
          others={others}
          disabled={readOnly}
          focus={focus}
          className="font-mono text-xs!"
          onRename={(name) => onChange({ name })}
        />
        <SelectInput
          aria-label={`Type of ${field.name}`}
          disabled={readOnly}
          value={field.type}
          onChange={(event) =>
            onChange({
              type: event.currentTarget.value as FieldType,
              more: {},
              choices: event.currentTarget.value === 'choice' ? ['first', 'second'] : [],
            })
          }
          className="w-32!"
        >
          {Object.entries(types).map(([type, word]) => (
            <option key={type} value={type}>
              {word}
            </option>
          ))}
        </SelectInput>
        {!readOnly && (
          <IconButton
            size="small"
            icon={X}
            label={`Remove ${field.name}`}
            onClick={(event) => {
              focusBeside(event.currentTarget)
              onRemove()
            }}
          />
        )}
      </div>
      {field.type === 'choice' && (
        <ChoicesInput
          label={`Choices for ${field.name}, separated by commas`}
          disabled={readOnly}
          choices={field.choices}
          onChange={(choices) => onChange({ choices })}
        />
      )}
      <div className="flex items-center gap-3">
        <TextInput
          aria-label={`Description of ${field.name}`}
          placeholder="Description"
          disabled={readOnly}
          value={field.description}
          onChange={(event) => onChange({ description: event.currentTarget.value })}
          className="h-7! text-xs!"
        />
        <div className="shrink-0">
          <Checkbox
            label="Required"
            disabled={readOnly}
            checked={field.required}
            onCheckedChange={(required) => onChange({ required })}
          />
        </div>
      </div>
    </div>
  )
}

type ChoicesProps = { label: string; disabled: boolean; choices: string[]; onChange(choices: string[]): void }

/** Keeps the text as typed, with its commas, until the user leaves the input. */
function ChoicesInput({ label, disabled, choices, onChange }: ChoicesProps) {
  const [text, setText] = useState<string | null>(null)
  return (
    <TextInput
      aria-label={label}
      disabled={disabled}
      value={text ?? choices.join(', ')}
      onChange={(event) => {
        const next = event.currentTarget.value
        setText(next)
        onChange(
          next
            .split(',')
            .map((choice) => choice.trim())
            .filter(Boolean),
        )
      }}
      onBlur={() => setText(null)}
    />
  )
}
