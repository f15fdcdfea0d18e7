import { DAY, HOUR } from '#platform/clock'
import { invalid } from '#platform/errors'
import type { Context } from '#platform/http/context'
import { percentilesOf } from './buckets.ts'
import type { RunGroup, RunReport, RunsQuery, StepReport, StepsQuery } from './schema.ts'
import { VISIBLE_WORKFLOWS } from './visible-workflows.ts'

const MAX_DAYS = 400
const MAX_HOURS_DAYS = 35
/** The limit for callers whose figures are summed over many workflows. */
const MAX_ADDED_HOURS_DAYS = 7
const DEFAULT_DAYS = 7
const MAX_ITEMS = 5_000

type Figures = RunReport['total']
type Item = RunReport['items'][number]
type CountRow = { at: Date | null; key: string | null; status: string; runs: number }
type TimeRow = { at: Date | null; key: string | null; measure: 'duration' | 'people'; bucket: number; runs: number }

/** Executions of jobs have separate measures. */
const MEASURE = `case f.measure when 'job_duration' then 'duration' when 'job_people' then 'people' else f.measure end`

/** Differs from every key. Executions without a workflow or an error form their own group. */
const NONE = ''

const columnOf: Record<RunGroup, string> = {
  workflow: 'f.workflow_id',
  trigger: 'f.trigger_kind',
  error: 'f.error_code',
}

/** The rows that are summed: those of the workspace, of one workflow, or of each workflow that the caller may see. */
type Of = 'workspace' | 'workflow' | 'seen'

const SPAN = `f.workspace_id = $1 and f.span = $4::"char" and f.at >= $5 and f.at < $6`

/** `$3`: whether the caller owns the workspace. */
const fromOf = (table: 'run_counts' | 'run_times', of: Of, which: string): string => {
  if (of === 'seen')
    return `from mine cross join lateral (
      select f.* from ${table} f where ${SPAN} and f.span in ('h', 'd') and f.workflow_id = mine.workflow_id and ${which} offset 0) as f
      where not $3 and $7::uuid is null`
  return `from ${table} f where ${SPAN} and ${which} and ${
    of === 'workflow'
      ? `f.span in ('h', 'd') and f.workflow_id = $7::uuid and ($3 or f.workflow_id in (select workflow_id from mine))`
      : '$3 and $7::uuid is null'
  }`
}

const atOf = (byTime: boolean): string => (byTime ? 'f.at' : 'null::timestamptz')

// Groups by the id and converts it to text afterwards. Converting the id of each row took half of the time.
const countsBy = (byTime: boolean, group: RunGroup | undefined, of: Of): string =>
  `${VISIBLE_WORKFLOWS} select g.at, g.key::text as key, g.status, g.runs from (
     select ${atOf(byTime)} as at, ${group ? columnOf[group] : 'null::text'} as key, f.status, sum(f.runs)::bigint as runs
     ${fromOf('run_counts', of, `($8 or f.trigger_kind <> 'job')`)} group by 1, 2, 3) as g`

const timesBy = (byTime: boolean, byWorkflow: boolean, of: Of): string =>
  `${VISIBLE_WORKFLOWS} select g.at, g.key::text as key, g.measure, g.bucket, g.runs from (
     select ${atOf(byTime)} as at, ${byWorkflow ? 'f.workflow_id' : 'null::text'} as key, ${MEASURE} as measure, f.bucket, sum(f.runs)::bigint as runs
     ${fromOf('run_times', of, `($8 or f.measure in ('duration', 'people'))`)} group by 1, 2, 3, 4) as g`

const noRuns = (): Omit<Figures, 'duration_ms' | 'waiting_for_people_ms'> => ({
  total: 0,
  succeeded: 0,
  failed: 0,
  cancelled: 0,
  timed_out: 0,
})

type Sum = {
  at: Date | null
  key: string | null
  counts: ReturnType<typeof noRuns>
  duration: Map<number, number>
  people: Map<number, number>
}

const newSum = (at: Date | null, key: string | null): Sum => ({
  at,
  key,
  counts: noRuns(),
  duration: new Map(),
  people: new Map(),
})

function addCount(sum: Sum, { status, runs }: CountRow): void {
  sum.counts.total += runs
  if (status === 'succeeded' || status === 'failed' || status === 'cancelled' || status === 'timed_out')
    sum.counts[status] += runs
}

const addTime = (sum: Sum, { measure, bucket, runs }: TimeRow): void =>
  void sum[measure].set(bucket, (sum[measure].get(bucket) ?? 0) + runs)

const figuresOf = ({ counts, duration, people }: Sum): Figures => ({
  ...counts,
  duration_ms: percentilesOf(duration),
  waiting_for_people_ms: percentilesOf(people),
})

function rangeOf({ from, to }: { from?: Date | undefined; to?: Date | undefined }, maxDays: number) {
  const until = to ?? new Date()
  const since = from ?? new Date(until.getTime() - DEFAULT_DAYS * DAY)
  if (since > until) throw invalid([{ path: '/to', message: 'must not be before from' }])
  if (until.getTime() - since.getTime() > maxDays * DAY)
    throw invalid([{ path: '/from', message: `must be at most ${maxDays} days before to` }])
  return { from: since, to: until }
}

/** Hours for short ranges, because their limits are exact. Days for longer ranges, because they have fewer rows. */
const spanOf = (bucket: RunsQuery['bucket'] | null, from: Date, to: Date): 'h' | 'd' => {
  if (bucket === 'hour') return 'h'
  if (bucket === 'day') return 'd'
  return to.getTime() - from.getTime() <= 3 * DAY ? 'h' : 'd'
}

