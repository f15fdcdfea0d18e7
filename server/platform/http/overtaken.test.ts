import { beforeAll, describe, expect, test } from 'vitest'
import { fromWire, type Prefix } from '#platform/ids'
import type { CallOptions } from '#test/harness/call'
import { inOtherTransaction, waitsForLock } from '#test/harness/other-transaction'
import { type Answer, useSharedService } from '#test/harness/service'
import { until } from '#test/harness/until'
import { makeWorld, type World } from '#test/harness/world'

const service = useSharedService()
let world: World
beforeAll(async () => {
  world = await makeWorld(service())
})

type Deleted = { table: string; column: string; prefix: Prefix; id: string }

/** Deletes the row while the request waits for it, after the request has seen it. */
async function deletedDuring(
  { table, column, prefix, id }: Deleted,
  waiting: string,
  [method, path, options]: [string, string, Omit<CallOptions, 'token'>],
): Promise<Answer> {
  let answer: Promise<Answer> | undefined
  await inOtherTransaction(service(), async (other) => {
    await other.sql(`delete from ${table} where ${column} = $1`, [fromWire(prefix, id)])
    answer = world.owner.call(method, path, options)
    await until(() => waitsForLock(service(), waiting), 'the request to wait')
    await other.commit()
  })
  return answer!
}

const make = async (path: string, body: object) => (await world.owner.call('POST', path, { body })).body

describe('a request whose subject is deleted while it runs', () => {
  test('is not found, if it would change the subject', async () => {
    const { subscription_id: id } = await make('/api/subscriptions', { name: 'Short' })
    const answer = await deletedDuring(
      { table: 'subscriptions', column: 'subscription_id', prefix: 'sub', id },
      'update subscriptions%',
      ['PATCH', `/api/subscriptions/${id}`, { body: { name: 'Changed' } }],
    )
    expect([answer.status, answer.body.code]).toEqual([404, 'not_found'])
  })

  test('is not found, if it would add something to the subject', async () => {
    const { team_id: id } = await make('/api/teams', { name: 'Short' })
    const answer = await deletedDuring(
      { table: 'teams', column: 'team_id', prefix: 'team', id },
      'insert into team_members%',
      ['POST', `/api/teams/${id}/add_users`, { body: { user_ids: [world.member.id] } }],
    )
    expect([answer.status, answer.body.code]).toEqual([404, 'not_found'])
  })

  test('names an unknown reference, if its body names the subject', async () => {
    const { template_id: id } = await make('/api/templates', { name: 'Short' })
    const answer = await deletedDuring(
      { table: 'templates', column: 'template_id', prefix: 'tmpl', id },
      'insert into threads%',
      ['POST', '/api/chat-thread', { body: { title: 'Late', template_id: id } }],
    )
    expect([answer.status, answer.body.errors?.[0].path]).toEqual([422, '/template_id'])
  })
})
