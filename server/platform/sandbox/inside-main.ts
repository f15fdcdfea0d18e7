// A sandbox process: reads one request at a time, answers it, and ends when its parent ends.

import { encodeFrame, makeFrameReader, type SandboxReply, type SandboxRequest } from './frames.ts'
import { checkSources } from './inside-check.ts'
import { type CodeLog, prepareEngine, prepareTypeScript, runCode } from './inside-code.ts'
import { freezeBuiltIns, harden } from './inside-harden.ts'
import { lockFunctions } from './inside-jsonata.ts'
import { Refused } from './inside-refused.ts'
import { runTransform } from './inside-transform.ts'
import { prepareLibrary } from './inside-web.ts'

const { stdin, stdout, exit } = process
const MAX_FRAME = 32 * 1024 * 1024

function resultOf(request: SandboxRequest, body: string, written: CodeLog): Promise<string> {
  if (request.kind === 'check') return checkSources(body)
  if (request.kind === 'transform') return runTransform(request.source, body)
  return runCode(request.source, body, request, written)
}

async function answer(request: SandboxRequest, body: string): Promise<Buffer> {
  const written: CodeLog = { logs: [], levels: [] }
  try {
    return encodeFrame({ ok: true, ...written } satisfies SandboxReply, await resultOf(request, body, written))
  } catch (error) {
    const refused = error instanceof Refused ? error : new Refused('sandbox_failed', String(error))
    return encodeFrame(
      { ok: false, code: refused.code, message: refused.message, ...written } satisfies SandboxReply,
      '',
    )
  }
}

harden()
prepareEngine()
prepareTypeScript()
prepareLibrary()
await lockFunctions()
freezeBuiltIns()

const read = makeFrameReader<SandboxRequest>(MAX_FRAME, ({ header, body }) => {
  void answer(header, body).then((reply) => {
    stdout.write(reply, () => prepareEngine())
  })
})
stdin.on('data', read)
stdin.on('end', () => exit(0))
stdout.write(encodeFrame({ ok: true, logs: [], levels: [] } satisfies SandboxReply, 'ready'))
