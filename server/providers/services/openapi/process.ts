import { join } from 'node:path'
import { makeChildPool } from '#platform/children/pool'
import { type EndableChild, endable, readOnlyFlags, startLimited } from '#platform/children/start'
import { SECOND } from '#platform/clock'
import { encodeFrame, makeFrameReader } from '#providers/conversion/frames'
import {
  type ActionHead,
  type CompiledDocument,
  type CompileOptions,
  DocumentFailure,
  type DocumentSummary,
  MAX_COMPILED_BYTES,
  type OpenApiCompiler,
} from './index.ts'

// Compiles each document in its own process, which is killed if it takes too long. The service itself never parses a
// document.

export type ToChild = { do: 'compile'; options: CompileOptions }
export type FromChild =
  | { did: 'action'; head: ActionHead }
  | { did: 'done'; summary: DocumentSummary }
  | { did: 'failed'; message: string }

const HEAP_MB = 512
/** Node.js itself maps about 370 MB of writable memory. */
const DATA_MB = 1_400
const CPU_SECONDS = 40
const WITHIN = 60 * SECOND

function startChild(): EndableChild {
  const limits = { cpuSeconds: CPU_SECONDS, dataMb: DATA_MB, niceness: 5 }
  const flags = readOnlyFlags({ heapMb: HEAP_MB, more: ['--disallow-code-generation-from-strings'] })
  return endable(startLimited(join(import.meta.dirname, 'child-main.ts'), flags, limits))
}

export function makeOpenApiCompiler({ processes = 2 }: { processes?: number } = {}): OpenApiCompiler {
  const pool = makeChildPool<EndableChild>({ size: processes, start: startChild, usesPerChild: 1 })
  let tasks = 0
  return {
    async compile({ workspaceId, bytes, options, signal }) {
      tasks += 1
      const lease = await pool.lease(workspaceId, String(tasks), signal)
      if (!lease) throw new DocumentFailure('too many documents are waiting to be read; try again later')
      try {
        return await converse(lease.child, bytes, options, signal)
      } finally {
        lease.giveBack({ clean: false })
      }
    },
    close: () => pool.close(),
  }
}

async function converse(
  child: EndableChild,
  bytes: Buffer,
  options: CompileOptions,
  signal: AbortSignal,
): Promise<CompiledDocument> {
  const actions: CompiledDocument['actions'] = []
  let size = 0
  const { promise, resolve, reject } = Promise.withResolvers<CompiledDocument>()
  promise.catch(() => undefined)
  const read = makeFrameReader<FromChild>(({ header, body }) => {
    if (header.did === 'failed') reject(new DocumentFailure(header.message))
    else if (header.did === 'done') resolve({ summary: header.summary, actions })
    else {
      size += body.length
      if (size > MAX_COMPILED_BYTES) reject(new DocumentFailure('the schemas of the document are too large'))
      else actions.push({ head: header.head, text: body.toString('utf8') })
    }
  })
  child.process.stdout.on('data', (chunk: Buffer) => {
    try {
      read(chunk)
    } catch (error) {
      reject(error)
    }
  })
  child.onEnd(() => reject(new DocumentFailure('reading the document needs more memory or time than is available')))
  const timer = setTimeout(() => child.end(), WITHIN)
  const stop = (): void => reject(signal.reason)
  signal.addEventListener('abort', stop, { once: true })
  try {
    child.process.stdin.write(encodeFrame({ do: 'compile', options } satisfies ToChild, bytes))
    return await promise
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', stop)
  }
}
