import { setTimeout as delay } from 'node:timers/promises'
import type { BenchDatabase } from '../database.ts'
import type { Effects } from './effects.ts'
import type { Fleet, Member } from './fleet.ts'
import type { Ledger } from './ledger.ts'
import type { Load } from './load.ts'

// The faults of machines. Each fault returns the time until work continued.

export type FaultContext = {
  database: BenchDatabase
  fleet: Fleet
  ledger: Ledger
  load: Load
  effects: Effects
  random(): number
}

const LOOK_MS = 25

/** Waits until live workers have taken over all executions of the dead workers, and returns the time since `since`. */
const takenOver = async ({ ledger }: FaultContext, held: string[], dead: string[], since: number): Promise<number> => {
  while ((await ledger.left(held, dead)) > 0) await delay(LOOK_MS)
  return performance.now() - since
}

const killWorker = async (
  stage: FaultContext,
  victim: Member,
): Promise<{ dead: string[]; held: string[]; at: number }> => {
  await stage.fleet.kill(victim)
  const at = performance.now()
  const dead = (await stage.ledger.namesOf(victim.pid)).map(({ worker_id }) => worker_id)
  return { dead, held: await stage.ledger.ownedBy(dead), at }
}

export type Takeover = { held: number; ms: number }

/** Kills one of two workers; the other takes over while a new worker starts. */
export async function killOneOfTwo(stage: FaultContext): Promise<Takeover> {
  const workers = stage.fleet.workers()
  const victim = workers[Math.floor(stage.random() * workers.length)]!
  const { dead, held, at } = await killWorker(stage, victim)
  const replaced = stage.fleet.start('worker')
  const ms = await takenOver(stage, held, dead, at)
  await replaced
  return { held: held.length, ms }
}

/** Kills all workers. The time counts from the moment a new worker is available. */
export async function killTheOnlyOne(stage: FaultContext): Promise<Takeover> {
  const [survivor, ...others] = stage.fleet.workers()
  for (const other of others) await stage.fleet.kill(other)
  const { dead, held } = await killWorker(stage, survivor!)
  for (const other of others) dead.push(...(await stage.ledger.namesOf(other.pid)).map(({ worker_id }) => worker_id))
  const all = [...new Set([...held, ...(await stage.ledger.ownedBy(dead))])]
  const [first, second] = [stage.fleet.start('worker'), stage.fleet.start('worker')]
  await Promise.race([first, second])
  const ms = await takenOver(stage, all, dead, performance.now())
  await Promise.all([first, second])
  return { held: all.length, ms }
}

/** Kills the process that serves requests after a replacement has started; callers repeat unacknowledged requests. */
export async function killServer(stage: FaultContext): Promise<void> {
  const victim = stage.fleet.api()
  await stage.fleet.start('api')
  await stage.fleet.kill(victim)
}

/**
 * Stops a worker in the middle of its nodes until it is declared dead, and continues it after others have done its
 * work. Its later writes must have no effect.
 */
export async function stopUntilDead(stage: FaultContext): Promise<{ held: number; violations: string[] }> {
  const { fleet, ledger, load, effects } = stage
  const [victim] = fleet.workers()
  const letGo = effects.hold()
  while (effects.held() < 8) await delay(LOOK_MS)
  let held: string[] = []
  // The names are read again: after a fault of the database, the worker continues under a new name.
  while (held.length === 0) {
    const names = await ledger.namesOf(victim!.pid)
    held = await ledger.ownedBy(names.map(({ worker_id }) => worker_id))
  }
  victim!.child.kill('SIGSTOP')
  load.pause(true)
  letGo()
  while ((await ledger.namesOf(victim!.pid)).some(({ dead }) => !dead)) await delay(LOOK_MS)
  const left = await ledger.settled(60_000)
  if (left > 0) return { held: held.length, violations: [`${left} executions did not end while a worker was stopped`] }
  const print = await ledger.print()
  victim!.child.kill('SIGCONT')
  // The worker discovers that it was declared dead, and continues under a new name.
  while (!(await ledger.namesOf(victim!.pid)).some(({ dead }) => !dead)) await delay(LOOK_MS)
  await delay(500)
  const same = (await ledger.print()) === print
  load.pause(false)
  return { held: held.length, violations: same ? [] : ['a worker that was declared dead has written something'] }
}

/** Kills the database server abruptly; its supervisor restarts it. Returns the time until a start is acknowledged. */
export async function killDatabase(stage: FaultContext): Promise<{ down_ms: number; back_ms: number }> {
  const at = performance.now()
  const pid = stage.database.postmaster()
  process.kill(pid, 'SIGKILL')
  while (stage.database.postmaster() === pid) await delay(LOOK_MS)
  const up = performance.now()
  while (stage.load.lastAcknowledgedAt() < up) await delay(LOOK_MS)
  return { down_ms: Math.round(up - at), back_ms: Math.round(performance.now() - up) }
}
