import { type ChildProcess, fork } from 'node:child_process'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { echoWorkflow, makeDataset, makeJob, numbered, runJob, waitForRun } from '#test/harness/jobs'
import { makeTestDatabase } from '#test/harness/postgres'
import { call, startService } from '#test/harness/service'
import { slow } from '#test/harness/slow'
import { makeTemporaryDirectory } from '#test/harness/temporary'
import { until } from '#test/harness/until'
import { makeWorld } from '#test/harness/world'

type LedgerRow = { position: number; execution_id: string; attempt: number; finished_at: Date }

const ledgerOf = `select position, execution_id, attempt, finished_at from ledger_records where status = 'succeeded' order by position`

type Child = { child: ChildProcess; base: Promise<string> }

/** `base` resolves when the service listens. The process may die before that. */
const startChild = (urls: unknown, directory: string): Child => {
  const program = join(import.meta.dirname, '..', '..', '..', 'test', 'harness', 'service-child.ts')
  const child = fork(program, [JSON.stringify(urls), directory])
  const base = new Promise<string>((resolve, reject) => {
    child.once('message', (address) => resolve(address as string))
    child.once('exit', () => reject(new Error('the service ended before it listened')))
  })
  base.catch(() => {})
  return { child, base }
}

describe('the ledger', () => {
  slow('a service killed during a run loses no record and repeats no finished record', async () => {
    const database = await makeTestDatabase()
    const directory = await makeTemporaryDirectory()
    const before = await startService({ database })
    const { member } = await makeWorld(before)
    await before.stop()

    const records = 1500
    const { child, base: listening } = startChild(database.urls, directory.path)
    const base = await listening
    const there = {
      ...member,
      call: (method: string, path: string, options = {}) => call(base, method, path, { token: member.key, ...options }),
    }
    const job = await makeJob(there, {
      definition: echoWorkflow,
      dataset_id: await makeDataset(there, numbered(records)),
    })
    await there.call('POST', `/api/enrichment-jobs/${job}/run-now`)
    await until(
      async () => {
        const { body } = await there.call('GET', `/api/enrichment-jobs/${job}/records`)
        return body.counts.succeeded >= 100 && body.counts.succeeded < records - 200
      },
      'the middle of the run',
      60_000,
    )
    child.kill('SIGKILL')
    await new Promise((resolve) => child.once('exit', resolve))

    const after = await startService({ database })
    const done = await after.sql<LedgerRow>(ledgerOf)
    expect(done.length).toBeGreaterThanOrEqual(100)
    const here = {
      ...member,
      call: (method: string, path: string, options = {}) => after.call(method, path, { token: member.key, ...options }),
    }
    const ran = await waitForRun(here, job)
    expect(ran.last_run).toMatchObject({
      status: 'succeeded',
      counts: { succeeded: records, failed: 0, pending: 0, running: 0 },
    })
    const rows = await after.sql<LedgerRow>(ledgerOf)
    expect(rows.map(({ position }) => position)).toEqual(numbered(records).map(({ n }) => n))
    expect(rows.filter(({ position }) => done.some((one) => one.position === position))).toEqual(done)
    expect(new Set(rows.map(({ attempt }) => attempt))).toEqual(new Set([1]))
    const [counted] = await after.sql<{ executions: number; results: number }>(
      `select (select count(*)::int from executions) as executions, (select count(*)::int from ledger_results) as results`,
    )
    expect(counted).toEqual({ executions: records, results: records })
    await after.stop()
    await database.drop()
    await directory.remove()
  })

  test('two services on one database start a due job once and start each record once', async () => {
    const first = await startService()
    const second = await startService({ database: first.database })
    const { member } = await makeWorld(first)
    const job = await makeJob(member, {
      definition: echoWorkflow,
      dataset_id: await makeDataset(member, numbered(200)),
    })
    const ran = await runJob(member, job)
    expect(ran.last_run.counts).toMatchObject({ succeeded: 200 })
    const [counted] = await first.sql(
      `select (select count(*)::int from ledger_runs) as runs, (select count(*)::int from executions) as executions,
         (select count(*)::int from ledger_records) as records`,
    )
    expect(counted).toEqual({ runs: 1, executions: 200, records: 200 })
    await second.stop()
    await first.stop()
  })

  slow(
    'a record that kills the process that works on it is parked after five attempts, and the others are completed',
    async () => {
      const database = await makeTestDatabase()
      const directory = await makeTemporaryDirectory()
      const before = await startService({ database })
      const { member } = await makeWorld(before)
      await before.stop()

      const onlooker = await database.superuser()
      /**
       * Does at once what other processes would detect after seconds (the engine's own tests wait for that), and ends
       * the lease.
       */
      const declareDead = async (): Promise<void> => {
        await onlooker.query('select engine.bury(worker_id) from workers where not dead')
        await onlooker.query('update ledger_runs set lease_until = now() where finished_at is null')
      }

      let deaths = 0
      let over = false
      let running: Promise<Child>
      const keepRunning = (): void => {
        running = declareDead().then(() => startChild(database.urls, directory.path))
        void running.then(({ child }) =>
          child.once('exit', () => {
            if (over) return
            deaths += 1
            keepRunning()
          }),
        )
      }
      keepRunning()
      const there = {
        ...member,
        async call(method: string, path: string, options = {}) {
          // The process that answered may be dead by now.
          for (;;) {
            const { base } = await running
            const answer = await base
              .then((address) => call(address, method, path, { token: member.key, ...options }))
              .catch(() => undefined)
            if (answer) return answer
            await new Promise((resolve) => setTimeout(resolve, 100))
          }
        },
      }
      const job = await makeJob(there, {
        definition: {
          nodes: [{ id: 'one', type: 'deadly', args: { now: { $cel: 'input.n == 5' } } }],
          edges: [],
          output: null,
        },
        dataset_id: await makeDataset(there, numbered(40)),
        concurrency: 8,
      })
      await there.call('POST', `/api/enrichment-jobs/${job}/run-now`)
      const ran = await waitForRun(there, job)
      expect(ran.last_run).toMatchObject({ status: 'succeeded', counts: { succeeded: 39, failed: 1 } })
      expect(deaths).toBe(5)
      const { body } = await there.call('GET', `/api/enrichment-jobs/${job}/records?status=failed`)
      expect(body.items).toMatchObject([{ position: 5, error: { code: 'poison' } }])
      over = true
      const { child } = await running!
      child.kill('SIGKILL')
      await new Promise((resolve) => child.once('exit', resolve))
      await database.drop()
      await directory.remove()
    },
  )
})