export async function getRunInsights(ctx: Context, query: RunsQuery): Promise<RunReport> {
  const bucket = query.bucket ?? (query.group_by === undefined ? 'day' : null)
  const isOwner = ctx.workspace.role === 'owner'
  const of: Of = query.workflow_id !== undefined ? 'workflow' : isOwner ? 'workspace' : 'seen'
  const maxHoursDays = of === 'seen' ? MAX_ADDED_HOURS_DAYS : MAX_HOURS_DAYS
  const { from, to } = rangeOf(query, bucket === 'hour' ? maxHoursDays : MAX_DAYS)
  const span = spanOf(bucket, from, to)
  const length = span === 'h' ? HOUR : DAY
  // Owners see everything, so the rows of the whole workspace are used instead of a sum over workflows.
  const isWhole = of === 'workspace'
  const valuesWith = (stored: string): unknown[] => [
    ctx.workspace.workspace_id,
    ctx.person.user_id,
    isOwner,
    stored,
    new Date(Math.floor(from.getTime() / length) * length),
    to,
    query.workflow_id ?? null,
    query.include_jobs === true,
  ]
  const byTime = bucket !== null
  const byWorkflow = query.group_by === 'workflow'
  const whole = span === 'h' ? 'H' : 'D'
  const counted = isWhole && query.group_by === undefined ? whole : span
  const counts = await ctx.tx.rows<CountRow>(countsBy(byTime, query.group_by, of), valuesWith(counted))
  const timed = isWhole && !byWorkflow ? whole : span
  const times = await ctx.tx.rows<TimeRow>(timesBy(byTime, byWorkflow, of), valuesWith(timed))

  const total = newSum(null, null)
  const sums = new Map<string, Sum>()
  const sumOf = ({ at, key }: { at: Date | null; key: string | null }): Sum => {
    const name = `${at?.getTime() ?? NONE} ${key ?? NONE}`
    const known = sums.get(name) ?? newSum(at, key)
    sums.set(name, known)
    return known
  }
  for (const row of counts) {
    addCount(total, row)
    addCount(sumOf(row), row)
  }
  const hasTimes = query.group_by === undefined || byWorkflow
  for (const row of times) {
    addTime(total, row)
    if (hasTimes) addTime(sumOf(row), row)
  }
  const items = [...sums.values()]
    .sort((a, b) => (a.at?.getTime() ?? 0) - (b.at?.getTime() ?? 0) || b.counts.total - a.counts.total)
    .slice(0, MAX_ITEMS)
  return {
    from,
    to,
    bucket,
    group_by: query.group_by ?? null,
    items: await named(ctx, query.group_by, items),
    total: figuresOf(total),
  }
}

async function named(ctx: Context, group: RunGroup | undefined, sums: Sum[]): Promise<Item[]> {
  const names =
    group === 'workflow'
      ? await namesOf(ctx, [...new Set(sums.flatMap(({ key }) => key ?? []))])
      : new Map<string, string>()
  const keyOf = (key: string | null): Partial<Item> => {
    if (group === 'workflow') return { workflow_id: key }
    if (group === 'trigger') return { trigger: key ?? '' }
    return group === 'error' ? { error_code: key } : {}
  }
  return sums.map((sum) => ({
    at: sum.at,
    ...keyOf(sum.key),
    name: sum.key === null ? null : (names.get(sum.key) ?? null),
    ...figuresOf(sum),
  }))
}

async function namesOf(ctx: Context, workflowIds: string[]): Promise<Map<string, string>> {
  if (workflowIds.length === 0) return new Map()
  const rows = await ctx.tx.rows<{ workflow_id: string; name: string }>(
    'select workflow_id, name from workflows where workspace_id = $1 and workflow_id = any($2)',
    [ctx.workspace.workspace_id, workflowIds],
  )
  return new Map(rows.map(({ workflow_id, name }) => [workflow_id, name]))
}

const orderOf: Record<StepsQuery['sort'], string> = {
  mean: 'mean_ms',
  total: 'total_ms',
  max: 'max_ms',
  failed: 'failed',
}

export async function getStepInsights(ctx: Context, query: StepsQuery): Promise<StepReport> {
  const { from, to } = rangeOf(query, MAX_DAYS)
  const items = await ctx.tx.rows<StepReport['items'][number]>(
    `${VISIBLE_WORKFLOWS}, steps as (
       select f.workflow_id, f.node_id, f.type, sum(f.runs)::bigint as runs, sum(f.failed)::bigint as failed,
         (sum(f.duration_ms) / sum(f.runs))::double precision as mean_ms, max(f.max_ms)::bigint as max_ms,
         sum(f.duration_ms)::bigint as total_ms
       from step_days f where f.workspace_id = $1 and f.at >= $4 and f.at < $5 and ($6::uuid is null or f.workflow_id = $6)
         and ($8 or not f.of_jobs)
         and ($3 or f.workflow_id in (select workflow_id from mine))
       group by 1, 2, 3)
     select s.*, (select w.name from workflows w where w.workspace_id = $1 and w.workflow_id = s.workflow_id) as name
     from steps s order by ${orderOf[query.sort]} desc, runs desc, node_id limit $7`,
    [
      ctx.workspace.workspace_id,
      ctx.person.user_id,
      ctx.workspace.role === 'owner',
      new Date(Math.floor(from.getTime() / DAY) * DAY),
      to,
      query.workflow_id ?? null,
      query.limit,
      query.include_jobs === true,
    ],
  )
  return { from, to, items }
}
