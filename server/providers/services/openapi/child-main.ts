// The process that reads OpenAPI documents. It has no environment variables and reads only its own code. It handles one
// document and ends.

import { once } from 'node:events'
import { encodeFrame, makeFrameReader } from '#providers/conversion/frames'
import { compileDocument } from './compile.ts'
import { DocumentFailure } from './index.ts'
import { parseDocument } from './parse.ts'
import type { FromChild, ToChild } from './process.ts'

const say = async (header: FromChild, body?: Uint8Array): Promise<void> => {
  if (!process.stdout.write(encodeFrame(header, body))) await once(process.stdout, 'drain')
}

async function compile(bytes: Buffer, { options }: ToChild): Promise<void> {
  try {
    const sending: Promise<void>[] = []
    const summary = compileDocument(parseDocument(bytes), options, (action) => {
      const { name, title, description, effect, method, path, ...rest } = action
      sending.push(
        say(
          { did: 'action', head: { name, title, description, effect, method, path } },
          Buffer.from(JSON.stringify(rest)),
        ),
      )
    })
    await Promise.all(sending)
    await say({ did: 'done', summary })
  } catch (error) {
    const message = error instanceof DocumentFailure ? error.message : 'the document could not be read'
    await say({ did: 'failed', message })
  }
}

process.stdin.on(
  'data',
  makeFrameReader<ToChild>(({ header, body }) => void compile(body, header)),
)
process.stdin.on('end', () => process.exit(0))
