// The process that converts files. It has no environment variables and practically no network access, and reads only
// its own code. It handles one task and ends.

import { once } from 'node:events'
import { convert, type Task } from './convert.ts'
import { encodeFrame, makeFrameReader } from './frames.ts'
import { ConversionFailure, MAX_VALUE_BYTES } from './index.ts'
import type { FromChild, ToChild } from './protocol.ts'

const say = async (header: FromChild, body?: Uint8Array): Promise<void> => {
  if (!process.stdout.write(encodeFrame(header, body))) await once(process.stdout, 'drain')
}

type Collected = { name: string; media_type: string; chunks: Buffer[] }
let task: Omit<Task, 'inputs'> | undefined
const inputs: Collected[] = []

async function work(): Promise<void> {
  try {
    const { value, files } = await convert({
      ...(task as Omit<Task, 'inputs'>),
      inputs: inputs.map(({ name, media_type, chunks }) => ({ name, media_type, bytes: Buffer.concat(chunks) })),
    })
    for (const { name, media_type, bytes } of files) await say({ did: 'file', name, media_type }, bytes)
    if (value !== undefined) {
      if (JSON.stringify(value).length > MAX_VALUE_BYTES)
        throw new ConversionFailure(
          'file_too_large',
          `the result of the conversion is larger than ${MAX_VALUE_BYTES} bytes`,
        )
      await say({ did: 'value', value })
    }
    await say({ did: 'done' })
  } catch (error) {
    const known =
      error instanceof ConversionFailure
        ? error
        : new ConversionFailure('file_unreadable', 'the file could not be read')
    await say({ did: 'failed', code: known.code, message: known.message })
  }
}

process.stdin.on(
  'data',
  makeFrameReader<ToChild>(({ header, body }) => {
    if (header.do === 'task') task = header
    else if (header.do === 'input') inputs.push({ name: header.name, media_type: header.media_type, chunks: [] })
    else if (header.do === 'chunk') inputs.at(-1)?.chunks.push(Buffer.from(body))
    else void work()
  }),
)
process.stdin.on('end', () => process.exit(0))
