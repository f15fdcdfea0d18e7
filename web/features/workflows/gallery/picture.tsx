import type { Definition } from '#model/definition'

const [WIDTH, HEIGHT, GAP_X, GAP_Y] = [34, 16, 16, 8]
const MIN_WIDTH = 184

/** A small graph of a recipe: boxes in columns, by the number of steps before them. */
export function Picture({ definition: { nodes, edges } }: { definition: Definition }) {
  const column = new Map<string, number>()
  const columnOf = (id: string): number => {
    const known = column.get(id)
    if (known !== undefined) return known
    column.set(id, 0)
    const before = edges.filter(({ to }) => to === id).map(({ from }) => columnOf(from.node) + 1)
    const found = Math.max(0, ...before)
    column.set(id, found)
    return found
  }
  const rows = new Map<number, number>()
  const places = new Map(
    nodes.map(({ id }) => {
      const x = columnOf(id)
      const y = rows.get(x) ?? 0
      rows.set(x, y + 1)
      return [id, { x: x * (WIDTH + GAP_X), y: y * (HEIGHT + GAP_Y) }]
    }),
  )
  const width = Math.max(...[...places.values()].map(({ x }) => x)) + WIDTH
  const height = Math.max(...[...places.values()].map(({ y }) => y)) + HEIGHT
  // A single box is not drawn larger than a box among several.
  const aside = Math.max(0, (MIN_WIDTH - width) / 2)
  return (
    <svg aria-hidden viewBox={`${-aside - 4} -4 ${width + 2 * aside + 8} ${height + 8}`} className="h-14 w-full">
      {edges.map(({ from, to }, index) => {
        const [a, b] = [places.get(from.node), places.get(to)]
        if (!a || !b) return null
        const [x1, y1, x2, y2] = [a.x + WIDTH, a.y + HEIGHT / 2, b.x, b.y + HEIGHT / 2]
        return (
          <path
            // biome-ignore lint/suspicious/noArrayIndexKey: the edges of a recipe never change
            key={index}
            d={`M${x1},${y1} C${x1 + 8},${y1} ${x2 - 8},${y2} ${x2},${y2}`}
            fill="none"
            stroke="var(--line-strong)"
          />
        )
      })}
      {nodes.map(({ id }) => (
        <rect
          key={id}
          x={places.get(id)!.x}
          y={places.get(id)!.y}
          width={WIDTH}
          height={HEIGHT}
          rx="4"
          fill="var(--accent-soft)"
          stroke="var(--accent)"
        />
      ))}
    </svg>
  )
}
