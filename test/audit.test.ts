import { beforeAll, describe, expect, test } from 'vitest'
import { actionOf, auditedReads, notAudited } from '#platform/http/auditing'
import type { AnyRoute } from '#platform/http/route'
import { useSharedService } from '#test/harness/service'
import { makeWorld, type World } from '#test/harness/world'

// Checks the content of the audit log. The access matrix checks that every operation that changes something leaves an
// entry.

const service = useSharedService()
let world: World
let routes: AnyRoute[]

beforeAll(async () => {
  world = await makeWorld(service())
  routes = service().app.routes
})

describe('the audit log', () => {
  test('leaves out only operations that exist, each with a reason', () => {
    const known = new Set(routes.map(({ operation }) => operation))
    expect([...notAudited.keys()].filter((operation) => !known.has(operation))).toEqual([])
    for (const reason of notAudited.values()) expect(reason.length).toBeGreaterThan(20)
    expect(auditedReads).toContain('exportDataset')
  })

  test('records the person, the action and the changed fields, but never their values', async () => {
    const { member: author, owner, workspace } = world
    const secret = 'a value that nobody may read here'
    const { body } = await author.call('POST', '/api/teams', { body: { name: secret } })
    await author.call('PATCH', `/api/teams/${body.team_id}`, { body: { name: `${secret} 2`, description: secret } })
    const list = async (query: string) =>
      (await owner.call('GET', `/api/audit-log?${query}`, { workspace: workspace.id })).body.items
    const [updated, created] = await list(`subject=${body.team_id}`)
    expect(created).toMatchObject({ action: 'team.created', actor_id: author.id, workspace_id: workspace.id })
    expect(updated).toMatchObject({ action: 'team.updated', data: { fields: ['name', 'description'] } })
    const kept = await service().sql<{ text: string }>(
      'select row_to_json(a)::text as text from audit_log a where workspace_id = $1',
      [workspace.uuid],
    )
    expect(kept.length).toBeGreaterThan(1)
    expect(JSON.stringify(kept)).not.toContain(secret)
  })

  test('is filtered by person, action and time, and exported with the same filters', async () => {
    const { member: author, owner, workspace, viewer } = world
    await author.call('POST', '/api/teams', { body: { name: 'One' } })
    const ask = (query: string, person = owner) =>
      person.call('GET', `/api/audit-log${query}`, { workspace: workspace.id })
    const mine = (await ask(`?actor_id=${author.id}&action=team.*`)).body.items
    expect(mine.length).toBeGreaterThan(0)
    expect(mine.every((entry: { actor_id: string }) => entry.actor_id === author.id)).toBe(true)
    expect(mine.every(({ action }: { action: string }) => action.startsWith('team.'))).toBe(true)
    expect((await ask(`?actor_id=${viewer.id}&action=team.created`)).body.items).toEqual([])
    expect((await ask('?to=2020-01-01T00:00:00Z')).body.items).toEqual([])
    expect((await ask('?from=2020-01-01T00:00:00Z&limit=1')).body.items).toHaveLength(1)
    expect((await ask('?from=yesterday')).status).toBe(422)
    const exported = await ask(`/export?actor_id=${author.id}&action=team.*`)
    expect(exported.headers.get('content-type')).toMatch(/^application\/x-ndjson/)
    const lines = exported.text
      .trim()
      .split('\n')
      .map((text) => JSON.parse(text))
    expect(lines).toEqual((await ask(`?actor_id=${author.id}&action=team.*&limit=200`)).body.items)
    expect((await ask('/export?format=csv')).status).toBe(422)
    expect((await ask('/export', author)).status).toBe(403)
  })
})

test.each([
  ['createWebhookToken', 'webhook_token.created'],
  ['deleteDataset', 'dataset.deleted'],
  ['putSchedule', 'schedule.set'],
  ['cancelExecution', 'execution.cancelled'],
  ['retryExecution', 'execution.retried'],
])('%s is recorded as %s', (operation, action) => {
  expect(actionOf(operation)).toBe(action)
})
