import { SECOND } from '#platform/clock'
import type { Database, Tx } from '#platform/db/pool'
import { type Context, scopeOf } from '#platform/http/context'
import { bindVerbs } from '#platform/verbs'
import type { ProviderName } from '#providers/billing/index'
import {
  makeExpiringCache,
  makeUnwrittenUsage,
  monthOf,
  passesLimit,
  periodOf,
  refuseSuspended,
  type Spent,
} from './counting.ts'
import { type Quotas as PlanQuotas, type QuotaName, quotaNames } from './plan-schema.ts'
import { add, checkFit, exceeded, limitOf, used } from './quota-counts.ts'
import { addUsage } from './usage-store.ts'

// Enforces the quotas of a plan when a resource is created. Uses counters, never counts over history; on the hot path,
// memory.

/** How long a server caches the plan and counters of a workspace. */
const CACHED_FOR = 1 * SECOND
const FLUSH_EVERY = 1 * SECOND
const MAX_KNOWN = 10_000

/** `suspended` is the reason why an operator suspended the workspace; then most quotas are 0. */
type AppliedQuotas = PlanQuotas & { suspended?: string }
type Known = { plan_id: string | null; name: string | null; quotas: AppliedQuotas; executions: number }

type Ask = (values: string[]) => Promise<Known[]>
const QUOTAS = 'select plan_id, name, quotas, executions from workspace_quotas($1, $2, $3)'

/** The current month, formatted at most once a second, since every start of an execution needs it. */
let month = { second: Number.NaN, text: '' }
const thisMonth = (): string => {
  const second = Math.floor(Date.now() / SECOND)
  if (month.second !== second) month = { second, text: periodOf('runs_per_month', second * SECOND) }
  return month.text
}

/** The cached quotas of the workspaces, and the usage that this server has not written yet. */
type State = {
  db: Database
  provider: ProviderName
  known: ReturnType<typeof makeExpiringCache<Known>>
  unwritten: ReturnType<typeof makeUnwrittenUsage>
  /** Queries in progress. */
  asked: Map<string, ReturnType<Ask>>
  timer?: NodeJS.Timeout
}

const runsOf = (workspaceId: string): Omit<Spent, 'amount'> => ({
  workspaceId,
  quota: 'runs_per_month',
  period: thisMonth(),
})

/** Reads the quotas with the given connection: taking a second connection inside a transaction can cause a deadlock. */
async function learn({ provider, known }: State, workspaceId: string, ask: Ask): Promise<Known> {
  const believed = known.get(workspaceId)
  if (believed) return believed
  const [found] = await ask([workspaceId, provider, thisMonth()])
  return known.set(workspaceId, found ?? { plan_id: null, name: null, quotas: {}, executions: 0 })
}

const askIn =
  (tx: Tx): Ask =>
  (values) =>
    tx.rows<Known>(QUOTAS, values)

/** Queries outside a transaction. Concurrent starts of one workspace share the same query. */
const askAlone =
  ({ db, asked }: State): Ask =>
  (values) => {
    const key = values.join()
    const asking =
      asked.get(key) ??
      db.appPool
        .query<Known>({ name: 'workspace_quotas', text: QUOTAS, values })
        .then(({ rows }) => rows)
        .finally(() => asked.delete(key))
    asked.set(key, asking)
    return asking
  }

const write = async ({ db, known }: State, all: Spent[]): Promise<void> => {
  // Until the cached counters are read again, they include the amounts being written.
  for (const { workspaceId, amount } of all) {
    const believed = known.peek(workspaceId)
    if (believed) believed.executions += amount
  }
  try {
    await addUsage(db, all)
  } catch (error) {
    for (const { workspaceId } of all) known.forget(workspaceId)
    throw error
  }
}

/** Writes the counted usage. If writing fails, the usage is written with the next flush. */
export const flush = (state: State): Promise<void> =>
  state.unwritten.flush((all) => write(state, all)).catch(() => undefined)

