import { beforeEach, describe, expect, test } from 'vitest'
import { FIRST_ID, firstIdAt, fromWire, newId, toWire } from '#platform/ids'
import { type Answer, useService } from '#test/harness/service'
import { until } from '#test/harness/until'
import { makeWorld, type World } from '#test/harness/world'
import { idAt } from './block.ts'
import { addBlocks } from './block-store.ts'
import { blocksOf } from './indexing.ts'
import { mergeSmallBlocks } from './merging.ts'
import { indexOpen, sweepBack, sweepOpen, sweepRuns } from './sweeping.ts'
import { termsOf, wantedTerms } from './terms.ts'

const service = useService()
let world: World
let workflow: string

beforeEach(async () => {
  world = await makeWorld(service())
  const definition = { nodes: [], edges: [], output: { $ref: 'input' } }
  const made = await world.owner.call('POST', '/api/workflows', { body: { name: 'Indexed', definition } })
  workflow = made.body.workflow_id
  await coverFrom(FIRST_ID)
})

const HOUR_AGO = Date.now() - 3_600_000

/** Inserts executions of an hour ago, one millisecond apart. Each chunk becomes one block of the index. */
async function seed(inputs: object[], chunks: number[][], from = HOUR_AGO): Promise<string[]> {
  const ids = inputs.map((_, at) => firstIdAt(from + at).replace(/.{12}$/, () => newId().slice(-12)))
  const { uuid } = world.workspace
  await service().sql(
    `insert into executions (execution_id, workspace_id, workflow_id, definition_ref, status, input, trigger_kind, created_at, finished_at)
     select e.id, $1, $2, 'x', 'succeeded', e.input, 'user', now() - interval '1 hour', now() from unnest($3::uuid[], $4::json[]) as e (id, input)`,
    [uuid, fromWire('wf', workflow), ids, inputs.map((input) => JSON.stringify(input))],
  )
  for (const members of chunks)
    await addBlocks(
      service().db,
      await blocksOf(
        members.map((at) => ({
          workspaceId: uuid,
          executionId: ids[at]!,
          workflowId: fromWire('wf', workflow)!,
          versionId: null,
          status: 'succeeded',
          input: inputs[at] as never,
          results: null,
          error: null,
        })),
      ),
    )
  return ids.map((id) => toWire('exe', id))
}
const numbers = (from: number, to: number): number[] => Array.from({ length: to - from }, (_, at) => from + at)
const coverFrom = (id: string) => service().sql('update run_index_state set covered_from = $1', [id])
const blocks = () =>
  service().sql<{ ids: Buffer }>('select ids from run_blocks where workspace_id = $1 order by last_id', [
    world.workspace.uuid,
  ])
const indexedIds = async (): Promise<string[]> =>
  (await blocks()).flatMap(({ ids }) => numbers(0, ids.length / 16).map((at) => toWire('exe', idAt(ids, at))))
const search = async (query: string): Promise<Answer['body']> => {
  const { status, body, text } = await world.owner.call('GET', `/api/executions?${query}`)
  expect(status, text).toBe(200)
  return body
}
const idsIn = (page: Answer['body']): string[] => page.items.map((row: { execution_id: string }) => row.execution_id)

async function pages(query: string): Promise<string[]> {
  const seen: string[] = []
  for (let cursor = ''; ; ) {
    const page = await search(`${query}${cursor}`)
    seen.push(...idsIn(page))
    if (page.next_cursor === null) return seen
    cursor = `&cursor=${page.next_cursor}`
  }
}

