// The address of a node in an execution: `each[3].line` is the node `line` in item 3 of `each`; in `each#2[3].line` it
// is the node in the second attempt of `each`.

export type BodyStep = { node: string; attempt: number; index: number }
export type NodePath = { bodies: BodyStep[]; node: string }

const BODY = /^([^[\].#]+)(?:#(\d{1,4}))?\[(\d{1,9})$/
const NODE = /^[^[\].#]+$/

export function parsePath(path: string): NodePath | undefined {
  const steps = path.split('].')
  const node = steps.pop() as string
  if (!NODE.test(node)) return undefined
  const bodies: BodyStep[] = []
  for (const step of steps) {
    const found = BODY.exec(step)
    if (!found) return undefined
    bodies.push({ node: found[1] as string, attempt: Number(found[2] ?? 1), index: Number(found[3]) })
  }
  return { bodies, node }
}

export const pathTo = ({ bodies, node }: NodePath): string =>
  bodies.reduceRight((inside, step) => `${rowsOf('', step.node, step.attempt)}[${step.index}].${inside}`, node)

/** Returns the path under which the items of a map or the iterations of a loop are stored. */
export const rowsOf = (prefix: string, node: string, attempt: number): string =>
  `${prefix}${node}${attempt > 1 ? `#${attempt}` : ''}`
