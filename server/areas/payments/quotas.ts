import { SECOND } from '#platform/clock'
import type { Database, Tx } from '#platform/db/pool'
import { problem } from '#platform/errors'
import { type Context, scopeOf } from '#platform/http/context'
import type { ProviderName } from '#providers/billing/index'
import { makeBelieved, makeUnwritten, monthOf, passesLimit, periodOf, quotaExceeded, type Spent } from './counting.ts'
import {
  DEFAULT_DESTINATIONS,
  DEFAULT_DOCUMENTS,
  type Plan,
  type Quotas as PlanQuotas,
  type QuotaName,
  quotaNames,
} from './schema.ts'
import { addUsage } from './usage-store.ts'

// What a plan allows, checked where a resource is made. Counters, never counts over history; and on the hot path, memory.

/** How long a server believes what it last read of a workspace's plan and counters. */
const BELIEVED_FOR = 1 * SECOND
const FLUSH_EVERY = 1 * SECOND
const MAX_KNOWN = 10_000

/** What is counted in `usage_counters`; members, destinations and documents are counted where they stand. */
export type CountedQuota = Exclude<QuotaName, 'members' | 'event_destinations' | 'knowledge_documents'>

const DEFAULTS: Partial<Record<QuotaName, number>> = {
  event_destinations: DEFAULT_DESTINATIONS,
  knowledge_documents: DEFAULT_DOCUMENTS,
}

const limitOf = (quotas: PlanQuotas, quota: QuotaName): number | null | undefined =>
  quotas[quota] === undefined ? DEFAULTS[quota] : quotas[quota]

type Known = { plan_id: string | null; name: string | null; quotas: PlanQuotas; executions: number }

type Ask = (values: string[]) => Promise<Known[]>
const QUOTAS = 'select plan_id, name, quotas, executions from workspace_quotas($1, $2, $3)'

/** Written out anew each second only: every start of an execution asks for it. */
let month = { second: Number.NaN, text: '' }
const thisMonth = (): string => {
  const second = Math.floor(Date.now() / SECOND)
  if (month.second !== second) month = { second, text: periodOf('runs_per_month', second * SECOND) }
  return month.text
}

const titles: Record<QuotaName, string> = {
  runs_per_month: 'executions this month',
  members: 'members',
  storage_bytes: 'bytes of storage',
  records: 'records',
  event_destinations: 'event destinations',
  knowledge_documents: 'documents in knowledge bases',
}

const exceeded = (quota: QuotaName, limit: number) =>
  quotaExceeded(quota, limit, titles[quota], 'Remove something, or change the plan.')

