// Runs tenant expressions and code in a pool of processes that can be killed. Every call starts as a short one. A call
// that does not end soon is stopped and restarted at the level of long calls, so that endless code never blocks a short
// call. Code has no effects, so restarting it is harmless.

import { availableParallelism } from 'node:os'
import type { Json } from '#model/definition'
import { measureJson } from '#model/json'
import { makeBudgets } from './budget.ts'
import {
  type Frame,
  LOG_LEVELS,
  type LogLevel,
  type SandboxReply,
  type SandboxRequest,
  type Source,
  type SourceProblem,
} from './frames.ts'
import { makeLongCalls } from './long-calls.ts'
import { Ended, type SandboxProcess, startProcess as startRealProcess } from './process.ts'
import { makeFairQueue, type Refusal } from './queue.ts'

export type SandboxLimits = { timeMs?: number; memoryMb?: number }
export type TransformCall = {
  workspaceId: string
  expression: string
  input: Json
  limits?: SandboxLimits
  /** The maximum time that the call may wait for its turn. */
  waitMs?: number | undefined
  signal?: AbortSignal
}
export type CodeCall = {
  workspaceId: string
  source: string
  input: Json
  limits?: SandboxLimits
  waitMs?: number | undefined
  signal?: AbortSignal
}
export type CheckCall = { workspaceId: string; sources: Source[]; signal?: AbortSignal }
/** `levels` has one entry for each entry of `logs`. */
export type SandboxResult = { output: Json; logs: string[]; levels: LogLevel[] }

export type Sandbox = {
  transform(call: TransformCall): Promise<SandboxResult>
  code(call: CodeCall): Promise<SandboxResult>
  /** Returns the problems of each source, without running it. */
  check(call: CheckCall): Promise<SourceProblem[][]>
  close(): Promise<void>
}

const NOTHING = { logs: [], levels: [] }

/**
 * `code`: sandbox_timeout, sandbox_memory, sandbox_busy, cpu_budget_exceeded, transform_failed, code_failed,
 * input_too_large, result_too_large.
 */
export class SandboxFailure extends Error {
  readonly code: string
  readonly logs: string[]
  readonly levels: LogLevel[]

  constructor(code: string, message: string, { logs, levels }: Pick<SandboxResult, 'logs' | 'levels'> = NOTHING) {
    super(message)
    this.code = code
    this.logs = logs
    this.levels = levels
  }
}

export type SandboxOptions = {
  processes?: number
  /** The maximum number of waiting calls, in total and per workspace. */
  queue?: number
  queuePerWorkspace?: number
  /** Returns the CPU milliseconds that a workspace may use per minute. Null for no limit. */
  budgetOf?(workspaceId: string): Promise<number | null>
  /** Called with the CPU milliseconds that a call of the workspace has used. */
  onUsed?(workspaceId: string, ms: number): void
  startProcess?(options: { niceness: number }): SandboxProcess
}

/** Writing or parsing JSON of this size takes the main thread about 30 ms. */
const MAX_INPUT = 4 * 1024 * 1024
const RESULT_LIMITS = { depth: 64, nodes: 1_000_000 }
const TRANSFORM = { timeMs: 250, memoryMb: 64 }
const CODE = { timeMs: 1_000, memoryMb: 64 }
const CHECK = { timeMs: 5_000, memoryMb: 64 }
export const MAX_LIMITS = { timeMs: 60_000, memoryMb: 256 }
/** A process is replaced after this number of calls, so that nothing in it can grow forever. */
const CALLS_PER_PROCESS = 1_000
/** Well below the kernel's limit of CPU time, even if the last call is a long one. */
const BUSY_MS_PER_PROCESS = 240_000
/** Extra time beyond the code's own clock, for starting the engine and reading the input. */
const GRACE_MS = 200
/** The maximum time of a call on each level before it is stopped and restarted on the next level. */
export const LEVEL_MS = [100, 2_000, MAX_LIMITS.timeMs] as const
const TOP_LEVEL = LEVEL_MS.length - 1
/**
 * The nice values of the levels: long calls yield to short calls, and all of them to the service itself. With 0 for
 * short calls, ten tenants with endless code raised a neighbour's p99 to 650–810 ms; with 6 it was 59–67 ms.
 */
const NICENESS = [6, 12, 19] as const
/** The default for the maximum time that a call waits for its turn. */
const WAIT_MS = 5 * 60_000

