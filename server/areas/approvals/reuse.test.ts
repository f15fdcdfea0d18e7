import { beforeAll, describe, expect, test } from 'vitest'
import { useSharedService } from '#test/harness/service'
import { until } from '#test/harness/until'
import { addMember, makePerson, makeWorld, type TestPerson, type World } from '#test/harness/world'
import { reuseOf } from './reuse.ts'

const service = useSharedService()
let world: World
beforeAll(async () => {
  world = await makeWorld(service())
})

type Event = { type: string; data: { reused?: Record<string, unknown>; answered_by?: { name: string } } }

async function workflow(who: TestPerson[], reuse: Record<string, unknown>, schema: unknown = { type: 'string' }) {
  const definition = {
    inputs: { type: 'object', properties: { customer: { type: 'string' } } },
    nodes: [
      {
        id: 'ask',
        type: 'clarification',
        args: {
          question: 'Which colour?',
          schema,
          who: who.map(({ id }) => ({ kind: 'user', id })),
          reuse: { key: { $cel: 'input.customer' }, ...reuse },
        },
      },
    ],
    output: { $ref: 'nodes.ask.output' },
  }
  const made = await world.owner.call('POST', '/api/workflows', { body: { name: 'Asks', definition } })
  expect(made.status, made.text).toBe(201)
  return made.body.workflow_id as string
}

const start = async (workflowId: string, customer: string): Promise<string> =>
  (await world.owner.call('POST', `/api/workflows/${workflowId}/run`, { body: { input: { customer } } })).body
    .execution_id

const settled = (execution: string) =>
  until(async () => {
    const { body } = await world.owner.call('GET', `/api/workflows/executions/${execution}`)
    return ['waiting', 'succeeded', 'failed'].includes(body.status) ? body : undefined
  }, 'a wait or the end')

const ended = (execution: string) =>
  until(async () => {
    const { body } = await world.owner.call('GET', `/api/workflows/executions/${execution}`)
    return body.status === 'succeeded' ? body : undefined
  }, 'the end')

const respond = async (who: TestPerson, execution: string, response: unknown) => {
  await until(async () => (await settled(execution)).status === 'waiting', 'the question')
  const answer = await who.call('POST', `/api/workflows/executions/${execution}/respond`, { body: { response } })
  expect(answer.status, answer.text).toBe(202)
  await ended(execution)
  return answer.body.clarification_id as string
}

const answeredIn = async (execution: string): Promise<Event> => {
  const { body } = await world.owner.call('GET', `/api/workflows/executions/${execution}/events`)
  return (body.items as Event[]).find(({ type }) => type === 'clarification.answered')!
}

async function colleague(name: string): Promise<TestPerson> {
  const person = await makePerson(service(), { name })
  await addMember(service(), world.workspace, person, 'member')
  return person
}

