import { once } from 'node:events'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import { makeNpmTurns } from './npm.ts'
import { makePieceSource, type PieceSource } from './pieces/source.ts'

// A fake npm connects to the test and runs until the test closes the connection.

let folder: string
let registry: Server
let running: { socket: Socket; workspace: string }[]
let most: number
let started: () => void
let source: PieceSource

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'npm-test-'))
  registry = createServer((socket) => {
    socket.on('error', () => {})
    socket.once('data', (name) => {
      running.push({ socket, workspace: String(name) })
      most = Math.max(most, running.length)
      started()
    })
    socket.once('close', () => {
      running = running.filter((one) => one.socket !== socket)
    })
  }).listen(0, '127.0.0.1')
  await once(registry, 'listening')
  const npm = join(folder, 'npm')
  const { port } = registry.address() as AddressInfo
  writeFileSync(
    npm,
    [
      `#!${process.execPath}`,
      `const socket = require('node:net').connect(${port}, '127.0.0.1').on('close', () => process.exit(1))`,
      // The name of the package is the workspace and a number.
      `socket.write(/piece-(\\w+)-/.exec(process.argv[3])[1])`,
      'socket.resume()',
    ].join('\n'),
  )
  chmodSync(npm, 0o755)
})
afterAll(() => {
  registry.close()
  rmSync(folder, { recursive: true })
})
beforeEach(() => {
  vi.stubEnv('PATH', folder)
  running = []
  most = 0
  started = () => {}
  source = makePieceSource({ folder, allowed: ['*'], mirror: null, npmTurns: makeNpmTurns() })
})
afterEach(() => vi.unstubAllEnvs())

const nextStart = (): Promise<void> => {
  const { promise, resolve } = Promise.withResolvers<void>()
  started = resolve
  return promise
}

const end = ({ socket }: (typeof running)[number]): Promise<unknown> => {
  const closed = once(socket, 'close')
  socket.end()
  return closed
}

const fetchFor = (workspaceId: string, at: number): Promise<unknown> =>
  source.fetch({ workspaceId, signal: new AbortController().signal }, `${workspaceId}-${at}`).catch(String)

test.each<[what: string, workspaces: string[], first: string[]]>([
  ['two processes of npm run at once', ['a', 'b', 'c', 'd', 'e'], ['a', 'b']],
  ['one process of npm runs for a workspace at once', ['a', 'a', 'a', 'a', 'b'], ['a', 'b']],
])('%s', async (_what, workspaces, first) => {
  const fetched = workspaces.map(fetchFor)
  await expect.poll(() => running.length).toBeGreaterThan(1)
  expect(running.map(({ workspace }) => workspace).sort()).toEqual(first)
  for (const _one of workspaces) {
    await expect.poll(() => running.length).toBeGreaterThan(0)
    await end(running[0]!)
  }
  for (const outcome of await Promise.all(fetched)) expect(outcome).toMatch(/could not be fetched from the registry/)
  expect(most).toBe(2)
})

test('npm ends when its caller disconnects, and gives up its turn', async () => {
  const client = new AbortController()
  const begun = nextStart()
  const left = source.fetch({ workspaceId: 'a', signal: client.signal }, 'a-slow')
  await begun
  const ended = once(running[0]!.socket, 'close')
  client.abort(new Error('disconnected'))
  await expect(left).rejects.toThrow('disconnected')
  await ended
  const again = nextStart()
  const next = source.fetch({ workspaceId: 'a', signal: new AbortController().signal }, 'a-next')
  await again
  await end(running[0]!)
  await expect(next).rejects.toThrow('could not be fetched')
})
