import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Socket } from 'node:net'
import { fileURLToPath } from 'node:url'
import { requireStarted } from '#platform/children/start'
import { type Frame, readFrames, writeFrame } from './frames.ts'
import { ProviderProblem, problemCode } from './problem.ts'

// One process beside the server speaks, transcribes and decodes untrusted audio. It starts with the first request and
// ends when it is idle. It has no environment variables and may neither write files nor start programs. Requests have
// no side effects, so the requests in progress when the process dies are repeated, one at a time. Only a request that
// kills the process again is refused.

const SECOND = 1000
const entry = fileURLToPath(new URL('./child.ts', import.meta.url))

export type AudioProcess = {
  /** The workspaces take turns. */
  ask(head: Record<string, unknown>, body: Uint8Array, caller?: Caller): Promise<Frame>
  pid(): number | undefined
  close(): Promise<void>
}

export type AudioProcessSettings = {
  /** The idle time in ms after which the process ends. */
  idleFor?: number
  /** The maximum number of waiting requests. Further requests are refused as busy. */
  queueLimit?: number
  /** The number of requests processed in alternation, one sentence or one window of audio at a time. */
  together?: number
  /** The time in ms without progress after which the process is killed. */
  stalledAfter?: number
  /** The niceness of the process relative to the server, from 0 to 19. */
  niceness?: number
  /** Receives faults of the process that no caller caused, for the log. */
  onFault?: (message: string) => void
}

type Caller = { workspaceId?: string | undefined; signal?: AbortSignal | undefined }

type Request = {
  id: number
  workspaceId: string
  head: Record<string, unknown>
  body: Uint8Array
  deaths: number
  settled: boolean
  resolve(frame: Frame): void
  reject(reason: unknown): void
}

type Child = {
  process: ChildProcess
  input: Socket
  running: Map<number, Request>
  stall?: NodeJS.Timeout
  idle?: NodeJS.Timeout
}

function startChild(
  niceness: number,
  { onFrame, onDeath }: { onFrame(from: Child, frame: Frame): void; onDeath(dead: Child): void },
): Child {
  const process_ = requireStarted(
    spawn(
      process.execPath,
      [
        '--permission',
        '--allow-fs-read=*',
        '--allow-addons',
        '--disable-warning=SecurityWarning',
        entry,
        String(niceness),
      ],
      { stdio: ['pipe', 'ignore', 'ignore', 'pipe'], env: {}, windowsHide: true },
    ),
  )
  const started: Child = { process: process_, input: process_.stdin as Socket, running: new Map() }
  // After a broken pipe the process exits, and the exit handler puts the requests back.
  started.input.on('error', () => {})
  const output = process_.stdio[3] as Socket
  output.on('error', () => {})
  readFrames(output, (frame) => onFrame(started, frame))
  process_.once('error', () => onDeath(started))
  process_.once('close', () => onDeath(started))
  return started
}

/** Lets a finished server exit while the child is idle. */
function hold(held: Child, busy: boolean): void {
  for (const handle of [held.process, held.input, held.process.stdio[3] as Socket]) busy ? handle.ref() : handle.unref()
}

type NewRequest = Pick<Request, 'id' | 'workspaceId' | 'head' | 'body' | 'resolve' | 'reject'>

/** Creates a request that is settled once, by its response or by its signal. */
function makeRequest(asked: NewRequest, abandon: (request: Request) => void, signal?: AbortSignal): Request {
  const settle = () => {
    request.settled = true
    signal?.removeEventListener('abort', onAbort)
  }
  const request: Request = {
    ...asked,
    deaths: 0,
    settled: false,
    resolve(frame) {
      settle()
      asked.resolve(frame)
    },
    reject(reason) {
      settle()
      asked.reject(reason)
    },
  }
  const onAbort = () => {
    abandon(request)
    request.reject(signal?.reason)
  }
  signal?.addEventListener('abort', onAbort, { once: true })
  return request
}

const tooMany = (): ProviderProblem =>
  new ProviderProblem('provider_busy', 'Too many audio requests are waiting; try again in a minute.')

