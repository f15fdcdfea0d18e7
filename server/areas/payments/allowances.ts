import { MINUTE, SECOND } from '#platform/clock'
import type { Database } from '#platform/db/pool'
import type { Logger } from '#platform/log'
import {
  makeExpiringCache,
  makeUnwrittenUsage,
  passesLimit,
  periodOf,
  periodsAt,
  quotaExceeded,
  refuseSuspended,
  type Spent,
} from './counting.ts'
import {
  CPU_COUNTER,
  type Quotas as PlanQuotas,
  type ResourceCounter,
  type ResourceQuota,
  resourceQuotas,
} from './plan-schema.ts'
import { addUsage } from './usage-store.ts'

// How much of the operator's resources a workspace may use within a minute, a day or a month. Usage is counted in
// memory and written once a second, many workspaces in one statement, so that no row is hot. With several processes, a
// workspace can exceed a quota by what the processes spend within two seconds; tokens of a language model also by the
// calls in progress.

const CACHED_FOR = 1 * SECOND
const FLUSH_EVERY = 1 * SECOND
const PRUNE_EVERY = 10 * MINUTE
const MAX_KNOWN = 10_000

/**
 * The limits if a plan does not set one: enough for a busy workspace, too little to do harm. Null in a plan means
 * unlimited.
 */
const defaultResourceQuotas: Record<ResourceQuota, number | null> = {
  mails_per_minute: 60,
  outside_recipients_per_day: 100,
  model_tokens_per_minute: 500_000,
  model_tokens_per_month: null,
  speech_characters_per_minute: 20_000,
  transcription_s_per_minute: 1_800,
  outgoing_requests_per_minute: 6_000,
}

const LISTENING = 'transcription_s_per_minute'

const resourceTitles: Record<ResourceQuota, string> = {
  mails_per_minute: 'mails a minute',
  outside_recipients_per_day: 'recipients outside the workspace a day until an operator trusts it',
  model_tokens_per_minute: 'tokens of the language model a minute',
  model_tokens_per_month: 'tokens of the language model a month',
  speech_characters_per_minute: 'spoken characters a minute',
  transcription_s_per_minute: 'seconds of transcribed audio a minute',
  outgoing_requests_per_minute: 'outgoing requests a minute',
}

type Period = 'minute' | 'day' | 'month'
const periodIn = (quota: ResourceQuota): Period =>
  quota.endsWith('_minute') ? 'minute' : quota.endsWith('_day') ? 'day' : 'month'

export const resourceQuotaExceeded = (quota: ResourceQuota, limit: number) =>
  quotaExceeded(quota, limit, resourceTitles[quota], 'Wait, or ask for another plan.')

export type AllowanceOptions = {
  db: Database
  log: Logger
  quotasOf(workspaceId: string): Promise<PlanQuotas & { suspended?: string }>
  /** The processor seconds of code per minute if the plan does not set them. */
  cpuSecondsPerMinute: number
  now?: () => number
}

