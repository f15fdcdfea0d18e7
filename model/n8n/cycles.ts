import type { N8nEdge } from './types.ts'

// Cycles of connections: a group of nodes that leads back to its entry node.

/** `members` includes the entry node of the cycle; `again` lists the connections that lead back to the entry node. */
export type Cycle = { members: ReadonlySet<string>; again: readonly N8nEdge[] }

/** Returns the groups of nodes that reach each other (Tarjan's algorithm), without recursion. */
function groupsIn(names: ReadonlySet<string>, edges: readonly N8nEdge[]): string[][] {
  const out = new Map<string, string[]>()
  for (const { from, to } of edges) out.set(from, [...(out.get(from) ?? []), to])
  const index = new Map<string, number>()
  const low = new Map<string, number>()
  const waiting: string[] = []
  const isWaiting = new Set<string>()
  const groups: string[][] = []
  for (const start of names) {
    if (index.has(start)) continue
    const calls: { name: string; next: number }[] = [{ name: start, next: 0 }]
    while (calls.length > 0) {
      const call = calls.at(-1)!
      const { name } = call
      if (call.next === 0) {
        index.set(name, index.size)
        low.set(name, index.get(name)!)
        waiting.push(name)
        isWaiting.add(name)
      }
      const to = (out.get(name) ?? [])[call.next]
      call.next += 1
      if (to !== undefined) {
        if (!index.has(to)) calls.push({ name: to, next: 0 })
        else if (isWaiting.has(to)) low.set(name, Math.min(low.get(name)!, index.get(to)!))
        continue
      }
      calls.pop()
      const caller = calls.at(-1)
      if (caller) low.set(caller.name, Math.min(low.get(caller.name)!, low.get(name)!))
      if (low.get(name) !== index.get(name)) continue
      const group = waiting.splice(waiting.indexOf(name))
      for (const one of group) isWaiting.delete(one)
      groups.push(group)
    }
  }
  return groups
}

/** Returns the cycles by entry node. A cycle with several entry nodes is left out. */
export function cyclesIn(
  names: ReadonlySet<string>,
  edges: readonly N8nEdge[],
  roots: ReadonlySet<string>,
): Map<string, Cycle> {
  const cycles = new Map<string, Cycle>()
  const inside = edges.filter(({ from, to }) => names.has(from) && names.has(to))
  for (const group of groupsIn(names, inside)) {
    const members = new Set(group)
    const within = inside.filter(({ from, to }) => members.has(from) && members.has(to))
    if (within.length === 0) continue
    const entered = group.filter(
      (name) => roots.has(name) || edges.some(({ from, to }) => to === name && !members.has(from)),
    )
    const [header] = entered
    if (entered.length !== 1 || header === undefined) continue
    const again = within.filter(({ to }) => to === header)
    cycles.set(header, { members, again })
    const rest = edges.filter((edge) => !again.includes(edge))
    for (const [name, cycle] of cyclesIn(new Set(group.filter((one) => one !== header)), rest, new Set()))
      cycles.set(name, cycle)
  }
  return cycles
}
