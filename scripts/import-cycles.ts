import type { ImportGraph } from './imports.ts'

/** Returns one shortest cycle for each group of modules that import each other, including types: `a → b → a`. */
export function importCycles(graph: ImportGraph): string[] {
  const groups = groupsOf(graph)
  return groups.map((group) => shortestCircle(graph, group).join(' → ')).sort()
}

/** Returns the strongly connected components of more than one module (Tarjan), and modules that import themselves. */
function groupsOf(graph: ImportGraph): string[][] {
  const order = new Map<string, number>()
  const lowest = new Map<string, number>()
  const open: string[] = []
  const groups: string[][] = []
  const visit = (file: string): void => {
    const index = order.size
    order.set(file, index)
    lowest.set(file, index)
    open.push(file)
    for (const target of graph.get(file) ?? []) {
      if (!order.has(target)) visit(target)
      if (open.includes(target)) lowest.set(file, Math.min(lowest.get(file)!, lowest.get(target)!))
    }
    if (lowest.get(file) !== index) return
    const group = open.splice(open.indexOf(file))
    if (group.length > 1 || graph.get(file)?.includes(file)) groups.push(group)
  }
  for (const file of graph.keys()) if (!order.has(file)) visit(file)
  return groups
}

function shortestCircle(graph: ImportGraph, group: string[]): string[] {
  const found = group.map((start) => pathBack(graph, group, start))
  return found.reduce((best, path) => (path.length < best.length ? path : best))
}

function pathBack(graph: ImportGraph, group: string[], start: string): string[] {
  const paths: string[][] = [[start]]
  const seen = new Set<string>()
  for (const path of paths) {
    for (const target of graph.get(path.at(-1)!) ?? []) {
      if (target === start) return [...path, start]
      if (!group.includes(target) || seen.has(target)) continue
      seen.add(target)
      paths.push([...path, target])
    }
  }
  throw new Error(`${start} is in no circle`)
}
