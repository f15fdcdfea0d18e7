import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { fromWire, newId } from '#platform/ids'
import { say, status } from '#test/fakes/llm/answers'
import { type FakeLlm, startFakeLlm } from '#test/fakes/llm/server'
import { type Answer, type Service, startService } from '#test/harness/service'
import { makeWorld, type World } from '#test/harness/world'

let llm: FakeLlm
let service: Service
let world: World

beforeAll(async () => {
  llm = await startFakeLlm()
  service = await startService({
    env: {
      LLM_PROVIDER: 'openai-compatible',
      LLM_MODEL: 'house',
      LLM_API_KEY: llm.key,
      LLM_BASE_URL: llm.baseUrl,
      HEDDLE_ALLOW_TARGETS: new URL(llm.baseUrl).host,
    },
  })
  world = await makeWorld(service)
})
beforeEach(() => llm.reset())
afterAll(async () => {
  await service?.stop()
  await llm?.close()
})

async function run(nodes: object[], settings: object = {}): Promise<string> {
  const made = await world.owner.call('POST', '/api/workflows', {
    body: { name: 'Logs', definition: { nodes, edges: [] }, settings },
  })
  expect(made.status, made.text).toBe(201)
  const ran = await world.owner.call('POST', `/api/workflows/${made.body.workflow_id}/run?wait_s=60`, { body: {} })
  expect(ran.status, ran.text).toBe(200)
  return ran.body.execution_id
}
const code = (source: string, more: object = {}) => ({ id: 'c', type: 'code', args: { source }, ...more })
const logs = async (execution: string, query = ''): Promise<Answer['body']> =>
  (await world.owner.call('GET', `/api/workflows/executions/${execution}/logs${query}`)).body
const messages = (page: Answer['body']): string[] => page.items.map(({ message }: { message: string }) => message)

describe('the log of an execution', () => {
  test('contains the output of code with its level, and is read page by page and by level', async () => {
    const execution = await run([
      code(`log('a', { b: 1 }); console.debug('d'); console.warn('w\\u0000'); console.error('e'); return 1`),
    ])
    const whole = await logs(execution)
    expect(whole).toMatchObject({
      items: [
        { level: 'info', message: 'a {"b":1}', node_id: 'c', at: expect.any(String) },
        { level: 'debug', message: 'd' },
        { level: 'warn' },
        { level: 'error', message: 'e' },
      ],
      next_cursor: null,
    })
    const first = await logs(execution, '?limit=3')
    expect(first.items).toHaveLength(3)
    expect(messages(await logs(execution, `?limit=3&cursor=${first.next_cursor}`))).toEqual(['e'])
    expect(messages(await logs(execution, '?level=debug,error'))).toEqual(['d', 'e'])
    expect(messages(await logs(execution, '?node_id=other'))).toEqual([])
    expect(await world.owner.call('GET', `/api/workflows/executions/${execution}/logs?level=loud`)).toMatchObject({
      status: 422,
    })
    expect(await world.owner.call('GET', `/api/workflows/executions/${execution}/logs?cursor=x`)).toMatchObject({
      status: 422,
    })
  })

  test('contains the lines of every attempt, of failures, and of the items of a map', async () => {
    const retry = { max_attempts: 2, backoff_s: 0.01 }
    const body = {
      nodes: [{ id: 'line', type: 'code', args: { source: 'log("item", input); return 1', input: { $ref: 'item' } } }],
    }
    const execution = await run([
      code('log("before"); throw new Error("no")', { retry, on_error: 'continue' }),
      { id: 'each', type: 'map', args: { items: ['x', 'y'], body } },
    ])
    expect(messages(await logs(execution, '?node_id=c'))).toEqual(['before', 'before'])
    const inMap = await logs(execution)
    expect(
      messages(inMap)
        .filter((message) => message.startsWith('item'))
        .sort(),
    ).toEqual(['item x', 'item y'])
    expect(inMap.items.map(({ node_id }: { node_id: string }) => node_id)).toContain('each[1].line')
  })

  test('contains the messages of agents once, even if the node is retried', async () => {
    // The second turn fails, and the next attempt continues after the first.
    llm.script(
      { kind: 'tools', calls: [{ name: 'notify', arguments: { title: 'Hi' } }], text: 'I tell them' },
      status(500, { error: { message: 'not now' } }),
      say('All told', { input: 1, output: 1 }),
    )
    const retry = { max_attempts: 2, backoff_s: 0.01 }
    const execution = await run([{ id: 'agent', type: 'agent.run', args: { goal: 'Tell', tools: ['notify'] }, retry }])
    expect(messages(await logs(execution))).toEqual(['I tell them', 'calls notify', 'All told'])
  })

  test('has a limit: further lines are omitted, and one line says so', async () => {
    const body = {
      nodes: [{ id: 'line', type: 'code', args: { source: 'for (let i = 0; i < 100; i++) log(i); return 1' } }],
    }
    const execution = await run([
      { id: 'each', type: 'map', args: { items: Array.from({ length: 12 }, (_, n) => n), body } },
    ])
    const rows = await service.sql('select message from run_logs where execution_id = $1', [fromWire('exe', execution)])
    expect(rows.length).toBeLessThanOrEqual(1_000)
    expect(rows.length).toBeGreaterThan(900)
    expect(rows.filter(({ message }) => String(message).startsWith('An execution keeps'))).toHaveLength(1)
  })

  test('is deleted with the execution', async () => {
    const execution = await run([code('log("gone"); return 1')])
    const id = fromWire('exe', execution)
    const kept = async (): Promise<number> =>
      (await service.sql('select from run_logs where execution_id = $1', [id])).length
    expect(await kept()).toBe(1)
    await service.sql('delete from executions where execution_id = $1', [id])
    expect(await kept()).toBe(0)
    await run([code('log("old"); return 1')])
    await service.sql('select forget_run_logs($1, 10000)', [newId()])
    expect(await service.sql('select from run_logs')).toEqual([])
  })
})