describe('the index of executions', () => {
  test('finds words and fields of older executions in the order of time, page by page, in any order of their ends', async () => {
    const inputs = Array.from({ length: 12 }, (_, n) => ({ n, note: n % 2 === 0 ? 'even plum' : 'odd', deep: [{ n }] }))
    // The first execution ended last, so the chunks overlap.
    const all = await seed(inputs, [
      [1, 2, 3],
      [4, 6],
      [5, 7, 8],
      [9, 10],
      [0, 11],
    ])
    const even = all.filter((_, n) => n % 2 === 0)
    for (const limit of [1, 2, 5, 50]) {
      expect(await pages(`q=PLUM&limit=${limit}`)).toEqual(even.toReversed())
      expect(await pages(`q=plum&sort=created_at&limit=${limit}`)).toEqual(even)
    }
    expect(await pages('input.deep.0.n=7')).toEqual([all[7]])
    expect(await pages('input.n=0&q=plum')).toEqual([all[0]])
    expect(await pages('q=even%20plum&limit=3')).toEqual(even.toReversed())
    for (const nothing of ['q=plum%20even', 'q=plu', 'input.n=12', 'input.n=1&q=plum', 'input.deep.0=7'])
      expect(await pages(nothing), nothing).toEqual([])
  })

  test('stops after a few thousand executions, and continues with the next page', async () => {
    const inputs = Array.from({ length: 5_100 }, (_, n) => ({ note: n === 0 ? 'last needle' : 'needle last' }))
    const all = await seed(inputs, [numbers(0, 2_000), numbers(2_000, 5_100)])
    const first = await search('q=last%20needle')
    expect(first.items).toEqual([])
    expect(first.next_cursor).not.toBeNull()
    expect(await pages('q=last%20needle')).toEqual([all[0]])
    expect(await pages('q=last%20needle&sort=created_at')).toEqual([all[0]])
    const some = await search('q=needle%20last&limit=100')
    expect(idsIn(some)).toEqual(all.slice(-100).toReversed())
    const more = await search(`q=needle%20last&limit=100&cursor=${some.next_cursor}`)
    expect(idsIn(more)).toEqual(all.slice(-200, -100).toReversed())
  })

  test('restricts words to a workflow and a status', async () => {
    const all = await seed([{ note: 'plum' }, { note: 'plum' }], [[0, 1]])
    await service().sql(`update executions set status = 'failed' where execution_id = $1`, [fromWire('exe', all[0]!)])
    expect(await pages(`q=plum&workflow_id=${workflow}`)).toEqual(all.toReversed())
    expect(await pages(`q=plum&status=succeeded`)).toEqual([all[1]])
    expect(await pages('q=plum&status=succeeded,failed')).toEqual(all.toReversed())
  })

  test('also finds executions that ended before the index existed, and those that have just started', async () => {
    const [old] = await seed([{ note: 'ancient plum' }], [], HOUR_AGO - 3_600_000)
    const [indexed] = await seed([{ note: 'plum' }], [[0]])
    await coverFrom(firstIdAt(HOUR_AGO - 1_000))
    const ran = await world.owner.call('POST', `/api/workflows/${workflow}/run?wait_s=60`, {
      body: { input: { note: 'fresh plum' } },
    })
    const expected = [ran.body.execution_id, indexed, old]
    expect(await pages('q=plum')).toEqual(expected)
    expect(await pages('q=plum&limit=1')).toEqual(expected)
    expect(await pages('q=plum&sort=created_at')).toEqual(expected.toReversed())

    // The sweep goes back in time until the index contains everything.
    while (await sweepBack(service().db, Date.now() + 3_600_000));
    expect(await indexedIds()).toContain(old)
    expect(await pages('q=plum')).toEqual(expected)
  })

  test('is written when executions end, and its blocks are merged', async () => {
    const ran = await world.owner.call('POST', `/api/workflows/${workflow}/run?wait_s=60`, {
      body: { input: { a: 1 } },
    })
    await until(async () => (await indexedIds()).length > 0, 'the index')
    expect(await indexedIds()).toEqual([ran.body.execution_id])

    const all = await seed(
      numbers(0, 20).map((n) => ({ n, note: 'plum' })),
      numbers(0, 20).map((n) => [n]),
    )
    expect(await blocks()).toHaveLength(21)
    await mergeSmallBlocks(service().db, world.workspace.uuid)
    expect(await blocks()).toHaveLength(1)
    expect(await pages('q=plum&limit=4')).toEqual(all.toReversed())
    await service().sql('select forget_run_blocks($1, 1000)', [newId()])
    expect(await blocks()).toEqual([])
  })

  test('gets the executions that a crashed process did not write, including those that end later', async () => {
    const now = Date.now()
    const [ended, waiting] = await seed([{ note: 'plum' }, { note: 'waiting plum' }], [], now)
    const finish = (id: string, status: string, at: Date | null) =>
      service().sql('update executions set status = $2, finished_at = $3 where execution_id = $1', [
        fromWire('exe', id),
        status,
        at,
      ])
    await finish(ended!, 'succeeded', new Date(now))
    await finish(waiting!, 'waiting', null)
    await sweepRuns(service().db, now + 3_600_000)
    expect(await indexedIds()).toEqual([ended])

    await sweepOpen(service().db, now + 3_600_000)
    expect(await indexedIds()).toEqual([ended])
    await finish(waiting!, 'succeeded', new Date(now))
    await sweepOpen(service().db, now + 3_600_000)
    await sweepOpen(service().db, now + 3_600_000)
    expect((await indexedIds()).sort()).toEqual([ended, waiting].sort())
    expect(await service().sql('select from run_index_open where workspace_id = $1', [world.workspace.uuid])).toEqual(
      [],
    )

    // A range is compared only once.
    await seed([{ note: 'later' }], [], now)
    await sweepRuns(service().db, now + 3_600_000)
    expect(await indexedIds()).toHaveLength(2)
  })

  test('finds unfinished executions by every unfinished status, and finds them once after they end', async () => {
    const put = (id: string, status: string, results: object | null = null) =>
      service().sql(
        `update executions set status = $2, results = $3, finished_at = case when $2 = 'succeeded' then now() - interval '1 minute' end
         where execution_id = $1`,
        [fromWire('exe', id), status, results && JSON.stringify(results)],
      )
    const now = Date.now()
    const [young] = await seed([{ note: 'young plum' }], [], now - 60_000)
    await put(young!, 'waiting')
    expect(idsIn(await search('q=young'))).toEqual([young])
    expect(idsIn(await search('q=young&status=waiting,succeeded'))).toEqual([young])
    expect(idsIn(await search('q=young&status=running'))).toEqual([])
    expect(idsIn(await search('q=young&status=failed'))).toEqual([])

    const [old] = await seed([{ note: 'patient plum' }], [])
    await put(old!, 'waiting')
    expect(idsIn(await search('q=patient'))).toEqual([])
    await service().sql('update run_index_state set covered_to = $1', [firstIdAt(HOUR_AGO - 1_000)])
    await sweepRuns(service().db, now)
    await indexOpen(service().db)
    const indexed = await blocks()
    await indexOpen(service().db)
    expect(await blocks()).toEqual(indexed)
    for (const query of ['q=patient', 'q=patient&status=waiting', 'input.note=patient plum'])
      expect(idsIn(await search(query)), query).toEqual([old])
    expect(idsIn(await search('q=patient&status=running'))).toEqual([])
    // The status may have changed by the time of the search.
    const patient = { workflowId: null, versionId: null, input: { note: 'patient plum' }, results: null, error: null }
    for (const [then, wanted, isNamed] of [
      ['waiting', 'running', true],
      ['running', 'queued', true],
      ['waiting', 'failed', false],
      ['failed', 'failed', true],
      ['failed', 'waiting', false],
    ] as const) {
      const terms = wantedTerms({ q: 'patient', input: [], versionId: null, workflowId: null, status: [wanted] })
      const held = termsOf({ ...patient, status: then })
      expect(
        terms.every((term) => held.has(term)),
        `${then} ${wanted}`,
      ).toBe(isNamed)
    }

    await put(old!, 'succeeded', { verdict: 'ripe' })
    await sweepOpen(service().db)
    expect(idsIn(await search('q=ripe&status=succeeded'))).toEqual([old])
    expect(idsIn(await search('q=patient'))).toEqual([old])
  })
})
