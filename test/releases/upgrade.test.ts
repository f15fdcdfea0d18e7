import { cpSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pino } from 'pino'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { forgetWeeks } from '#engine/weeks'
import { migrate } from '#platform/db/migrate'
import { type Answer, type Service, startService } from '#test/harness/service'
import { makeTemporaryDirectory } from '#test/harness/temporary'
import { until } from '#test/harness/until'
import { readPins } from '../../scripts/migrations.ts'
import { restoreRows } from '../../scripts/release/rows.ts'
import type { Names } from '../../scripts/release/world.ts'
import { fromWebhook } from '../fakes/channels/receiver.ts'
import { makeEmptyDatabase, makeTestDatabase, type TestDatabase } from '../harness/postgres.ts'
import { readSchema } from './schema.ts'

// Restores the data of each release as that release left it, upgrades it with the current program, and uses it.

const here = import.meta.dirname
const root = join(here, '..', '..')
const releases = readdirSync(here, { withFileTypes: true }).filter((entry) => entry.isDirectory())
const log = pino({ level: 'silent' })

/** Copies the migrations that the release had. */
function migrationsOf(release: string, directory: string): void {
  const known = new Set<string>()
  const order = releases.map(({ name }) => name).sort((a, b) => a.localeCompare(b, 'en', { numeric: true }))
  for (const name of order.slice(0, order.indexOf(release) + 1)) known.add(name)
  for (const pin of readPins(root))
    if (known.has(pin.release)) cpSync(join(root, 'migrations', pin.name), join(directory, pin.name))
}

