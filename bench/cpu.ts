import { readdirSync, readFileSync } from 'node:fs'

// Measures processor time, user and system together. Unlike executions per second, it is the same on a machine with
// other load.

const MS_PER_TICK = 10 // 100 clock ticks per second

type Process = { parent: number; ms: number; ended: number }

const processes = (): Map<number, Process> => {
  const found = new Map<number, Process>()
  for (const entry of readdirSync('/proc')) {
    if (!/^\d+$/.test(entry)) continue
    try {
      const text = readFileSync(`/proc/${entry}/stat`, 'utf8')
      const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
      const used = (at: number): number => (Number(fields[at]) + Number(fields[at + 1])) * MS_PER_TICK
      found.set(Number(entry), { parent: Number(fields[1]), ms: used(11), ended: used(13) })
    } catch {
      // The process has ended in the meantime.
    }
  }
  return found
}

/**
 * Returns the processor time of a process and its child processes in milliseconds, including children that have ended.
 */
export const cpuMs = (pid: number): number => {
  let sum = 0
  for (const [id, { parent, ms, ended }] of processes()) {
    if (id === pid) sum += ms + ended
    else if (parent === pid) sum += ms
  }
  return sum
}

type Ticks = { all: number; stolen: number }

/**
 * Returns the processor time since boot, and the part that the host gave to other machines. Latency figures are valid
 * only if that part is small.
 */
export function machineTicks(): Ticks {
  const [, ...fields] = readFileSync('/proc/stat', 'utf8').split('\n', 1)[0]!.split(/\s+/)
  return { all: fields.slice(0, 8).reduce((sum, field) => sum + Number(field), 0), stolen: Number(fields[7]) }
}

/** Returns the percentage of the processor time since `before` that the host gave to other machines. */
export function stolenSince(before: Ticks): number {
  const now = machineTicks()
  return Number((((now.stolen - before.stolen) / (now.all - before.all)) * 100).toFixed(1))
}
