import { type ChildProcess, spawn } from 'node:child_process'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterAll, expect, test } from 'vitest'
import { startBilling } from '#test/fakes/stripe/bench'
import { call } from '#test/harness/service'
import { makeTemporaryDirectory } from '#test/harness/temporary'
import { makePerson, makeWorkspace } from '#test/harness/world'

const children: ChildProcess[] = []
afterAll(() => {
  for (const child of children) child.kill('SIGKILL')
})

/** Starts a separate server process on the test database, and returns its address when the server listens. */
async function startServer(env: Record<string, string>): Promise<{ base: string; child: ChildProcess }> {
  const child = spawn(process.execPath, [join(import.meta.dirname, '../../main.mjs')], {
    env: { PATH: process.env.PATH, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  children.push(child)
  for await (const line of createInterface({ input: child.stdout! })) {
    const ready = /^heddle ready on (\S+)$/.exec(line)
    if (ready) return { base: ready[1]!, child }
  }
  throw new Error('the server ended before it was ready')
}

test('when a server is killed after Stripe acted and before our commit, a retry with the same key ends in one subscription', async () => {
  const billing = await startBilling('stripe')
  const { service, fake } = billing
  const plan = await billing.addPlan({ name: 'Team', amount: 3000 })
  const owner = await makePerson(service)
  await makeWorkspace(service, owner)
  await billing.addCard(owner)
  const directory = await makeTemporaryDirectory()
  const { base, child } = await startServer({
    PORT: '0',
    DATABASE_URL: service.database.superuserUrl,
    HEDDLE_DATA_DIR: directory.path,
    HEDDLE_SECRET_KEY: Buffer.alloc(32, 7).toString('base64'),
    HEDDLE_LOG_LEVEL: 'silent',
    HEDDLE_DEMO: 'off',
    ...fake.env,
  })

  const request = {
    token: owner.key,
    body: { plan_id: plan.plan_id },
    headers: { 'idempotency-key': 'survives', 'x-request-id': 'same' },
  }
  fake.fail({ match: /POST \/v1\/subscriptions/, when: 'after', what: 'hang' })
  const acted = fake.nextRequest(/POST \/v1\/subscriptions/)
  const lost = call(base, 'POST', '/api/payments/subscriptions', request).catch(() => 'lost')
  await acted
  child.kill('SIGKILL')
  expect(await lost).toBe('lost')
  expect(fake.state.subscriptions.size).toBe(1)
  expect(await service.sql('select from billing_subscriptions')).toEqual([])

  // Simulates the minute after which an attempt counts as abandoned.
  await service.sql(
    `update idempotency_keys set created_at = created_at - interval '2 minutes' where state = 'in_progress'`,
  )
  const again = await service.call('POST', '/api/payments/subscriptions', request)
  expect(again.status).toBe(201)
  expect((await service.call('POST', '/api/payments/subscriptions', request)).text).toBe(again.text)
  expect(fake.state.subscriptions.size).toBe(1)
  expect(fake.state.invoices.size).toBe(1)
  expect((await owner.call('GET', '/api/payments/subscriptions/me')).body.plan_id).toBe(plan.plan_id)
  await billing.stop()
  await directory.remove()
})
