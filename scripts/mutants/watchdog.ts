import { workerData } from 'node:worker_threads'

// A thread beside the tests, because a mutant that loops forever blocks the thread of the tests. It measures processor
// time instead of elapsed time, so that a loaded machine does not change the result.

const LOOK_EVERY_MS = 250
/** The processor time in milliseconds at which the process ends itself; 0 while it is idle. */
const limit = workerData as BigInt64Array

setInterval(() => {
  const { user, system } = process.cpuUsage()
  const allowed = Number(Atomics.load(limit, 0))
  if (allowed > 0 && (user + system) / 1_000 > allowed) process.kill(process.pid, 'SIGKILL')
}, LOOK_EVERY_MS)
