import { type ChildProcess, fork } from 'node:child_process'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { DatabaseUrls } from '#platform/db/pool'
import type { BenchDatabase } from '../database.ts'

// The processes of the service: one that serves requests, and workers. Each can be killed, stopped and continued.

export type Role = 'api' | 'worker'
export type Member = { role: Role; base: string; child: ChildProcess; pid: number }

export type Fleet = {
  /** `urls`: database addresses that differ from those of the other processes. */
  start(role: Role, env?: Record<string, string>, urls?: DatabaseUrls): Promise<Member>
  api(): Member
  apis(): Member[]
  workers(): Member[]
  /** Kills the process and waits until it has ended. */
  kill(member: Member): Promise<void>
  /** Asks the process to end, as an update does. Returns the problems of its shutdown. */
  retire(member: Member): Promise<string[]>
  /** Processes that ended unexpectedly. */
  fallen(): string[]
  stop(): Promise<void>
}

export function makeFleet(options: { database: Pick<BenchDatabase, 'urls'>; env: Record<string, string> }): Fleet {
  const members = new Set<Member>()
  const fallen: string[] = []

  const start = (
    role: Role,
    env: Record<string, string> = {},
    urls: DatabaseUrls = options.database.urls,
  ): Promise<Member> => {
    const program = join(import.meta.dirname, '..', 'service.ts')
    const child = fork(program, [JSON.stringify(urls), role], {
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
      // The compile cache of an earlier start halves the time of a start.
      env: { NODE_COMPILE_CACHE: join(tmpdir(), 'heddle-compiled'), ...process.env, ...options.env, ...env },
    })
    let errors = ''
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      errors = (errors + text).slice(-4000)
    })
    return new Promise((resolve, reject) => {
      let member: Member | undefined
      child.once('exit', (code, signal) => {
        if (!member) return reject(new Error(`the ${role} ended with ${code ?? signal} before it was ready: ${errors}`))
        if (members.delete(member)) fallen.push(`a ${role} ended with ${code ?? signal}: ${errors}`)
      })
      child.stdout?.setEncoding('utf8').on('data', (text: string) => {
        const base = /listening (\S+)/.exec(text)?.[1]
        if (!base || member) return
        member = { role, base, child, pid: child.pid as number }
        members.add(member)
        resolve(member)
      })
    })
  }

  const kill = (member: Member): Promise<void> => {
    members.delete(member)
    if (member.child.exitCode !== null || member.child.signalCode !== null) return Promise.resolve()
    return new Promise((resolve) => {
      member.child.once('exit', () => resolve())
      member.child.kill('SIGKILL')
    })
  }

  const retire = (member: Member): Promise<string[]> => {
    members.delete(member)
    return new Promise((resolve) => {
      member.child.once('exit', (code, signal) =>
        resolve(code === 0 ? [] : [`a ${member.role} that was to end ended with ${code ?? signal}`]),
      )
      member.child.kill('SIGTERM')
    })
  }

  return {
    start,
    kill,
    retire,
    apis: () => [...members].filter(({ role }) => role === 'api'),
    api: () => [...members].findLast(({ role }) => role === 'api') as Member,
    workers: () => [...members].filter(({ role }) => role === 'worker'),
    fallen: () => fallen,
    stop: async () => {
      await Promise.all([...members].map(kill))
    },
  }
}
