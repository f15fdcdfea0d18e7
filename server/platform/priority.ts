import { readdirSync, readFileSync } from 'node:fs'
import { constants, getPriority, setPriority } from 'node:os'

// Linux has a priority per thread. Node.js starts four threads ("V8Worker") that collect garbage and compile.

const WORKER = 'V8Worker'
/**
 * Added to the niceness of the program. Under five times the load from 8,000 connections, the slowest of a hundred
 * health answers took 98–176 ms at the normal priority, 49–84 ms with 5 and 52–65 ms with 10. The lower the priority,
 * the longer a pause of the event loop for a collection can be while the database uses the other core, so the lowest
 * (19) is not used.
 */
const WORKER_NICENESS = 10

const nameOf = (thread: number): string => readFileSync(`/proc/self/task/${thread}/comm`, 'utf8').trimEnd()

/**
 * Lowers the priority of the threads of this process. Threads that V8 started before the call do not inherit the
 * priority of the process, so each is set. Later threads inherit it from the thread that starts them.
 */
export function lowerThreads(niceness: number, isMeant = (_thread: number): boolean => true): void {
  let threads = [0]
  try {
    threads = readdirSync('/proc/self/task').map(Number)
  } catch {
    // not Linux: the process has a single priority
  }
  for (const thread of threads)
    try {
      if (isMeant(thread)) setPriority(thread, niceness)
    } catch {
      // the thread has ended, or changing its priority is not allowed
    }
}

/**
 * Gives the event loop precedence over V8's own threads. With equal priorities, the four threads that mark the heap and
 * the event loop share the cores equally: on two cores the event loop got 39 of 125 ms while a heap with 8,000
 * connections was marked (docs/decisions/memory.md).
 */
export function preferEventLoop(): void {
  const niceness = Math.min(constants.priority.PRIORITY_LOW, getPriority() + WORKER_NICENESS)
  lowerThreads(niceness, (thread) => nameOf(thread) === WORKER)
}
