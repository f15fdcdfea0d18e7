import { readFileSync } from 'node:fs'

// Measures the delay of this process's event loop and its cause: the process's own work, waiting for a core, or time
// that the hypervisor took from the machine (which no program can prevent).

const STEP = 5
/** One tick of /proc/stat. */
const TICK_MS = 10

export type Late = { late_ms: number; own_ms: number; waited_ms: number; stolen_ms: number }

const scheduled = (): { own: number; waited: number } => {
  try {
    const [own = 0, waited = 0] = readFileSync(`/proc/self/task/${process.pid}/schedstat`, 'utf8')
      .split(' ')
      .map(Number)
    return { own: own / 1e6, waited: waited / 1e6 }
  } catch {
    return { own: 0, waited: 0 }
  }
}

const stolen = (): number => {
  try {
    return Number(readFileSync('/proc/stat', 'utf8').split('\n', 1)[0]?.trim().split(/\s+/)[8] ?? 0) * TICK_MS
  } catch {
    return 0
  }
}

/**
 * Watches until `stop`, which returns the worst moments, the 99th percentile of the delay, and the longest processor
 * time used without yielding. The latter is the same on a machine with other load.
 */
export function watchLoop() {
  const seen: number[] = []
  const worst: Late[] = []
  let busiest = 0
  let at = performance.now()
  let [clock, taken] = [scheduled(), stolen()]
  const timer = setInterval(() => {
    const now = performance.now()
    const late_ms = Math.max(0, now - at - STEP)
    at = now
    seen.push(late_ms)
    const [next, takenNow] = [scheduled(), stolen()]
    busiest = Math.max(busiest, next.own - clock.own)
    worst.push({
      late_ms,
      own_ms: next.own - clock.own,
      waited_ms: next.waited - clock.waited,
      stolen_ms: takenNow - taken,
    })
    if (worst.length > 64) worst.sort((a, b) => b.late_ms - a.late_ms).splice(8)
    ;[clock, taken] = [next, takenNow]
  }, STEP)
  return {
    stop(): { p99_ms: number; busiest_ms: number; worst: Late[] } {
      clearInterval(timer)
      seen.sort((a, b) => a - b)
      worst.sort((a, b) => b.late_ms - a.late_ms).splice(5)
      return { p99_ms: seen[Math.floor(seen.length * 0.99)] ?? 0, busiest_ms: Math.round(busiest), worst }
    },
  }
}

export const describeLate = ({ late_ms, own_ms, waited_ms, stolen_ms }: Late): string =>
  `${late_ms.toFixed(1)} ms (own work ${own_ms.toFixed(1)}, waiting for a core ${waited_ms.toFixed(1)}, stolen from the machine ${stolen_ms})`
