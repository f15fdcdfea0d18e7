// The service's interface to a process that connects to a warehouse.

import { join } from 'node:path'
import type { JsonObject } from '#model/definition'
import { readOnlyFlags, startLimited } from '#platform/children/start'
import { encodeFrame, type Frame, makeFrameReader } from '#platform/sandbox/frames'
import { type ChildTask, type FromChild, MAX_FRAME_BYTES, type ToChild } from './child-protocol.ts'
import { WarehouseFailure } from './index.ts'

const HEAP_MB = 192
/** Node.js itself maps about 370 MB of writable memory, of which it uses 60 MB. */
const DATA_MB = 832
const CPU_SECONDS = 1_200
/** The maximum size of one file that the process writes: the database of a DuckDB connection, or its log. */
const FILE_MB = 1_024

export type ChildMessage = { header: FromChild; body: string }

export type WarehouseChild = {
  readonly pid: number | undefined
  readonly usable: boolean
  /** Starts a task. Only one task can run at a time. */
  begin(task: ChildTask): void
  /** Loads the library of this kind in advance. */
  warm(kind: 'duckdb'): void
  /** Returns the next message of the process. Throws WarehouseFailure if the process has ended. */
  next(): Promise<ChildMessage>
  taken(): void
  end(): void
  onEnd(listener: () => void): void
}

export function startWarehouseChild({ addons, niceness }: { addons: boolean; niceness: number }): WarehouseChild {
  const entry = join(import.meta.dirname, 'child-main.ts')
  const child = startLimited(entry, readOnlyFlags({ heapMb: HEAP_MB, more: addons ? ['--allow-addons'] : [] }), {
    cpuSeconds: CPU_SECONDS,
    dataMb: DATA_MB,
    fileMb: FILE_MB,
    niceness,
  })
  let inbox: ChildMessage[] = []
  let wake: () => void = () => {}
  let ended = false
  let gone = false
  const listeners: (() => void)[] = []

  const kill = (): void => {
    ended = true
    child.ref()
    child.kill('SIGKILL')
    wake()
  }
  const over = (): void => {
    ended = true
    gone = true
    wake()
    for (const listener of listeners.splice(0)) listener()
  }
  const read = makeFrameReader<FromChild>(MAX_FRAME_BYTES, (frame: Frame<FromChild>) => {
    inbox.push(frame)
    wake()
  })
  child.stdout.on('data', (chunk: Buffer) => {
    try {
      read(chunk)
    } catch {
      kill()
    }
  })
  child.once('error', over)
  // The `close` event follows the last message; the `exit` event may come before it.
  child.once('close', over)

  return {
    get pid() {
      return child.pid
    },
    get usable() {
      return !ended
    },
    begin(task) {
      inbox = []
      child.stdin.write(encodeFrame(task satisfies ToChild, ''))
    },
    warm: (kind) => void child.stdin.write(encodeFrame({ do: 'warm', kind } satisfies ToChild, '')),
    async next() {
      for (;;) {
        const said = inbox.shift()
        if (said !== undefined) return said
        if (ended)
          throw new WarehouseFailure(
            'read',
            'the query ended unexpectedly, most likely because it used too much memory',
          )
        await new Promise<void>((resolve) => {
          wake = resolve
        })
      }
    },
    taken: () => void child.stdin.write(encodeFrame({ do: 'taken' } satisfies ToChild, '')),
    end: kill,
    onEnd: (listener) => {
      if (gone) listener()
      else listeners.push(listener)
    },
  }
}

export const rowsOf = (said: ChildMessage): JsonObject[] => JSON.parse(said.body) as JsonObject[]
