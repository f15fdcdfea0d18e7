import { setFlagsFromString } from 'node:v8'
import { SECOND } from './clock.ts'

// V8 decides by the memory of the machine how much it holds, not by how much the program needs (docs/decisions/memory.md).

/**
 * V8 lets the heap grow to about four times what is alive before it collects all of it, because the machine has the memory:
 * a job over 100,000 records held 597 MB, of which 65 MB were alive. A start only grows, so it is called after it.
 */
export const keepHeapSmall = (): void => {
  setFlagsFromString('--heap-growing-percent=50')
  setFlagsFromString('--gc-memory-reducer-start-delay-ms=3000')
}

const LOOK_EVERY = 2 * SECOND
/** Of one processor. */
const BUSY = 0.2

/**
 * A program that rests makes too little garbage for V8 to collect it, and keeps what its start or its last work took. While it rests, V8 is
 * told to prefer memory over speed: it collects once in small steps, and shrinks the young generation. Work ends that.
 */
export function giveBackWhenResting(): void {
  let resting = false
  let before = process.cpuUsage()
  const look = (): void => {
    const { user, system } = process.cpuUsage(before)
    before = process.cpuUsage()
    const isResting = user + system < BUSY * LOOK_EVERY * 1000
    if (isResting === resting) return
    resting = isResting
    setFlagsFromString(resting ? '--optimize-for-size' : '--no-optimize-for-size')
  }
  setInterval(look, LOOK_EVERY).unref()
}
