import type { Json } from '#model/definition'
import { at, isObject } from '#model/json'
import { AddButton } from './add-button.tsx'
import { focusField } from './focus.ts'
import { emptyOf, formFor, inner, labelOf } from './schema.ts'
import { useFieldScope } from './scope.tsx'
import type { ValueProps, WithValueField } from './value-props.ts'

/** A list with one field for each value. */
export function ListField({ schema, value, pointer, label, onChange, plain, ValueField }: ValueProps & WithValueField) {
  const { readOnly } = useFieldScope()
  const list: Json[] = Array.isArray(value) ? value : []
  const items = inner(schema, 'items')
  const replace = (index: number, next: Json | undefined): void =>
    onChange(next === undefined ? list.toSpliced(index, 1) : list.with(index, next))
  const add = (): void => {
    onChange([...list, emptyOf(items)])
    focusField(at(pointer, list.length))
  }
  return (
    <div data-fields className="flex flex-col gap-2">
      {list.map((item, index) => {
        const form = formFor(items, item)
        return (
          <ValueField
            // biome-ignore lint/suspicious/noArrayIndexKey: the place in the list is what a value is known by
            key={index}
            schema={form}
            value={item}
            pointer={at(pointer, index)}
            label={isObject(form.properties) ? `${labelOf('', form) || singular(label)} ${index + 1}` : `${index + 1}`}
            required
            plain={plain}
            onChange={(next) => replace(index, next)}
            onRemove={() => replace(index, undefined)}
          />
        )
      })}
      {!readOnly && <AddButton onClick={add}>Add to {label.toLowerCase()}</AddButton>}
    </div>
  )
}

const singular = (label: string): string => label.replace(/s$/, '')
