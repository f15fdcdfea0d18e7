import { useState } from 'react'
import type { Json } from '#model/definition'
import { isObject } from '#model/json'
import { Switch } from '#web/ui/field.tsx'
import { FieldsField } from './fields-field.tsx'
import { JsonArea, NumberInput, SelectInput, TextArea } from './inputs.tsx'
import { ListField } from './list-field.tsx'
import { PairsField } from './pairs-field.tsx'
import { formFor, typesOf } from './schema.ts'
import { useFieldScope } from './scope.tsx'
import type { ValueProps, WithValueField } from './value-props.ts'

type Sort = 'text' | 'number' | 'boolean' | 'object' | 'list' | 'null' | 'json'

const words: Record<Sort, string> = {
  text: 'Text',
  number: 'Number',
  boolean: 'Yes or no',
  object: 'Object',
  list: 'List',
  null: 'Null',
  json: 'JSON',
}
const begin: Record<Exclude<Sort, 'json'>, Json> = {
  text: '',
  number: 0,
  boolean: false,
  object: {},
  list: [],
  null: null,
}
const schemaNames: Record<string, Sort> = {
  string: 'text',
  number: 'number',
  integer: 'number',
  boolean: 'boolean',
  object: 'object',
  array: 'list',
  null: 'null',
}

const sortOf = (value: Json | undefined): Sort => {
  if (value === undefined || typeof value === 'string') return 'text'
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'list'
  return typeof value as 'number' | 'boolean' | 'object'
}

/** A field for a value of any type, or of one of several types. */
export function AnyField(props: ValueProps & WithValueField & { id: string; required: boolean }) {
  const { schema, value, id, label, onChange } = props
  const { readOnly } = useFieldScope()
  const [raw, setRaw] = useState(false)
  const sort: Sort = raw ? 'json' : sortOf(value)
  const allowed = typesOf(schema).map((name) => schemaNames[name]!)
  const sorts = (Object.keys(words) as Sort[]).filter(
    (each) => allowed.length === 0 || each === 'json' || allowed.includes(each),
  )
  const choose = (next: Sort): void => {
    setRaw(next === 'json')
    if (next !== 'json' && next !== sortOf(value)) onChange(begin[next])
  }
  return (
    <div className="flex flex-col gap-1.5">
      <SelectInput
        aria-label={`Type of ${label}`}
        disabled={readOnly}
        value={sort}
        onChange={(event) => choose(event.currentTarget.value as Sort)}
        className="h-7! w-36! text-xs"
      >
        {sorts.map((each) => (
          <option key={each} value={each}>
            {words[each]}
          </option>
        ))}
      </SelectInput>
      {sort === 'text' && (
        <TextArea
          id={id}
          rows={1}
          disabled={readOnly}
          value={typeof value === 'string' ? value : ''}
          onText={onChange}
        />
      )}
      {sort === 'number' && (
        <NumberInput id={id} disabled={readOnly} value={value as number} onNumber={(next) => onChange(next ?? 0)} />
      )}
      {sort === 'boolean' && (
        <Switch
          id={id}
          label={label}
          hideLabel
          disabled={readOnly}
          checked={value === true}
          onCheckedChange={(on) => onChange(on)}
        />
      )}
      {sort === 'object' && <ObjectField {...props} />}
      {sort === 'list' && <ListField {...props} schema={formFor(schema, value)} />}
      {sort === 'json' && (
        <JsonArea label={label} disabled={readOnly} value={value} onJson={(next) => onChange(next as Json)} />
      )}
    </div>
  )
}

function ObjectField(props: ValueProps & WithValueField) {
  const form = formFor(props.schema, props.value)
  const value = isObject(props.value) ? props.value : {}
  if (isObject(form.properties)) return <FieldsField {...props} schema={form} value={value} />
  return <PairsField {...props} schema={form} value={value} />
}
