import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { actionOf, auditedReads, isAudited, notAudited } from '#platform/http/auditing'
import type { AnyRoute } from '#platform/http/route'
import { newId, toWire } from '#platform/ids'
import { cases } from '#test/access/cases'
import { type Case, type Cast, type Kind, kinds, makeCast } from '#test/access/matrix'
import { type Service, startService } from '#test/harness/service'
import { hasWords } from '#web/features/audit/actions.ts'

// Every operation of the route table that changes something, called once by somebody who may: it leaves an entry, or stands in
// the list of those that deliberately do not.

const OPERATOR = 'auditor@example.com'
let service: Service
let cast: Cast
let routes: AnyRoute[]

beforeAll(async () => {
  service = await startService({ env: { HEDDLE_OPERATORS: OPERATOR } })
  cast = await makeCast(service, OPERATOR)
  routes = service.app.routes
})
afterAll(() => service?.stop())

/** Tested with what they need: a mail, a passkey, a provider, a real card, a channel. */
const elsewhere = new Set([
  'acceptInvitation',
  'addPasskey',
  'authorizeCredential',
  'changePassword',
  'confirmEmail',
  'confirmSignUp',
  'confirmTotp',
  'decideAuthorization',
  'finishPasskeySignIn',
  'finishSignIn',
  'removePasskey',
  'removeTotp',
  'renewRecoveryCodes',
  'resetPassword',
  'rotateKey',
  'sendVerification',
  'signIn',
  'unlinkOidc',
])

const able = (one: Case): Kind | undefined =>
  (['author', 'workspaceOwner', 'operator', 'nobody', ...kinds] as Kind[]).find((kind) => one.expect[kind] === 'ok')

type Entry = { entry_id: string; action: string; text: string }
/** Ids of this process increase. */
const entriesSince = (entryId: string): Promise<Entry[]> =>
  service.sql<Entry>(`select entry_id, action, row_to_json(a)::text as text from audit_log a where entry_id > $1`, [
    entryId,
  ])

async function callOnce(route: AnyRoute): Promise<{ status: number; added: Entry[] }> {
  const one = cases[route.operation]!
  const kind = able(one)!
  const prepared = (await one.prepare?.(cast)) ?? {}
  const path = route.path.replaceAll(/:(\w+)/g, (_, name: string) => prepared.params?.[name] ?? name)
  const before = newId()
  const { status } = await service.call(route.method, path + (prepared.query ?? ''), {
    ...(prepared.body !== undefined && { body: prepared.body }),
    ...(prepared.raw !== undefined && { raw: prepared.raw }),
    headers: prepared.headers ?? {},
    ...(kind !== 'nobody' && { token: cast[kind as keyof Cast & Exclude<Kind, 'nobody' | 'wrongToken'>].key }),
  })
  return { status, added: await entriesSince(before) }
}

describe('the audit log', () => {
  test('has an entry for every operation that is not left out on purpose', async () => {
    const silent: unknown[] = []
    const audited = routes.filter((route) => isAudited(route) && !elsewhere.has(route.operation))
    expect(audited.length).toBeGreaterThan(70)
    for (const route of audited) {
      const one = cases[route.operation]
      if (!one || able(one) === undefined) {
        silent.push([route.operation, 'nobody may call it in the matrix'])
        continue
      }
      const { status, added } = await callOnce(route)
      if (status >= 300 || added.length === 0) silent.push([route.operation, status])
    }
    expect(silent).toEqual([])
    const kept = await service.sql<{ action: string }>('select distinct action from audit_log')
    expect(kept.map(({ action }) => action).filter((action) => !hasWords(action))).toEqual([])
  })

  test('leaves out only operations that exist, each with a reason', () => {
    const known = new Set(routes.map(({ operation }) => operation))
    expect([...notAudited.keys()].filter((operation) => !known.has(operation))).toEqual([])
    for (const reason of notAudited.values()) expect(reason.length).toBeGreaterThan(20)
    expect(auditedReads).toContain('exportDataset')
  })

  test('says who, what and which fields, and never what stood in them', async () => {
    const { author, workspaceOwner, workspace } = cast
    const secret = 'a value that nobody may read here'
    const before = newId()
    const { body } = await author.call('POST', '/api/teams', { body: { name: secret } })
    await author.call('PATCH', `/api/teams/${body.team_id}`, { body: { name: `${secret} 2`, description: secret } })
    const list = async (query: string) =>
      (await workspaceOwner.call('GET', `/api/audit-log?${query}`, { workspace: workspace.id })).body.items
    const [updated, created] = await list(`subject=${body.team_id}`)
    expect(created).toMatchObject({ action: 'team.created', actor_id: author.id, workspace_id: workspace.id })
    expect(updated).toMatchObject({ action: 'team.updated', data: { fields: ['name', 'description'] } })
    expect(JSON.stringify(await entriesSince(before))).not.toContain(secret)
  })

  test('is filtered by person, action and time, and exported with the same filters', async () => {
    const { author, workspaceOwner, workspace, member } = cast
    await author.call('POST', '/api/teams', { body: { name: 'One' } })
    const ask = (query: string, person = workspaceOwner) =>
      person.call('GET', `/api/audit-log${query}`, { workspace: workspace.id })
    const mine = (await ask(`?actor_id=${author.id}&action=team.*`)).body.items
    expect(mine.length).toBeGreaterThan(0)
    expect(mine.every((entry: { actor_id: string }) => entry.actor_id === author.id)).toBe(true)
    expect(mine.every(({ action }: { action: string }) => action.startsWith('team.'))).toBe(true)
    expect((await ask(`?actor_id=${toWire('usr', cast.member.uuid)}&action=team.created`)).body.items).toEqual([])
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
    expect((await ask('/export', member)).status).toBe(403)
  })
})

test.each([
  ['createWebhookToken', 'webhook_token.created'],
  ['deleteDataset', 'dataset.deleted'],
  ['putSchedule', 'schedule.set'],
  ['cancelExecution', 'execution.cancelled'],
  ['retryExecution', 'execution.retried'],
])('%s is called %s', (operation, action) => {
  expect(actionOf(operation)).toBe(action)
})
