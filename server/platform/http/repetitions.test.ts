import { randomBytes } from 'node:crypto'
import { beforeAll, describe, expect, test } from 'vitest'
import { newId } from '#platform/ids'
import { startService, useSharedService } from '#test/harness/service'
import { until } from '#test/harness/until'
import { makePerson, makeWorkspace, makeWorld, type World } from '#test/harness/world'
import { makeIdempotency } from './idempotency.ts'

// Tests the promises of Idempotency-Key for all operations.

const service = useSharedService()
let world: World
beforeAll(async () => {
  world = await makeWorld(service())
})

describe('repetitions', () => {
  test('the same key returns the same bytes after a restart; another person may use the same key', async () => {
    const body = { name: 'Durable' }
    const headers = { 'idempotency-key': 'over-a-restart', 'x-request-id': 'same' }
    const first = await world.owner.call('POST', '/api/companies', { body, headers })
    const again = await startService({ database: service().database })
    try {
      const repeated = await again.call('POST', '/api/companies', { token: world.owner.key, body, headers })
      expect([repeated.status, repeated.text, repeated.headers.get('location')]).toEqual([
        201,
        first.text,
        first.headers.get('location'),
      ])
    } finally {
      await again.stop()
    }
    const other = await world.member.call('POST', '/api/companies', { body, headers })
    expect(other.body.company_id).not.toBe(first.body.company_id)
  })

  test('responses that contain a secret are repeated too', async () => {
    const run = await world.owner.call('POST', '/api/workflows/system/echo/run', { body: {} })
    const url = 'https://example.com/heddle'
    const made = await world.owner.call('POST', '/api/event-destinations', { body: { url, event_types: ['job.*'] } })
    const cases: [path: string, body: unknown][] = [
      [`/auth/workflow-ticket/${run.body.execution_id}`, {}],
      ['/auth/notification-ticket', {}],
      ['/api/event-destinations', { url, event_types: ['execution.failed'] }],
      [`/api/event-destinations/${made.body.destination_id}/rotate-secret`, {}],
    ]
    for (const [path, body] of cases) {
      const send = () => world.owner.call('POST', path, { body, headers: { 'idempotency-key': `secret of ${path}` } })
      const [first, again] = [await send(), await send()]
      expect(first.status, first.text).toBeLessThan(300)
      expect([again.status, again.text], path).toEqual([first.status, first.text])
    }
    expect((await world.owner.call('GET', '/api/event-destinations')).body.items).toHaveLength(2)
  })

  test('a refusal is not stored', async () => {
    const headers = { 'idempotency-key': 'refused-first' }
    expect((await world.owner.call('POST', '/api/companies', { body: { name: '' }, headers })).status).toBe(422)
    expect((await world.owner.call('POST', '/api/companies', { body: { name: 'Now' }, headers })).status).toBe(201)
  })

  test('a key that is too long or empty is refused', async () => {
    for (const key of ['k'.repeat(256), '']) {
      expect(
        (await world.owner.call('POST', '/api/companies', { body: { name: 'x' }, headers: { 'idempotency-key': key } }))
          .status,
      ).toBe(400)
    }
  })

  test('a key applies only in its workspace, so that the same request is performed in another workspace', async () => {
    const person = await makePerson(service())
    const [a, b] = [await makeWorkspace(service(), person), await makeWorkspace(service(), person)]
    const cases: [path: string, body: unknown][] = [
      ['/api/teams', { name: 'Finance' }],
      ['/api/datasets', { name: 'Leads', records: [] }],
      ['/api/workflows/system/echo/run', { input: {} }],
    ]
    for (const [path, body] of cases) {
      const headers = { 'idempotency-key': newId() }
      const make = (workspace: { id: string }) => person.call('POST', path, { body, headers, workspace: workspace.id })
      const [inA, inB, again] = [await make(a), await make(b), await make(a)]
      expect(inB.status, path).toBe(inA.status)
      expect(inB.text, path).not.toBe(inA.text)
      expect(again.text, path).toBe(inA.text)
      const replayed = [inA, inB, again].map((answer) => answer.headers.get('idempotent-replayed'))
      expect(replayed, path).toEqual([null, null, 'true'])
    }
    const teams = (await person.call('GET', '/api/teams')).body.items as { workspace_id: string }[]
    expect(teams.map(({ workspace_id }) => workspace_id).sort()).toEqual([a.id, b.id].sort())
  })

  test('a resource of a person outside of any workspace is created once, regardless of the selected workspace', async () => {
    const person = await makePerson(service())
    const options = { body: { name: 'First' }, headers: { 'idempotency-key': newId() } }
    const first = await person.call('POST', '/api/workspaces', options)
    // The new workspace is now the selected one.
    expect((await person.call('POST', '/api/workspaces', options)).text).toBe(first.text)
  })
})

describe('a request that calls an outside service', () => {
  const answer = (text: string) => ({ status: 200, headers: {}, body: Buffer.from(text) })
  const once = () => ({ keyHash: randomBytes(32), requestSha256: randomBytes(32) })

  test('is not repeated while it takes long: its record is renewed during the call', async () => {
    const { onceOutside } = makeIdempotency(service().vault, { renewedEvery: 5 })
    const replay = once()
    let calls = 0
    let finish = (): void => {}
    const first = onceOutside(service().db, replay, async () => {
      calls += 1
      await new Promise<void>((resolve) => {
        finish = resolve
      })
      return answer('done')
    })
    const age = async (): Promise<boolean> =>
      (
        await service().sql<{ old: boolean }>(
          `select created_at < now() - interval '60 seconds' as old from idempotency_keys where key_hash = $1`,
          [replay.keyHash],
        )
      )[0]?.old ?? true
    await until(async () => !(await age()), 'the idempotency record')
    // Makes the record look as if the call had been running for long.
    await service().sql(`update idempotency_keys set created_at = now() - interval '61 seconds' where key_hash = $1`, [
      replay.keyHash,
    ])
    await until(async () => !(await age()), 'the renewal of the idempotency record')
    const second = onceOutside(service().db, replay, async () => {
      calls += 1
      return answer('again')
    })
    finish()
    expect([(await first).body?.toString(), (await second).body?.toString(), calls]).toEqual(['done', 'done', 1])
  })

  test('makes a repetition wait only for a limited time, and refuses it then', async () => {
    const { onceOutside } = makeIdempotency(service().vault, { waits: 0 })
    const replay = once()
    let finish = (): void => {}
    let begun = false
    const first = onceOutside(service().db, replay, async () => {
      begun = true
      await new Promise<void>((resolve) => {
        finish = resolve
      })
      return answer('done')
    })
    await until(async () => begun, 'the start of the first call')
    await expect(onceOutside(service().db, replay, async () => answer('again'))).rejects.toMatchObject({
      code: 'unavailable',
    })
    finish()
    await first
  })
})
