import { Buffer } from 'node:buffer'
import { Socket } from 'node:net'
import { lowerThreads } from '#platform/priority'
import { type Frame, readFrames, writeFrame } from './frames.ts'
import { ProviderProblem } from './problem.ts'

// The audio process. Reads frames from standard input and writes responses to descriptor 3. It ends with its server,
// because the pipe closes.

const output = new Socket({ fd: 3, readable: false, writable: true })
const cancelled = new Set<number>()

// The server's event loop has precedence on machines with few cores.
lowerThreads(Number(process.argv[2] ?? 10))

class Cancelled extends Error {}

export type Work = (head: Record<string, unknown>, body: Buffer, pause: () => Promise<void>) => Promise<Frame>

// Each module is loaded at first use, so that a request for speech does not wait for decoders and models.
const works: Record<string, () => Promise<Work>> = {
  speak: async () => (await import('./speak.ts')).speak,
  transcribe: async () => (await import('#providers/transcription/transcribe')).transcribe,
  inspect: async () => (await import('#providers/transcription/audio/decode')).inspect,
}

const answer = async ({ head, body }: Frame) => {
  const id = Number(head.id)
  const pause = async () => {
    writeFrame(output, { id, progress: true })
    await new Promise(setImmediate)
    if (cancelled.has(id)) throw new Cancelled()
  }
  try {
    const work = works[String(head.kind)]
    if (!work) throw new Error(`no work named ${head.kind}`)
    const done = await (await work())(head, body, pause)
    writeFrame(output, { ...done.head, id }, done.body)
  } catch (cause) {
    if (cause instanceof ProviderProblem) {
      writeFrame(output, { id, problem: { code: cause.code, message: cause.message } })
    } else {
      const problem = { code: 'provider_unavailable', message: 'The audio could not be processed.' }
      writeFrame(output, { id, problem, fault: cause instanceof Cancelled ? undefined : String(cause) })
    }
  } finally {
    cancelled.delete(id)
  }
}

const running = new Set<number>()

readFrames(process.stdin, (frame) => {
  const id = Number(frame.head.id)
  if (frame.head.cancel) {
    if (running.has(id)) cancelled.add(id)
    return
  }
  running.add(id)
  void answer({ head: frame.head, body: Buffer.from(frame.body) }).finally(() => running.delete(id))
})
process.stdin.on('close', () => process.exit(0))