export function makeAllowances({ db, log, quotasOf, cpuSecondsPerMinute, now = Date.now }: AllowanceOptions) {
  const known = makeExpiringCache<Map<string, number>>({
    forMs: CACHED_FOR,
    max: MAX_KNOWN,
    now: () => performance.now(),
  })
  const unwritten = makeUnwrittenUsage()
  /** Incremented when a write starts and when it ends, so it is even while no write is in progress. */
  let writes = 0
  let pruned = performance.now()

  /** Reads the counters. A result read during a write may lack the written amounts, so the read is repeated. */
  async function learn(workspaceId: string): Promise<Map<string, number>> {
    for (;;) {
      const believed = known.get(workspaceId)
      if (believed) return believed
      const before = writes
      const { rows } = await db.appPool.query<{ quota: string; used: number }>({
        name: 'usage_of',
        text: 'select quota, used from usage_of($1, $2)',
        values: [workspaceId, periodsAt(now())],
      })
      if (writes === before && writes % 2 === 0)
        return known.get(workspaceId) ?? known.set(workspaceId, new Map(rows.map(({ quota, used }) => [quota, used])))
    }
  }

  const here = (workspaceId: string, quota: ResourceCounter): Omit<Spent, 'amount'> => ({
    workspaceId,
    quota,
    period: periodOf(quota, now()),
  })

  const usedOf = (learnt: Map<string, number>, workspaceId: string, quota: ResourceCounter): number =>
    (learnt.get(quota) ?? 0) + unwritten.amountOf(here(workspaceId, quota))
  const usedNow = async (workspaceId: string, quota: ResourceCounter): Promise<number> =>
    usedOf(await learn(workspaceId), workspaceId, quota)

  const limitOf = async (workspaceId: string, quota: ResourceQuota): Promise<number | null> => {
    const limit = (await quotasOf(workspaceId))[quota]
    return limit === undefined ? defaultResourceQuotas[quota] : limit
  }

  const add = (workspaceId: string, quota: ResourceCounter, amount: number): void => {
    if (amount > 0) unwritten.add({ ...here(workspaceId, quota), amount: Math.ceil(amount) })
  }

  const write = async (all: Spent[]): Promise<void> => {
    // Until the cached counters are read again, they include the amounts being written.
    for (const { workspaceId, quota, amount } of all) {
      const used = known.peek(workspaceId)
      used?.set(quota, (used.get(quota) ?? 0) + amount)
    }
    writes += 1
    try {
      await addUsage(db, all)
    } catch (error) {
      log.debug({ err: error }, 'usage could not be stored; it is tried again')
      for (const { workspaceId } of all) known.forget(workspaceId)
      throw error
    } finally {
      writes += 1
    }
  }
  const flush = (): Promise<void> => unwritten.flush(write).catch(() => undefined)

  const tick = async (): Promise<void> => {
    await flush()
    if (performance.now() - pruned < PRUNE_EVERY) return
    pruned = performance.now()
    await db.appPool.query('select prune_usage()').catch((error: unknown) => log.debug({ err: error }, 'not pruned'))
  }
  const timer = setInterval(() => void tick(), FLUSH_EVERY)
  timer.unref()

  return {
    limitOf,
    usedNow,
    add,

    /**
     * Refuses if `amount` more would exceed the quota, and otherwise counts the amount. Do not call it inside a
     * transaction.
     */
    async spend(workspaceId: string, quota: ResourceQuota, amount = 1): Promise<void> {
      refuseSuspended(await quotasOf(workspaceId))
      const limit = await limitOf(workspaceId, quota)
      const learnt = limit === null ? undefined : await learn(workspaceId)
      // No await from here: of two concurrent calls, the second sees what the first has spent.
      if (learnt && passesLimit(limit, usedOf(learnt, workspaceId, quota), amount))
        throw resourceQuotaExceeded(quota, limit!)
      add(workspaceId, quota, amount)
    },

    /** Refuses if nothing is left of the quota. For amounts that are known only afterwards. */
    async check(workspaceId: string, quota: ResourceQuota): Promise<void> {
      refuseSuspended(await quotasOf(workspaceId))
      const limit = await limitOf(workspaceId, quota)
      if (limit !== null && (await usedNow(workspaceId, quota)) >= limit) throw resourceQuotaExceeded(quota, limit)
    },

    /** Returns every quota of a workspace with its usage, for display. */
    async list(workspaceId: string) {
      const cpu = (await quotasOf(workspaceId)).cpu_s_per_minute
      const counted = await Promise.all(
        resourceQuotas.map(async (quota) => ({
          quota,
          used: await usedNow(workspaceId, quota),
          limit: await limitOf(workspaceId, quota),
          period: periodIn(quota),
        })),
      )
      const cpuUsed = {
        quota: 'cpu_s_per_minute' as const,
        used: (await usedNow(workspaceId, CPU_COUNTER)) / SECOND,
        limit: cpu === undefined ? cpuSecondsPerMinute : cpu,
        period: 'minute' as const,
      }
      return [...counted, cpuUsed]
    },

    flush,
    async stop(): Promise<void> {
      clearInterval(timer)
      await flush()
    },
  }
}

export type Allowances = ReturnType<typeof makeAllowances>

/**
 * Counts the duration of a clip before its transcription, so that clips at the same time do not exceed the quota. A clip
 * that is longer than the whole quota needs all of it. A transcription that fails is counted, too.
 */
export async function countListening<T>(
  allowances: Allowances,
  workspaceId: string,
  { inspect, listen }: { inspect(): Promise<{ duration_s: number }>; listen(): Promise<T> },
): Promise<T> {
  await allowances.check(workspaceId, LISTENING)
  const { duration_s } = await inspect()
  const limit = (await allowances.limitOf(workspaceId, LISTENING)) ?? Number.POSITIVE_INFINITY
  await allowances.spend(workspaceId, LISTENING, Math.min(Math.ceil(duration_s), limit))
  return listen()
}
