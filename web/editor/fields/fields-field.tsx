import { Plus } from 'lucide-react'
import type { JsonObject } from '#model/definition'
import { at, isObject } from '#model/json'
import { setAt } from '../document/pointer.ts'
import { focusField } from './focus.ts'
import { PartyId } from './id-field.tsx'
import { emptyOf, isParty, labelOf } from './schema.ts'
import { useFieldScope } from './scope.tsx'
import type { ValueProps, WithValueField } from './value-props.ts'

type Props = Pick<ValueProps, 'schema' | 'pointer' | 'onChange' | 'plain'> &
  WithValueField & { value: JsonObject; bare?: boolean }

/** The fields of a schema: fields that are required or filled in, and a button for each of the others. */
export function FieldsField({ schema, value, pointer, onChange, bare = false, plain, ValueField }: Props) {
  const { readOnly } = useFieldScope()
  const properties = Object.entries(isObject(schema.properties) ? schema.properties : {}).filter(
    (entry): entry is [string, JsonObject] => isObject(entry[1]),
  )
  const required = new Set(Array.isArray(schema.required) ? schema.required.map(String) : [])
  const shown = properties.filter(([name]) => required.has(name) || value[name] !== undefined)
  const others = properties.filter(([name]) => !required.has(name) && value[name] === undefined)
  const set = (name: string, next: unknown): void => onChange(setAt(value, [name], next as never))
  return (
    <div
      data-fields
      className={bare ? 'flex flex-col gap-4' : 'flex flex-col gap-3 rounded-md border border-line p-2.5'}
    >
      {shown.map(([name, inner]) =>
        name === 'id' && isParty(schema) ? (
          <PartyId
            key={name}
            kind={String(value.kind)}
            value={String(value.id ?? '')}
            onChange={(id) => set('id', id)}
          />
        ) : (
          <ValueField
            key={name}
            schema={inner}
            value={value[name]}
            pointer={at(pointer, name)}
            label={labelOf(name, inner)}
            required={required.has(name)}
            plain={plain || schema['x-value'] === 'policy'}
            onChange={(next) => set(name, next)}
            onRemove={required.has(name) ? undefined : () => set(name, undefined)}
          />
        ),
      )}
      {others.length > 0 && !readOnly && (
        <div className="flex flex-wrap gap-1.5">
          {others.map(([name, inner]) => (
            <button
              key={name}
              type="button"
              data-add
              onClick={() => {
                set(name, emptyOf(inner))
                focusField(at(pointer, name))
              }}
              className="inline-flex items-center gap-1 rounded-full border border-dashed border-line-strong/60 px-2 py-0.5 text-xs text-ink-2 hover:border-accent hover:text-accent-strong"
            >
              <Plus aria-hidden className="size-3" />
              {labelOf(name, inner)}
            </button>
          ))}
        </div>
      )}
    </div>
  )
}
