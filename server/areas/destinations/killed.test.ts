import { Webhook } from 'standardwebhooks'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startVendor, type Vendor } from '#test/fakes/vendor'
import { allowServiceConnections, type Program, startProgram } from '#test/harness/program'
import { call, type Service, startService } from '#test/harness/service'
import { isSlowRun } from '#test/harness/slow'
import { makeTemporaryDirectory } from '#test/harness/temporary'
import { until } from '#test/harness/until'
import { makeWorld, type World } from '#test/harness/world'

// Programs are killed while events are being sent, and the receiver is unavailable for a time. Nothing is lost, a
// repeated event has the same id, and the events of an execution arrive in order.

const KILLS = isSlowRun ? 2 : 1
const PER_ROUND = 15
/** A program takes seconds to start, and much longer on a busy machine. */
const PATIENCE = 180_000

let service: Service
let directory: Awaited<ReturnType<typeof makeTemporaryDirectory>>
let receiver: Vendor
let program: Program
let base = ''
let world: World

const start = async (): Promise<void> => {
  program = startProgram({
    DATABASE_URL: service.database.superuserUrl,
    HEDDLE_DATA_DIR: directory.path,
    HEDDLE_SECRET_KEY: Buffer.alloc(32, 7).toString('base64'),
    HEDDLE_LOG_LEVEL: 'silent',
    HEDDLE_RATE_LIMITS: 'off',
    HEDDLE_DEMO: 'off',
    HEDDLE_ALLOW_TARGETS: receiver.host,
  })
  base = await program.ready
  await allowServiceConnections(service)
}

beforeAll(async () => {
  receiver = await startVendor()
  // Provides only the database and the people. This process sends no events.
  service = await startService({ role: 'api', env: { HEDDLE_ALLOW_TARGETS: receiver.host } })
  directory = await makeTemporaryDirectory()
  world = await makeWorld(service)
  await start()
}, PATIENCE)
afterAll(async () => {
  await program?.stop('SIGKILL')
  await service?.stop()
  await directory?.remove()
  await receiver?.stop()
})

/**
 * Ends the leases of killed programs and all pauses. The test checks that everything is sent, not how long it takes.
 */
const hurry = async (): Promise<void> => {
  await service.sql(`update event_deliveries set next_at = now() where status = 'pending' and next_at > now()`)
  await service.sql('update event_destinations set blocked_until = null where blocked_until is not null')
}

test(
  'no event is lost or out of order, and a repeated event has the same id',
  async () => {
    const { owner } = world
    const made = await owner.call('POST', '/api/event-destinations', {
      body: { url: `${receiver.url}/events`, event_types: ['execution.*'] },
    })
    expect(made.status, made.text).toBe(201)
    const definition = { nodes: [{ id: 'n', type: 'set', args: { values: { done: true } } }], edges: [] }
    const workflow = await owner.call('POST', '/api/workflows', { body: { name: 'W', definition } })
    const path = `/api/workflows/${workflow.body.workflow_id}/run`

    const started: string[] = []
    let away = false
    let sinceKill = 0
    let killed: Promise<unknown> | undefined
    receiver.answer = (_request, response) => {
      sinceKill += 1
      // The program is killed after the receiver got the event and before it answers.
      if (sinceKill === 10 && killed === undefined) killed = program.stop('SIGKILL')
      if (away) response.destroy()
      else response.writeHead(204).end()
    }
    for (let round = 0; round < KILLS; round += 1) {
      sinceKill = 0
      killed = undefined
      await Promise.all(
        Array.from({ length: PER_ROUND }, async (_, n) => {
          const headers = { 'idempotency-key': `run-${round}-${n}` }
          const ran = await until(
            async () => {
              const answer = await call(base, 'POST', path, { token: owner.key, body: { input: {} }, headers }).catch(
                () => undefined,
              )
              return answer?.status === 202 || answer?.status === 200
                ? answer
                : program.child.signalCode !== null
                  ? 'dead'
                  : undefined
            },
            'the start to be acknowledged',
            PATIENCE,
          )
          if (ran !== 'dead') started.push(ran.body.execution_id)
        }),
      )
      await until(
        async () => {
          await hurry()
          return killed
        },
        'the program to be killed',
        PATIENCE,
      )
      away = round === 0
      await start()
      // The receiver is unavailable for the first events of the new program.
      if (away)
        await until(
          async () => {
            await hurry()
            return sinceKill > 15
          },
          'refused events',
          PATIENCE,
        )
      away = false
    }
    await until(
      async () => {
        await hurry()
        const [row] = await service.sql<{ left: number }>(
          `select (select count(*) from event_deliveries where status = 'pending')::int + (select count(*) from event_outbox)::int
             + (select count(*) from executions where status in ('queued', 'running'))::int as left`,
        )
        return row!.left === 0
      },
      'everything to be delivered',
      PATIENCE,
    )

    const journal = await service.sql<{ execution: string; types: string[] }>(
      `select execution_id::text as execution, array_agg(type order by seq) as types from journal
       where type like 'execution.%' group by execution_id`,
    )
    expect(journal.length).toBeGreaterThanOrEqual(new Set(started).size)
    const ids = new Map<string, string>()
    const firsts = new Map<string, number[]>()
    for (const { body, headers } of receiver.seen) {
      const { data } = new Webhook(made.body.secret).verify(body, headers as Record<string, string>) as {
        data: { execution_id: string; seq: number }
      }
      const event = `${data.execution_id} ${data.seq}`
      const id = String(headers['webhook-id'])
      if (!ids.has(event)) firsts.set(data.execution_id, [...(firsts.get(data.execution_id) ?? []), data.seq])
      expect(ids.get(event) ?? id).toBe(id)
      ids.set(event, id)
    }
    for (const execution of started) expect(firsts.has(execution)).toBe(true)
    expect(firsts.size).toBe(journal.length)
    expect(ids.size).toBe(journal.reduce((sum, { types }) => sum + types.length, 0))
    for (const seqs of firsts.values()) expect(seqs).toEqual(seqs.toSorted((a, b) => a - b))
    // The programs were killed while they were sending, so some events arrived twice.
    expect(receiver.seen.length).toBeGreaterThan(ids.size)
  },
  2 * PATIENCE,
)
