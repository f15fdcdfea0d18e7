import { beforeAll, describe, expect, test } from 'vitest'
import { fromWire, newId, type Prefix } from '#platform/ids'
import type { CallOptions } from '#test/harness/call'
import { inOtherTransaction, waitsForLock } from '#test/harness/other-transaction'
import { type Answer, useSharedService } from '#test/harness/service'
import { until } from '#test/harness/until'
import { addMember, makePerson, makeWorld, type World } from '#test/harness/world'

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

  test('is not found, if its workspace is deleted', async () => {
    for (const [path, waiting, body] of [
      ['/api/teams', 'insert into teams%', { name: 'Late' }],
      ['/api/datasets', 'insert into dataset_versions%', { name: 'Late', records: [{ a: 1 }] }],
    ] as const) {
      const { workspace_id: id } = await make('/api/workspaces', { name: 'Short' })
      const headers = { 'x-workspace-id': id }
      const answer = await deletedDuring({ table: 'workspaces', column: 'workspace_id', prefix: 'ws', id }, waiting, [
        'POST',
        path,
        { body, headers },
      ])
      expect([path, answer.status, answer.body.code]).toEqual([path, 404, 'not_found'])
    }
  })

  test('is not found, if the caller is removed from the workspace', async () => {
    const leaving = await makePerson(service())
    await addMember(service(), world.workspace, leaving, 'member')
    const headers = { 'x-workspace-id': world.workspace.id }
    let answer: Promise<Answer> | undefined
    await inOtherTransaction(service(), async (other) => {
      // The request waits for the same slug, and then tries another one.
      await other.sql(
        `insert into teams (workspace_id, team_id, owner_id, name, slug) values ($1, $2, $3, 'x', 'held')`,
        [world.workspace.uuid, newId(), world.owner.uuid],
      )
      await other.sql('delete from memberships where user_id = $1', [leaving.uuid])
      answer = leaving.call('POST', '/api/teams', { body: { name: 'Held' }, headers })
      await until(() => waitsForLock(service(), 'insert into teams%'), 'the request to wait')
      await other.commit()
    })
    expect([(await answer!).status, (await answer!).body.code]).toEqual([404, 'not_found'])
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
