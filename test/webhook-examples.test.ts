import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { beforeAll, expect, test } from 'vitest'
import { useSharedService } from '#test/harness/service'
import { until } from '#test/harness/until'
import { makeWorld, type World } from '#test/harness/world'

// Runs the examples of docs/webhooks.md as they are printed. OpenSSL creates their signatures, not our code.

const service = useSharedService()
const run = promisify(execFile)
let world: World
let workflow: string
let blocks: { language: string; name: string; text: string }[]

beforeAll(async () => {
  world = await makeWorld(service())
  const definition = { nodes: [{ id: 'a', type: 'set', args: { values: {} } }], edges: [] }
  workflow = (await world.owner.call('POST', '/api/workflows', { body: { name: 'Hook', definition } })).body.workflow_id
  const document = await readFile(join(import.meta.dirname, '..', 'docs', 'webhooks.md'), 'utf8')
  blocks = [...document.matchAll(/^```(json|sh) (\w+)\n([\s\S]*?)^```/gm)].map(([, language, name, text]) => ({
    language: language!,
    name: name!,
    text: text!,
  }))
})

const textOf = (language: string, name: string): string =>
  blocks.find((block) => block.language === language && block.name === name)!.text

test.each(['github', 'stripe', 'slack', 'shopify', 'standard', 'custom', 'basic', 'url'])(
  'the request of the example %s starts the workflow, and is refused with another secret',
  async (name) => {
    const tokens = `/api/workflows/${workflow}/tokens`
    const made = await world.owner.call('POST', tokens, { body: JSON.parse(textOf('json', name)) })
    expect(made.status, made.text).toBe(201)
    let { secret } = made.body
    if (!made.body.secret_set && name !== 'url') {
      secret = 'whsec_given by the sender'
      await world.owner.call('PATCH', `${tokens}/${made.body.token_id}`, { body: { secret } })
    }
    const call = async (env: { URL: string; SECRET: string }) => {
      const { stdout } = await run('sh', ['-c', textOf('sh', name)], { env: { PATH: process.env.PATH, ...env } })
      return JSON.parse(stdout)
    }
    const { url } = made.body
    expect(await call({ URL: url, SECRET: secret ?? '' })).toEqual({
      execution_id: expect.stringMatching(/^exe_/),
      status: 'queued',
    })
    const wrong = name === 'url' ? { URL: `${url}x`, SECRET: '' } : { URL: url, SECRET: 'd3Jvbmc=' }
    expect((await call(wrong)).status).toBe(401)
  },
)

test('the example of http.respond answers as the text says, and continues', async () => {
  const definition = JSON.parse(textOf('json', 'responding'))
  const { workflow_id } = (await world.owner.call('POST', '/api/workflows', { body: { name: 'Answer', definition } }))
    .body
  const token = await world.owner.call('POST', `/api/workflows/${workflow_id}/tokens`, {
    body: { auth: 'url', respond: 'node' },
  })
  const answer = await service().call('POST', new URL(token.body.url).pathname, { body: { order: 7 } })
  expect([answer.status, answer.headers.get('x-order'), answer.body]).toEqual([201, '7', { seen: 7 }])
  const results = await until(async () => {
    const { items } = (await world.owner.call('GET', `/api/workflows/${workflow_id}/executions`)).body
    const { body } = await world.owner.call('GET', `/api/workflows/executions/${items[0].execution_id}`)
    return body.status === 'succeeded' ? body.results : undefined
  }, 'the end')
  expect(results).toEqual({ double: 14 })
})

test('the example of wait.event continues after the event, or after a call of its address', async () => {
  const definition = JSON.parse(textOf('json', 'waiting'))
  const { workflow_id } = (await world.owner.call('POST', '/api/workflows', { body: { name: 'Paid', definition } }))
    .body
  const start = async (order: string): Promise<string> =>
    (await world.owner.call('POST', `/api/workflows/${workflow_id}/run`, { body: { input: { order } } })).body
      .execution_id
  const read = async (execution: string) =>
    (await world.owner.call('GET', `/api/workflows/executions/${execution}`)).body
  const resultsOf = (execution: string) =>
    until(async () => {
      const { status, results } = await read(execution)
      return status === 'succeeded' ? results : undefined
    }, 'the end')
  const byEvent = await start('7')
  expect((await world.owner.call('POST', '/api/events', { body: JSON.parse(textOf('json', 'event')) })).status).toBe(
    202,
  )
  expect(await resultsOf(byEvent)).toBe(12)
  const byCall = await start('8')
  const url = await until(async () => (await read(byCall)).nodes[0].output?.reply_to, 'the address')
  expect((await service().call('POST', new URL(url).pathname, { body: { amount: 13 } })).status).toBe(200)
  expect(await resultsOf(byCall)).toBe(13)
})
