import { celOut, type Out, pathOut, readPath } from './out.ts'

// The data on a connection of n8n: a list of items, or exactly one item.

export type Flow = {
  /** Set if there is always exactly one item. */
  one?: Out | undefined
  list: Out
  /** Nodes whose item is exactly the item on this connection. */
  same: ReadonlySet<string>
  /** Nodes whose list contains the source items of this list, by the position of the current item. */
  aligned: ReadonlyMap<string, (index: string) => string>
}

/** One exit of a converted node. */
export type Exit = Flow & {
  node: string
  port?: string | undefined
  /** The exit is taken only if this condition is true. */
  when?: string | undefined
  /** The branches that were decided before, each with the port that leads here. */
  chosen: ReadonlyMap<string, string>
}

export const ofOne = (one: Out): Pick<Flow, 'one' | 'list'> => ({ one, list: { ...celOut(`[${one.cel}]`, 'list') } })

const isRoot = (path: readonly (string | number)[]): boolean => path[0] === 'nodes' && path.length === 3

/** Returns the list, or an empty list if its node did not run. */
export function orEmpty({ one, list }: Flow): string {
  if (one) return `[${one.cel}].filter(x, x != null)`
  if (!list.path) return list.cel
  return isRoot(list.path) ? `(${list.cel} == null ? [] : ${list.cel})` : readPath(list.path, '[]')
}

/** Flattens lists inside the list, as n8n does with responses that are lists. */
export const flattened = (list: Out): Out => {
  const inner = list.path && isRoot(list.path) ? `(${list.cel} == null ? [] : ${list.cel})` : list.cel
  return celOut(`${inner}.flatten()`, 'list')
}

export const outputOf = (id: string): Out => pathOut(['nodes', id, 'output'])

const intersection = (maps: ReadonlyMap<string, string>[]): ReadonlyMap<string, string> => {
  const [first, ...rest] = maps
  return new Map([...(first ?? [])].filter(([key, value]) => rest.every((map) => map.get(key) === value)))
}
export const chosenOf = (exits: readonly Exit[]): ReadonlyMap<string, string> =>
  intersection(exits.map(({ chosen }) => chosen))

const excludes = (a: Exit, b: Exit): boolean =>
  [...a.chosen].some(([key, value]) => (b.chosen.get(key) ?? value) !== value)

/** Checks whether at most one of the exits is ever taken. */
export const areExclusive = (exits: readonly Exit[]): boolean =>
  exits.every((exit, at) => exits.slice(at + 1).every((other) => excludes(exit, other)))

export const commonSame = (flows: readonly Flow[]): ReadonlySet<string> =>
  new Set([...(flows[0]?.same ?? [])].filter((name) => flows.every(({ same }) => same.has(name))))
