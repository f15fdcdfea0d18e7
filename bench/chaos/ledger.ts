import { setTimeout as delay } from 'node:timers/promises'
import type pg from 'pg'
import { openPool } from '../database.ts'
import type { Effects } from './effects.ts'

// Reads the state of the database without row security. Queries are repeated, because the database is killed in the
// meantime.

export const DUPLICATES = `select 'recorded twice: ' || execution_id || ' ' || type || ' ' || coalesce(data->>'node_id', '') as what
  from journal where type in ('execution.started', 'execution.succeeded', 'node.started', 'node.succeeded', 'node.failed')
  group by execution_id, type, data->>'node_id', data->>'attempt' having count(*) > 1`

export const GAPS = `select 'numbered with gaps: ' || execution_id as what from journal
  group by execution_id having min(seq) <> 1 or max(seq) <> count(*)`

const UNDONE = `select 'a node neither succeeded nor failed: ' || execution_id as what from journal
  group by execution_id having count(*) filter (where type in ('node.succeeded', 'node.failed')) <> $1`

const NOT_SUCCEEDED = `select 'ended otherwise: ' || execution_id || ' ' || status || ' ' || coalesce(error::text, '') as what
  from executions where status <> 'succeeded'`

export type Ledger = ReturnType<typeof makeLedger>

export function makeLedger(url: string) {
  const pool = openPool({ connectionString: url, max: 2, connectionTimeoutMillis: 2000 })

  const rows = async <Row extends pg.QueryResultRow>(sql: string, values: unknown[] = []): Promise<Row[]> => {
    for (let tries = 0; ; tries++) {
      try {
        return (await pool.query<Row>(sql, values)).rows
      } catch (error) {
        if (tries === 100) throw error
        await delay(100)
      }
    }
  }
  const texts = async (sql: string, values: unknown[] = []): Promise<string[]> =>
    (await rows<{ what: string }>(`${sql} limit 20`, values)).map(({ what }) => what)

  const unfinished = async (): Promise<number> =>
    (await rows<{ n: number }>(`select count(*)::integer as n from executions where finished_at is null`))[0]!.n

  return {
    rows,
    /** Returns the names under which a process works or has worked. */
    namesOf: async (pid: number): Promise<{ worker_id: string; dead: boolean }[]> =>
      rows('select worker_id, dead from workers where pid = $1 order by started_at', [pid]),
    ownedBy: async (workerIds: string[]): Promise<string[]> =>
      (
        await rows<{ execution_id: string }>(
          `select execution_id from executions where status = 'running' and worker_id = any ($1::uuid[])`,
          [workerIds],
        )
      ).map(({ execution_id }) => execution_id),
    /** Returns the number of executions in `ids` that a dead worker still owns or that no worker has taken over. */
    left: async (ids: string[], deadIds: string[]): Promise<number> =>
      (
        await rows<{ n: number }>(
          `select count(*)::integer as n from executions where execution_id = any ($1::uuid[])
             and (status = 'queued' or worker_id = any ($2::uuid[]))`,
          [ids, deadIds],
        )
      )[0]!.n,
    /** Returns one hash of everything that executions have written. */
    print: async (): Promise<string> =>
      (
        await rows<{ print: string }>(
          `select md5(coalesce((select string_agg(e::text, '|' order by e.execution_id, e.seq) from events e), '')
             || coalesce((select string_agg(x::text, '|' order by x.execution_id) from executions x), '')) as print`,
        )
      )[0]!.print,
    unfinished,
    /** Waits until all executions have ended. Returns the number of executions that have not ended at the timeout. */
    settled: async (within: number): Promise<number> => {
      const end = performance.now() + within
      for (let n = await unfinished(); ; n = await unfinished()) {
        if (n === 0 || performance.now() > end) return n
        await delay(100)
      }
    },
    /** Checks all invariants at the end and describes each violation in a sentence. */
    violations: async (acknowledged: string[], effects: Effects): Promise<string[]> => {
      const found: string[] = []
      const known = new Set(
        (await rows<{ execution_id: string }>('select execution_id from executions')).map((row) => row.execution_id),
      )
      const distinct = new Set(acknowledged)
      if (distinct.size !== acknowledged.length) found.push('two keys were answered with one execution')
      for (const id of distinct) if (!known.has(id)) found.push(`acknowledged and lost: ${id}`)
      if (known.size !== distinct.size) found.push(`${distinct.size} were acknowledged, ${known.size} are there`)
      found.push(...(await texts(NOT_SUCCEEDED)), ...(await texts(DUPLICATES)), ...(await texts(GAPS)))
      found.push(...(await texts(UNDONE, [3])))
      const [health] = await rows<{ n: number }>('select count(*)::integer as n from engine.unaccounted()')
      if (health!.n > 0) found.push(`${health!.n} executions are unaccounted for`)
      for (const [key, { times, bodies }] of effects.arrived) {
        if (bodies.size > 1) found.push(`one key, several requests: ${key}`)
        if (key.endsWith(':once') && times > 1) found.push(`done ${times} times, at most once was promised: ${key}`)
      }
      const keys = [...effects.arrived.keys()].filter((key) => !key.endsWith(':once')).length
      if (keys !== known.size * 2) found.push(`${known.size * 2} effects were due, ${keys} happened`)
      return found.slice(0, 40)
    },
    stop: () => pool.end(),
  }
}
