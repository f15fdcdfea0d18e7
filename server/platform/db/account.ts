import { execFile, spawnSync } from 'node:child_process'
import { accessSync, constants, existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { promisify } from 'node:util'
import { StartRefused } from './refused.ts'

/** The system account PostgreSQL runs as, when it is not our own. */
export type Account = { readonly name: string; readonly uid: number; readonly gid: number }

const run = promisify(execFile)

/** Not on macOS, nor in a bare chroot: there, what runs can only be guessed from the pid file. */
export const seesProcesses = existsSync('/proc/self/stat')

/** PostgreSQL refuses to run as root: then it runs as the owner of the cluster there is, else as postgres or nobody. */
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

/** uid, gid and nothing of our environment: a stray PGPORT or PGOPTIONS must not reach the server. */
export const spawnAs = (account: Account | undefined) => ({
  cwd: '/',
  env: { PATH: '/usr/bin:/bin', LC_ALL: 'C' },
  ...(account && { uid: account.uid, gid: account.gid }),
})

/** Asks the system instead of reading modes: access lists and mounts count too. Another account is asked by a process of its own. */
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

// By name as well: a person's shell may stand in the directory too, and is not ours to end.
const SERVERS_IN = `
  for process in /proc/[0-9]*; do
    read -r name < "$process/comm" || continue
    case "$name" in postgres | initdb) ;; *) continue ;; esac
    for directory; do
      if [ "$process/cwd" -ef "$directory" ]; then echo "\${process#/proc/}"; break; fi
    done
  done 2>/dev/null`

const SERVERS = new Set(['postgres\n', 'initdb\n'])

/** A system that hides the processes of others from us shows them to the account that they belong to. */
const hidesProcesses = (): boolean =>
  /^\S+ \/proc proc \S*\bhidepid=(?!0\b|off\b)/m.test(readFileSync('/proc/self/mounts', 'utf8'))

/** By their names alone, which anybody can read; most starts find none, and need no other process to know that. */
function mayHaveServers(): boolean {
  if (hidesProcesses()) return true
  return readdirSync('/proc').some((pid) => {
    if (!/^\d/.test(pid)) return false
    try {
      return SERVERS.has(readFileSync(`/proc/${pid}/comm`, 'utf8'))
    } catch {
      // It has ended since.
      return false
    }
  })
}

/** Processes of PostgreSQL whose working directory is one of these; none where they cannot be seen. Looked up as the account
 * itself, because root in a container usually lacks the capability to look at the processes of others. */
export async function serversIn(account: Account | undefined, directories: string[]): Promise<number[]> {
  if (!seesProcesses || !mayHaveServers()) return []
  const { stdout } = await run('/bin/sh', ['-c', SERVERS_IN, 'sh', ...directories], spawnAs(account))
  return stdout.split('\n').filter(Boolean).map(Number)
}

/** A zombie that nobody reaps still answers to signal 0, but is dead. */
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
