import type { Json, JsonObject } from '#model/definition'
import type { Tx } from '#platform/db/pool'

/** The maximum number of recordings per suite. A suite over a large dataset records its first cases. */
const MAX_RECORDINGS = 20_000

export type Recording = {
  nodePath: string
  key: Buffer
  output?: Json
  port: string | null
  error?: { code: string; message: string }
  usage: JsonObject | null
  durationMs: number
}

const textOf = (value: unknown): string | null => (value === undefined || value === null ? null : JSON.stringify(value))

/** Stores a recording; the latest replaces earlier ones. Stores nothing if the suite was deleted in the meantime. */
export const putRecording = (tx: Tx, workspaceId: string, suiteId: string, one: Recording): Promise<number> =>
  tx.count(
    `insert into suite_recordings as r (workspace_id, suite_id, node_path, key, output, port, error, usage, duration_ms)
     select $1, s.suite_id, $3, $4, $5, $6, $7, $8, $9 from suites s where s.workspace_id = $1 and s.suite_id = $2
       and (select count(*) from (select from suite_recordings where workspace_id = $1 and suite_id = $2 limit ${MAX_RECORDINGS}) x) < ${MAX_RECORDINGS}
     on conflict (workspace_id, suite_id, node_path, key) do update set output = excluded.output, port = excluded.port, error = excluded.error,
       usage = excluded.usage, duration_ms = excluded.duration_ms, recorded_at = now()`,
    [
      workspaceId,
      suiteId,
      one.nodePath,
      one.key,
      one.error ? null : JSON.stringify(one.output ?? null),
      one.port,
      textOf(one.error),
      textOf(one.usage),
      Math.round(one.durationMs),
    ],
  )

export type Found = {
  same: boolean
  output: Json
  port: string | null
  error: { code: string; message: string } | null
  usage: JsonObject | null
  duration_ms: number
}

/**
 * Finds the recording for these arguments. Otherwise, unless `exactly`, the newest successful recording for other
 * arguments.
 */
export const findRecording = (
  tx: Tx,
  workspaceId: string,
  { suiteId, nodePath, key, exactly }: { suiteId: string; nodePath: string; key: Buffer; exactly: boolean },
): Promise<Found | undefined> =>
  tx.maybe<Found>(
    `select key = $4 as same, output, port, error, usage, duration_ms::float8 as duration_ms from suite_recordings
     where workspace_id = $1 and suite_id = $2 and node_path = $3 and (key = $4 or not $5 and error is null)
     order by key = $4 desc, recorded_at desc limit 1`,
    [workspaceId, suiteId, nodePath, key, exactly],
  )

export type Answered = {
  suiteId: string
  executionId: string
  nodePath: string
  type: string
  reason: 'arguments_differ' | 'not_recorded' | null
  usage: JsonObject | null
  durationMs: number
}

/**
 * Records once how a node was answered, even if an attempt after a crash repeats it. All items of a map count as one
 * node.
 */
export const noteAnswer = (tx: Tx, workspaceId: string, one: Answered): Promise<number> =>
  tx.count(
    `insert into suite_answers as a (workspace_id, suite_id, execution_id, node_path, node_type, reason, usage, duration_ms)
     select $1, suite_id, $3, $4, $5, $6, $7, $8 from suites where workspace_id = $1 and suite_id = $2
     on conflict (workspace_id, execution_id, node_path) do update set reason = coalesce(a.reason, excluded.reason)`,
    [
      workspaceId,
      one.suiteId,
      one.executionId,
      one.nodePath,
      one.type,
      one.reason,
      textOf(one.usage),
      Math.round(one.durationMs),
    ],
  )

export type CaseAnswers = {
  execution_id: string
  mocked: { node_id: string; type: string; reason: string }[]
  answered: number
  usage: JsonObject | null
  duration_ms: number
}

/** Reads how the effects of these cases were answered. */
export const readAnswers = (tx: Tx, workspaceId: string, executionIds: string[]): Promise<CaseAnswers[]> =>
  tx.rows<CaseAnswers>(
    `select execution_id, count(*) filter (where reason is null)::integer as answered,
       coalesce(json_agg(json_build_object('node_id', node_path, 'type', node_type, 'reason', reason) order by node_path)
         filter (where reason is not null), '[]') as mocked,
       coalesce(sum(duration_ms) filter (where reason is null), 0)::float8 as duration_ms,
       (select json_object_agg(u.key, u.total) from (select x.key, sum(x.value::numeric) as total from suite_answers b,
          lateral json_each_text(coalesce(b.usage, '{}')) x where b.workspace_id = $1 and b.execution_id = a.execution_id and b.reason is null
          and x.value ~ '^[0-9]+(\\.[0-9]+)?$' group by x.key) u) as usage
     from suite_answers a where workspace_id = $1 and execution_id = any ($2) group by execution_id`,
    [workspaceId, executionIds],
  )

/** Deletes answers that are in the report, and answers older than 30 days of runs that never got a report. */
export const forgetAnswers = (tx: Tx, workspaceId: string, suiteId: string, executionIds: string[]): Promise<number> =>
  tx.count(
    `delete from suite_answers where workspace_id = $1
       and (execution_id = any ($3) or suite_id = $2 and at < now() - interval '30 days')`,
    [workspaceId, suiteId, executionIds],
  )
