import type { Json, JsonObject } from '#model/definition'
import { isObject } from '#model/json'

/** Encodes a form with nested values, such as `a[b]=1`. Lists are written as `a[0]=`, as `a[]=` or as repeated `a=`. */
export function encodeForm(fields: JsonObject, lists: 'index' | 'brackets' | 'repeat'): string {
  const form = new URLSearchParams()
  const add = (name: string, value: Json): void => {
    if (Array.isArray(value)) {
      for (const [index, item] of value.entries())
        add(lists === 'repeat' ? name : `${name}[${lists === 'index' || isObject(item) ? index : ''}]`, item)
    } else if (isObject(value)) {
      for (const [key, inner] of Object.entries(value)) add(`${name}[${key}]`, inner)
    } else form.append(name, value === null ? '' : String(value))
  }
  for (const [name, value] of Object.entries(fields)) add(name, value)
  return form.toString()
}
