import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { JsonObject } from '#model/definition'
import { type Target, WarehouseFailure, type Warehouses } from './index.ts'
import { type Silence, startSilentPostgres } from './testing/silent-postgres.ts'
import { makeWarehouses } from './warehouses.ts'

// Tests a server that stops responding: every query ends at its timeout, and a probe names the step that stopped.

const silences: Silence[] = ['at once', 'before tls', 'after sign-in']
const servers = new Map<Silence, Awaited<ReturnType<typeof startSilentPostgres>>>()
let close: () => Promise<void>
let warehouses: Warehouses

beforeAll(async () => {
  for (const silence of silences) servers.set(silence, await startSilentPostgres(silence))
  ;({ warehouses, close } = makeWarehouses({
    allowTargets: [...servers.values()].map(({ port }) => `127.0.0.1:${port}`),
    dataDir: '/nowhere',
  }))
})
afterAll(async () => {
  await close()
  for (const server of servers.values()) await server.stop()
})

const target = (silence: Silence, more: JsonObject = {}): Target => ({
  workspaceId: 'w1',
  config: { host: '127.0.0.1', port: servers.get(silence)!.port, database: 'd', user: 'u', ...more },
  secrets: { password: 'p' },
})
const failureOf = async (work: Promise<unknown>): Promise<WarehouseFailure> => {
  const error = await work.then(
    () => undefined,
    (failure: unknown) => failure,
  )
  expect(error).toBeInstanceOf(WarehouseFailure)
  return error as WarehouseFailure
}
const { signal } = new AbortController()

describe('with a server that stops responding', () => {
  test('a query ends at its timeout and closes the connection', async () => {
    const query = { text: 'select n from t', limit: 10, timeoutMs: 300, signal }
    const failure = await failureOf(warehouses.postgres.query(target('after sign-in'), query))
    expect([failure.step, failure.message]).toEqual(['read', 'no answer within 0 s'])
    await expect.poll(() => servers.get('after sign-in')!.open()).toBe(0)
  })

  test('a query ends when its caller aborts', async () => {
    const caller = new AbortController()
    const query = { text: 'select n from t', limit: 10, timeoutMs: 60_000, signal: caller.signal }
    const failing = failureOf(warehouses.postgres.query(target('after sign-in'), query))
    await expect.poll(() => servers.get('after sign-in')!.open()).toBe(1)
    caller.abort()
    expect((await failing).message).toBe('it was cancelled')
    await expect.poll(() => servers.get('after sign-in')!.open()).toBe(0)
  })

  test.each([
    ['before tls', {}, 'tls'],
    ['at once', { ssl: 'off' }, 'sign_in'],
  ] as const)('a probe names the step that stopped: %s, %o', async (silence, more, step) => {
    const probe = warehouses.postgres.probe(target(silence, more), { timeoutMs: 20_000, signal })
    expect((await failureOf(probe)).step).toBe(step)
  })
})
