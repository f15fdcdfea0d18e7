import { beforeEach, describe, expect, test } from 'vitest'
import { firstIdAt, fromWire, newId, toWire } from '#platform/ids'
import { type Answer, useService } from '#test/harness/service'
import { until } from '#test/harness/until'
import { makeWorld, type World } from '#test/harness/world'
import { addTerms, hashOf, wantedTerms } from './terms.ts'

const service = useService()
let world: World
let workflow: string

beforeEach(async () => {
  world = await makeWorld(service())
  const definition = { nodes: [], edges: [], output: { $ref: 'input' } }
  const made = await world.owner.call('POST', '/api/workflows', { body: { name: 'Indexed', definition } })
  workflow = made.body.workflow_id
})

const HOUR_AGO = Date.now() - 3_600_000

/** Runs of an hour ago, a millisecond apart, as they would stand in the index. */
async function seed(inputs: object[], chunks: number[][], from = HOUR_AGO): Promise<string[]> {
  const ids = inputs.map((_, at) => firstIdAt(from + at).replace(/.{12}$/, () => newId().slice(-12)))
  const { uuid } = world.workspace
  await service().sql(
    `insert into executions (execution_id, workspace_id, workflow_id, definition_ref, status, input, trigger_kind, created_at, finished_at)
     select e.id, $1, $2, 'x', 'succeeded', e.input, 'user', now() - interval '1 hour', now() from unnest($3::uuid[], $4::json[]) as e (id, input)`,
    [uuid, fromWire('wf', workflow), ids, inputs.map((input) => JSON.stringify(input))],
  )
  const rows = chunks.map((members) => {
    const terms = new Set<number>()
    for (const at of members)
      addTerms(terms, { workspaceId: uuid, versionId: null, input: inputs[at] as never, results: null, error: null })
    const its = members.map((at) => ids[at]!).sort()
    return { workspace_id: uuid, first_id: its[0], last_id: its.at(-1), ids: its, terms: [...terms] }
  })
  await service().sql('select add_run_terms($1)', [JSON.stringify(rows)])
  return ids.map((id) => toWire('exe', id))
}
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

describe('the index of runs', () => {
  test('finds words and fields of older runs in the order of time, page by page, whichever ended first', async () => {
    const inputs = Array.from({ length: 12 }, (_, n) => ({ n, note: n % 2 === 0 ? 'even plum' : 'odd', deep: [{ n }] }))
    // The first run ended last: chunks overlap.
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

  test('stops after some thousand runs, and goes on with the next page', async () => {
    const inputs = Array.from({ length: 30 }, (_, n) => ({ n, note: n === 0 ? 'last needle' : 'needle last' }))
    const all = await seed(
      inputs,
      inputs.map((_, n) => [n]),
    )
    const first = await search('q=last%20needle')
    expect(first.items).toEqual([])
    expect(first.next_cursor).not.toBeNull()
    expect(await pages('q=last%20needle')).toEqual([all[0]])
    expect(await pages('q=needle%20last&limit=7')).toEqual(all.slice(1).toReversed())
    expect(await pages('q=needle%20last&limit=7&sort=created_at')).toEqual(all.slice(1))
  })

  test('also finds what ended before there was one, and what has just begun', async () => {
    const [old] = await seed([{ note: 'ancient plum' }], [], HOUR_AGO - 3_600_000)
    const [indexed] = await seed([{ note: 'plum' }], [[0]])
    const ran = await world.owner.call('POST', `/api/workflows/${workflow}/run?wait_s=20`, {
      body: { input: { note: 'fresh plum' } },
    })
    const expected = [ran.body.execution_id, indexed, old]
    expect(await pages('q=plum')).toEqual(expected)
    expect(await pages('q=plum&limit=1')).toEqual(expected)
    expect(await pages('q=plum&sort=created_at')).toEqual(expected.toReversed())
  })

  test('is written when runs end, and made of larger pieces later', async () => {
    const { uuid } = world.workspace
    const chunks = () =>
      service().sql<{ ids: string[] }>('select ids from run_terms where workspace_id = $1 order by last_id', [uuid])
    const ran = await world.owner.call('POST', `/api/workflows/${workflow}/run?wait_s=20`, {
      body: { input: { a: 1 } },
    })
    const [written] = await until(async () => {
      const rows = await chunks()
      return rows.length > 0 && rows
    }, 'the index')
    expect(written!.ids).toEqual([fromWire('exe', ran.body.execution_id)])

    const inputs = Array.from({ length: 10 }, (_, n) => ({ n, note: 'plum' }))
    const all = await seed(
      inputs,
      inputs.map((_, n) => [n]),
    )
    await service().sql(`update run_terms set at = now() - interval '1 hour' where workspace_id = $1`, [uuid])
    await service().sql('select compact_run_terms(1000)')
    expect(await chunks()).toHaveLength(1)
    expect(await pages('q=plum&limit=4')).toEqual(all.toReversed())
    await service().sql('select forget_run_terms($1, 1000)', [newId()])
    expect(await chunks()).toEqual([])
  })
})

test('hashes of words are spread, the same every time, and of one workspace', () => {
  const hashes = new Set(Array.from({ length: 20_000 }, (_, n) => hashOf(`word ${n}`)))
  expect(hashes.size).toBe(20_000)
  for (const hash of hashes) expect(Number.isSafeInteger(hash) && hash >= 0).toBe(true)
  const wanted = { q: 'Ada  LOVELACE ada', input: [{ path: ['a', 'b'], value: '1' }], versionId: null }
  expect(wantedTerms('w', wanted)).toHaveLength(3)
  expect(wantedTerms('w', wanted)).not.toEqual(wantedTerms('x', wanted))
  expect(wantedTerms('w', { q: '—', input: [], versionId: null })).toEqual([])
})