describe.each(releases.map(({ name }) => name))('release %s', (release) => {
  const dump = join(here, release)
  const names = JSON.parse(readFileSync(join(dump, 'names.json'), 'utf8')) as Names
  let database: TestDatabase
  let service: Service

  beforeAll(async () => {
    database = await makeEmptyDatabase()
    const old = await makeTemporaryDirectory()
    migrationsOf(release, old.path)
    await migrate({ ownerUrl: database.urls.owner, directory: old.path, log })
    await old.remove()
    await restoreRows(await database.superuser(), join(dump, 'rows'))

    await migrate({ ownerUrl: database.urls.owner, directory: join(root, 'migrations'), log })
    service = await startService({
      database,
      dataFrom: dump,
      env: { HEDDLE_SECRET_KEY: names.secret_key, HEDDLE_RETENTION_DAYS: '36500' },
    })
  })
  afterAll(async () => {
    await service?.stop()
    await database?.drop()
  })

  const as = (person: { key: string }, method: string, path: string, body?: unknown): Promise<Answer> =>
    service.call(method, path, { token: person.key, ...(body !== undefined && { body }) })
  const execution = async (id: string, person = names.owner) =>
    (await as(person, 'GET', `/api/workflows/executions/${id}`)).body
  const ended = (id: string, person = names.owner) =>
    until(async () => {
      const body = await execution(id, person)
      return body.finished_at === null ? undefined : body
    }, `the end of ${id}`)

  test('has the schema of a new installation afterwards', async () => {
    const fresh = await makeTestDatabase()
    try {
      expect(await readSchema(await database.superuser())).toEqual(await readSchema(await fresh.superuser()))
    } finally {
      await fresh.drop()
    }
  })

  test('shows ended executions unchanged, and only to their own tenant', async () => {
    expect(await execution(names.ended.succeeded)).toMatchObject({
      status: 'succeeded',
      results: { greeting: 'hello', done: true },
    })
    expect(await execution(names.ended.failed)).toMatchObject({
      status: 'failed',
      error: { message: 'broken on purpose' },
    })
    expect(await execution(names.ended.cancelled)).toMatchObject({ status: 'cancelled' })
    expect((await execution(names.ended.large)).results.text).toHaveLength(33_000)
    const journal = await as(names.owner, 'GET', `/api/workflows/executions/${names.ended.succeeded}/events`)
    expect(journal.body.items.map(({ type }: { type: string }) => type)).toEqual([
      'execution.started',
      'node.succeeded',
      'execution.succeeded',
    ])
    expect(await as(names.stranger, 'GET', `/api/workflows/executions/${names.ended.succeeded}`)).toMatchObject({
      status: 404,
    })
    expect(await execution(names.ended.elsewhere, names.stranger)).toMatchObject({ status: 'succeeded' })
  })

  test('continues executions that waited for a person, a timer, a child or items of a map', async () => {
    const { waiting } = names
    const vote = async (person: { key: string }): Promise<void> => {
      const [gate] = (await as(person, 'GET', '/api/approvals/inbox')).body.items
      const cast = await as(person, 'POST', `/api/approvals/${gate.request_id}/votes`, {
        decision: 'approve',
        payload_sha256: gate.payload_sha256,
      })
      expect(cast.status, cast.text).toBeLessThan(300)
    }
    const answer = async (id: string, body: unknown): Promise<void> => {
      const answered = await as(names.owner, 'POST', `/api/workflows/executions/${id}/respond`, body)
      expect(answered.status, answered.text).toBeLessThan(300)
    }
    expect(await ended(waiting.timer)).toMatchObject({ status: 'succeeded', results: { done: true } })
    await vote(names.member)
    expect(await ended(waiting.gate)).toMatchObject({ status: 'succeeded', results: { done: true } })
    await vote(names.stranger)
    expect(await ended(waiting.elsewhere, names.stranger)).toMatchObject({ status: 'succeeded' })

    const inbox = (await as(names.owner, 'GET', '/api/clarifications/inbox?limit=100')).body.items as {
      execution_id: string
      clarification_id: string
      node_path: string
    }[]
    for (const { execution_id, clarification_id } of inbox)
      await answer(execution_id, { clarification_id, response: 'green' })
    expect(await ended(waiting.question)).toMatchObject({ status: 'succeeded', results: 'green' })
    expect(await ended(waiting.parent)).toMatchObject({ status: 'succeeded', results: 'green' })
    expect(await ended(waiting.map)).toMatchObject({ status: 'succeeded', results: ['green', 'green', 'green'] })
    for (const id of waiting.job) expect(await ended(id)).toMatchObject({ status: 'succeeded' })
    await until(async () => {
      const { body } = await as(names.owner, 'GET', `/api/enrichment-jobs/${names.job}`)
      return body.status === 'succeeded' || body.last_run?.status === 'succeeded'
    }, 'the end of the job')
    expect(await service.sql('select * from engine.unaccounted()')).toEqual([])
  })

  test('keeps everything else working: tokens, versions, schedules, data, sealed secrets, threads', async () => {
    const { workflow } = names
    const versions = await as(names.owner, 'GET', `/api/workflows/${workflow.id}/versions`)
    expect(versions.body.items).toHaveLength(workflow.versions)
    expect((await as(names.owner, 'GET', `/api/workflows/${workflow.id}/schedule`)).body).toMatchObject({
      timezone: 'Europe/Berlin',
    })
    const triggered = await service.call('POST', `/api/webhooks/workflow/${workflow.id}/trigger`, {
      token: workflow.webhook_token,
      body: { greeting: 'again' },
    })
    expect(triggered.status, triggered.text).toBe(202)
    expect(await ended(triggered.body.execution_id)).toMatchObject({ status: 'succeeded' })
    const records = await as(names.owner, 'GET', `/api/datasets/${names.dataset}/records`)
    expect(records.body.items).toHaveLength(2)
    expect((await as(names.owner, 'GET', `/api/connections/${names.connection}`)).status).toBe(200)
    const received = await service.call('POST', `/gateway/webhook/${names.channel}`, {
      ...fromWebhook({ sender_id: 'somebody', text: 'Hello' }),
    })
    expect(received.status, received.text).toBeLessThan(300)
    const messages = await as(names.owner, 'GET', `/api/chat-thread/${names.thread}/messages`)
    expect(JSON.stringify(messages.body.items)).toContain('Good morning')
    expect((await as(names.owner, 'GET', `/api/subscriptions/${names.subscription}`)).body).toMatchObject({
      name: 'Updates',
    })
    const told = await as(names.owner, 'GET', '/api/notifications?limit=100')
    expect(told.body.items.map(({ title }: { title: string }) => title)).toContain('Welcome')
  })

  test.runIf(release === '0.1.0')(
    'deletes old data after its retention, and its partition once it is empty',
    async () => {
      const held = async () =>
        (await service.sql<{ n: number }>('select count(*)::integer as n from executions_before'))[0]!.n
      expect(await held()).toBeGreaterThan(10)
      await service.sql(
        `update executions_before set finished_at = now() - interval '8 days' where finished_at is not null`,
      )
      const blobs = {
        put: async () => {},
        putStream: async () => {},
        get: async () => undefined,
        stream: async () => undefined,
        remove: async () => {},
        removeUnder: async () => {},
      }
      const forget = () => forgetWeeks({ db: service.db, blobs, retentionDays: 7 })
      expect((await forget()).executions).toBeGreaterThan(10)
      expect(await held()).toBe(0)
      // The partition still accepts executions that start this week, so it stays. These statements make it a week
      // older.
      await service.sql('alter table executions detach partition executions_before')
      await service.sql(`do $$ begin execute format('alter table executions attach partition executions_before for values from (minvalue) to (%L)',
      engine.first_id(now() - interval '1 day')); end $$`)
      await forget()
      expect(await service.sql(`select from pg_class where relname = 'executions_before'`)).toEqual([])
    },
  )
})
