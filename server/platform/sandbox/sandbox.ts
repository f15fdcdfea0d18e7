// Tenant expressions and code, run in a pool of processes that can be killed. A call that does not end in time costs its
// process and nobody else anything; a workspace that floods the pool waits for itself.

import { availableParallelism } from 'node:os'
import type { Json } from '#model/definition'
import { measureJson } from '#model/json'
import type { Frame, SandboxReply, SandboxRequest } from './frames.ts'
import { Ended, type SandboxProcess, startProcess as startRealProcess } from './process.ts'
import { makeFairQueue } from './queue.ts'

export type SandboxLimits = { timeMs?: number; memoryMb?: number }
export type TransformCall = {
  workspaceId: string
  expression: string
  input: Json
  limits?: SandboxLimits
  signal?: AbortSignal
}
export type CodeCall = {
  workspaceId: string
  source: string
  input: Json
  limits?: SandboxLimits
  signal?: AbortSignal
}
export type SandboxResult = { output: Json; logs: string[] }

export type Sandbox = {
  transform(call: TransformCall): Promise<SandboxResult>
  code(call: CodeCall): Promise<SandboxResult>
  close(): Promise<void>
}

/** `code`: sandbox_timeout, sandbox_memory, sandbox_busy, transform_failed, code_failed, input_too_large, result_too_large. */
export class SandboxFailure extends Error {
  readonly code: string
  readonly logs: string[]

  constructor(code: string, message: string, logs: string[] = []) {
    super(message)
    this.code = code
    this.logs = logs
  }
}

export type SandboxOptions = {
  processes?: number
  /** Calls that may wait, in all and per workspace. */
  queue?: number
  queuePerWorkspace?: number
  startProcess?(): SandboxProcess
}

/** Writing or reading JSON of this size takes the main thread some 30 ms. */
const MAX_INPUT = 4 * 1024 * 1024
const RESULT_LIMITS = { depth: 64, nodes: 1_000_000 }
const TRANSFORM = { timeMs: 250, memoryMb: 64 }
const CODE = { timeMs: 1_000, memoryMb: 64 }
export const MAX_LIMITS = { timeMs: 60_000, memoryMb: 256 }
/** A process is replaced after so many calls, so that nothing in it can grow for ever. */
const CALLS_PER_PROCESS = 1_000
/** Well before the kernel's own limit of processor time, even if the last call is a long one. */
const BUSY_MS_PER_PROCESS = 240_000
/** Beyond the code's own clock, for starting the engine and reading the input. */
const GRACE_MS = 200

export function makeSandbox(options: SandboxOptions = {}): Sandbox {
  const size = options.processes ?? Math.max(3, Math.min(6, availableParallelism()))
  const queue = makeFairQueue<SandboxProcess>({
    workers: size,
    perKey: Math.max(1, size - 1),
    waiting: options.queue ?? 2_000,
    waitingPerKey: options.queuePerWorkspace ?? 500,
  })
  const { startProcess = startRealProcess } = options
  const live = new Set<SandboxProcess>()
  let closed = false
  let failedStarts = 0

  const start = (): void => {
    const process = startProcess()
    live.add(process)
    process.onEnd(() => live.delete(process))
    process.ready.then(
      () => {
        failedStarts = 0
        queue.offer(process)
      },
      () => {
        if (closed) return
        failedStarts += 1
        // Whoever waits is told instead of waiting for ever; the next call tries again.
        if (failedStarts >= 3) queue.turnAway()
        if (live.size < size) setTimeout(start, 500).unref()
      },
    )
  }
  const finish = (process: SandboxProcess): void => {
    if (closed) return
    if (process.usable && process.calls < CALLS_PER_PROCESS && process.busyMs < BUSY_MS_PER_PROCESS) {
      queue.offer(process)
      return
    }
    process.end()
    if ([...live].filter(({ usable }) => usable).length < size) start()
  }
  /** The first call starts the pool: an installation that never uses it pays nothing. */
  const warmUp = (): void => {
    if (!closed && live.size === 0) for (let count = 0; count < size; count += 1) start()
  }

  /** One that died while nobody needed it is replaced now. */
  const take = async (workspaceId: string, signal?: AbortSignal): Promise<SandboxProcess | undefined> => {
    for (;;) {
      const process = await queue.take(workspaceId, signal)
      if (!process || process.usable) return process
      queue.release(workspaceId)
      finish(process)
    }
  }

  const run = async (workspaceId: string, request: SandboxRequest, input: Json, signal?: AbortSignal) => {
    if (closed) throw new SandboxFailure('sandbox_busy', 'the service is stopping')
    const inputText = JSON.stringify(input) ?? 'null'
    if (inputText.length > MAX_INPUT) throw new SandboxFailure('input_too_large', 'the input is larger than 4 MiB')
    warmUp()
    const process = await take(workspaceId, signal)
    if (!process) throw new SandboxFailure('sandbox_busy', 'too many expressions are waiting; try again')
    const abort = (): void => process.end()
    signal?.addEventListener('abort', abort, { once: true })
    try {
      signal?.throwIfAborted()
      const wallMs = request.timeMs + (request.kind === 'code' ? GRACE_MS : 0)
      return toResult(await process.call(request, inputText, wallMs))
    } catch (error) {
      signal?.throwIfAborted()
      if (!(error instanceof Ended)) throw error
      throw error.reason === 'time'
        ? new SandboxFailure('sandbox_timeout', `it ran for more than ${request.timeMs} ms`)
        : new SandboxFailure('sandbox_memory', 'it used more memory than it may')
    } finally {
      signal?.removeEventListener('abort', abort)
      queue.release(workspaceId)
      finish(process)
    }
  }

  return {
    transform: ({ workspaceId, expression, input, limits, signal }) =>
      run(workspaceId, { kind: 'transform', source: expression, ...within(TRANSFORM, limits) }, input, signal),
    code: ({ workspaceId, source, input, limits, signal }) =>
      run(workspaceId, { kind: 'code', source, ...within(CODE, limits) }, input, signal),
    async close() {
      closed = true
      queue.close()
      const ends = [...live].map((process) => new Promise<void>((resolve) => process.onEnd(resolve)))
      for (const process of live) process.end()
      await Promise.all(ends)
    },
  }
}

const within = (defaults: Required<SandboxLimits>, wanted: SandboxLimits = {}): Required<SandboxLimits> => ({
  timeMs: Math.min(wanted.timeMs ?? defaults.timeMs, MAX_LIMITS.timeMs),
  memoryMb: Math.min(wanted.memoryMb ?? defaults.memoryMb, MAX_LIMITS.memoryMb),
})

function toResult({ header, body }: Frame<SandboxReply>): SandboxResult {
  const logs = Array.isArray(header.logs) ? header.logs.map(String) : []
  if (!header.ok) throw new SandboxFailure(String(header.code), String(header.message), logs)
  const output = JSON.parse(body) as Json
  const size = measureJson(output, RESULT_LIMITS)
  if (size !== 'ok') throw new SandboxFailure('result_too_large', 'the result is too large or nested too deeply', logs)
  return { output, logs }
}
