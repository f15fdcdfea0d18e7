import { once } from 'node:events'
import { join } from 'node:path'
import { makeChildPool } from '#platform/children/pool'
import { type EndableChild, endable, type LimitedChild, readOnlyFlags, startLimited } from '#platform/children/start'
import { SECOND } from '#platform/clock'
import { encodeFrame, type Frame, makeFrameReader } from './frames.ts'
import {
  type Conversion,
  ConversionFailure,
  type Converted,
  type ConvertTask,
  MAX_INPUT_BYTES,
  MAX_OUTPUT_BYTES,
} from './index.ts'
import type { FromChild, ToChild } from './protocol.ts'

// Runs each conversion in its own process. The process is killed if it takes too long or sends too much.

const HEAP_MB = 320
/** Node.js itself maps about 370 MB of writable memory. */
const DATA_MB = 1_200
const CPU_SECONDS = 60
const WITHIN = 60 * SECOND

function startChild(niceness: number): EndableChild {
  const limits = { cpuSeconds: CPU_SECONDS, dataMb: DATA_MB, niceness }
  const flags = readOnlyFlags({ heapMb: HEAP_MB, more: ['--disallow-code-generation-from-strings'] })
  return endable(startLimited(join(import.meta.dirname, 'child-main.ts'), flags, limits))
}

const tooLarge = (): ConversionFailure =>
  new ConversionFailure('file_too_large', `files of more than ${MAX_INPUT_BYTES} bytes cannot be converted`)

export function makeConversion({
  processes = 2,
  niceness = 5,
}: {
  processes?: number
  niceness?: number
} = {}): Conversion {
  const pool = makeChildPool<EndableChild>({ size: processes, start: () => startChild(niceness), usesPerChild: 1 })
  let tasks = 0
  return {
    async convert(task) {
      tasks += 1
      const lease = await pool.lease(task.workspaceId, String(tasks), task.signal)
      if (!lease) throw new ConversionFailure('file_unreadable', 'too many files are waiting to be converted')
      try {
        return await converse(lease.child, task)
      } finally {
        lease.giveBack({ clean: false })
      }
    },
    close: () => pool.close(),
  }
}

async function converse(child: EndableChild, task: ConvertTask): Promise<Converted> {
  const { stdin, stdout } = child.process
  const converted: Converted = { files: [] }
  let size = 0
  const { promise, resolve, reject } = Promise.withResolvers<Converted>()
  promise.catch(() => undefined)
  const take = ({ header, body }: Frame<FromChild>): void => {
    if (header.did === 'file') {
      size += body.length
      if (size > MAX_OUTPUT_BYTES)
        reject(
          new ConversionFailure(
            'file_too_large',
            `the result of the conversion is larger than ${MAX_OUTPUT_BYTES} bytes`,
          ),
        )
      else converted.files.push({ name: header.name, media_type: header.media_type, bytes: Buffer.from(body) })
    } else if (header.did === 'value') converted.value = header.value
    else if (header.did === 'failed') reject(new ConversionFailure(header.code, header.message))
    else resolve(converted)
  }
  const read = makeFrameReader<FromChild>(take)
  stdout.on('data', (chunk: Buffer) => {
    try {
      read(chunk)
    } catch (error) {
      reject(error)
    }
  })
  child.onEnd(() =>
    reject(new ConversionFailure('file_unreadable', 'reading the file needs more memory or time than is available')),
  )
  const timer = setTimeout(() => child.end(), WITHIN)
  const stop = (): void => reject(task.signal.reason)
  task.signal.addEventListener('abort', stop, { once: true })
  try {
    await Promise.race([promise, feed(stdin, task).then(() => promise)])
    return await promise
  } finally {
    clearTimeout(timer)
    task.signal.removeEventListener('abort', stop)
  }
}

async function feed(stdin: LimitedChild['stdin'], task: ConvertTask): Promise<void> {
  const say = async (header: ToChild, body?: Buffer): Promise<void> => {
    if (!stdin.write(encodeFrame(header, body)) && stdin.writable)
      await Promise.race([once(stdin, 'drain'), once(stdin, 'close')])
  }
  const { from, to, options, value } = task
  await say({ do: 'task', from, to, options, ...(value !== undefined && { value }) })
  let bytes = 0
  for (const { name, media_type, chunks } of task.inputs) {
    await say({ do: 'input', name, media_type })
    for await (const chunk of chunks()) {
      bytes += chunk.length
      if (bytes > MAX_INPUT_BYTES) throw tooLarge()
      await say({ do: 'chunk' }, chunk)
    }
  }
  await say({ do: 'go' })
}
