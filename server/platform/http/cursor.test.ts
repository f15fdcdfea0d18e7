import { beforeAll, describe, expect, test } from 'vitest'
import { useSharedService } from '#test/harness/service'
import { makeWorld, type World } from '#test/harness/world'

const service = useSharedService()
let world: World
beforeAll(async () => {
  world = await makeWorld(service())
  for (const name of ['a', 'b', 'c']) {
    await world.owner.call('POST', '/api/teams', { body: { name } })
    await world.owner.call('POST', '/api/companies', { body: { name } })
    await world.owner.call('POST', '/api/notifications', { body: { kind: 'note', title: name } })
  }
})

const list = (path: string) => world.owner.call('GET', path)
const cursorOf = async (path: string): Promise<string> => (await list(path)).body.next_cursor
const refused = async (path: string, message = 'is not a cursor of this list'): Promise<void> => {
  const { status, body } = await list(path)
  expect([status, body.errors]).toEqual([422, [{ path: '/cursor', message }]])
}

describe('a cursor', () => {
  test('continues its list with any page size', async () => {
    const first = (await list('/api/teams?limit=1')).body
    const rest = (await list(`/api/teams?limit=200&cursor=${first.next_cursor}`)).body
    const all = (await list('/api/teams')).body
    expect([...first.items, ...rest.items]).toEqual(all.items)
    expect(rest.next_cursor).toBeNull()
  })

  test('is refused in another list', async () => {
    await refused(`/api/companies?cursor=${await cursorOf('/api/teams?limit=1')}`)
  })

  test('is refused with other filters', async () => {
    const cursor = await cursorOf('/api/notifications?limit=1&unread=true')
    expect((await list(`/api/notifications?unread=true&cursor=${cursor}`)).status).toBe(200)
    expect((await list(`/api/notifications?cursor=${cursor}&unread=true`)).status).toBe(200)
    await refused(`/api/notifications?cursor=${cursor}`)
    await refused(`/api/notifications?unread=false&cursor=${cursor}`)
  })

  test('is refused under another parent', async () => {
    const make = async () => {
      const { body } = await world.owner.call('POST', '/api/workflows', { body: { name: 'x' } })
      const path = `/api/workflows/${body.workflow_id}/tokens`
      for (const name of ['1', '2']) await world.owner.call('POST', path, { body: { name } })
      return path
    }
    const [one, two] = [await make(), await make()]
    const cursor = await cursorOf(`${one}?limit=1`)
    expect((await list(`${one}?cursor=${cursor}`)).body.items).toHaveLength(1)
    await refused(`${two}?cursor=${cursor}`)
  })

  test('that a client made up is refused, and reaches the database only as a position', async () => {
    const digest = (await cursorOf('/api/teams?limit=1')).slice(0, 8)
    const made = (value: unknown) => digest + Buffer.from(JSON.stringify(value)).toString('base64url')
    for (const value of [[], [1], ["' or 1=1"], ['\0'], [null], [{ a: 1 }], {}, ['x', 'y'], 'x', 7])
      await refused(`/api/teams?cursor=${made(value)}`)
    for (const text of ['', digest, `${digest}!!`, 'x'.repeat(900)]) await refused(`/api/teams?cursor=${text}`)
    await refused('/api/teams?cursor=%00', 'contains a character that cannot be stored')
  })
})