export const makeAudioProcess = (settings: AudioProcessSettings = {}): AudioProcess => {
  const {
    idleFor = 60 * SECOND,
    queueLimit = 32,
    together = 4,
    stalledAfter = 60 * SECOND,
    niceness = 10,
    onFault = () => {},
  } = settings
  const queue: Request[] = []
  let child: Child | undefined
  let closed = false
  let lastId = 0

  const start = (): Child => startChild(niceness, { onFrame, onDeath })

  const watch = (watched: Child) => {
    clearTimeout(watched.stall)
    clearTimeout(watched.idle)
    const busy = watched.running.size > 0
    hold(watched, busy)
    if (busy) watched.stall = setTimeout(() => watched.process.kill('SIGKILL'), stalledAfter)
    else watched.idle = setTimeout(() => retire(watched), idleFor).unref()
  }

  const retire = (retired: Child) => {
    if (child === retired) child = undefined
    retired.input.end()
  }

  const onFrame = (from: Child, frame: Frame) => {
    const request = from.running.get(Number(frame.head.id))
    if (request && !frame.head.progress) {
      from.running.delete(request.id)
      const problem = frame.head.problem as { code: unknown; message: string } | undefined
      if (problem) request.reject(new ProviderProblem(problemCode(problem.code), problem.message))
      else request.resolve(frame)
    }
    if (frame.head.fault) onFault(String(frame.head.fault))
    watch(from)
    dispatch()
  }

  const onDeath = (dead: Child) => {
    clearTimeout(dead.stall)
    clearTimeout(dead.idle)
    if (child === dead) child = undefined
    const interrupted = [...dead.running.values()].filter((request) => !request.settled)
    dead.running.clear()
    if (interrupted.length > 0)
      onFault(`the audio process ended (${dead.process.signalCode ?? dead.process.exitCode}) at work`)
    for (const request of interrupted) request.deaths++
    for (const request of interrupted.filter((each) => each.deaths > 1))
      request.reject(new ProviderProblem('provider_unavailable', 'The audio process failed twice on this audio.'))
    queue.unshift(...interrupted.filter((request) => request.deaths === 1))
    dispatch()
  }

  const runningOf = ({ workspaceId }: Request): number =>
    [...(child?.running.values() ?? [])].filter((request) => request.workspaceId === workspaceId).length

  /** One workspace never takes the last place, so that its long clips do not make all others wait. */
  const mayStart = (next: Request): boolean => {
    const running = child?.running
    if (!running || running.size === 0) return true
    if (running.size >= together || next.deaths > 0 || runningOf(next) >= together - 1) return false
    return ![...running.values()].some((request) => request.deaths > 0)
  }

  /** Takes the oldest request of the workspace with the fewest running ones. Interrupted requests come first. */
  const takeNext = (): Request | undefined => {
    const [first] = queue
    const ready = first && first.deaths > 0 ? [first].filter(mayStart) : queue.filter(mayStart)
    const fewest = Math.min(...ready.map(runningOf))
    const next = ready.find((request) => runningOf(request) === fewest)
    if (next) queue.splice(queue.indexOf(next), 1)
    return next
  }

  /** If the queue is full, refuses the newest request of the workspace with the most, unless this one has as many. */
  const makeRoom = (workspaceId: string): boolean => {
    if (queue.length < queueLimit) return true
    const waiting = Map.groupBy(queue, (request) => request.workspaceId)
    const [longest = []] = [...waiting.values()].sort((a, b) => b.length - a.length)
    const newest = longest.at(-1)
    if (!newest || longest.length <= (waiting.get(workspaceId)?.length ?? 0) + 1) return false
    queue.splice(queue.indexOf(newest), 1)
    newest.reject(tooMany())
    return true
  }

  const dispatch = () => {
    for (let request = closed ? undefined : takeNext(); request; request = closed ? undefined : takeNext()) {
      try {
        child ??= start()
      } catch (error) {
        onFault((error as Error).message)
        request.reject(new ProviderProblem('provider_unavailable', 'The audio process could not be started.'))
        continue
      }
      child.running.set(request.id, request)
      writeFrame(child.input, { ...request.head, id: request.id }, request.body)
      watch(child)
    }
  }

  const abandon = (request: Request) => {
    const place = queue.indexOf(request)
    if (place >= 0) queue.splice(place, 1)
    else if (child?.running.has(request.id)) writeFrame(child.input, { id: request.id, cancel: true })
  }

  return {
    ask(head, body, { workspaceId = '', signal } = {}) {
      if (signal?.aborted) return Promise.reject(signal.reason)
      if (closed) return Promise.reject(new ProviderProblem('provider_unavailable', 'The server is stopping.'))
      if (!makeRoom(workspaceId)) return Promise.reject(tooMany())
      return new Promise<Frame>((resolve, reject) => {
        const request = makeRequest({ id: ++lastId, workspaceId, head, body, resolve, reject }, abandon, signal)
        queue.push(request)
        dispatch()
      })
    },
    pid: () => child?.process.pid,
    async close() {
      closed = true
      const stopping = new ProviderProblem('provider_unavailable', 'The server is stopping.')
      for (const request of queue.splice(0)) request.reject(stopping)
      const last = child
      child = undefined
      if (!last) return
      for (const request of last.running.values()) request.reject(stopping)
      last.running.clear()
      clearTimeout(last.stall)
      clearTimeout(last.idle)
      hold(last, true)
      const ended = last.process.exitCode === null && last.process.signalCode === null && once(last.process, 'close')
      last.process.kill('SIGKILL')
      await ended
    },
  }
}
