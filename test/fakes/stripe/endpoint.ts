import type { Params } from './form.ts'
import { missingResource, type Shape } from './parameters.ts'
import type { State } from './state.ts'

export type Emit = (type: string, object: { customer: string | null }, before?: object) => void
export type Endpoint = {
  method: string
  path: RegExp
  shape: Shape
  run(state: State, params: Params, ids: string[], emit: Emit): unknown
}

export const list = (data: unknown[], url: string) => ({ object: 'list', url, has_more: false, data })
export const text = (value: unknown): string => value as string
export const newestFirst = <T extends { created: number }>(things: T[]): T[] =>
  things.toReversed().sort((a, b) => b.created - a.created)

export function find<T>(things: Map<string, T>, what: string, id: string): T {
  const thing = things.get(id)
  if (!thing || (thing as { deleted?: true }).deleted) throw missingResource(what, id)
  return thing
}
