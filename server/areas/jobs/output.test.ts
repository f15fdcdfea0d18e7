import { beforeAll, describe, expect, test } from 'vitest'
import { makeDataset, makeJob, runJob } from '#test/harness/jobs'
import { useSharedService } from '#test/harness/service'
import { makeWorld, type World } from '#test/harness/world'

const service = useSharedService()
let world: World
beforeAll(async () => {
  world = await makeWorld(service())
})

/** Returns the value of the record's `give`, one level deeper. */
const echo = {
  nodes: [{ id: 'one', type: 'set', args: { values: { x: { $ref: 'input.give' } } } }],
  edges: [],
  output: { $ref: 'nodes.one.output' },
}
const nested = (levels: number): object => (levels === 0 ? {} : { a: nested(levels - 1) })

describe('the output of a job', () => {
  test('contains every record, even if one result cannot be stored: that record fails with its reason', async () => {
    const { member } = world
    const wide = Object.fromEntries(Array.from({ length: 999 }, (_, n) => [`k${n}`, n]))
    const records = [{ give: 1 }, { give: nested(62) }, { give: 3, ...wide }, { give: 4 }]
    const job = await makeJob(member, {
      definition: echo,
      dataset_id: await makeDataset(member, records),
      output: { new: 'Given' },
    })
    for (const skipped of [0, 2]) {
      const ran = await runJob(member, job)
      expect(ran.last_run).toMatchObject({
        status: 'succeeded',
        error: null,
        counts: { succeeded: 2 - skipped, skipped, failed: 2 },
      })
      const output = await member.call('GET', `/api/datasets/${ran.output.dataset_id}`)
      expect(output.body.records.map(({ result }: { result: unknown }) => result)).toEqual([{ x: 1 }, null, { x: 4 }])
      const { body } = await member.call('GET', `/api/enrichment-jobs/${job}/records?status=failed&limit=10`)
      expect(body.items.map(({ position, error }: never) => [position, (error as { code: string }).code])).toEqual([
        [1, 'bad_result'],
        [2, 'bad_result'],
      ])
      expect(body.items[0].error.message).toContain('levels deep')
      expect(body.items[1].error.message).toContain('1000 keys')
    }
  })
})
