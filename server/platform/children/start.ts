import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { setPriority } from 'node:os'
import { dirname } from 'node:path'
import type { Readable, Writable } from 'node:stream'

export type LimitedChild = ChildProcessByStdio<Writable, Readable, null>

export type ChildLimits = {
  /** Processor seconds after which the kernel ends it, should its parent die while it never ends. */
  cpuSeconds: number
  /** Memory it may write to, JavaScript's and that of libraries; enforced where the system can (Linux). */
  dataMb?: number
  /** How large a file that it writes may become. */
  fileMb?: number
  niceness?: number
}

/**
 * A process of our own that can be killed: its environment is empty, nothing secret is in its arguments, and it is spoken to over
 * its pipes alone. The limits are the kernel's; a system that does not know one of them leaves it out.
 */
export function startLimited(entry: string, nodeFlags: string[], limits: ChildLimits): LimitedChild {
  const data = limits.dataMb === undefined ? '' : `ulimit -d ${limits.dataMb * 1024} 2>/dev/null; `
  // In blocks of 512 bytes, as POSIX has it.
  const file = limits.fileMb === undefined ? '' : `ulimit -f ${limits.fileMb * 2048} 2>/dev/null; `
  const script = `ulimit -c 0; ulimit -t ${limits.cpuSeconds}; ${data}${file}exec "$0" "$@"`
  const child = spawn('/bin/sh', ['-c', script, process.execPath, ...nodeFlags, entry], {
    env: {},
    cwd: dirname(entry),
    stdio: ['pipe', 'pipe', 'ignore'],
  })
  child.stdin.on('error', () => {})
  if (limits.niceness !== undefined && limits.niceness > 0) giveWay(child.pid, limits.niceness)
  child.unref()
  return child
}

/** A child as a pool knows it. */
export type EndableChild = {
  readonly process: LimitedChild
  /** Neither dead nor being ended. */
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

/** For tests: beside other tests a process that gives way would hardly have its turn, and be given up. */
export const keepChildrenEqual = (): void => {
  areEqual = true
}

/** Before it has started its threads, which inherit it. */
function giveWay(pid: number | undefined, niceness: number): void {
  try {
    if (pid !== undefined && !areEqual) setPriority(pid, niceness)
  } catch {
    // Where the system does not allow it, everything runs at the same priority.
  }
}
