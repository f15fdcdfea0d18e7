import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import type { JsonObject } from '#model/definition'
import { makeChildPool, type PooledChild } from '#platform/children/pool'
import { SECOND } from '#platform/clock'
import type { OutgoingCredential } from '#platform/outgoing/credential'
import type { OutgoingFailure } from '#platform/outgoing/failure'
import {
  type CallPermissions,
  type Egress,
  openEgress,
  type RecordExchange,
  type RecordedExchange,
  type WallOutgoing,
} from './egress.ts'
import { WallFailure } from './failure.ts'
import { ownProtocol } from './protocol.ts'
import { makeSocketFolder, startBehindWall, type WalledChild, type WalledProgram, type WallLevel } from './start.ts'

// Runs calls of third-party code. A process serves one call at a time and, while it is warm, only callers with the same
// key, which starts with the workspace. Its answer is a line of JSON. It is killed when it takes too long or writes too
// much.

export type WallCall = {
  workspaceId: string
  /** Calls with the same program and key may use the same process one after the other. */
  key: string
  program: WalledProgram
  request: object
  credential: OutgoingCredential | undefined
  signal: AbortSignal
  timeoutMs?: number
  maxBytes?: number
  witness?: RecordExchange | undefined
  replay?: readonly RecordedExchange[] | undefined
}

export type WallAnswer = {
  answer: JsonObject
  sent: number
  refused: readonly OutgoingFailure[]
  /** With `replay`: names that the code generated in this run, mapped to the names of the first run. */
  invented: ReadonlyMap<string, string>
}

export type Wall = {
  /** Throws WallFailure. */
  call(call: WallCall): Promise<WallAnswer>
  /** Returns the reason why the wall cannot be built here, or undefined if it can. */
  problem(): Promise<string | undefined>
  readonly live: number
  close(): Promise<void>
}

export type WallOptions = {
  outgoing: WallOutgoing
  level: WallLevel
  processes: number
  idleMs?: number
  /** The program that creates namespaces. */
  unshare?: string
}

const READY_WITHIN = 60 * SECOND
const TIMEOUT = 120 * SECOND
const MAX_ANSWER = 48 * 1024 * 1024
const MAX_NOISE = 1024 * 1024
const KEPT_NOISE = 2_000
const IDLE_MS = 60_000
const MAX_LINES_BEFORE_READY = 200
const MAX_REPLIES = 100

type Child = PooledChild & {
  ready: Promise<void>
  talk(request: object, passage: CallPermissions, limits: { timeoutMs: number; maxBytes: number }): Promise<JsonObject>
}

const UNAVAILABLE =
  'third-party code cannot run on this machine, which does not allow user namespaces with mounts. See HEDDLE_WALL in docs/settings.md'

export function makeWall({ outgoing, level, processes, idleMs = IDLE_MS, unshare = 'unshare' }: WallOptions): Wall {
  const problem = (): Promise<string | undefined> => problemOf(level, unshare)
  /** The programs of waiting and running calls. */
  const programs = new Map<string, { program: WalledProgram; calls: number }>()
  const pool = makeChildPool<Child>({
    size: processes,
    idleMs,
    start: (key) => startChild(outgoing, level, programs.get(key)!.program, problem),
  })
  return {
    get live() {
      return pool.live
    },
    async call(call) {
      const {
        workspaceId,
        key,
        program,
        request,
        credential,
        signal,
        timeoutMs = TIMEOUT,
        maxBytes = MAX_ANSWER,
      } = call
      const { witness, replay } = call
      const own = `${workspaceId} ${program.code} ${program.entry} ${program.transport} ${key}`
      const named = programs.get(own) ?? { program, calls: 0 }
      programs.set(own, named)
      named.calls += 1
      const lease = await pool.lease(workspaceId, own, signal).finally(() => {
        named.calls -= 1
        if (named.calls === 0) programs.delete(own)
      })
      if (!lease) throw new WallFailure('busy', 'too many calls are waiting; try again later')
      const stop = new AbortController()
      const passage: CallPermissions = {
        credential,
        signal: AbortSignal.any([signal, stop.signal]),
        sent: 0,
        refused: [],
        witness,
        replay: replay && [...replay],
        invented: new Map(),
      }
      let clean = false
      const kill = (): void => lease.child.end()
      signal.addEventListener('abort', kill, { once: true })
      try {
        signal.throwIfAborted()
        await lease.child.ready
        const answer = await lease.child.talk(request, passage, { timeoutMs, maxBytes })
        clean = true
        return { answer, sent: passage.sent, refused: passage.refused, invented: passage.invented }
      } catch (error) {
        signal.throwIfAborted()
        throw error
      } finally {
        stop.abort()
        signal.removeEventListener('abort', kill)
        lease.giveBack({ clean })
      }
    },
    problem,
    close: () => pool.close(),
  }
}

