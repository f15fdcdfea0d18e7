import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { chown, mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'

// Starts a real MariaDB if one is installed (Debian: apt-get install mariadb-server).

const PROGRAM = ['/usr/sbin/mariadbd', '/usr/sbin/mysqld'].find(existsSync)
const INSTALL = ['/usr/bin/mariadb-install-db', '/usr/bin/mysql_install_db'].find(existsSync)
const CLIENT = ['/usr/bin/mariadb', '/usr/bin/mysql'].find(existsSync)

/** The reason why MariaDB is not available. Null if it is available. */
export const mariadbMissing: string | null =
  PROGRAM && INSTALL && CLIENT ? null : 'MariaDB is not installed (apt-get install mariadb-server)'

const freePort = (): Promise<number> =>
  new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number }
      server.close(() => resolve(port))
    })
  })

export type MariaDb = { port: number; sql(text: string): void; close(): Promise<void> }

/** Starts a server with a database `heddle` and a user with all rights in it. */
export async function startMariadb(
  user: string,
  password: string,
  tls?: { cert: string; key: string },
): Promise<MariaDb> {
  const directory = await mkdtemp(join(tmpdir(), 'heddle-mariadb-'))
  const data = join(directory, 'data')
  const socket = join(directory, 's')
  const port = await freePort()
  const isRoot = process.getuid?.() === 0
  const as = isRoot ? ['--user=mysql'] : []
  if (isRoot) {
    const uid = Number(execFileSync('id', ['-u', 'mysql']).toString())
    await chown(directory, uid, uid)
  }
  execFileSync(
    INSTALL!,
    ['--no-defaults', `--datadir=${data}`, '--auth-root-authentication-method=normal', '--skip-test-db', ...as],
    {
      stdio: 'ignore',
    },
  )
  const options = [
    '--no-defaults',
    `--datadir=${data}`,
    `--socket=${socket}`,
    `--port=${port}`,
    '--bind-address=127.0.0.1',
  ]
  const small = ['--innodb-buffer-pool-size=8M', '--innodb-flush-log-at-trx-commit=0', '--skip-log-bin']
  const secure = tls ? [`--ssl-cert=${tls.cert}`, `--ssl-key=${tls.key}`] : ['--skip-ssl']
  const child: ChildProcess = spawn(PROGRAM!, [...options, ...small, ...secure, ...as], { stdio: 'ignore' })
  const ended = new Promise((resolve) => child.once('exit', resolve))
  const sql = (text: string): void =>
    void execFileSync(CLIENT!, ['--no-defaults', '-u', 'root', `--socket=${socket}`, '-e', text], { stdio: 'pipe' })
  for (let tries = 0; ; tries++) {
    try {
      sql('select 1')
      break
    } catch (error) {
      if (tries === 300 || child.exitCode !== null) throw error
      await pause(100)
    }
  }
  sql(`create database heddle character set utf8mb4; create user '${user}'@'127.0.0.1' identified by '${password}';
    create user '${user}'@'localhost' identified by '${password}';
    grant all on heddle.* to '${user}'@'127.0.0.1'; grant all on heddle.* to '${user}'@'localhost'`)
  return {
    port,
    sql,
    async close() {
      child.kill('SIGKILL')
      await ended
      await rm(directory, { recursive: true, force: true })
    },
  }
}
