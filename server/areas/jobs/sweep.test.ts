import { beforeAll, expect, test } from 'vitest'
import { echoWorkflow, getJob, makeDataset, makeJob, numbered, runJob } from '#test/harness/jobs'
import { useService } from '#test/harness/service'
import { makeWorld, type World } from '#test/harness/world'

const service = useService()
let world: World
beforeAll(async () => {
  world = await makeWorld(service())
})

const named = (name: string) => ({ ...echoWorkflow, nodes: [{ ...echoWorkflow.nodes[0]!, name }] })
const sweep = async (): Promise<void> => {
  for (;;) if (!(await service().sql<{ more: boolean }>('select sweep_ledger() as more'))[0]!.more) return
}
const names = async (): Promise<string[]> =>
  (
    await service().sql<{ name: string }>(
      `select definition -> 'nodes' -> 0 ->> 'name' as name from job_definitions order by name`,
    )
  ).map(({ name }) => name)

test('definitions are deleted when no job uses them and nothing refers to them', async () => {
  const { member } = world
  const dataset_id = await makeDataset(member, numbered(2))
  const job = await makeJob(member, { definition: named('executed'), dataset_id })
  await runJob(member, job)
  for (const name of ['never executed', 'present'])
    await member.call('PUT', `/api/enrichment-jobs/${job}`, { body: { definition: named(name) } })
  expect((await getJob(member, job)).definition.nodes[0].name).toBe('present')
  await sweep()
  expect(await names()).toEqual(['executed', 'never executed', 'present'])

  await service().sql(`update job_definitions set created_at = now() - interval '2 days'`)
  await sweep()
  expect(await names()).toEqual(['executed', 'present'])

  // The run and the executions of the definition also keep it.
  await service().sql(`delete from ledger_runs`)
  await sweep()
  expect(await names()).toEqual(['executed', 'present'])
  await service().sql(`delete from executions`)
  await sweep()
  expect(await names()).toEqual(['present'])

  await member.call('DELETE', `/api/enrichment-jobs/${job}`)
  await sweep()
  expect(await names()).toEqual([])
  const [left] = await service().sql(`select (select count(*)::int from ledger_records) as records,
    (select count(*)::int from ledger_results) as results, (select count(*)::int from ledger_garbage) as garbage`)
  expect(left).toEqual({ records: 0, results: 0, garbage: 0 })
})
