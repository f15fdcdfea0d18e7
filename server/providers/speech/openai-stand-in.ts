import { Buffer } from 'node:buffer'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { sniff } from '#providers/transcription/audio/sniff'
import { encodeMp3, encodeWav } from './encode.ts'

// For tests: a server that implements the audio part of OpenAI's protocol and refuses every request that OpenAI
// refuses.

export const STAND_IN_KEY = 'sk-stand-in-0123456789'
export const STAND_IN_TEXT = 'Please send the invoice to the accounting team before Friday.'

const VOICES = new Set(['alloy', 'ash', 'coral', 'echo', 'fable', 'nova', 'onyx', 'sage', 'shimmer'])

class Refused extends Error {
  readonly status: number
  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

const need: (holds: boolean, status: number, message: string) => asserts holds = (holds, status, message) => {
  if (!holds) throw new Refused(status, message)
}

const speak = async (request: Request): Promise<Response> => {
  need(request.headers.get('content-type') === 'application/json', 415, 'JSON expected')
  const { model, input, voice, response_format, ...rest } = (await request.json()) as Record<string, unknown>
  need(Object.keys(rest).length === 0, 400, `unknown parameters ${Object.keys(rest)}`)
  need(typeof model === 'string' && model.includes('tts'), 404, 'no such model')
  need(typeof input === 'string' && input.length > 0 && input.length <= 4096, 400, 'input: 1 to 4096 characters')
  need(typeof voice === 'string' && VOICES.has(voice), 400, 'no such voice')
  need(response_format === 'mp3' || response_format === 'wav', 400, 'no such format')
  const samples = Int16Array.from({ length: input.length * 1200 }, (_, i) => 8000 * Math.sin(i / 7) * Math.sin(i / 900))
  const wav = response_format === 'wav'
  const bytes = wav ? encodeWav(samples, 24_000) : await encodeMp3(samples, 24_000, async () => {})
  // OpenAI streams its response, so its wav header does not contain the length.
  if (wav) bytes.writeUInt32LE(0xffffffff, 40)
  return new Response(new Uint8Array(bytes), { headers: { 'content-type': wav ? 'audio/wav' : 'audio/mpeg' } })
}

const transcribe = async (request: Request): Promise<Response> => {
  need(request.headers.get('content-type')?.startsWith('multipart/form-data') === true, 415, 'a form expected')
  const form = await request.formData()
  const file = form.get('file')
  need(file instanceof File, 400, 'file missing')
  const format = sniff(Buffer.from(await file.arrayBuffer()))
  need(file.name.endsWith(`.${format}`), 400, `${file.name} is not ${format}`)
  need(typeof form.get('model') === 'string', 400, 'model missing')
  const verbose = form.get('response_format') === 'verbose_json'
  need(verbose || form.get('response_format') === 'json', 400, 'no such format')
  need(!verbose || form.get('model') === 'whisper-1', 400, 'this model has no verbose_json')
  return Response.json(verbose ? { text: STAND_IN_TEXT, language: 'english', duration: 3.8 } : { text: STAND_IN_TEXT })
}

const answer = async (request: Request): Promise<Response> => {
  try {
    need(request.method === 'POST', 405, 'POST expected')
    need(
      request.headers.get('authorization') === `Bearer ${STAND_IN_KEY}`,
      401,
      `Incorrect API key provided: ${request.headers.get('authorization')}`,
    )
    const { pathname } = new URL(request.url)
    if (pathname === '/v1/audio/speech') return await speak(request)
    if (pathname === '/v1/audio/transcriptions') return await transcribe(request)
    throw new Refused(404, 'no such path')
  } catch (cause) {
    const status = cause instanceof Refused ? cause.status : 500
    return Response.json({ error: { message: String(cause) } }, { status })
  }
}

const readAll = async (incoming: IncomingMessage): Promise<Buffer> => {
  const parts: Buffer[] = []
  for await (const part of incoming) parts.push(part as Buffer)
  return Buffer.concat(parts)
}

const serve = async (incoming: IncomingMessage, outgoing: ServerResponse, handle: typeof answer) => {
  const body = await readAll(incoming)
  const headers = Object.entries(incoming.headers).map(([name, value]) => [name, String(value)] as [string, string])
  const hasBody = incoming.method !== 'GET' && incoming.method !== 'HEAD'
  const request = new Request(`http://stand-in${incoming.url}`, {
    method: incoming.method ?? 'GET',
    headers,
    ...(hasBody ? { body: new Uint8Array(body) } : {}),
  })
  const response = await handle(request)
  outgoing.writeHead(response.status, Object.fromEntries(response.headers))
  outgoing.end(Buffer.from(await response.arrayBuffer()))
}

export const startStandIn = async (handle: (request: Request) => Promise<Response> = answer) => {
  const server = createServer((incoming, outgoing) => void serve(incoming, outgoing, handle))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    baseUrl: `http://127.0.0.1:${port}/v1`,
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
