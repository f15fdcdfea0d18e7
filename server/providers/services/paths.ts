import type { Json } from '#model/definition'
import { isObject, own } from '#model/json'

/**
 * Returns the value at a path of names separated by dots. A number in the path is the index of a list item. Undefined
 * if there is no value.
 */
export function valueAt(value: Json | undefined, path: string): Json | undefined {
  if (path === '') return value
  // Vendors' names can contain dots (`@odata.nextLink`), so the whole path is first tried as one name.
  if (isObject(value) && Object.hasOwn(value, path)) return value[path]
  let found = value
  for (const name of path.split('.')) {
    if (Array.isArray(found)) found = found[Number(name)]
    else if (isObject(found)) found = own(found, name)
    else return undefined
  }
  return found
}

export function firstAt(value: Json | undefined, paths: string | readonly string[] | undefined): Json | undefined {
  for (const path of typeof paths === 'string' ? [paths] : (paths ?? [])) {
    const found = valueAt(value, path)
    if (found !== undefined && found !== null && found !== '') return found
  }
  return undefined
}

/** Returns a copy with another value at a path of field names. */
export function withValueAt(value: Json, path: string, next: Json): Json {
  const [name, ...rest] = path.split('.')
  const object = isObject(value) ? value : {}
  const inner = rest.length === 0 ? next : withValueAt(object[name!] ?? {}, rest.join('.'), next)
  return { ...object, [name!]: inner }
}
