import { execFile, execFileSync, spawn } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import pg from 'pg'
import { accountFor, isAlive, spawnAs } from '#platform/db/account'
import { findBinaries } from '#platform/db/binaries'
import { makeLogger } from '#platform/log'

// Separate PostgreSQL servers that replicate each other: a primary, a standby, and a server restored from a backup.

const run = promisify(execFile)

export type DatabaseServer = {
  readonly directory: string
  readonly port: number
  readonly url: string
  start(settings?: Record<string, string>): Promise<void>
  query<Row extends pg.QueryResultRow>(sql: string, values?: unknown[]): Promise<Row[]>
  /** Kills the server and all of its processes at once, as if the machine lost power. */
  kill(): void
  stop(): Promise<void>
}

const freePort = (): Promise<number> =>
  new Promise((resolve) => {
    const probe = createServer().listen(0, '127.0.0.1', () => {
      const { port } = probe.address() as { port: number }
      probe.close(() => resolve(port))
    })
  })

export function makeServers() {
  const root = mkdtempSync(join(tmpdir(), 'heddle-servers-'))
  chmodSync(root, 0o755)
  const account = accountFor(join(root, 'none'))
  if (account) chownSync(root, account.uid, account.gid)
  const binaries = findBinaries({ account, places: [join(tmpdir(), 'heddle-binaries')], log: makeLogger('warn') })
  const running = new Set<DatabaseServer>()
  const own = (path: string): void => {
    if (account) execFileSync('chown', ['-R', `${account.uid}:${account.gid}`, path])
  }

  const serverAt = async (directory: string): Promise<DatabaseServer> => {
    const port = await freePort()
    const url = `postgres://postgres@127.0.0.1:${port}/postgres`
    const postmaster = (): number => Number(readFileSync(join(directory, 'postmaster.pid'), 'utf8').split('\n')[0])
    const query = async <Row extends pg.QueryResultRow>(sql: string, values: unknown[] = []): Promise<Row[]> => {
      const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 5000 })
      client.on('error', () => {})
      await client.connect()
      try {
        return (await client.query<Row>(sql, values)).rows
      } finally {
        await client.end()
      }
    }
    const server: DatabaseServer = {
      directory,
      port,
      url,
      query,
      start: async (settings = {}) => {
        const all = {
          port: String(port),
          listen_addresses: '127.0.0.1',
          unix_socket_directories: '',
          max_connections: '150',
          shared_buffers: '128MB',
          logging_collector: 'on',
          log_min_messages: 'warning',
          ...settings,
        }
        const args = Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`])
        const child = spawn(binaries.path('postgres'), ['-D', directory, ...args], {
          ...spawnAs(account),
          stdio: ['ignore', 'ignore', 'inherit'],
        })
        running.add(server)
        let ended = false
        child.once('exit', () => {
          ended = true
        })
        for (;;) {
          if (ended) throw new Error(`the database server in ${directory} ended`)
          const up = await query('select 1').then(
            () => true,
            () => false,
          )
          if (up) return
          await delay(50)
        }
      },
      kill: () => {
        const pid = postmaster()
        const children = execFileSync('pgrep', ['-P', String(pid)])
          .toString()
          .trim()
          .split('\n')
          .map(Number)
        for (const one of [pid, ...children]) process.kill(one, 'SIGKILL')
        running.delete(server)
      },
      stop: async () => {
        if (!running.delete(server)) return
        const pid = postmaster()
        process.kill(pid, 'SIGINT')
        while (isAlive(pid)) await delay(25)
      },
    }
    return server
  }

  return {
    archive: join(root, 'archive'),
    /** Creates an empty server that archives its write-ahead log for a later restore (`archive`). */
    create: async (name: string): Promise<DatabaseServer> => {
      const directory = join(root, name)
      mkdirSync(join(root, 'archive'), { recursive: true })
      own(root)
      await run(binaries.path('initdb'), ['-D', directory, '-U', 'postgres', '-A', 'trust', '-N'], spawnAs(account))
      return serverAt(directory)
    },
    /** Copies a running server like a backup: between the start and the stop of a backup. */
    copy: async (source: DatabaseServer, name: string): Promise<DatabaseServer> => {
      const directory = join(root, name)
      const client = new pg.Client({ connectionString: source.url })
      await client.connect()
      await client.query(`select pg_backup_start('copy', true)`)
      cpSync(source.directory, directory, {
        recursive: true,
        filter: (path) => !/postmaster\.(pid|opts)$/.test(path) && !/\/(pg_wal|log)\/./.test(path),
      })
      const { rows } = await client.query<{ labelfile: string }>('select labelfile from pg_backup_stop(false)')
      await client.end()
      writeFileSync(join(directory, 'backup_label'), rows[0]!.labelfile)
      for (const file of readdirSync(join(source.directory, 'pg_wal')))
        cpSync(join(source.directory, 'pg_wal', file), join(directory, 'pg_wal', file), { recursive: true })
      chmodSync(directory, 0o700)
      own(directory)
      return serverAt(directory)
    },
    mark: (server: DatabaseServer, signal: 'standby.signal' | 'recovery.signal'): void => {
      writeFileSync(join(server.directory, signal), '')
      own(join(server.directory, signal))
    },
    clear: async (): Promise<void> => {
      for (const server of [...running]) await server.stop()
      rmSync(root, { recursive: true, force: true })
    },
    programs: dirname(binaries.path('postgres')),
  }
}
