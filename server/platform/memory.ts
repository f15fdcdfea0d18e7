import { setFlagsFromString } from 'node:v8'
import { SECOND } from './clock.ts'

// V8 bases its memory use on the memory of the machine, not on what the program needs (docs/decisions/memory.md).

/**
 * V8 lets the heap grow to about four times the live data before a full collection, because the machine has the memory:
 * a job over 100,000 records used 597 MB, of which 65 MB were live. Memory only grows during startup, so this is called
 * afterwards.
 */
export const keepHeapSmall = (): void => {
  setFlagsFromString('--heap-growing-percent=50')
  setFlagsFromString('--gc-memory-reducer-start-delay-ms=3000')
}

const CHECK_EVERY = 2 * SECOND
/** The share of one core above which the program counts as busy. */
const BUSY = 0.2

/**
 * An idle program creates too little garbage for V8 to collect it, and keeps the memory of its start or its last work.
 * While the program is idle, V8 is told to prefer memory over speed: it collects once in small steps, and shrinks the
 * young generation. Work ends this mode.
 */
export function freeMemoryWhenIdle(): void {
  let idle = false
  let before = process.cpuUsage()
  const check = (): void => {
    const { user, system } = process.cpuUsage(before)
    before = process.cpuUsage()
    const isIdle = user + system < BUSY * CHECK_EVERY * 1000
    if (isIdle === idle) return
    idle = isIdle
    setFlagsFromString(idle ? '--optimize-for-size' : '--no-optimize-for-size')
  }
  setInterval(check, CHECK_EVERY).unref()
}
