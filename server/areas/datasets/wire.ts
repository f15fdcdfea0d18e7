import type { JsonObject } from '#model/definition'
import { invalid, problem, readOnly } from '#platform/errors'
import { etagOf, listsEtag } from '#platform/http/answer'
import { requireStorable } from '#platform/http/body'
import type { Exchange } from '#platform/http/route'
import { compileEncoder } from '#platform/http/schema'
import { Dataset, serverOwned } from './schema.ts'

// The steps that the kernel does for routes whose body it reads, for routes that read a stream.

type Values = Record<string, unknown>

const encode = compileEncoder(Dataset)!
export const onTheWire = (dataset: Dataset): Values => JSON.parse(JSON.stringify(encode(dataset))) as Values
export const etagOfDataset = (dataset: Dataset): string => etagOf(Buffer.from(JSON.stringify(encode(dataset))))

/** Splits a body into the fields that it may set and the server-owned fields that it sends back. */
export function split(fields: JsonObject): { settable: Values; echoed: [string, unknown][] } {
  const entries = Object.entries(fields).filter(([field]) => field !== 'records')
  requireStorable(Object.fromEntries(entries))
  return {
    settable: Object.fromEntries(entries.filter(([field]) => !serverOwned.has(field))),
    echoed: entries.filter(([field]) => serverOwned.has(field)),
  }
}

export const recordsMissing = (fields: JsonObject) =>
  invalid([
    { path: '/records', message: Object.hasOwn(fields, 'records') ? 'must be an array of objects' : 'is required' },
  ])

export function requirePresent(present: Values, echoed: [string, unknown][]): void {
  const changed = echoed.filter(([field, value]) => JSON.stringify(present[field]) !== JSON.stringify(value))
  if (changed.length > 0) throw readOnly(changed.map(([field]) => field))
}

/** Runs in the transaction of the change itself, so that the compared dataset is the one that is changed. */
export function requireMatch({ request }: Exchange, present: Dataset): void {
  const wanted = request.headers['if-match']
  if (wanted === undefined || wanted === '*' || listsEtag(wanted, etagOfDataset(present))) return
  throw problem('precondition_failed', 'Read the resource again and repeat the change on its current version.')
}

/** Returns a name from the file name. It is only used for display. */
export function nameOfFile(fileName: string): string {
  const bare = fileName.replace(/^.*[\\/]/, '').replace(/(\.(csv|tsv|txt|json|jsonl|ndjson))?(\.gz)?$/i, '')
  const shown = bare.replaceAll(/\p{C}/gu, '').trim().slice(0, 200)
  return shown === '' ? 'Imported file' : shown
}