const known = new Map<string, Promise<string | undefined>>()

/** Checks once whether `unshare`, with everything that the wall needs, works here. */
function problemOf(level: WallLevel, unshare: string): Promise<string | undefined> {
  if (level === 'node') return Promise.resolve(undefined)
  const found = known.get(unshare) ?? tryOut(unshare)
  known.set(unshare, found)
  return found
}

function tryOut(unshare: string): Promise<string | undefined> {
  const folder = mkdtempSync(join(tmpdir(), 'hdl-'))
  const flags = ['--user', '--map-root-user', '--mount', '--net', '--ipc', '--pid', '--fork']
  const script = 'mount -t tmpfs none "$1" && command -v chroot && test -x /usr/bin/setpriv'
  return new Promise((resolve) => {
    const child = spawn(unshare, [...flags, 'sh', '-c', script, 'sh', folder], {
      env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin' },
      stdio: 'ignore',
    })
    const end = (code: number | null): void => {
      rmSync(folder, { recursive: true, force: true })
      resolve(code === 0 ? undefined : UNAVAILABLE)
    }
    child.once('error', () => end(1))
    child.once('exit', end)
  })
}

function startChild(
  outgoing: WallOutgoing,
  level: WallLevel,
  program: WalledProgram,
  problemHere: () => Promise<string | undefined>,
): Child {
  const place = makeSocketFolder()
  const { protocol = ownProtocol } = program
  let gone = false
  let started: WalledChild | undefined
  let egress: Egress | undefined
  let noise = ''
  let noiseBytes = 0
  const listeners: (() => void)[] = []
  const lines = makeLines()

  const over = (): void => {
    if (gone) return
    gone = true
    void (egress?.close() ?? Promise.resolve()).finally(() => {
      rmSync(place.folder, { recursive: true, force: true })
      lines.end()
      for (const listener of listeners.splice(0)) listener()
    })
  }
  const end = (): void => {
    if (started) {
      started.process.ref()
      started.process.kill('SIGKILL')
    } else over()
  }
  const begin = async (): Promise<void> => {
    const problem = await problemHere()
    if (problem !== undefined) {
      over()
      throw new WallFailure('wall_unavailable', problem)
    }
    if (!gone) egress = await openEgress(outgoing, place.socket)
    if (gone) {
      await egress?.close()
      throw new WallFailure('ended', 'the process was stopped before it started')
    }
    started = startBehindWall(level, program, place)
    started.process.once('error', over)
    started.process.once('close', over)
    started.errors.on('data', (chunk: Buffer) => {
      noiseBytes += chunk.length
      if (noise.length < KEPT_NOISE) noise += chunk.toString('utf8').slice(0, KEPT_NOISE)
      if (noiseBytes > MAX_NOISE) end()
    })
    lines.read(started.answers, end)
    if (protocol.hello !== undefined) started.input.write(`${protocol.hello}\n`)
    if (!(await untilReady())) {
      end()
      throw new WallFailure('ended', `the process did not start: ${noise.slice(0, 300) || 'it gave no reason'}`)
    }
    if (protocol.afterReady !== undefined) started.input.write(`${protocol.afterReady}\n`)
  }
  const untilReady = async (): Promise<boolean> => {
    const until = performance.now() + READY_WITHIN
    for (let line = 0; line < MAX_LINES_BEFORE_READY; line += 1) {
      const said = await lines.next(Math.max(1, until - performance.now()), MAX_ANSWER)
      if (said === 'timeout' || said === 'too_large' || said === 'end') return false
      if (protocol.isReady(said)) return true
      if (protocol === ownProtocol) return false
    }
    return false
  }
  const ready = begin().catch((error: unknown) => {
    end()
    throw error
  })
  ready.catch(() => undefined)

  return {
    ready,
    get usable() {
      return !gone
    },
    end,
    onEnd: (listener) => void (gone ? listener() : listeners.push(listener)),
    async talk(request, passage, { timeoutMs, maxBytes }) {
      const sent = (): { sent: boolean } => ({ sent: passage.sent > 0 })
      const id = randomUUID()
      const until = performance.now() + timeoutMs
      let replies = 0
      egress!.open(passage)
      lines.forget()
      try {
        started!.input.write(`${protocol.request(request, { id, code: started!.code })}\n`)
        for (;;) {
          const line = await lines.next(Math.max(1, until - performance.now()), maxBytes)
          if (line === 'timeout') throw new WallFailure('timeout', 'the program did not answer in time', sent())
          if (line === 'too_large')
            throw new WallFailure('output_too_large', 'the response of the program is too large', sent())
          if (line === 'end') throw new WallFailure('ended', 'the program ended without an answer', sent())
          const answer = protocol.answerIn(line, id)
          if (answer === 'unreadable')
            throw new WallFailure('unreadable', 'the program sent a response that is not valid', sent())
          if (answer) return answer
          const reply = replies < MAX_REPLIES ? protocol.replyTo?.(line) : undefined
          if (reply === undefined) continue
          replies += 1
          started!.input.write(`${reply}\n`)
        }
      } finally {
        egress!.shut()
      }
    },
  }
}

