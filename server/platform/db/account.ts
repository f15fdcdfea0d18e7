import { execFile, spawnSync } from 'node:child_process'
import { accessSync, constants, existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { promisify } from 'node:util'
import { StartRefused } from './refused.ts'

/** The system account that PostgreSQL runs as, if it differs from the account of this process. */
export type Account = { readonly name: string; readonly uid: number; readonly gid: number }

const run = promisify(execFile)

/** False on macOS and in a bare chroot. There, running processes can only be guessed from the pid file. */
export const seesProcesses = existsSync('/proc/self/stat')

/**
 * Returns the account for PostgreSQL, which refuses to run as root. If this process is root, that is the owner of an
 * existing cluster, otherwise postgres or nobody.
 */
export function accountFor(cluster: string): Account | undefined {
  if (process.getuid?.() !== 0) return undefined
  if (existsSync(cluster)) {
    const { uid, gid } = statSync(cluster)
    if (uid !== 0) return { name: `user ${uid}`, uid, gid }
  }
  const accounts = readFileSync('/etc/passwd', 'utf8').split('\n')
  for (const wanted of ['postgres', 'nobody']) {
    const [name, , uid, gid] = accounts.find((line) => line.startsWith(`${wanted}:`))?.split(':') ?? []
    if (name !== undefined) return { name, uid: Number(uid), gid: Number(gid) }
  }
  throw new StartRefused(
    'PostgreSQL does not run as root, and there is no user "postgres" or "nobody" to run it as. Start heddle as an ordinary user.',
  )
}

/**
 * Returns spawn options with the uid, the gid and a minimal environment: a stray PGPORT or PGOPTIONS must not reach the
 * server.
 */
export const spawnAs = (account: Account | undefined) => ({
  cwd: '/',
  env: { PATH: '/usr/bin:/bin', LC_ALL: 'C' },
  ...(account && { uid: account.uid, gid: account.gid }),
})

/**
 * Checks whether the account can enter the directory. Tries it instead of reading the mode bits, because access control
 * lists and mounts matter too. For another account, a process of that account tries it.
 */
export function mayEnter(account: Account | undefined, directory: string): boolean {
  if (account)
    return (
      spawnSync('/bin/sh', ['-c', 'cd "$1"', 'sh', directory], { ...spawnAs(account), stdio: 'ignore' }).status === 0
    )
  try {
    accessSync(directory, constants.X_OK)
    return statSync(directory).isDirectory()
  } catch {
    return false
  }
}

// Also checks the process name: a user's shell may have its working directory here and must not be killed.
const SERVERS_IN = `
  for process in /proc/[0-9]*; do
    read -r name < "$process/comm" || continue
    case "$name" in postgres | initdb) ;; *) continue ;; esac
    for directory; do
      if [ "$process/cwd" -ef "$directory" ]; then echo "\${process#/proc/}"; break; fi
    done
  done 2>/dev/null`

const SERVERS = new Set(['postgres\n', 'initdb\n'])

/**
 * Checks whether the system hides the processes of other accounts from this process. The account that owns a process
 * still sees it.
 */
const hidesProcesses = (): boolean =>
  /^\S+ \/proc proc \S*\bhidepid=(?!0\b|off\b)/m.test(readFileSync('/proc/self/mounts', 'utf8'))

/**
 * Checks only process names, which every account can read. Most starts find no server this way and need not start
 * another process.
 */
function mayHaveServers(): boolean {
  if (hidesProcesses()) return true
  return readdirSync('/proc').some((pid) => {
    if (!/^\d/.test(pid)) return false
    try {
      return SERVERS.has(readFileSync(`/proc/${pid}/comm`, 'utf8'))
    } catch {
      // The process has ended in the meantime.
      return false
    }
  })
}

/**
 * Returns the PostgreSQL processes whose working directory is one of these, or none if processes cannot be seen. The
 * search runs as the account itself, because root in a container usually lacks the capability to inspect processes of
 * others.
 */
export async function serversIn(account: Account | undefined, directories: string[]): Promise<number[]> {
  if (!seesProcesses || !mayHaveServers()) return []
  const { stdout } = await run('/bin/sh', ['-c', SERVERS_IN, 'sh', ...directories], spawnAs(account))
  return stdout.split('\n').filter(Boolean).map(Number)
}

/** Checks whether the process is alive. A zombie that was not reaped still accepts signal 0 but counts as dead. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
  if (!seesProcesses) return true
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return !/^[ZX]/.test(stat.slice(stat.lastIndexOf(')') + 2))
  } catch {
    return false
  }
}
