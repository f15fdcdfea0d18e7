import { type Attack, runAtOnce, times } from './attack.ts'

// Values that multiply when they are serialized: references share their target, JSON repeats it.

const set = (id: string, count: number, $ref: string) => ({
  id,
  type: 'set',
  args: { values: Object.fromEntries(times(count, (n) => [`v${n}`, { $ref }])) },
})

export const wideValues: Attack = {
  name: 'values.wide',
  does: 'one set with 400 references to an input of 1 MB, four runs at once',
  async prepare(world) {
    const tenant = await world.tenant()
    const definition = { nodes: [set('wide', 400, 'input.big')], edges: [], output: { $ref: 'nodes.wide.output' } }
    return runAtOnce(tenant, definition, { count: 4, input: { big: 'x'.repeat(1_000_000) } })
  },
}

export const chainedValues: Attack = {
  name: 'values.chained',
  does: 'three chained sets with 60 references each to the one before and an input of 1 KB, four runs at once',
  async prepare(world) {
    const tenant = await world.tenant()
    const definition = {
      nodes: [set('a', 60, 'input.small'), set('b', 60, 'nodes.a.output'), set('c', 60, 'nodes.b.output')],
      edges: [
        { from: { node: 'a' }, to: 'b' },
        { from: { node: 'b' }, to: 'c' },
      ],
      output: { $ref: 'nodes.c.output' },
    }
    return runAtOnce(tenant, definition, { count: 4, input: { small: 'x'.repeat(1_000) } })
  },
}

/** Each value is just below the limit; a hundred of them are not. */
export const manyValues: Attack = {
  name: 'values.many',
  does: '100 sets side by side, each 7 MB of its input of 1 MB, then a wait; two runs at once',
  async prepare(world) {
    const tenant = await world.tenant()
    const sets = times(100, (n) => set(`s${n}`, 7, 'input.big'))
    const definition = {
      nodes: [...sets, { id: 'rest', type: 'wait', args: { for_s: 2 } }],
      edges: sets.map(({ id }) => ({ from: { node: id }, to: 'rest' })),
    }
    return runAtOnce(tenant, definition, { count: 2, input: { big: 'x'.repeat(1_000_000) } })
  },
}

export const mappedValues: Attack = {
  name: 'values.mapped',
  does: 'a map over 2,000 items whose body copies an input of 500 KB into each output',
  async prepare(world) {
    const tenant = await world.tenant()
    const definition = {
      nodes: [
        {
          id: 'each',
          type: 'map',
          args: {
            items: { $ref: 'input.items' },
            concurrency: 100,
            body: { nodes: [set('copy', 2, 'input.big')], edges: [], output: { $ref: 'nodes.copy.output' } },
          },
        },
      ],
      edges: [],
      output: { $ref: 'nodes.each.output' },
    }
    return runAtOnce(tenant, definition, {
      count: 1,
      input: { big: 'x'.repeat(500_000), items: times(2_000, (n) => n) },
    })
  },
}
