import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { SECOND } from '#platform/clock'
import { newId } from '#platform/ids'
import type { S3Trouble } from '#test/fakes/s3/server'
import type { CutPoint } from '#test/harness/proxy'
import type { Role } from './fleet.ts'
import { makeNetwork, type Network } from './network.ts'
import { startPeopleLoad } from './people.ts'
import { judge, type Verdict } from './verdict.ts'

// The table of faults: each fault is repeated under a load that involves people, on a network that can fail.

/** Returns the problems that the fault caused. Undefined if the fault did not occur. */
type Fault = (network: Network) => Promise<string[] | undefined>

const cut =
  (role: Role, transaction: RegExp, at: CutPoint['at']): Fault =>
  async (network) => {
    // Strikes the first of the two processes that runs this transaction.
    const struck = await Promise.race([
      ...network.of(role).map(({ proxy }) => proxy.aim({ transaction, at }).then(() => true)),
      delay(5 * SECOND, false, { ref: false }),
    ])
    for (const { proxy } of network.of(role)) proxy.forgetAims()
    return struck ? [] : undefined
  }

const frozen =
  (role: Role, ms: number, direction?: 'toServer' | 'toClient'): Fault =>
  async (network) => {
    const { proxy, member } = network.pick(role)
    proxy.freeze(direction)
    await delay(ms)
    proxy.thaw()
    const back = performance.now()
    for (;;) {
      const { status } = await fetch(`${member.base}/readyz`).catch(() => ({ status: 0 }))
      if (status === 200) return []
      if (performance.now() - back > 10 * SECOND) return [`a ${role} was not ready 10 s after its network was back`]
      await delay(100)
    }
  }

const asSuperuser = async <T>(network: Network, work: (client: pg.Client) => Promise<T>): Promise<T> => {
  const client = new pg.Client({ connectionString: network.superuserUrl })
  client.on('error', () => {})
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}

const terminateStorm: Fault = (network) =>
  asSuperuser(network, async (client) => {
    for (let n = 0; n < 10; n += 1) {
      await client.query(`select pg_terminate_backend(pid) from pg_stat_activity where usename like 'heddle%'`)
      await delay(network.random() * 300)
    }
    return []
  })

const immediateStop: Fault = async ({ database }) => {
  const pid = database.postmaster()
  process.kill(pid, 'SIGQUIT')
  while (database.postmaster() === pid) await delay(25)
  await delay(2 * SECOND)
  return []
}

const exhausted: Fault = async (network) => {
  const held: pg.Client[] = []
  await asSuperuser(network, (client) =>
    client.query(`select pg_terminate_backend(pid) from pg_stat_activity where usename like 'heddle%'`),
  )
  for (let full = false; !full; ) {
    const client = new pg.Client({ connectionString: network.superuserUrl })
    client.on('error', () => {})
    await client.connect().then(
      () => held.push(client),
      () => {
        full = true
      },
    )
  }
  await delay(5 * SECOND)
  await Promise.all(held.map((client) => client.end()))
  await delay(2 * SECOND)
  return []
}

const killed =
  (role: Role): Fault =>
  async (network) => {
    await network.kill(network.pick(role))
    await network.start(role)
    return []
  }

const restart: Fault = async (network) => {
  const complaints: string[] = []
  for (const role of ['api', 'worker'] as const)
    for (const old of network.of(role)) complaints.push(...(await network.replace(old)))
  return complaints
}

const late: Fault = async (network) => {
  for (const { proxy } of [...network.of('api'), ...network.of('worker')]) proxy.delay(40)
  await delay(5 * SECOND)
  for (const { proxy } of [...network.of('api'), ...network.of('worker')]) proxy.delay(0)
  return []
}

const troubled =
  (kind: S3Trouble, ms: number): Fault =>
  async ({ storage }) => {
    storage.trouble(kind)
    await delay(ms)
    storage.trouble(undefined)
    await delay(3 * SECOND)
    return []
  }

