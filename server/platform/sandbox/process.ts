// A sandbox process, as its parent sees it.

import type { ChildProcess } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { startLimited } from '#platform/children/start'
import { encodeFrame, type Frame, makeFrameReader, type SandboxReply, type SandboxRequest } from './frames.ts'

export type SandboxProcess = {
  /** Resolves with the reply. Rejects with `Ended` if the process dies or is killed first. Only one call at a time. */
  call(request: SandboxRequest, inputText: string, wallMs: number): Promise<Frame<SandboxReply>>
  ready: Promise<void>
  /** False if the process is dead or being killed. */
  readonly usable: boolean
  readonly calls: number
  /** The time spent in calls so far: an upper limit of the CPU time used. */
  readonly busyMs: number
  /** The CPU time of the calls so far. If the system does not report it, the time they took. */
  readonly cpuMs: number
  end(): void
  onEnd(listener: () => void): void
}

export class Ended extends Error {
  readonly reason: 'time' | 'died'

  constructor(reason: 'time' | 'died') {
    super(reason)
    this.reason = reason
  }
}

const MAX_REPLY = 14 * 1024 * 1024
const HEAP_MB = 192
/** CPU seconds after which the kernel kills the process. Needed if the parent dies and an expression never ends. */
const CPU_SECONDS = 600

const require = createRequire(import.meta.url)
const directoryOf = (name: string): string => dirname(require.resolve(`${name}/package.json`))

const ROOT = join(import.meta.dirname, '..', '..', '..')
/** The place of nested libraries of an installed package. Looking for files there must not be refused. */
const NESTED = join(ROOT, 'node_modules')

/**
 * The program's own files that the process uses: this folder, and the source checker in `model`, which is imported by a
 * name that package.json defines.
 */
const OWN = [import.meta.dirname, join(ROOT, 'model'), join(ROOT, 'package.json')]

/** Returns the paths that the process may read: its own code and the libraries it uses. */
function readable(): string[] {
  const emscripten = dirname(dirname(require.resolve('quickjs-emscripten')))
  const modules = dirname(emscripten)
  const libraries = [
    directoryOf('acorn'),
    directoryOf('jsonata'),
    emscripten,
    join(modules, 'quickjs-emscripten-core'),
    join(modules, '@jitl'),
    ...['acorn', 'jsonata', 'quickjs-emscripten', 'quickjs-emscripten-core', '@jitl'].map((name) => join(NESTED, name)),
  ]
  return [...OWN, ...new Set(libraries)]
}

/** Tenant text can neither become code, nor read files, nor start programs or threads. The environment is empty. */
export const nodeFlags = (): string[] => [
  '--permission',
  ...readable().map((path) => `--allow-fs-read=${path}`),
  '--disallow-code-generation-from-strings',
  '--disable-proto=delete',
  '--no-warnings',
  `--max-old-space-size=${HEAP_MB}`,
  '--stack-size=800',
]

export function startProcess({ niceness = 0 }: { niceness?: number } = {}): SandboxProcess {
  const entry = join(import.meta.dirname, 'inside-main.ts')
  const child = startLimited(entry, nodeFlags(), { cpuSeconds: CPU_SECONDS, niceness })
  let calls = 0
  let busyMs = 0
  let usedMs = 0
  let pending: { resolve(frame: Frame<SandboxReply>): void; reject(error: Error): void } | undefined
  let endedFor: 'time' | 'died' | undefined
  let gone = false
  const listeners: (() => void)[] = []
  const { promise: ready, resolve: isReady, reject: neverReady } = Promise.withResolvers<void>()
  ready.catch(() => {})

  const ended = (): void => {
    endedFor ??= 'died'
    gone = true
    neverReady(new Ended(endedFor))
    pending?.reject(new Ended(endedFor))
    pending = undefined
    for (const listener of listeners.splice(0)) listener()
  }
  const kill = (reason: 'time' | 'died'): void => {
    endedFor ??= reason
    child.ref()
    child.kill('SIGKILL')
  }
  const read = makeFrameReader<SandboxReply>(MAX_REPLY, (frame) => {
    if (frame.body === 'ready' && calls === 0) isReady()
    else {
      pending?.resolve(frame)
      pending = undefined
    }
  })
  child.stdout.on('data', (chunk: Buffer) => {
    try {
      read(chunk)
    } catch {
      kill('died')
    }
  })
  child.once('error', ended)
  child.once('exit', ended)

  return {
    ready,
    get usable() {
      return endedFor === undefined
    },
    get calls() {
      return calls
    },
    get busyMs() {
      return busyMs
    },
    get cpuMs() {
      return usedMs
    },
    async call(request, inputText, wallMs) {
      if (endedFor) throw new Ended(endedFor)
      calls += 1
      const startedAt = performance.now()
      const cpuBefore = cpuMs(child.pid)
      const reply = Promise.withResolvers<Frame<SandboxReply>>()
      pending = reply
      const stop = keepTime(child, wallMs, () => kill('time'))
      child.stdin.write(encodeFrame(request, inputText))
      try {
        return await reply.promise
      } finally {
        stop()
        const took = performance.now() - startedAt
        busyMs += took
        // A killed process no longer reports its CPU time.
        const cpuAfter = cpuBefore === undefined ? undefined : cpuMs(child.pid)
        usedMs += cpuBefore === undefined || cpuAfter === undefined ? took : cpuAfter - cpuBefore
      }
    },
    end: () => kill('died'),
    onEnd: (listener) => {
      if (gone) listener()
      else listeners.push(listener)
    },
  }
}

/** Ends the call after `wallMs`, or up to twelve times that if the machine was too busy to give it the CPU. */
function keepTime(child: ChildProcess, wallMs: number, expire: () => void): () => void {
  const before = cpuMs(child.pid)
  let extensions = 11
  let timer = setTimeout(check, wallMs)
  function check(): void {
    const used = cpuMs(child.pid)
    if (extensions === 0 || before === undefined || used === undefined || used - before >= wallMs * 0.6) {
      expire()
      return
    }
    extensions -= 1
    timer = setTimeout(check, wallMs)
  }
  return () => clearTimeout(timer)
}

/** Returns the CPU time of a process, if the system reports it (Linux, in ticks of 10 ms). */
function cpuMs(pid: number | undefined): number | undefined {
  if (pid === undefined || process.platform !== 'linux') return undefined
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ')
    return (Number(fields?.[11]) + Number(fields?.[12])) * 10
  } catch {
    return undefined
  }
}
