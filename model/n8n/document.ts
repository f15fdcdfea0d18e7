import type { Definition, Json } from '../definition.ts'
import { isObject } from '../json.ts'
import type { Converted, CredentialWanted } from './types.ts'

/** Returns the definition with a replacement for each credential that it needs: a name for a document, or an id. */
export function withCredentials(
  definition: Definition,
  wanted: readonly CredentialWanted[],
  choose: (one: CredentialWanted) => Json | undefined,
): Definition {
  const chosen = new Map(wanted.flatMap((one) => one.paths.map((path) => [path, choose(one)] as const)))
  const visit = (value: Json, path: string): Json => {
    if (Array.isArray(value)) return value.map((item, at) => visit(item, `${path}/${at}`))
    if (!isObject(value)) return value
    const copy = Object.fromEntries(Object.entries(value).map(([key, item]) => [key, visit(item, `${path}/${key}`)]))
    const found = chosen.get(path)
    return found === undefined ? copy : { ...copy, credential_id: found }
  }
  return visit(definition as unknown as Json, '') as unknown as Definition
}

/** Returns the document that `heddle import` and `heddle push` accept: credentials by their names. */
export const documentOf = ({ name, definition, credentials }: Converted) => ({
  heddle: 'workflow/1',
  name,
  definition: withCredentials(definition, credentials, (one) => ({ $name: one.name, kind: 'credential' })),
})

/** Counts the nodes by outcome of the conversion. */
export function summaryOf({ report }: Pick<Converted, 'report'>): {
  converted: number
  remark: number
  by_hand: number
} {
  const count = (wanted: string): number => report.filter(({ outcome }) => outcome === wanted).length
  return { converted: count('converted'), remark: count('remark'), by_hand: count('by_hand') }
}
