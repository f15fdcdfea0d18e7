import { beforeAll, describe, expect, test } from 'vitest'
import { useService } from '#test/harness/service'
import { makeWorld, type World } from '#test/harness/world'

// More requests than the service can handle at once. `npm run bench overload` measures how well it handles them.

const service = useService({ env: { HEDDLE_MAX_AT_WORK: '2' } })
let world: World
beforeAll(async () => {
  world = await makeWorld(service())
})

describe('more requests than the service handles at once', () => {
  test('of one tenant are each answered or refused with a reason, and no other tenant is refused', async () => {
    const flood = Array.from({ length: 200 }, () => world.owner.call('GET', '/api/workflows'))
    const others = await Promise.all(Array.from({ length: 5 }, () => world.stranger.call('GET', '/auth/me')))
    const answers = await Promise.all(flood)
    expect(others.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200])
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200, 503]))
    const refused = answers.find(({ status }) => status === 503)!
    expect(refused.body).toMatchObject({ code: 'overloaded', status: 503 })
    expect(refused.headers.get('retry-after')).toBe('1')
    expect((await world.owner.call('GET', '/api/workflows')).status).toBe(200)
    const refusals = answers.filter(({ status }) => status === 503).length
    const { text } = await service().call('GET', '/metrics')
    expect(text).toContain(`heddle_http_overloaded_total ${refusals}\n`)
  })

  test('that all wait for a person do not block other requests', async () => {
    const { body } = await world.owner.call('POST', '/api/workflows', {
      body: {
        name: 'Asks',
        definition: {
          nodes: [{ id: 'ask', type: 'clarification', args: { question: 'Well?', schema: { type: 'string' } } }],
          edges: [],
        },
      },
    })
    const hungUp = new AbortController()
    const polls = Array.from({ length: 8 }, () =>
      fetch(`${service().base}/api/workflows/${body.workflow_id}/run?wait_s=60`, {
        method: 'POST',
        signal: hungUp.signal,
        headers: { authorization: `Bearer ${world.owner.key}`, 'x-workspace-id': world.workspace.id },
      }),
    )
    const first = await Promise.race([Promise.race(polls), world.member.call('GET', '/api/workflows')])
    expect(first.status).toBe(200)
    hungUp.abort()
    await Promise.allSettled(polls)
  })
  test('do not include requests that wait for an execution', async () => {
    const { body } = await world.owner.call('POST', '/api/workflows', {
      body: { name: 'Waits', definition: { nodes: [{ id: 'w', type: 'wait', args: { for_s: 600 } }], edges: [] } },
    })
    const hungUp = new AbortController()
    const poll = fetch(`${service().base}/api/workflows/${body.workflow_id}/run?wait_s=60`, {
      method: 'POST',
      signal: hungUp.signal,
      headers: { authorization: `Bearer ${world.owner.key}`, 'x-workspace-id': world.workspace.id },
    })
    const started = async (): Promise<boolean> => {
      const { body: page } = await world.owner.call('GET', `/api/workflows/${body.workflow_id}/executions`)
      return page.items.some(({ status }: { status: string }) => status === 'waiting')
    }
    await expect.poll(started).toBe(true)
    const metrics = async (): Promise<string> => (await service().call('GET', '/metrics')).text
    await expect.poll(metrics).toContain('heddle_http_requests{state="at_work"} 0\n')
    expect(await metrics()).toContain('heddle_http_requests{state="waiting"} 0\n')
    hungUp.abort()
    await poll.catch(() => undefined)
  })
})
