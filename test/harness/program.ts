import { type ChildProcess, spawn } from 'node:child_process'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { Service } from './service.ts'

// Runs the real program in a separate process.

export type Program = {
  readonly child: ChildProcess
  /** The address in the ready line. Rejects with the standard error of the program if the program ends before. */
  readonly ready: Promise<string>
  readonly ended: Promise<{ code: number | null; signal: NodeJS.Signals | null; errors: string }>
  output(): string
  /** Returns the standard error so far, including the log. */
  errors(): string
  stop(signal?: NodeJS.Signals): Promise<{ code: number | null; signal: NodeJS.Signals | null }>
}

const MAIN = join(import.meta.dirname, '..', '..', 'server', 'main.mjs')

export function startProgram(env: Record<string, string>, args: string[] = [], entry = MAIN): Program {
  const child = spawn(process.execPath, [entry, ...args], {
    env: { PATH: process.env.PATH, PORT: '0', HEDDLE_DRAIN_S: '0', HEDDLE_PROCESSES: '1', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  let errors = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    errors += text
  })
  const ended = new Promise<Awaited<Program['ended']>>((resolve) => {
    child.once('close', (code, signal) => resolve({ code, signal, errors }))
  })
  const ready = new Promise<string>((resolve, reject) => {
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      output += text
      const line = /^heddle ready on (http:\S+)$/m.exec(output)
      if (line) resolve(line[1]!)
    })
    void ended.then(() => reject(new Error(`the program ended before it was ready: ${errors}`)))
  })
  ready.catch(() => {})
  return {
    child,
    ready,
    ended,
    output: () => output,
    errors: () => errors,
    async stop(signal = 'SIGTERM') {
      child.kill(signal)
      return ended
    },
  }
}

/**
 * Lets a service of the test connect again to the database of a program. The program allows only its own roles to
 * connect, so the service would keep its open connections but could not open another.
 */
export const allowServiceConnections = async ({ sql, database }: Pick<Service, 'sql' | 'database'>): Promise<void> =>
  void (await sql(`grant connect on database ${database.name} to public`))

/** Waits for a state of another process, which sends no event. The timeout of the test ends the wait. */
export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await condition())) await delay(10)
}