/**
 * Refuses with 403 `quota_exceeded` if `adding` more would exceed the quota of the plan. Call it in the transaction
 * that creates the resource: if there is a limit, a lock is held until the commit, so that two concurrent requests
 * cannot both take the last place.
 */
export async function check(
  state: State,
  tx: Tx,
  workspaceId: string,
  quota: QuotaName,
  adding: number,
): Promise<void> {
  const { quotas } = await learn(state, workspaceId, askIn(tx))
  const limit = limitOf(quotas, quota)
  if (limit === undefined || limit === null || adding <= 0) return
  if (limit === 0) refuseSuspended(quotas)
  await tx.rows('select pg_advisory_xact_lock(hashtextextended($1, 6))', [`${workspaceId} ${quota}`])
  if (passesLimit(limit, await used(tx, workspaceId, quota), adding)) throw exceeded(quota, limit)
}

/**
 * Checks and counts starts of executions in memory, written once a second. With several servers, a workspace can exceed
 * the quota by what the servers start within a second. Do not call it inside a transaction.
 */
export async function takeExecutions(state: State, workspaceId: string, count = 1): Promise<void> {
  const { quotas, executions } = await learn(state, workspaceId, askAlone(state))
  const runs = runsOf(workspaceId)
  refuseSuspended(quotas)
  const limit = quotas.runs_per_month
  if (passesLimit(limit, executions + state.unwritten.amountOf(runs), count)) throw exceeded('runs_per_month', limit)
  state.unwritten.add({ ...runs, amount: count })
}

/** Returns the quotas of the plan that applies to the workspace. */
export async function quotasOf(state: State, workspaceId: string): Promise<AppliedQuotas> {
  return (await learn(state, workspaceId, askAlone(state))).quotas
}

/** Returns the processor seconds per minute for code: null without a limit, undefined if the plan does not set one. */
export async function cpuSecondsPerMinute(state: State, workspaceId: string): Promise<number | null | undefined> {
  return (await learn(state, workspaceId, askAlone(state))).quotas.cpu_s_per_minute
}

/** Returns starts that were counted but did not create an execution. */
export function giveBackExecutions({ unwritten }: State, workspaceId: string, count = 1): void {
  unwritten.add({ ...runsOf(workspaceId), amount: -count })
}

/** Call it when the plan has changed: this server reads the plan again immediately, the others within a second. */
export function forget({ known }: State, workspaceId: string): void {
  known.forget(workspaceId)
}

export async function getUsage(state: State, ctx: Context) {
  await flush(state)
  const { workspace_id } = ctx.workspace
  state.known.forget(workspace_id)
  const { start, end } = monthOf(new Date())
  return ctx.db.tenant(scopeOf(ctx), async (tx) => {
    const { plan_id, name, quotas } = await learn(state, workspace_id, askIn(tx))
    const items = []
    for (const quota of quotaNames)
      items.push({ quota, used: await used(tx, workspace_id, quota), limit: limitOf(quotas, quota) ?? null })
    return {
      plan_id,
      plan: name,
      period_start: start,
      period_end: end,
      quotas: items,
    }
  })
}

export async function stop(state: State): Promise<void> {
  clearInterval(state.timer)
  await flush(state)
}

const verbsOfQuotas = {
  check,
  takeExecutions,
  quotasOf,
  cpuSecondsPerMinute,
  giveBackExecutions,
  forget,
  getUsage,
  flush,
  stop,
}

export function makeQuotas({ db, provider }: { db: Database; provider: ProviderName }) {
  const known = makeExpiringCache<Known>({ forMs: CACHED_FOR, max: MAX_KNOWN, now: () => performance.now() })
  const state: State = { db, provider, known, unwritten: makeUnwrittenUsage(), asked: new Map() }
  state.timer = setInterval(() => void flush(state), FLUSH_EVERY)
  state.timer.unref()
  return { ...bindVerbs<State, typeof verbsOfQuotas>(state, verbsOfQuotas), add, checkFit }
}

export type Quotas = ReturnType<typeof makeQuotas>
