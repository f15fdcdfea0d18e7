import { fork } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'

// Measures a service from outside during a benchmark: its response time and its use of the machine.

if (import.meta.main) await pollHealth(process.argv[2]!)

/** Requests the health status ten times a second from a separate process. Returns the time of each response in ms. */
export function watchHealth(base: string): { stop(): Promise<number[]> } {
  const child = fork(import.meta.filename, [base])
  const took = new Promise<number[]>((resolve, reject) => {
    child.once('message', (message) => resolve(message as number[]))
    child.once('error', reject)
  })
  return {
    stop() {
      child.send('stop')
      return took
    },
  }
}

async function pollHealth(base: string): Promise<void> {
  const took: number[] = []
  let going = true
  process.once('message', () => {
    going = false
  })
  while (going) {
    const from = performance.now()
    await fetch(new URL('/healthz', base)).then((answer) => answer.arrayBuffer())
    took.push(performance.now() - from)
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  // The first request is left out, because it includes the connection.
  process.send!(took.slice(1))
  process.disconnect()
}

/** Returns the current and the maximum memory of a process in megabytes. */
export function memoryOf(pid: number | undefined): { now: number; peak: number } {
  const path = `/proc/${pid}/status`
  if (!existsSync(path)) return { now: Number.NaN, peak: Number.NaN }
  const status = readFileSync(path, 'utf8')
  const megabytes = (name: string): number =>
    Math.round(Number(new RegExp(`${name}:\\s+(\\d+)`).exec(status)?.[1]) / 1024)
  return { now: megabytes('VmRSS'), peak: megabytes('VmHWM') }
}

/** Resets the maximum memory, so that it covers only what follows. */
export function resetPeak(pid: number | undefined): void {
  writeFileSync(`/proc/${pid}/clear_refs`, '5')
}
