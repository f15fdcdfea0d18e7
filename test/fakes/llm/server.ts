import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type FakeAnswer, say } from './answers.ts'
import { type Asked, readChat, writeChat } from './chat.ts'
import { type EmbedText, readEmbeddings, writeEmbeddings } from './embeddings.ts'
import { readResponses, writeResponses } from './responses.ts'
import { stream, whole } from './stream.ts'
import { type Fields, need, Refused } from './strict.ts'

// A local server that speaks OpenAI's protocols, answers as the test says, and refuses the same requests as the real
// server.

export const FAKE_KEY = 'sk-fake-0123456789abcdef0123456789abcdef'

/** An answer that may depend on the request and may be delayed. */
type Answering = (asked: Asked) => FakeAnswer | Promise<FakeAnswer>

export type FakeLlm = {
  /** The address, including `/v1`. */
  baseUrl: string
  key: string
  /** Every request that was accepted, oldest first. */
  asked: Asked[]
  /** The reasons of refused requests. Empty unless the program is wrong. */
  refused: string[]
  /** The number of requests of any kind. */
  count(): number
  /** Sets the next answers, in this order. All other requests get the answer of `otherwise`. */
  script(...answers: (FakeAnswer | Answering)[]): void
  otherwise(answer: FakeAnswer | Answering): void
  /** Sets how texts become vectors. Without it the path does not exist, as on many servers. */
  embedWith(embed: EmbedText | null): void
  /** The texts for which vectors were requested. */
  embedded: string[]
  reset(): void
  close(): Promise<void>
}

export const startFakeLlm = async (): Promise<FakeLlm> => {
  const asked: Asked[] = []
  const refused: string[] = []
  let queue: (FakeAnswer | Answering)[] = []
  let usual: FakeAnswer | Answering = say('ok')
  let count = 0
  const embedded: string[] = []
  let embed: EmbedText | null = null

  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    count += 1
    const body = await readBody(request)
    if (request.url === '/v1/embeddings' && embed !== null) {
      checkCaller(request)
      const texts = readEmbeddings(JSON.parse(body) as Fields)
      embedded.push(...texts)
      send(response, 200, writeEmbeddings(texts, embed))
      return
    }
    const read = readRequest(request, body)
    asked.push(read)
    const next = queue.shift() ?? usual
    const answer = typeof next === 'function' ? await next(read) : next
    const write = read.protocol === 'chat' ? writeChat : writeResponses
    switch (answer.kind) {
      case 'hang':
        return
      case 'cut':
        response.writeHead(200, { 'content-type': 'application/json', 'content-length': '5000' })
        response.write('{"id": "chatcmpl-1", "choices": [{"index": 0, "mess', () => response.destroy())
        return
      case 'raw':
        response.writeHead(200, { 'content-type': 'application/json' }).end(answer.body)
        return
      case 'redirect':
        response.writeHead(307, { location: answer.location }).end()
        return
      case 'status':
        send(
          response,
          answer.status,
          answer.body ?? { error: { message: 'told to', type: 'server_error', code: null } },
          answer.headers,
        )
        return
      default:
        if (read.body.stream === true) await stream(response, read.protocol, answer, count)
        else send(response, 200, write(whole(answer), count))
    }
  }

  const server = createServer((request, response) => {
    handle(request, response).catch((error: Error) => {
      const code = error instanceof Refused ? error.status : 500
      refused.push(error.message)
      send(response, code, {
        error: { message: error.message, type: 'invalid_request_error', code: null, param: null },
      })
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo

  return {
    baseUrl: `http://127.0.0.1:${port}/v1`,
    key: FAKE_KEY,
    asked,
    refused,
    count: () => count,
    script: (...answers) => {
      queue = answers
    },
    otherwise: (answer) => {
      usual = answer
    },
    embedWith: (given) => {
      embed = given
    },
    embedded,
    reset: () => {
      embed = null
      embedded.length = 0
      queue = []
      usual = say('ok')
      asked.length = 0
      refused.length = 0
      count = 0
    },
    close: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

const checkCaller = (request: IncomingMessage): void => {
  need(request.method === 'POST', 'POST expected', 405)
  const { authorization } = request.headers
  // Quotes the refused key, as the real server does.
  need(authorization === `Bearer ${FAKE_KEY}`, `Incorrect API key provided: ${authorization}`, 401)
  need(request.headers['content-type']?.startsWith('application/json'), 'JSON expected', 415)
}

const readRequest = (request: IncomingMessage, body: string): Asked => {
  checkCaller(request)
  const fields = JSON.parse(body) as Fields
  if (request.url === '/v1/chat/completions') return readChat(fields)
  if (request.url === '/v1/responses') return readResponses(fields)
  throw new Refused(404, `no such path ${request.url}`)
}

const send = (response: ServerResponse, code: number, body: unknown, headers: Record<string, string> = {}): void => {
  response.writeHead(code, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body))
}

const readBody = async (request: IncomingMessage): Promise<string> => {
  const parts: Buffer[] = []
  for await (const part of request) parts.push(part as Buffer)
  return Buffer.concat(parts).toString()
}
