import { z } from 'zod'
import type { LogLine } from '#engine/node'
import type { EnginePorts } from '#engine/ports'
import { makeLru } from '#model/lru'
import type { Database } from '#platform/db/pool'
import type { Context } from '#platform/http/context'
import { anyOf } from '#platform/http/list'
import { decodeCursor, isUuid, notACursor, toPage } from '#platform/http/page'
import { listQuery, timestamp } from '#platform/http/schema'
import { firstIdAt, newId } from '#platform/ids'
import type { Logger } from '#platform/log'

// The log of an execution: `log(...)` in code, and the messages of agents. A line is stored once, before its node ends.

const MAX_LINES = 1_000
const MAX_BYTES = 512 * 1024
const MAX_MESSAGE = 4_000
const LEFT_OUT = `An execution keeps ${MAX_LINES} lines and 512 KiB of its log. Later lines are not stored.`

export const levels = ['debug', 'info', 'warn', 'error'] as const

export const LogEntry = z
  .object({
    at: timestamp(),
    level: z.enum(levels).describe('The level'),
    node_id: z.string().describe('The node that wrote it; inside a map or loop `each[3].line`'),
    message: z.string(),
  })
  .meta({ id: 'LogEntry' })
export type LogEntry = z.input<typeof LogEntry>

export const logQuery = listQuery.extend({
  level: anyOf(levels).schema.optional(),
  node_id: z.string().min(1).max(500).optional().describe('Only lines of this node'),
})

// The limits apply to the whole execution. Lines beyond them are omitted, and one line says so.
const INSERT = `with used as (select count(*) as lines, coalesce(sum(octet_length(message)), 0) as bytes from run_logs
    where workspace_id = $1 and execution_id = $2),
  given as (select l.n, l.level, l.message, l.n + u.lines < ${MAX_LINES - 1}
      and sum(octet_length(l.message)) over (order by l.n) + u.bytes <= ${MAX_BYTES} as kept
    from used u, unnest($6::integer[], $7::text[], $8::text[]) as l (n, level, message)),
  written as (insert into run_logs (workspace_id, execution_id, node_path, key, n, batch_id, level, message)
    select $1::uuid, $2::uuid, $3::text, $4::text, n, $5::uuid, level, message from given where kept
    union all select $1, $2, '', 'left_out', 0, $5, 'warn', $9 where exists (select from given where not kept)
    on conflict do nothing)
  select exists (select from given where not kept) as full`

/** The engine's port for logs. If lines cannot be stored, they are lost and the execution continues. */
export function makeKeepLog({ db, log }: { db: Database; log: Logger }): NonNullable<EnginePorts['keepLog']> {
  // Executions whose log is full. Their further lines cause no statements.
  const full = makeLru<true>(1_000)
  return async ({ workspaceId, executionId, nodePath }, key, lines) => {
    if (lines.length === 0 || full.get(executionId)) return
    const kept = lines.slice(0, MAX_LINES).map(stored)
    try {
      const row = await db.tenant({ workspaceId, userId: null }, async (tx) => {
        // Items of a map write concurrently, and each must see the space that the others have used.
        await tx.rows('select pg_advisory_xact_lock(hashtextextended($1, 1211))', [executionId])
        return tx.row<{ full: boolean }>(INSERT, [
          workspaceId,
          executionId,
          nodePath,
          key,
          newId(),
          kept.map((_, n) => n),
          kept.map(({ level }) => level),
          kept.map(({ message }) => message),
          LEFT_OUT,
        ])
      })
      if (row.full) full.set(executionId, true)
    } catch (error) {
      log.warn({ err: error, execution_id: executionId }, 'lines of a run could not be kept')
    }
  }
}

/** PostgreSQL stores neither NUL nor unpaired surrogates. */
const stored = ({ level, message }: LogLine): LogLine => ({
  level,
  message: (message.length > MAX_MESSAGE ? `${message.slice(0, MAX_MESSAGE)}…` : message)
    .replaceAll('\0', '\uFFFD')
    .toWellFormed(),
})

type Row = LogEntry & { batch_id: string; n: number }

export async function listExecutionLogs(
  ctx: Context,
  { execution_id, cursor, limit, level, node_id }: { execution_id: string } & z.output<typeof logQuery>,
) {
  const key = decodeCursor(cursor, 2)
  if (key && !(isUuid(key[0]) && Number.isInteger(key[1]))) throw notACursor()
  const rows = await ctx.tx.rows<Row>(
    `select at, level, node_path as node_id, message, batch_id, n from run_logs
     where workspace_id = $1 and execution_id = $2 and ($3::uuid is null or (batch_id, n) > ($3, $4))
       and ($5::text[] is null or level = any ($5)) and ($6::text is null or node_path = $6)
     order by batch_id, n limit $7`,
    [
      ctx.workspace.workspace_id,
      execution_id,
      key?.[0] ?? null,
      key?.[1] ?? null,
      level ?? null,
      node_id ?? null,
      limit + 1,
    ],
  )
  const { items, ...page } = toPage(rows, limit, ({ batch_id, n }) => [batch_id, n])
  return { ...page, items: items.map(({ batch_id: _batch, n: _n, ...line }) => line) }
}

/** Deletes the log lines of executions that are past their retention. */
export async function forgetRunLogs(db: Database, keptDays: number, now = Date.now(), atOnce = 10_000): Promise<void> {
  const before = firstIdAt(now - keptDays * 24 * 3600 * 1000)
  for (let forgotten = atOnce; forgotten === atOnce; )
    forgotten = (
      await db.maintain<{ forgotten: number }>('select forget_run_logs($1, $2) as forgotten', [before, atOnce])
    )[0]!.forgotten
}
