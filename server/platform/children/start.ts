import { type ChildProcess, type ChildProcessByStdio, spawn } from 'node:child_process'
import { createRequire } from 'node:module'
import { setPriority } from 'node:os'
import { dirname, join } from 'node:path'
import type { Readable, Writable } from 'node:stream'

export type LimitedChild = ChildProcessByStdio<Writable, Readable, null>

export type ChildLimits = {
  /** CPU seconds after which the kernel kills the child. Needed if the parent dies and the child never ends. */
  cpuSeconds: number
  /**
   * Memory in MB that the child may write to, for JavaScript and for libraries. Enforced only where the system can
   * (Linux).
   */
  dataMb?: number
  /** The maximum size of a file that the child writes, in MB. */
  fileMb?: number
  niceness?: number
}

const require = createRequire(import.meta.url)
const root = join(import.meta.dirname, '../../..')

/**
 * Returns flags of Node.js for a process that can read only the code of the program and its libraries: not the data
 * directory and no other files. It cannot write files, start processes or threads, or load addons, unless `more` allows
 * it.
 */
export function readOnlyFlags({ heapMb, more }: { heapMb: number; more: string[] }): string[] {
  const libraries = dirname(dirname(require.resolve('pg/package.json')))
  const readable = [join(root, 'server'), join(root, 'model'), join(root, 'package.json'), libraries]
  return [
    '--permission',
    ...readable.map((path) => `--allow-fs-read=${path}`),
    ...more,
    '--no-warnings',
    `--max-old-space-size=${heapMb}`,
  ]
}

/**
 * Throws if this process has too many open files for the pipes of the child. Node.js then starts nothing, creates no
 * streams, and reports the error later: without a listener, the error would end this process.
 */
export function requireStarted<Child extends ChildProcess>(child: Child): Child {
  if ((child.stdio as Child['stdio'] | undefined) !== undefined) return child
  child.on('error', () => {})
  throw new Error('no process can be started, because this process has too many open files')
}

/**
 * Starts a process of our own that can be killed. Its environment is empty, its arguments contain no secrets, and the
 * parent talks to it only over its pipes. The kernel enforces the limits; a system that does not support one of them
 * ignores it.
 */
export function startLimited(entry: string, nodeFlags: string[], limits: ChildLimits): LimitedChild {
  const data = limits.dataMb === undefined ? '' : `ulimit -d ${limits.dataMb * 1024} 2>/dev/null; `
  // POSIX defines the unit as blocks of 512 bytes.
  const file = limits.fileMb === undefined ? '' : `ulimit -f ${limits.fileMb * 2048} 2>/dev/null; `
  const script = `ulimit -c 0; ulimit -t ${limits.cpuSeconds}; ${data}${file}exec "$0" "$@"`
  const child = requireStarted(
    spawn('/bin/sh', ['-c', script, process.execPath, ...nodeFlags, entry], {
      env: {},
      cwd: dirname(entry),
      stdio: ['pipe', 'pipe', 'ignore'],
    }),
  )
  child.stdin.on('error', () => {})
  if (limits.niceness !== undefined && limits.niceness > 0) giveWay(child.pid, limits.niceness)
  child.unref()
  return child
}

/** A child as a pool sees it. */
export type EndableChild = {
  readonly process: LimitedChild
  /** False once the process has ended. */
  readonly usable: boolean
  end(): void
  onEnd(listener: () => void): void
}

export function endable(process: LimitedChild): EndableChild {
  let gone = false
  const listeners: (() => void)[] = []
  const over = (): void => {
    gone = true
    for (const listener of listeners.splice(0)) listener()
  }
  process.once('error', over)
  process.once('close', over)
  return {
    process,
    get usable() {
      return !gone
    },
    end() {
      process.ref()
      process.kill('SIGKILL')
    },
    onEnd: (listener) => void (gone ? listener() : listeners.push(listener)),
  }
}

let areEqual = false

/**
 * For tests: next to other tests, a process with a lower priority would get too little CPU time and would be given up.
 */
export const useNormalPriority = (): void => {
  areEqual = true
}

/** Lowers the priority before the process has started its threads, which inherit the priority. */
function giveWay(pid: number | undefined, niceness: number): void {
  try {
    if (pid !== undefined && !areEqual) setPriority(pid, niceness)
  } catch {
    // If the system does not allow this, the child runs at the normal priority.
  }
}