type Call = { workspaceId: string; input: Json; waitMs?: number | undefined; signal?: AbortSignal | undefined }

/**
 * Returns the level of each process: at least one for each level. A larger pool has a second process for short calls,
 * and the rest accept all calls.
 */
export function levelsOf(size: number): number[] {
  const short = size >= 5 ? [0, 0, 1] : size >= 3 ? [0, 1] : size === 2 ? [1] : []
  return [...short, ...Array.from({ length: size - short.length }, () => TOP_LEVEL)]
}

/** Returns the levels of the missing processes. Processes that are being killed do not count as present. */
function missingLevels(live: ReadonlyMap<SandboxProcess, number>, size: number): number[] {
  const there = [...live].filter(([{ usable }]) => usable).map(([, level]) => level)
  return levelsOf(size).filter((level) => {
    const place = there.indexOf(level)
    if (place !== -1) there.splice(place, 1)
    return place === -1
  })
}

export function makeSandbox(options: SandboxOptions = {}): Sandbox {
  const size = options.processes ?? Math.max(3, Math.min(6, availableParallelism()))
  const budgets = makeBudgets()
  const queue = makeFairQueue<SandboxProcess>(
    {
      perKey: Math.max(1, size - 1),
      waiting: options.queue ?? 2_000,
      waitingPerKey: options.queuePerWorkspace ?? 500,
    },
    budgets,
  )
  const lengths = makeLongCalls()
  const { startProcess = startRealProcess } = options
  const live = new Map<SandboxProcess, number>()
  let closed = false
  let failedStarts = 0
  const awaitingRestart = new Set<number>()

  const startFailed = (level: number): void => {
    if (closed) return
    failedStarts += 1
    // Refuses the waiting calls instead of letting them wait forever. The next call tries again.
    if (failedStarts >= 3) queue.turnAway()
    if (awaitingRestart.has(level)) return
    awaitingRestart.add(level)
    setTimeout(() => {
      awaitingRestart.delete(level)
      replace(level)
    }, 500).unref()
  }
  const start = (level: number): void => {
    let process: SandboxProcess
    try {
      process = startProcess({ niceness: NICENESS[level]! })
    } catch {
      startFailed(level)
      return
    }
    live.set(process, level)
    process.onEnd(() => live.delete(process))
    process.ready.then(
      () => {
        failedStarts = 0
        queue.offer(process, level)
      },
      () => startFailed(level),
    )
  }
  const replace = (level: number): void => {
    if (!closed && missingLevels(live, size).includes(level)) start(level)
  }
  const finish = (process: SandboxProcess, level: number): void => {
    if (closed) return
    if (process.usable && process.calls < CALLS_PER_PROCESS && process.busyMs < BUSY_MS_PER_PROCESS) {
      queue.offer(process, level)
      return
    }
    process.end()
    replace(level)
  }
  /**
   * The first call starts one process, and the first call that finds no free process starts the others: an installation
   * that never uses them pays nothing, and one that rarely does pays for one process.
   */
  const makeRoom = (level: number): void => {
    if (closed) return
    const levels = missingLevels(live, size)
    if (levels.length === size) start(levels.find((one) => one >= level)!)
    else if (!queue.hasFree(level)) for (const one of levels) start(one)
  }

  /** Takes a free process. A process that died while it was idle is replaced now. */
  const take = async ({ workspaceId, signal }: Call, level: number, until: number): Promise<SandboxProcess> => {
    for (;;) {
      const waitMs = Math.max(0, until - performance.now())
      const taken = await queue.take(workspaceId, { level, waitMs, signal })
      if ('refused' in taken) throw notServed(taken.refused)
      if (taken.worker.usable) return taken.worker
      queue.release(workspaceId, 0)
      makeRoom(level)
    }
  }

  /** Runs the call once on one level. */
  const pass = async (call: Call, level: number, request: SandboxRequest, inputText: string, until: number) => {
    const { workspaceId, signal } = call
    makeRoom(level)
    const process = await take(call, level, until)
    const itsLevel = live.get(process) ?? level
    const abort = (): void => process.end()
    signal?.addEventListener('abort', abort, { once: true })
    const before = process.cpuMs
    try {
      signal?.throwIfAborted()
      const wallMs = request.timeMs + (request.kind === 'code' ? GRACE_MS : 0)
      const result = toResult(await process.call(request, inputText, wallMs))
      return { result, usedMs: process.cpuMs - before }
    } catch (error) {
      signal?.throwIfAborted()
      if (!(error instanceof Ended)) throw error
      throw error.reason === 'time'
        ? new SandboxFailure('sandbox_timeout', `it ran for more than ${request.timeMs} ms`)
        : new SandboxFailure('sandbox_memory', 'it exceeded its memory limit')
    } finally {
      signal?.removeEventListener('abort', abort)
      queue.release(workspaceId, process.cpuMs - before)
      options.onUsed?.(workspaceId, process.cpuMs - before)
      finish(process, itsLevel)
    }
  }

  const run = async (call: Call, request: SandboxRequest) => {
    if (closed) throw new SandboxFailure('sandbox_busy', 'the service is stopping')
    const { workspaceId } = call
    const until = performance.now() + (call.waitMs ?? WAIT_MS)
    const inputText = JSON.stringify(call.input) ?? 'null'
    if (inputText.length > MAX_INPUT) throw new SandboxFailure('input_too_large', 'the input is larger than 4 MiB')
    if (options.budgetOf) budgets.allow(workspaceId, (await options.budgetOf(workspaceId)) ?? Number.POSITIVE_INFINITY)
    const name = lengths.nameOf(workspaceId, request.source)
    for (let level = lengths.levelOf(name); ; level += 1) {
      // A JSONata expression can be stopped only with its process, so it gets its whole time at once.
      const timeMs = request.kind === 'code' ? Math.min(request.timeMs, LEVEL_MS[level]!) : request.timeMs
      try {
        const { result, usedMs } = await pass(call, level, { ...request, timeMs }, inputText, until)
        if (level > 0 && usedMs < LEVEL_MS[level - 1]!) lengths.ran(name, level - 1)
        return result
      } catch (error) {
        if (!(error instanceof SandboxFailure) || error.code !== 'sandbox_timeout') throw error
        lengths.ran(name, Math.min(level + 1, TOP_LEVEL))
        if (timeMs >= request.timeMs) throw error
      }
    }
  }

  return {
    transform: ({ expression, limits, ...call }) =>
      run(call, { kind: 'transform', source: expression, ...within(TRANSFORM, limits) }),
    code: ({ source, limits, ...call }) => run(call, { kind: 'code', source, ...within(CODE, limits) }),
    check: async ({ sources, ...call }) =>
      (await run({ ...call, input: sources }, { kind: 'check', source: '', ...CHECK }))
        .output as unknown as SourceProblem[][],
    async close() {
      closed = true
      queue.close()
      const ends = [...live.keys()].map((process) => new Promise<void>((resolve) => process.onEnd(resolve)))
      for (const process of live.keys()) process.end()
      await Promise.all(ends)
    },
  }
}

