import type { Database, Tx } from '#platform/db/pool'
import { invalid } from '#platform/errors'
import type { Context } from '#platform/http/context'
import { shippedPrices } from '#providers/llm/prices'
import type { UsageGroup, UsageQuery, UsageReport } from './schema.ts'
import { VISIBLE_WORKFLOWS } from './visible-workflows.ts'

const MAX_DAYS = 400
const DEFAULT_DAYS = 30
const DAY_MS = 24 * 60 * 60 * 1000
/** Daily sums are kept longer than the calls themselves, so that a year can be compared with the previous one. */
const SUMS_KEPT_DAYS = 800

const dayOf = (at: Date): string => at.toISOString().slice(0, 10)

/** The grouped column, its name in the response, and the SQL for its display name. */
const groups: Record<UsageGroup, { key: string; as: string; name: string }> = {
  workflow: {
    key: 'd.workflow_id',
    as: 'workflow_id',
    name: '(select w.name from workflows w where w.workspace_id = $1 and w.workflow_id = g.workflow_id)',
  },
  model: { key: 'd.model', as: 'model', name: 'null::text' },
  person: { key: 'd.person_id', as: 'user_id', name: '(select u.name from users u where u.user_id = g.user_id)' },
  day: { key: `to_char(d.day, 'YYYY-MM-DD')`, as: 'day', name: 'null::text' },
  credential: {
    key: 'd.credential_id',
    as: 'credential_id',
    // A workflow may use a credential that the caller cannot see.
    name: `(select c.name from credentials c where c.workspace_id = $1 and c.credential_id = g.credential_id
      and credential_role(c.workspace_id, c.credential_id, $2) is not null)`,
  },
}

const SUMS = `sum(d.calls)::bigint as calls, sum(d.unpriced_calls)::bigint as unpriced_calls, sum(d.input_tokens)::bigint as input_tokens,
  sum(d.output_tokens)::bigint as output_tokens, sum(d.cost)::double precision as cost`

/** `$3`: whether the caller owns the workspace and may see everything in it. */
const FROM = `from usage_days d where d.workspace_id = $1 and d.day >= $4::date and d.day <= $5::date
  and ($6::uuid is null or d.workflow_id = $6)
  and ($3 or d.person_id = $2 or d.workflow_id in (select workflow_id from mine))`

const textFor = (group: UsageGroup): string => {
  const { key, as, name } = groups[group]
  return `${VISIBLE_WORKFLOWS}, g as (select ${key} as ${as}, ${SUMS} ${FROM} group by 1)
    select g.*, ${name} as name from g order by ${group === 'day' ? '1' : 'g.cost desc, g.calls desc, 1'} limit 1000`
}

const TOTAL = `${VISIBLE_WORKFLOWS} select ${SUMS} ${FROM}`

type Sums = UsageReport['total']

export async function getUsage(ctx: Context, query: UsageQuery): Promise<UsageReport> {
  const to = query.to ?? new Date()
  const from = query.from ?? new Date(to.getTime() - (DEFAULT_DAYS - 1) * DAY_MS)
  const days = (Date.parse(dayOf(to)) - Date.parse(dayOf(from))) / DAY_MS
  if (days < 0) throw invalid([{ path: '/to', message: 'must not be before from' }])
  if (days >= MAX_DAYS) throw invalid([{ path: '/from', message: `must be at most ${MAX_DAYS} days before to` }])
  const values = [
    ctx.workspace.workspace_id,
    ctx.person.user_id,
    ctx.workspace.role === 'owner',
    dayOf(from),
    dayOf(to),
    query.workflow_id ?? null,
  ]
  const items = await ctx.tx.rows<UsageReport['items'][number]>(textFor(query.group_by), values)
  const total = await ctx.tx.row<{ [K in keyof Sums]: Sums[K] | null }>(TOTAL, values)
  return {
    from: dayOf(from),
    to: dayOf(to),
    group_by: query.group_by,
    currency: shippedPrices.currency,
    items,
    total: {
      calls: total.calls ?? 0,
      unpriced_calls: total.unpriced_calls ?? 0,
      input_tokens: total.input_tokens ?? 0,
      output_tokens: total.output_tokens ?? 0,
      cost: total.cost ?? 0,
    },
  }
}

/** Returns the model usage of a conversation. */
export const usageOfThread = (tx: Tx, workspaceId: string, threadId: string): Promise<ThreadUsage> =>
  tx.row<ThreadUsage>(
    `select coalesce(sum(input_tokens), 0)::bigint as input_tokens, coalesce(sum(output_tokens), 0)::bigint as output_tokens,
       sum(cost)::double precision as cost, count(*) as calls, count(*) filter (where cost is null) as unpriced_calls
     from model_calls where workspace_id = $1 and thread_id = $2`,
    [workspaceId, threadId],
  )

type ThreadUsage = Omit<Sums, 'cost'> & { cost: number | null }

/**
 * Deletes calls that are past the retention of executions, and sums past their own retention, in small transactions.
 */
export async function forgetUsage(db: Database, keptDays: number, atOnce = 10_000): Promise<void> {
  for (let forgotten = atOnce; forgotten === atOnce; )
    forgotten = (
      await db.maintain<{ forgotten: number }>('select forget_usage($1, $2, $3) as forgotten', [
        keptDays,
        SUMS_KEPT_DAYS,
        atOnce,
      ])
    )[0]!.forgotten
}
