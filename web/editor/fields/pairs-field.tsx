import { useState } from 'react'
import type { Json, JsonObject } from '#model/definition'
import { at } from '#model/json'
import { unusedName } from '../document/document.ts'
import { setAt } from '../document/pointer.ts'
import { AddButton } from './add-button.tsx'
import { NameInput } from './name-input.tsx'
import { inner } from './schema.ts'
import { useFieldScope } from './scope.tsx'
import type { ValueProps, WithValueField } from './value-props.ts'

/** A list of names and values that the user chooses freely. */
export function PairsField({
  schema,
  value,
  pointer,
  onChange,
  ValueField,
}: Pick<ValueProps, 'schema' | 'pointer' | 'onChange'> & WithValueField & { value: JsonObject }) {
  const { readOnly } = useFieldScope()
  const [fresh, setFresh] = useState<string | null>(null)
  const rename = (old: string, next: string): void => {
    onChange(Object.fromEntries(Object.entries(value).map(([key, item]) => [key === old ? next : key, item])))
  }
  const add = (): void => {
    const name = unusedName('field', new Set(Object.keys(value)))
    setFresh(name)
    onChange({ ...value, [name]: '' })
  }
  return (
    <div data-fields className="flex flex-col gap-2.5 border-l-2 border-line pl-2.5">
      {Object.entries(value).map(([name, item], index) => (
        <ValueField
          // biome-ignore lint/suspicious/noArrayIndexKey: a field keeps its place while it is renamed
          key={index}
          schema={inner(schema, 'additionalProperties')}
          value={item as Json}
          pointer={at(pointer, name)}
          label={name}
          required
          heading={
            <NameInput
              name={name}
              others={Object.keys(value).toSpliced(index, 1)}
              disabled={readOnly}
              focus={name === fresh}
              className="h-6! w-40! border-transparent! bg-transparent! px-1! font-medium hover:border-line! focus:border-line-strong!"
              onRename={(next) => rename(name, next)}
            />
          }
          onChange={(next) => onChange(setAt(value, [name], next))}
          onRemove={() => onChange(setAt(value, [name], undefined))}
        />
      ))}
      {!readOnly && <AddButton onClick={add}>Add a field</AddButton>}
    </div>
  )
}
