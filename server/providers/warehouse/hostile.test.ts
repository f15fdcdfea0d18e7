import { readdirSync, readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { makeTemporaryDirectory } from '#test/harness/temporary'
import { until } from '#test/harness/until'
import type { Query, Target } from './index.ts'
import { type Flood, startHostilePostgres } from './testing/hostile-postgres.ts'
import { makeWarehouses } from './warehouses.ts'

// Servers and statements that use too many resources affect only their own process, and no other tenant.

const floods: Flood[] = ['rows', 'one value', 'notices']
const servers = new Map<Flood, Awaited<ReturnType<typeof startHostilePostgres>>>()
const PASSWORD = 'a-password-that-is-nowhere-else'
let directory: Awaited<ReturnType<typeof makeTemporaryDirectory>>
let all: ReturnType<typeof makeWarehouses>

beforeAll(async () => {
  for (const flood of floods) servers.set(flood, await startHostilePostgres(flood))
  directory = await makeTemporaryDirectory()
  all = makeWarehouses({
    allowTargets: [...servers.values()].map(({ port }) => `127.0.0.1:${port}`),
    dataDir: directory.path,
    processes: 2,
    duckdbProcesses: 2,
  })
})
afterAll(async () => {
  await all.close()
  for (const server of servers.values()) await server.stop()
  await directory.remove()
})

const signal = new AbortController().signal
const query = (more: Partial<Query> = {}): Query => ({
  text: 'select 1',
  limit: 10,
  timeoutMs: 60_000,
  signal,
  ...more,
})
const remote = (flood: Flood): Target => ({
  workspaceId: 'w1',
  config: { host: '127.0.0.1', port: servers.get(flood)!.port, database: 'd', user: 'u' },
  secrets: { password: PASSWORD },
})
const duckdb = (workspaceId: string): Target => ({ workspaceId, config: {}, secrets: {} })

async function drain(kind: 'postgres' | 'duckdb', target: Target, wanted: Query): Promise<number> {
  const { pages } = await all.warehouses[kind].query(target, wanted)
  let rows = 0
  for await (const page of pages) rows += page.length
  return rows
}

describe('a server that sends without end', () => {
  test.each(floods)(
    '%s: fails the query and loses its connection',
    async (flood) => {
      const before = process.memoryUsage().rss
      await expect(drain('postgres', remote(flood), query({ maxBytes: 8 << 20 }))).rejects.toMatchObject({
        step: 'read',
      })
      await expect.poll(() => servers.get(flood)!.open()).toBe(0)
      expect(process.memoryUsage().rss - before).toBeLessThan(200 * 1024 * 1024)
    },
    90_000,
  )

  test('is read by a process that has the secret only in its memory', async () => {
    const running = drain('postgres', remote('notices'), query({ maxBytes: 16 << 20 })).catch(() => 'failed')
    const seen = await until(async () => {
      const children = childrenOf(process.pid)
      return children.length > 0 && servers.get('notices')!.open() > 0 ? children : undefined
    }, 'the process of a query')
    for (const child of seen) {
      expect(child.arguments).not.toContain(PASSWORD)
      expect(child.environment).not.toContain(PASSWORD)
    }
    expect(await running).toBe('failed')
  })
})

describe('DuckDB', () => {
  test('fails a sort that does not fit into memory, and spills nothing to disk', async () => {
    const text = "select count(*) as n from (select repeat('x', 200) || i as s from range(3000000) t(i) order by s)"
    expect(await drain('duckdb', duckdb('w1'), query())).toBe(1)
    await expect(drain('duckdb', duckdb('w1'), query({ text }))).rejects.toMatchObject({
      step: 'read',
      message: expect.stringMatching(/memory/i),
    })
    // The process still has the memory, so it ends at once. A process that can serve further queries stays idle for
    // longer than this.
    await expect.poll(() => all.live().duckdb).toBe(0)
  })

  test('cannot exceed its memory limit', async () => {
    const greedy = query({ text: "select length(repeat('x', 3000000000)) as n" })
    await expect(drain('duckdb', duckdb('w1'), greedy)).rejects.toMatchObject({
      step: 'read',
      message: expect.stringMatching(/memory/i),
    })
  })

  test('never has more processes than configured, and serves all waiting queries', async () => {
    let most = 0
    const watch = setInterval(() => {
      most = Math.max(most, all.live().duckdb)
    }, 1)
    const text = 'select count(*) as n from range(1000)'
    const rows = await Promise.all(
      Array.from({ length: 8 }, (_, n) => drain('duckdb', duckdb(`w${n % 2}`), query({ text }))),
    )
    clearInterval(watch)
    expect(rows).toEqual(Array(8).fill(1))
    expect(most).toBeLessThanOrEqual(3)
    expect(all.live().duckdb).toBeLessThanOrEqual(2)
  })

  test('ends an endless statement and its process at the timeout', async () => {
    const endless = query({ text: 'select sum(hash(i)) from range(1000000000000) t(i)', timeoutMs: 1_500 })
    await expect(drain('duckdb', duckdb('w9'), endless)).rejects.toMatchObject({
      message: expect.stringMatching(/within/),
    })
    expect(await drain('duckdb', duckdb('w9'), query())).toBe(1)
  })
})

/** On Linux, everyone can read the arguments of a process, and its owner can read the environment. */
function childrenOf(parent: number): { arguments: string; environment: string }[] {
  if (process.platform !== 'linux') return [{ arguments: '', environment: '' }]
  const read = (pid: string, what: string): string => {
    try {
      return readFileSync(`/proc/${pid}/${what}`, 'utf8')
    } catch {
      return ''
    }
  }
  return readdirSync('/proc')
    .filter((pid) => /^\d+$/.test(pid) && read(pid, 'stat').split(') ')[1]?.split(' ')[1] === String(parent))
    .map((pid) => ({ arguments: read(pid, 'cmdline'), environment: read(pid, 'environ') }))
    .filter((child) => child.arguments.includes('child-main'))
}
