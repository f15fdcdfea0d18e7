import { beforeAll, expect, test } from 'vitest'
import type { Json } from '#model/definition'
import { MAX_ANSWER_BYTES, render } from '#platform/http/render'
import type { AnyRoute } from '#platform/http/route'
import { useSharedService } from '#test/harness/service'
import { until } from '#test/harness/until'
import { makeWorld, type World } from '#test/harness/world'

// An execution may have 64 MiB and a response at most 8 MiB. Large parts are returned as addresses, from which they are
// streamed.

const service = useSharedService()
let world: World
beforeAll(async () => {
  world = await makeWorld(service())
})

const filler = (length: number): string => 'x'.repeat(length)
const times = <T>(count: number, make: (n: number) => T): T[] => Array.from({ length: count }, (_, n) => make(n))

async function save(definition: unknown): Promise<string> {
  const { body, status, text } = await world.owner.call('POST', '/api/workflows', {
    body: { name: 'Large', definition },
  })
  expect(status, text).toBe(201)
  return body.workflow_id
}

async function run(definition: unknown, input: Json = {}) {
  const path = `/api/workflows/${await save(definition)}/run?wait_s=60`
  const answer = await world.owner.call('POST', path, { body: { input } })
  expect(answer.status, answer.text.slice(0, 300)).toBe(200)
  return answer
}

/** A list of eight references to a text of 400 KB, together 3.2 MB. */
const copies = {
  nodes: [{ id: 'a', type: 'set', args: { values: { texts: times(8, () => ({ $ref: 'input.text' })) } } }],
  edges: [],
  output: { $ref: 'nodes.a.output' },
}

test('outputs that are large together are returned as addresses, and each can be fetched', async () => {
  const nodes = times(100, (n) => ({
    id: `n${n}`,
    type: 'set',
    args: { values: { n, text: { $ref: 'input.text' } } },
  }))
  const { body, text } = await run({ nodes, edges: [] }, { text: filler(30_000) })
  expect(text.length).toBeLessThan(700_000)
  const shown = body.nodes as { node_id: string; output: { text?: string; $blob?: string; bytes?: number } }[]
  expect(shown.filter(({ output }) => output.text !== undefined).length).toBeGreaterThan(10)
  const last = shown.find(({ node_id }) => node_id === 'n99')!
  expect(last.output.bytes).toBeGreaterThan(30_000)
  const fetched = await world.owner.call('GET', last.output.$blob!)
  expect(fetched.body).toEqual({ n: 99, text: filler(30_000) })
  expect((await world.stranger.call('GET', last.output.$blob!)).status).toBe(404)
})

test('an input over 1 MiB, which a parent workflow passed, is returned as an address', async () => {
  const child = await save({ nodes: [{ id: 'n', type: 'set', args: { values: {} } }], edges: [] })
  const parent = {
    nodes: [
      ...copies.nodes,
      { id: 'b', type: 'subworkflow', args: { workflow_id: child, input: { $ref: 'nodes.a.output' } } },
    ],
    edges: [{ from: { node: 'a' }, to: 'b' }],
  }
  expect((await run(parent, { text: filler(400_000) })).body.status).toBe('succeeded')
  const { body } = await world.owner.call('GET', `/api/workflows/${child}/executions`)
  const one = await world.owner.call('GET', `/api/workflows/executions/${body.items[0].execution_id}`)
  expect(one.text.length).toBeLessThan(10_000)
  const input = (await world.owner.call('GET', one.body.input.$blob)).body
  expect(input.texts).toHaveLength(8)
})

test('results over 1 MiB are returned to webhook tokens as an address that only the starting token can read', async () => {
  const workflow = await save(copies)
  const tokens = await Promise.all(
    times(
      2,
      async () => (await world.owner.call('POST', `/api/workflows/${workflow}/tokens`, { body: {} })).body.token,
    ),
  )
  const answer = await service().call('POST', `/api/webhooks/workflow/${workflow}/trigger?wait_s=60`, {
    token: tokens[0],
    body: { text: filler(400_000) },
  })
  expect(answer.text.length).toBeLessThan(1_000)
  expect(answer.body.results).toEqual({ $blob: expect.stringContaining('/results'), bytes: expect.any(Number) })
  const fetched = await service().call('GET', answer.body.results.$blob, { token: tokens[0] })
  expect(fetched.body.texts).toEqual(times(8, () => filler(400_000)))
  expect((await service().call('GET', answer.body.results.$blob, { token: tokens[1] })).status).toBe(404)
})

test('the questions of an execution are limited in their total size', async () => {
  const question = { id: 'q', type: 'clarification', args: { question: 'Which?', schema: { $ref: 'input.schema' } } }
  const map = (concurrency: number) => ({
    nodes: [
      {
        id: 'm',
        type: 'map',
        args: {
          items: { $ref: 'input.items' },
          concurrency,
          on_item_error: 'collect',
          body: { nodes: [question], edges: [] },
        },
      },
    ],
    edges: [],
  })
  const input = { items: times(30, (n) => n), schema: { type: 'object', description: filler(450_000) } }
  const workflow = await save(map(30))
  const { body } = await world.owner.call('POST', `/api/workflows/${workflow}/run`, { body: { input } })
  const path = `/api/workflows/executions/${body.execution_id}`
  const waiting = await until(async () => {
    const answer = await world.owner.call('GET', path)
    return answer.body.status === 'waiting' ? answer : undefined
  }, 'its questions')
  // Four questions of 450 KB each were asked; the other items failed. The execution's row contains the text of the
  // first question.
  expect(waiting.body.waiting_for).toHaveLength(4)
  expect(waiting.body.waiting_for[0]).toMatchObject({ kind: 'clarification', question: 'Which?' })
  expect(waiting.body.waiting_for[1]).toMatchObject({ kind: 'clarification', left_out: ['question', 'schema'] })
  expect(waiting.text.length).toBeLessThan(1_000_000)
  const list = await world.owner.call('GET', `/api/workflows/${workflow}/executions`)
  expect(list.text.length).toBeLessThan(10_000)
  expect(list.body.items[0].waiting_for[0]).toMatchObject({ kind: 'clarification', left_out: ['schema'] })
  const inbox = await world.owner.call('GET', '/api/clarifications/inbox')
  expect(inbox.body.items[0].schema.description).toHaveLength(450_000)
  // An answer frees space for the next question.
  for (const { clarification_id } of waiting.body.waiting_for)
    await world.owner.call('POST', `${path}/respond`, { body: { clarification_id, response: {} } })
  const ended = await until(async () => {
    const answer = await world.owner.call('GET', path)
    return answer.body.finished_at ? answer.body : undefined
  }, 'the end')
  expect(ended.status).toBe('succeeded')
  const gave = ended.nodes[0].output as ({ error?: { code: string } } | null)[]
  expect(gave.filter((one) => one?.error?.code === 'result_too_large')).toHaveLength(26)
})

test('a response over 8 MiB is refused with an explanation', () => {
  const route = { answer: {} } as AnyRoute
  const rendering = { encode: undefined, tagged: false, check: false }
  const answer = (value: unknown) => render(route, rendering, value, { status: 200, headers: {} }, '/')
  expect(answer(filler(MAX_ANSWER_BYTES - 2)).body).toHaveLength(MAX_ANSWER_BYTES)
  const refusal = expect.objectContaining({ code: 'answer_too_large' })
  expect(() => answer(filler(MAX_ANSWER_BYTES - 1))).toThrow(refusal)
  expect(() => answer('é'.repeat(MAX_ANSWER_BYTES / 2))).toThrow(refusal)
})
