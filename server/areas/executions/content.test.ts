import { beforeEach, describe, expect, test } from 'vitest'
import { fromWire, newId } from '#platform/ids'
import { type Answer, useService } from '#test/harness/service'
import { makeWorld, type TestPerson, type World } from '#test/harness/world'
import { fieldsOf } from './content.ts'

const service = useService()
let world: World
let workflowId: string

const definition = {
  nodes: [
    { id: 'check', type: 'branch', args: { cases: [{ port: 'bad', when: { $cel: 'has(input.bad)' } }] } },
    { id: 'stop', type: 'fail', args: { code: 'out_of_stock', message: 'None left' } },
  ],
  edges: [{ from: { node: 'check', port: 'bad' }, to: 'stop' }],
  output: { $ref: 'input' },
}
async function workflow(person: TestPerson): Promise<string> {
  const made = await person.call('POST', '/api/workflows', { body: { name: 'Orders', definition } })
  expect(made.status, made.text).toBe(201)
  return made.body.workflow_id
}
async function run(input: object, more: object = {}, person: TestPerson = world.owner, id = workflowId) {
  const ran = await person.call('POST', `/api/workflows/${id}/run?wait_s=60`, { body: { input, ...more } })
  expect(ran.status, ran.text).toBe(200)
  return ran.body.execution_id as string
}
const search = (query: string, person: TestPerson = world.owner): Promise<Answer> =>
  person.call('GET', `/api/executions?${query}`)
const found = async (query: string, person?: TestPerson): Promise<string[]> => {
  const { status, body, text } = await search(query, person)
  expect(status, text).toBe(200)
  return body.items.map(({ execution_id }: { execution_id: string }) => execution_id)
}

beforeEach(async () => {
  world = await makeWorld(service())
  workflowId = await workflow(world.owner)
})

describe('executions are found', () => {
  test('by any combination of tags and metadata, newest first', async () => {
    const first = await run({}, { tags: ['urgent', 'eu'], metadata: { customer: 42, plan: 'pro' } })
    const second = await run({}, { tags: ['urgent'], metadata: { customer: 7 } })
    await run({})
    expect(await found('tag=urgent')).toEqual([second, first])
    expect(await found('tag=urgent&sort=created_at')).toEqual([first, second])
    expect(await found('tag=urgent,eu')).toEqual([first])
    expect(await found('metadata.customer=42')).toEqual([first])
    expect(await found('metadata.customer=42&tag=eu&metadata.plan=pro')).toEqual([first])
    expect(await found('metadata.customer=42&metadata.plan=free')).toEqual([])
    expect(await found('tag=nothing')).toEqual([])
    expect(await found('tag=urgent&status=failed')).toEqual([])
    expect(await found(`tag=urgent&workflow_id=${await workflow(world.owner)}`)).toEqual([])
  })

  test('page by page', async () => {
    const all: string[] = []
    for (let at = 0; at < 5; at += 1) all.unshift(await run({ at }, { tags: ['batch'] }))
    const seen: string[] = []
    for (let cursor = ''; ; ) {
      const { body } = await search(`tag=batch&limit=2${cursor}`)
      seen.push(...body.items.map(({ execution_id }: { execution_id: string }) => execution_id))
      if (body.next_cursor === null) break
      cursor = `&cursor=${body.next_cursor}`
    }
    expect(seen).toEqual(all)
  })

  test('by the error code and the failed node', async () => {
    const failed = await run({ bad: true })
    await run({})
    expect(await found('error_code=out_of_stock')).toEqual([failed])
    expect(await found('node_id=stop')).toEqual([failed])
    expect(await found('error_code=timeout')).toEqual([])
  })

  test('by text in their input, results and error, and by fields of their input', async () => {
    const ada = await run({ order: { id: 7, name: 'Ada Lovelace' } })
    const grace = await run({ order: { id: 8, name: 'Grace Hopper' }, lines: [{ sku: 'A-1' }] })
    const failed = await run({ bad: true })
    expect(await found('q=lovelace')).toEqual([ada])
    expect(await found('q=none%20left')).toEqual([failed])
    expect(await found('q=%25')).toEqual([])
    expect(await found('input.order.id=8')).toEqual([grace])
    expect(await found('input.lines.0.sku=A-1')).toEqual([grace])
    expect(await found('input.order.id=8&q=ada')).toEqual([])
    expect(await found('input.order.missing=8')).toEqual([])
  })

  test('by their version', async () => {
    const before = await run({})
    const made = await world.owner.call('POST', `/api/workflows/${workflowId}/versions`, { body: { definition } })
    const { version_id } = made.body
    const after = await run({}, { version_id })
    expect(await found(`version_id=${version_id}`)).toEqual([after])
    expect(await found('version_id=wfv_x')).toEqual([])
    expect(await found('')).toEqual([after, before])
  })

  test('by reading a few thousand executions per page if no index can be used', async () => {
    const oldest = await run({ note: '—' })
    await service().sql(
      `insert into executions (execution_id, workspace_id, workflow_id, definition_ref, status, input, trigger_kind, finished_at)
       select i, $1, $2, 'x', 'succeeded', '{}', 'user', now() from unnest($3::uuid[]) i`,
      [world.workspace.uuid, fromWire('wf', workflowId), Array.from({ length: 5_000 }, () => newId())],
    )
    const first = await search('q=%E2%80%94')
    expect(first.body.items).toEqual([])
    expect(first.body.next_cursor).not.toBeNull()
    expect(await found(`q=%E2%80%94&cursor=${first.body.next_cursor}`)).toEqual([oldest])
  })
})

describe('nothing is found', () => {
  test('in workflows that the caller may not see, for every kind of query', async () => {
    const mine = await run({ secret: 'plum' }, { tags: ['shared'] })
    const theirWorkflow = await workflow(world.member)
    const theirs = await run({ secret: 'plum' }, { tags: ['shared'] }, world.member, theirWorkflow)
    for (const query of ['tag=shared', 'q=plum', 'input.secret=plum']) {
      expect(await found(query)).toEqual([mine])
      expect(await found(query, world.member)).toEqual([theirs])
      expect(await found(query, world.stranger)).toEqual([])
    }
  })

  test.each(['colour=red', 'input=1', 'metadata.=1', `q=${'x'.repeat(201)}`, 'tag='])('by %s: 422', async (query) => {
    expect((await search(query)).status).toBe(422)
  })

  test('by a label of a deleted execution', async () => {
    const id = await run({}, { tags: ['gone'] })
    await service().sql('delete from executions where execution_id = $1', [fromWire('exe', id)])
    expect(await found('tag=gone')).toEqual([])
    await service().sql('select forget_run_labels($1, 100)', [newId()])
    expect(await service().sql('select from run_labels')).toEqual([])
  })
})

test('a query accepts at most ten fields of the input and the metadata', () => {
  expect(fieldsOf({ 'input.a.b': '1', 'metadata.x.y': '2' })).toEqual({
    labels: ['metadata:x.y=2'],
    input: [{ path: ['a', 'b'], value: '1' }],
  })
  const many = Object.fromEntries(Array.from({ length: 11 }, (_, at) => [`input.f${at}`, '1']))
  expect(() => fieldsOf(many)).toThrow()
  expect(() => fieldsOf({ output: '1' })).toThrow()
})
