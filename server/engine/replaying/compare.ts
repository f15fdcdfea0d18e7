import type { Json, JsonObject } from '#model/definition'
import { isObject } from '#model/json'
import { diffJson, isSameJson, type JsonChange } from '#model/json-diff'
import { jsonSize } from '#model/size'
import type { EffectCall, ExecutionTrace, Mocked, PathEntry } from './trace.ts'

// Compares a candidate with a past execution. The report is limited in size and contains no secrets.

type Side<T> = { before: T | null; after: T | null }

export type Difference = {
  status: Side<string> | null
  error: Side<JsonObject> | null
  results: JsonChange[]
  /** Nodes that end with another status or by another port. */
  path: ({ node_id: string } & Side<string>)[]
  /** Requests and messages that would be sent differently, not at all, or additionally. */
  sent: ({ node_id: string; type: string } & Side<JsonObject>)[]
  /** Gates and questions that would be opened differently, not at all, or additionally. */
  asked: ({ node_id: string; type: string } & Side<JsonObject>)[]
  /** Gates and questions without an answer. The execution would wait there. */
  unanswered: string[]
}

export type Compared = { outcome: 'same' | 'different'; difference: Difference | null; mocked: Mocked[] }

const MAX_CHANGES = 50
const MAX_ENTRIES = 50
const MAX_VALUE = 2_048

const SECRET = /authorization|cookie|password|passwd|secret|token|api[-_]?key|private[-_]?key|credential(?!_id)/i

/** Replaces large values by their size and masks likely secrets. */
export const shown = (value: Json): Json => {
  const size = jsonSize(value, 1024 * 1024)
  if (size > MAX_VALUE) return { $omitted: 'too large to be shown here', bytes: size }
  return masked(value)
}

const masked = (value: Json): Json => {
  if (Array.isArray(value)) return value.map(masked)
  if (!isObject(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [
      key,
      SECRET.test(key) && (typeof inner === 'string' || typeof inner === 'number') ? '***' : masked(inner),
    ]),
  )
}

const shownArgs = (args: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(masked(args) as JsonObject).map(([name, value]) => [name, shown(value)]))

const lastName = (path: string): string => path.slice(path.lastIndexOf('/') + 1)

const shownChange = ({ path, before, after }: JsonChange): JsonChange => {
  const show = (value: Json): Json => (SECRET.test(lastName(path)) ? '***' : shown(value))
  return {
    path,
    ...(before !== undefined && { before: show(before) }),
    ...(after !== undefined && { after: show(after) }),
  }
}

const wayOf = (entry: PathEntry | undefined): string | null =>
  entry ? (entry.port === null ? entry.status : `${entry.status} (${entry.port})`) : null

/** A skipped node and a missing node are equivalent. */
const isNothing = (way: string | null): boolean => way === null || way === 'skipped'

const pathDifference = (before: PathEntry[], after: PathEntry[]): Difference['path'] => {
  const then = new Map(before.map((entry) => [entry.node_id, entry]))
  const now = new Map(after.map((entry) => [entry.node_id, entry]))
  return [...new Set([...then.keys(), ...now.keys()])].flatMap((node_id) => {
    const [was, is] = [wayOf(then.get(node_id)), wayOf(now.get(node_id))]
    return was === is || (isNothing(was) && isNothing(is)) ? [] : [{ node_id, before: was, after: is }]
  })
}

const byNode = (made: EffectCall[]): Map<string, EffectCall[]> => {
  const groups = new Map<string, EffectCall[]>()
  for (const one of made) groups.set(one.node_id, [...(groups.get(one.node_id) ?? []), one])
  return groups
}

const madeDifference = (before: EffectCall[], after: EffectCall[]): Difference['sent'] => {
  const [then, now] = [byNode(before), byNode(after)]
  return [...new Set([...then.keys(), ...now.keys()])].flatMap((node_id) => {
    const [was, is] = [then.get(node_id) ?? [], now.get(node_id) ?? []]
    return Array.from({ length: Math.max(was.length, is.length) }, (_, at) => ({ a: was[at], b: is[at] })).flatMap(
      ({ a, b }) =>
        a && b && a.type === b.type && isSameJson(a.args, b.args)
          ? []
          : [
              {
                node_id,
                type: (b ?? a)?.type ?? '',
                before: a ? shownArgs(a.args) : null,
                after: b ? shownArgs(b.args) : null,
              },
            ],
    )
  })
}

const errorDifference = (before: ExecutionTrace['error'], after: ExecutionTrace['error']): Difference['error'] => {
  const of = (error: ExecutionTrace['error']): JsonObject | null =>
    error && { code: error.code, message: error.message, node_id: error.node_id ?? null }
  return isSameJson(of(before), of(after)) ? null : { before: of(before), after: of(after) }
}

export const compareTraces = (before: ExecutionTrace, after: ExecutionTrace): Compared => {
  // An execution that would wait has no results yet. That it waits is the difference.
  const isOpen = after.status === 'waiting'
  const difference: Difference = {
    status: before.status === after.status ? null : { before: before.status, after: after.status },
    error: isOpen ? null : errorDifference(before.error, after.error),
    results: isOpen ? [] : diffJson(before.results, after.results, MAX_CHANGES).map(shownChange),
    path: pathDifference(before.path, after.path).slice(0, MAX_ENTRIES),
    sent: madeDifference(before.sent, after.sent).slice(0, MAX_ENTRIES),
    asked: madeDifference(before.asked, after.asked).slice(0, MAX_ENTRIES),
    unanswered: after.unanswered.slice(0, MAX_ENTRIES),
  }
  const isSame =
    difference.status === null &&
    difference.error === null &&
    [difference.results, difference.path, difference.sent, difference.asked].every((list) => list.length === 0)
  const mocked = after.mocked.slice(0, MAX_ENTRIES)
  return { outcome: isSame ? 'same' : 'different', difference: isSame ? null : difference, mocked }
}