export function makeQuotas({ db, provider }: { db: Database; provider: ProviderName }) {
  const known = makeBelieved<Known>({ forMs: BELIEVED_FOR, max: MAX_KNOWN, now: () => performance.now() })
  const unwritten = makeUnwritten()
  const runsOf = (workspaceId: string): Omit<Spent, 'amount'> => ({
    workspaceId,
    quota: 'runs_per_month',
    period: thisMonth(),
  })

  /** Asked with the connection at hand: taking a second one inside a transaction can leave everybody waiting for everybody. */
  async function learn(workspaceId: string, ask: Ask): Promise<Known> {
    const believed = known.get(workspaceId)
    if (believed) return believed
    const [found] = await ask([workspaceId, provider, thisMonth()])
    return known.set(workspaceId, found ?? { plan_id: null, name: null, quotas: {}, executions: 0 })
  }
  const askIn =
    (tx: Tx): Ask =>
    (values) =>
      tx.rows<Known>(QUOTAS, values)
  /** Starts that come while a workspace is being asked about wait for the same answer. */
  const asked = new Map<string, ReturnType<Ask>>()
  const askAlone: Ask = (values) => {
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

  const used = async (tx: Tx, workspaceId: string, quota: QuotaName): Promise<number> => {
    if (quota === 'members') {
      const row = await tx.row<{ used: number }>(
        `select count(*)::int as used from memberships m where workspace_id = $1 and role <> 'guest'
         and not exists (select from service_accounts s where s.workspace_id = $1 and s.user_id = m.user_id)`,
        [workspaceId],
      )
      return row.used
    }
    if (quota === 'event_destinations') {
      const row = await tx.row<{ used: number }>(
        'select count(*)::int as used from event_destinations where workspace_id = $1',
        [workspaceId],
      )
      return row.used
    }
    if (quota === 'knowledge_documents') {
      const row = await tx.row<{ used: number }>(
        'select count(*)::int as used from knowledge_documents where workspace_id = $1',
        [workspaceId],
      )
      return row.used
    }
    const row = await tx.maybe<{ used: number }>(
      'select used from usage_counters where workspace_id = $1 and quota = $2 and period = $3',
      [workspaceId, quota, periodOf(quota, Date.now())],
    )
    return Math.max(0, row?.used ?? 0)
  }

  const write = async (all: Spent[]): Promise<void> => {
    // Until they are read again, the believed counters include what is being written.
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
  /** What could not be written is tried again with the next. */
  const flush = (): Promise<void> => unwritten.flush(write).catch(() => undefined)
  const timer = setInterval(() => void flush(), FLUSH_EVERY)
  timer.unref()

  return {
    /**
     * Refuses with 403 `quota_exceeded` where `adding` more would pass the plan's quota. Call it in the transaction that makes the
     * resource: where there is a limit it holds a lock until the commit, so that two at once cannot both be the last.
     */
    async check(tx: Tx, workspaceId: string, quota: QuotaName, adding: number): Promise<void> {
      const limit = limitOf((await learn(workspaceId, askIn(tx))).quotas, quota)
      if (limit === undefined || limit === null || adding <= 0) return
      await tx.rows('select pg_advisory_xact_lock(hashtextextended($1, 6))', [`${workspaceId} ${quota}`])
      if (passesLimit(limit, await used(tx, workspaceId, quota), adding)) throw exceeded(quota, limit)
    },

    /** Adds to a counter (or takes away) in the transaction that makes it true. Members count themselves. */
    async add(tx: Tx, workspaceId: string, quota: CountedQuota, amount: number): Promise<void> {
      if (amount === 0) return
      await tx.rows('select add_usage($1::uuid[], $2::text[], $3::text[], $4::bigint[])', [
        [workspaceId],
        [quota],
        [periodOf(quota, Date.now())],
        [amount],
      ])
    },

    /**
     * For starts of executions: checks and counts in memory, written once a second. Over several servers a quota can be passed by
     * what they start within a second. Not inside a transaction.
     */
    async takeExecutions(workspaceId: string, count = 1): Promise<void> {
      const { quotas, executions } = await learn(workspaceId, askAlone)
      const runs = runsOf(workspaceId)
      const limit = quotas.runs_per_month
      if (passesLimit(limit, executions + unwritten.amountOf(runs), count)) throw exceeded('runs_per_month', limit)
      unwritten.add({ ...runs, amount: count })
    },

    /** The quotas of the plan that holds for the workspace. */
    async quotasOf(workspaceId: string): Promise<PlanQuotas> {
      return (await learn(workspaceId, askAlone)).quotas
    },

    /** Processor seconds a minute for code: null without a limit, undefined where the plan does not say. */
    async cpuSecondsPerMinute(workspaceId: string): Promise<number | null | undefined> {
      return (await learn(workspaceId, askAlone)).quotas.cpu_s_per_minute
    },

    /** A start that was counted and did not begin an execution. */
    giveBackExecutions(workspaceId: string, count = 1): void {
      unwritten.add({ ...runsOf(workspaceId), amount: -count })
    },

    /** Refuses a plan that is too small for what the workspace holds. */
    async checkFit(ctx: Context, plan: Plan): Promise<void> {
      const { workspace_id } = ctx.workspace
      await ctx.db.tenant(scopeOf(ctx), async (tx) => {
        for (const quota of [
          'members',
          'storage_bytes',
          'records',
          'event_destinations',
          'knowledge_documents',
        ] as const) {
          const limit = limitOf(plan.quotas as PlanQuotas, quota)
          if (limit === undefined || limit === null) continue
          const now = await used(tx, workspace_id, quota)
          if (passesLimit(limit, now, 0))
            throw problem(
              'quota_exceeded',
              `The plan allows ${limit} ${titles[quota]} (${quota}), and the workspace has ${now}. Remove some first.`,
            )
        }
      })
    },

    /** The plan has changed: this server looks again at once, the others within a second. */
    forget(workspaceId: string): void {
      known.forget(workspaceId)
    },

    async getUsage(ctx: Context) {
      await flush()
      const { workspace_id } = ctx.workspace
      known.forget(workspace_id)
      const { start, end } = monthOf(new Date())
      return ctx.db.tenant(scopeOf(ctx), async (tx) => {
        const { plan_id, name, quotas } = await learn(workspace_id, askIn(tx))
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
    },

    flush,

    async stop(): Promise<void> {
      clearInterval(timer)
      await flush()
    },
  }
}

export type Quotas = ReturnType<typeof makeQuotas>
