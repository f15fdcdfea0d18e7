import { type ChildProcess, spawn } from 'node:child_process'
import { rmSync } from 'node:fs'
import { mkdtemp } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { memoryOf, resetPeak } from './watch.ts'

// Sends a file through the real program: uploads and downloads it, fetches it from another service in a node and sends
// it on in the next node, and sends it to a webhook. The figure is the maximum additional memory of the program.
//   node bench/files.ts            MEGABYTES=500

const MEGABYTES = Number(process.env.MEGABYTES ?? 500)
const MAX_GROWTH_MB = 64
const BLOCK = Buffer.alloc(1 << 20, 7)

let size = 1
async function* megabytes(): AsyncGenerator<Buffer> {
  for (let n = 0; n < size; n += 1) yield BLOCK
}

let taken = 0
const other = createServer(async (request, response) => {
  if (request.method === 'GET') {
    response.writeHead(200, { 'content-type': 'application/octet-stream' })
    Readable.from(megabytes()).pipe(response)
    return
  }
  for await (const chunk of request) taken += (chunk as Buffer).length
  response.writeHead(200).end()
})
await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve))
const host = `127.0.0.1:${(other.address() as AddressInfo).port}`

type Server = { child: ChildProcess; base: string; key: string }

function startServer(dataDir: string): Promise<Server> {
  const child = spawn(process.execPath, [join(import.meta.dirname, '..', 'server', 'main.mjs')], {
    env: {
      ...process.env,
      PORT: '0',
      HEDDLE_DATA_DIR: dataDir,
      HEDDLE_RATE_LIMITS: 'off',
      HEDDLE_LOG_LEVEL: 'warn',
      HEDDLE_ALLOW_TARGETS: host,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let said = ''
  return new Promise((resolve, reject) => {
    child.once('exit', () => reject(new Error(`the program ended: ${said}`)))
    child.stdout!.on('data', (data: Buffer) => {
      said += data
      const base = /heddle ready on (\S+)/.exec(said)?.[1]
      const key = /\b(hk_\S+)/.exec(said)?.[1]
      if (base && key) resolve({ child, base: base.replace(/\/$/, ''), key })
    })
  })
}

// biome-ignore lint/suspicious/noExplicitAny: a bench looks into answers freely
async function call({ base, key }: Server, method: string, path: string, body?: unknown): Promise<any> {
  const answer = await fetch(base + path, {
    method,
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`)
  return answer.json()
}

const send = async (url: string, headers: Record<string, string>): Promise<Response> =>
  fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/octet-stream', ...headers },
    body: Readable.toWeb(Readable.from(megabytes())) as ReadableStream,
    duplex: 'half',
  } as RequestInit)

async function ended(server: Server, executionId: string): Promise<void> {
  for (;;) {
    const { status, error } = await call(server, 'GET', `/api/workflows/executions/${executionId}`)
    if (status === 'succeeded') return
    if (status !== 'running' && status !== 'queued') throw new Error(`${status}: ${JSON.stringify(error)}`)
    await new Promise((resolve) => setTimeout(resolve, 200))
  }
}

async function through(server: Server): Promise<void> {
  const uploaded = await send(`${server.base}/api/files?name=large.bin`, { authorization: `Bearer ${server.key}` })
  const { $file } = (await uploaded.json()) as { $file: { file_id: string } }
  const download = await fetch(`${server.base}/api/files/${$file.file_id}`, {
    headers: { authorization: `Bearer ${server.key}` },
  })
  let read = 0
  for await (const chunk of download.body as unknown as AsyncIterable<Uint8Array>) read += chunk.length
  if (read !== size << 20) throw new Error(`${read} bytes came back`)
  const passing = (from: object) => ({
    nodes: [
      { id: 'get', type: 'http.request', args: { url: `http://${host}/`, response: 'file' } },
      { id: 'put', type: 'http.request', args: { method: 'PUT', url: `http://${host}/`, multipart: { file: from } } },
    ],
    edges: [{ from: { node: 'get' }, to: 'put' }],
  })
  const made = await call(server, 'POST', '/api/workflows', {
    name: 'Through',
    definition: passing({ $ref: 'nodes.get.output.body' }),
  })
  const run = await call(server, 'POST', `/api/workflows/${made.workflow_id}/run`, { input: {} })
  await ended(server, run.execution_id)
  if (taken < size << 20) throw new Error(`${taken} bytes were sent on`)
  const hook = await call(server, 'POST', '/api/workflows', {
    name: 'Hook',
    definition: {
      nodes: [{ id: 'a', type: 'set', args: { values: { n: { $ref: 'input.files[0].bytes' } } } }],
      edges: [],
    },
  })
  const token = await call(server, 'POST', `/api/workflows/${hook.workflow_id}/tokens`, {
    auth: { kind: 'url' },
    input: 'request',
  })
  const called = await send(server.base + new URL(token.url).pathname, {})
  await ended(server, ((await called.json()) as { execution_id: string }).execution_id)
}

const directory = await mkdtemp(join(tmpdir(), 'heddle-bench-files-'))
const server = await startServer(join(directory, 'data'))
try {
  // The first pass uses a small file, so that loading and compiling at first use is not counted.
  await through(server)
  size = MEGABYTES
  resetPeak(server.child.pid)
  const before = memoryOf(server.child.pid).now
  const from = performance.now()
  await through(server)
  const { peak } = memoryOf(server.child.pid)
  const figures = {
    file_mb: MEGABYTES,
    times_through: 5,
    seconds: Math.round((performance.now() - from) / 100) / 10,
    memory_before_mb: before,
    memory_peak_mb: peak,
    growth_mb: peak - before,
  }
  console.log(JSON.stringify(figures, null, 2))
  if (figures.growth_mb > MAX_GROWTH_MB) process.exitCode = 1
} finally {
  server.child.kill('SIGTERM')
  await new Promise((resolve) => server.child.once('exit', resolve))
  other.close()
  rmSync(directory, { recursive: true, force: true })
}