const within = (defaults: Required<SandboxLimits>, wanted: SandboxLimits = {}): Required<SandboxLimits> => ({
  timeMs: Math.min(wanted.timeMs ?? defaults.timeMs, MAX_LIMITS.timeMs),
  memoryMb: Math.min(wanted.memoryMb ?? defaults.memoryMb, MAX_LIMITS.memoryMb),
})

function notServed(refusal: Refusal): SandboxFailure {
  if (refusal === 'over_budget')
    return new SandboxFailure(
      'cpu_budget_exceeded',
      'the workspace has used all processor time that its plan allows for code and expressions per minute, and this call waited too long',
    )
  return new SandboxFailure('sandbox_busy', 'too many expressions are waiting; try again')
}

function toResult({ header, body }: Frame<SandboxReply>): SandboxResult {
  const logs = Array.isArray(header.logs) ? header.logs.map(String) : []
  const sentLevels: unknown[] = Array.isArray(header.levels) ? header.levels : []
  const levels = logs.map((_, at) => LOG_LEVELS.find((level) => level === sentLevels[at]) ?? 'info')
  const written = { logs, levels }
  if (!header.ok) throw new SandboxFailure(String(header.code), String(header.message), written)
  const output = JSON.parse(body) as Json
  const size = measureJson(output, RESULT_LIMITS)
  if (size !== 'ok')
    throw new SandboxFailure('result_too_large', 'the result is too large or nested too deeply', written)
  return { output, ...written }
}
