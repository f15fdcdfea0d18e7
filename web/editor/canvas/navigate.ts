import type { DocGraph, Point } from '../document/document.ts'

// The arrow keys: along the edges first, then to the nearest node in that direction.

export type Direction = 'left' | 'right' | 'up' | 'down'

type Place = (id: string) => Point

export function neighbour(graph: DocGraph, place: Place, from: string, direction: Direction): string | undefined {
  const here = place(from)
  const along =
    direction === 'right'
      ? graph.edges.filter((edge) => edge.from.node === from).map((edge) => edge.to)
      : direction === 'left'
        ? graph.edges.filter((edge) => edge.to === from).map((edge) => edge.from.node)
        : []
  const linked = nearest(along, place, (point) => Math.abs(point.y - here.y))
  if (linked !== undefined) return linked
  const others = graph.nodes.map(({ id }) => id).filter((id) => id !== from)
  return nearest(others, place, (point) => cost(here, point, direction))
}

/** Returns the distance in that direction; a sideways offset counts more. */
function cost(here: Point, there: Point, direction: Direction): number {
  const [dx, dy] = [there.x - here.x, there.y - here.y]
  const ahead = { left: -dx, right: dx, up: -dy, down: dy }[direction]
  const aside = direction === 'left' || direction === 'right' ? Math.abs(dy) : Math.abs(dx)
  return ahead <= 0 ? Number.POSITIVE_INFINITY : ahead + aside * 2
}

function nearest(ids: readonly string[], place: Place, measure: (point: Point) => number): string | undefined {
  let best: string | undefined
  let least = Number.POSITIVE_INFINITY
  for (const id of ids) {
    const far = measure(place(id))
    if (far < least) [best, least] = [id, far]
  }
  return best
}

const GAP = { x: 300, y: 110 }

/** Returns a free position to the right of a node, or below all nodes if `after` is undefined. */
export function placeAfter(graph: DocGraph, place: Place, after: string | undefined): Point {
  const points = graph.nodes.map(({ id }) => place(id))
  const isFree = (at: Point): boolean => points.every(({ x, y }) => Math.abs(x - at.x) > 230 || Math.abs(y - at.y) > 90)
  let at: Point
  if (after !== undefined) at = { x: place(after).x + GAP.x, y: place(after).y }
  else if (points.length === 0) return { x: 0, y: 0 }
  else at = { x: Math.min(...points.map(({ x }) => x)), y: Math.max(...points.map(({ y }) => y)) + GAP.y }
  while (!isFree(at)) at = { x: at.x, y: at.y + GAP.y }
  return at
}
