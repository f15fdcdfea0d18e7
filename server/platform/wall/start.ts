import { type ChildProcess, spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import type { Readable, Writable } from 'node:stream'
import { requireStarted } from '#platform/children/start'
import type { WallProtocol } from './protocol.ts'
import { toJavaScript } from './strip-types.ts'

// The wall around third-party code: a process with its own network, file system, processes and user (Linux namespaces),
// without capabilities and environment. Node's permission model lets it read only a few folders.

export const wallLevels = ['namespaces', 'node'] as const
/** `node`: only Node's own permission model, which does not block connections. */
export type WallLevel = (typeof wallLevels)[number]

export type WallLimits = { heapMb: number; dataMb: number; cpuSeconds: number }

export type WalledProgram = {
  /** The file that runs first, and the folder that it may read besides its own. */
  entry: string
  code: string
  /** `tcp`: connections are forwarded unchanged, for database drivers. */
  transport: 'http' | 'tcp'
  /** `entry` is inside `code`, so that only the preload of our own files is needed. */
  inCode?: true
  /** The arguments and the environment of a program. Placeholders replace secrets. */
  args?: readonly string[]
  environment?: Readonly<Record<string, string>>
  /** Answers come over standard output instead of the fourth pipe. */
  answersOnOutput?: true
  protocol?: WallProtocol
  limits?: WallLimits
}

export type WalledChild = {
  process: ChildProcess
  input: Writable
  answers: Readable
  errors: Readable
  /** The socket on which the service listens for connections of this process. */
  socket: string
  /** The folder as the process sees it. */
  code: string
}

const LIMITS: WallLimits = { heapMb: 256, dataMb: 900, cpuSeconds: 300 }
const PRELOAD = join(import.meta.dirname, 'inside/preload.ts')

/**
 * Builds a root that contains only the system's libraries, Node, the folders and the socket. Connections to sockets of
 * other programs need their files, which are not there. The capabilities for this are dropped before Node starts.
 */
const SCRIPT = `set -e
root="$1" node="$2" wall="$3" ours="$4" code="$5" io="$6"
shift 6
mount -t tmpfs -o mode=755,size=256k none "$root"
for one in /usr /lib /lib64 /lib32 /libx32 /bin /sbin; do
  if [ -L "$one" ]; then ln -s "$(readlink "$one")" "$root$one"
  elif [ -d "$one" ]; then mkdir "$root$one"; mount --rbind "$one" "$root$one"; fi
done
mkdir "$root/wall" "$root/ours" "$root/code"
mount --bind "$wall" "$root/wall"
mount --bind "$ours" "$root/ours"
mount --bind "$code" "$root/code"
: > "$root/node"
: > "$root/io"
mount --bind "$node" "$root/node"
mount --bind "$io" "$root/io"
cd "$root"
exec chroot "$root" /usr/bin/env -i "$@"`

const UNSHARE = ['--user', '--map-root-user', '--mount', '--net', '--ipc', '--pid', '--fork', '--kill-child']
const SETPRIV = ['/usr/bin/setpriv', '--no-new-privs', '--bounding-set=-all', '--inh-caps=-all']

export function makeSocketFolder(): { folder: string; socket: string } {
  const folder = mkdtempSync(join(tmpdir(), 'hdl-'))
  mkdirSync(join(folder, 'root'))
  return { folder, socket: join(folder, 's') }
}

/** Starts the process. The socket must already be listening. */
export function startBehindWall(
  level: WallLevel,
  program: WalledProgram,
  { folder, socket }: { folder: string; socket: string },
): WalledChild {
  const { heapMb, dataMb, cpuSeconds } = program.limits ?? LIMITS
  const inside = level === 'namespaces'
  const preload = toJavaScript(PRELOAD)
  const main = program.inCode ? program.entry : toJavaScript(program.entry)
  const at = inside
    ? { node: '/node', wall: '/wall', ours: '/ours', code: '/code', io: '/io' }
    : {
        node: process.execPath,
        wall: dirname(preload),
        ours: dirname(main),
        code: program.code,
        io: socket,
      }
  const entry = program.inCode ? join(at.code, program.entry.slice(program.code.length)) : join(at.ours, basename(main))
  const node = [
    at.node,
    '--permission',
    ...[at.wall, at.ours, at.code].map((path) => `--allow-fs-read=${path}`),
    '--no-warnings',
    `--max-old-space-size=${heapMb}`,
    '--import',
    join(at.wall, basename(preload)),
    entry,
    at.io,
    program.transport,
    ...(program.args ?? []),
  ]
  const limits = `ulimit -c 0; ulimit -t ${cpuSeconds}; ulimit -f 0; ulimit -d ${dataMb * 1024} 2>/dev/null; exec "$0" "$@"`
  const values = Object.entries(program.environment ?? {}).map(([name, value]) => `${name}=${value}`)
  const ours = program.inCode ? dirname(preload) : dirname(main)
  const command = inside
    ? [
        ...['unshare', ...UNSHARE, 'sh', '-c', SCRIPT, 'sh'],
        ...[join(folder, 'root'), process.execPath, dirname(preload), ours, program.code, socket],
        ...[...values, ...SETPRIV, ...node],
      ]
    : ['env', '-i', ...values, ...node]
  const child = requireStarted(
    spawn('/bin/sh', ['-c', limits, ...command], {
      env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin' },
      cwd: inside ? '/' : program.code,
      stdio: ['pipe', program.answersOnOutput ? 'pipe' : 'ignore', 'pipe', 'pipe'],
    }),
  )
  const [input, output, errors, fourth] = child.stdio as unknown as [Writable, Readable, Readable, Readable]
  for (const pipe of [input, output, errors, fourth]) pipe?.on('error', () => {})
  child.unref()
  return {
    process: child,
    input,
    answers: program.answersOnOutput ? output : fourth,
    errors,
    socket,
    code: at.code,
  }
}