const GATE = /insert into approval_requests/
const QUESTION = /insert into questions/
const CHILD = /parent_execution_id|into executions/
const VOTE = /insert into approval_votes/
const ANSWER = /update questions set status = 'answered'/

export const faults: Record<string, Fault> = {
  'gate-confirmed': cut('worker', GATE, 'confirming'),
  'gate-sent': cut('worker', GATE, 'sending'),
  'question-confirmed': cut('worker', QUESTION, 'confirming'),
  'question-sent': cut('worker', QUESTION, 'sending'),
  'child-confirmed': cut('worker', CHILD, 'confirming'),
  'child-sent': cut('worker', CHILD, 'sending'),
  'vote-confirmed': cut('api', VOTE, 'confirming'),
  'vote-sent': cut('api', VOTE, 'sending'),
  'answer-confirmed': cut('api', ANSWER, 'confirming'),
  'answer-sent': cut('api', ANSWER, 'sending'),
  'worker-frozen': frozen('worker', 12 * SECOND),
  'worker-hears-nothing': frozen('worker', 8 * SECOND, 'toClient'),
  'worker-says-nothing': frozen('worker', 8 * SECOND, 'toServer'),
  'api-frozen': frozen('api', 8 * SECOND),
  'worker-killed': killed('worker'),
  'api-killed': killed('api'),
  'terminate-storm': terminateStorm,
  'immediate-stop': immediateStop,
  'connections-exhausted': exhausted,
  'rolling-restart': restart,
  latency: late,
  'storage-full': troubled('full', 5 * SECOND),
  'storage-read-only': troubled('read-only', 5 * SECOND),
  'storage-slow': troubled('slow', 12 * SECOND),
  'storage-gone': troubled('gone', 5 * SECOND),
}

const NEVER = 60 * SECOND

export async function runFaults(plan: {
  seed: number
  /** The minimum duration for which each fault is repeated. */
  secondsEach: number
  only?: string
  callers?: number
  say?(line: string): void
}): Promise<{ verdicts: Verdict[]; violations: string[] }> {
  const verdicts: Verdict[] = []
  const network = await makeNetwork({ seed: plan.seed })
  try {
    for (const [name, fault] of Object.entries(faults)) {
      if (plan.only !== undefined && name !== plan.only) continue
      const begunAt = performance.now()
      const since = newId()
      const load = startPeopleLoad({
        base: network.base,
        key: network.key,
        workflows: network.workflows,
        callers: plan.callers ?? 4,
        restMs: 30,
        seed: `${name}-${plan.seed}`,
        underWay: network.ledger.unfinished,
      })
      const more: string[] = []
      let times = 0
      while (times === 0 || performance.now() - begunAt < plan.secondsEach * SECOND) {
        await delay(network.random() * 300)
        const complaints = await fault(network)
        if (complaints) times += 1
        more.push(...(complaints ?? []))
        if (times === 0 && performance.now() - begunAt > NEVER) {
          more.push('the fault never came to happen')
          break
        }
      }
      const verdict = await judge({ fault: name, begunAt, since, times, load, ledger: network.ledger, more })
      plan.say?.(JSON.stringify(verdict))
      verdicts.push(verdict)
    }
  } finally {
    await network.clear()
  }
  return { verdicts, violations: verdicts.flatMap(({ fault, violations }) => violations.map((v) => `${fault}: ${v}`)) }
}

export const asTable = (verdicts: Verdict[]): string =>
  [
    '| fault | times | seconds | acknowledged | lost | failed for reasons of ours | hung |',
    '|---|---|---|---|---|---|---|',
    ...verdicts.map(
      ({ fault, times, seconds, acknowledged, lost, failed, hung }) =>
        `| ${fault} | ${times} | ${seconds} | ${acknowledged} | ${lost} | ${failed} | ${hung} |`,
    ),
  ].join('\n')
