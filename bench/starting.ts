import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { get } from 'node:http'
import { createServer } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

// Runs a command that starts the service, and measures the time until `/healthz` responds.

export type Started = { ms: number; pid: number; rest(seconds: number): Promise<void>; stop(): Promise<void> }

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1')
  await once(probe, 'listening')
  const { port } = probe.address() as { port: number }
  probe.close()
  return port
}

const answers = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    get({ host: '127.0.0.1', port, path: '/healthz', agent: false }, (answer) => {
      answer.resume()
      resolve(answer.statusCode === 200)
    }).once('error', () => resolve(false))
  })

export async function startAt(
  [command, ...args]: string[],
  { cwd, env }: { cwd: string; env: Record<string, string> },
): Promise<Started> {
  const port = await freePort()
  const began = performance.now()
  const child = spawn(command!, args, {
    cwd,
    env: { PATH: process.env.PATH, HOME: process.env.HOME, PORT: String(port), ...env },
    stdio: 'ignore',
    // A shell or npm between the processes does not pass signals on.
    detached: true,
  })
  const ended = once(child, 'exit')
  while (!(await answers(port))) {
    if (child.exitCode !== null) throw new Error(`${command} ended with ${child.exitCode}`)
    await sleep(2)
  }
  const ms = Math.round(performance.now() - began)
  return {
    ms,
    pid: child.pid!,
    rest: (seconds) => sleep(seconds * 1000),
    async stop() {
      process.kill(-child.pid!, 'SIGINT')
      await ended
      while (await answers(port)) await sleep(20)
    },
  }
}

export const residentMb = (pid: number): number =>
  Math.round(Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]) / 1024)

/**
 * Returns the memory of a process and its child processes, with each shared page counted once. Undefined if the system
 * does not report it.
 */
export function pssMb(pid: number): number | undefined {
  try {
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').filter(Boolean)
    const kilobytes = [pid, ...children].map((one) =>
      Number(/^Pss:\s+(\d+)/m.exec(readFileSync(`/proc/${one}/smaps_rollup`, 'utf8'))![1]),
    )
    return Math.round(kilobytes.reduce((sum, value) => sum + value, 0) / 1024)
  } catch {
    return undefined
  }
}