describe('an answer that may be reused', () => {
  test('is used for the same key without asking, and the journal names its author', async () => {
    const ada = await colleague('Ada')
    const asks = await workflow([ada], { for_s: 3600 })
    const first = await start(asks, 'acme')
    const clarification_id = await respond(ada, first, 'green')
    const second = await start(asks, 'acme')
    expect((await ended(second)).results).toBe('green')
    expect((await answeredIn(second)).data).toMatchObject({
      answered_by: { id: ada.id, name: 'Ada' },
      reused: { clarification_id, execution_id: first, answered_by: { name: 'Ada' } },
    })
    expect((await answeredIn(first)).data.reused).toBeUndefined()
    // A different key is a different question.
    expect((await settled(await start(asks, 'other'))).status).toBe('waiting')
    const { body } = await ada.call('GET', `/api/clarifications/answers?workflow_id=${asks}`)
    expect(body.items).toMatchObject([{ clarification_id, answer: 'green', times_used: 1, withdrawn_at: null }])
  })

  test('is not used after it is withdrawn, which only its author or an owner may do', async () => {
    const [ada, bob] = [await colleague('Ada'), await colleague('Bob')]
    const asks = await workflow([ada, bob], { for_s: 3600 })
    const clarification_id = await respond(ada, await start(asks, 'acme'), 'green')
    const path = `/api/clarifications/answers/${clarification_id}/withdraw`
    expect((await bob.call('POST', path)).status).toBe(404)
    expect((await world.stranger.call('POST', path)).status).toBe(404)
    expect((await bob.call('GET', '/api/clarifications/answers')).body.items).toEqual([])
    const withdrawn = await ada.call('POST', path)
    expect([withdrawn.status, typeof withdrawn.body.withdrawn_at]).toEqual([200, 'string'])
    expect((await ada.call('POST', path)).body.withdrawn_at).toBe(withdrawn.body.withdrawn_at)
    expect((await settled(await start(asks, 'acme'))).status).toBe('waiting')
  })

  test('is used only while its author could still give it and it still fits the question', async () => {
    const ada = await colleague('Ada')
    const asks = await workflow([ada], { for_s: 3600 })
    const clarification_id = await respond(ada, await start(asks, 'acme'), 'green')
    const waits = async (workflowId = asks) => (await settled(await start(workflowId, 'acme'))).status
    // The answer is too old.
    await service().sql(`update questions set answered_at = now() - interval '2 hours' where answered_by = $1`, [
      ada.id,
    ])
    expect(await waits()).toBe('waiting')
    await service().sql('update questions set answered_at = now() where answered_by = $1', [ada.id])
    expect((await ended(await start(asks, 'acme'))).results).toBe('green')
    // The answer belongs to another workflow.
    expect(await waits(await workflow([ada], { for_s: 3600 }))).toBe('waiting')
    // The answer no longer fits the schema.
    const { body } = await world.owner.call('GET', `/api/workflows/${asks}/versions`)
    const [version] = body.items
    const definition = structuredClone(version.definition)
    definition.nodes[0].args.schema = { type: 'number' }
    const next = await world.owner.call('POST', `/api/workflows/${asks}/versions`, {
      body: { definition, activate: true },
    })
    expect(next.status, next.text).toBe(201)
    expect(await waits()).toBe('waiting')
    await world.owner.call('POST', `/api/workflows/${asks}/versions/${version.version_id}/activate`)
    expect((await ended(await start(asks, 'acme'))).results).toBe('green')
    // The author has left the workspace.
    await service().sql('delete from memberships where user_id = $1', [ada.uuid])
    expect(await waits()).toBe('waiting')
    expect(clarification_id).toMatch(/^clr_/)
  })

  test('is offered instead if the question uses `offer`', async () => {
    const ada = await colleague('Ada')
    const asks = await workflow([ada], { for_s: 3600, use: 'offer' })
    await respond(ada, await start(asks, 'acme'), 'green')
    const second = await start(asks, 'acme')
    const waiting = await until(async () => {
      const body = await settled(second)
      return body.status === 'waiting' ? body : undefined
    }, 'the question')
    expect(waiting.waiting_for).toMatchObject([
      { kind: 'clarification', suggested: { answer: 'green', answered_by: { id: ada.id } } },
    ])
    await respond(ada, second, 'red')
    expect((await ended(second)).results).toBe('red')
  })
})

test.each([
  ['no reuse', {}, 'v', null],
  ['a key of null, so that there is nothing to compare', { reuse: { key: null, for_s: 1 } }, 'v', null],
  ['a trial, which has no version', { reuse: { key: 'k', for_s: 1 } }, null, null],
  ['a key and a time', { reuse: { key: 'k', for_s: 1 } }, 'v', 'take'],
  ['an offer', { reuse: { key: { b: 1, a: 2 }, for_s: 1, use: 'offer' } }, 'v', 'offer'],
])('whether a question uses earlier answers: %s', (_case, args, versionId, expected) => {
  expect(reuseOf({ args: args as never, versionId, workflowId: 'w' })?.use ?? null).toBe(expected)
})

test('the order of the fields does not change the key', () => {
  const keyOf = (key: unknown) =>
    reuseOf({ args: { reuse: { key, for_s: 1 } } as never, versionId: 'v', workflowId: 'w' })!.key.toString('hex')
  expect(keyOf({ a: 1, b: 2 })).toBe(keyOf({ b: 2, a: 1 }))
  expect(keyOf({ a: 1 })).not.toBe(keyOf({ a: 2 }))
  expect(keyOf('1')).not.toBe(keyOf(1))
})