/** Reads lines as they arrive. At most one caller waits for a line. */
function makeLines() {
  let held: Buffer[] = []
  let size = 0
  let most = MAX_NOISE
  let waiting: ((line: string) => void) | undefined
  let ended = false
  let stop = (): void => {}
  const answer = (line: string): void => {
    const take = waiting
    waiting = undefined
    take?.(line)
  }
  /** Takes the first complete line. The rest is kept for the next caller. */
  const look = (from: number): void => {
    if (!waiting) {
      // Output between two calls. A process that writes this much is killed.
      if (size > MAX_NOISE) stop()
      return
    }
    const at = held.findIndex((chunk, index) => index >= from && chunk.includes(10))
    const length = at === -1 ? size : 0
    if (length > most) {
      stop()
      answer('too_large')
    }
    if (at === -1) return
    const all = Buffer.concat(held)
    const end = all.indexOf(10)
    held = [all.subarray(end + 1)]
    size = all.length - end - 1
    answer(end > most ? 'too_large' : all.toString('utf8', 0, end))
  }
  return {
    read(source: Readable, end: () => void): void {
      stop = end
      source.on('data', (chunk: Buffer) => {
        held.push(chunk)
        size += chunk.length
        look(held.length - 1)
      })
    },
    /** Discards output from before a call, which cannot be its answer. */
    forget(): void {
      held = []
      size = 0
    },
    next(timeoutMs: number, maxBytes: number): Promise<string> {
      if (ended) return Promise.resolve('end')
      return new Promise((resolve) => {
        const timer = setTimeout(() => answer('timeout'), timeoutMs)
        most = maxBytes
        waiting = (line) => {
          clearTimeout(timer)
          resolve(line)
        }
        look(0)
      })
    },
    end(): void {
      ended = true
      answer('end')
    },
  }
}
