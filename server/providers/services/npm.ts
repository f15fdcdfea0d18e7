import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { setPriority } from 'node:os'
import { promisify } from 'node:util'
import { makeFairQueue } from '#platform/sandbox/queue'
import { WallFailure } from '#platform/wall/failure'

// Accesses the package registry with the npm configuration of this machine.

export const PACKAGE_VERSION = /^\d{1,6}\.\d{1,6}\.\d{1,6}(-[0-9a-z.-]{1,40})?$/

const RUN_WITHIN_MS = 120_000
const MAX_SAID = 32 * 1024 * 1024

export const integrityOf = (bytes: Buffer | string): string =>
  `sha512-${createHash('sha512').update(bytes).digest('base64')}`

/** Returns the part of a path that identifies one release. */
export const shortHash = (integrity: string): string =>
  createHash('sha256').update(integrity).digest('hex').slice(0, 16)

export const compareVersions = (a: string, b: string): number => a.localeCompare(b, 'en', { numeric: true })

/** Returns only the variables that npm needs, so that no setting of ours, and no key, is visible to another program. */
const npmEnvironment = (): NodeJS.ProcessEnv =>
  Object.fromEntries(
    Object.entries(process.env).filter(([name]) =>
      /^(PATH|HOME|USERPROFILE|APPDATA|SYSTEMROOT|TEMP|TMP|TMPDIR|NODE_EXTRA_CA_CERTS|(https?|no)_proxy|npm_config_.*)$/i.test(
        name,
      ),
    ),
  )

type NpmProblem = 'not_installed' | 'missing' | 'failed'

export const npmProblem = (problem: NpmProblem, wanted: string): string =>
  ({
    not_installed: 'npm is not installed here, and no mirror is configured',
    missing: `there is no package ${wanted}`,
    failed: 'the package could not be fetched from the registry; try again later',
  })[problem]

/** The caller that needs a package. The signal ends npm, such as when the client has disconnected. */
export type NpmCaller = { workspaceId: string; signal: AbortSignal }

/** Throws WallFailure `busy` if too many callers wait. */
export type NpmTurns = <T>(caller: NpmCaller, work: () => Promise<T>) => Promise<T>

const MAX_AT_ONCE = 2
const MAX_WAITING = 200
const MAX_WAITING_OF_ONE = 20
/** The last free place is for workspaces that have not used npm for about this long. */
const QUIET_MS = 10_000

/**
 * Limits the processes of npm. Each takes a core for a second and 80 MB. Without a limit, 360 requests of one workspace
 * started so many of them that the service lost its connections to the database.
 */
export function makeNpmTurns(atOnce = MAX_AT_ONCE): NpmTurns {
  const places = makeFairQueue<number>({
    perKey: 1,
    waiting: MAX_WAITING,
    waitingPerKey: MAX_WAITING_OF_ONE,
    kept: { workers: 1, recentMs: QUIET_MS },
  })
  for (let place = 0; place < atOnce; place += 1) places.offer(place)
  return async ({ workspaceId, signal }, work) => {
    const taken = await places.take(workspaceId, { signal })
    if ('refused' in taken) throw new WallFailure('busy', 'too many packages are being fetched; try again later')
    const since = performance.now()
    try {
      return await work()
    } finally {
      places.release(workspaceId, performance.now() - since)
      places.offer(taken.worker)
    }
  }
}

const NICENESS = 10

/** Runs npm. Undefined on success. */
export async function runNpm(
  args: readonly string[],
  folder: string,
  signal: AbortSignal,
): Promise<NpmProblem | undefined> {
  try {
    const options = { env: npmEnvironment(), cwd: folder, timeout: RUN_WITHIN_MS, maxBuffer: MAX_SAID, signal }
    const running = promisify(execFile)('npm', [...args], { ...options, killSignal: 'SIGKILL' })
    if (running.child.pid !== undefined) setPriority(running.child.pid, NICENESS)
    await running
    return undefined
  } catch (error) {
    signal.throwIfAborted()
    const { code, stdout, stderr } = error as { code?: unknown; stdout?: string; stderr?: string }
    if (code === 'ENOENT') return 'not_installed'
    return /E404|ETARGET|No matching version/.test(`${stdout} ${stderr}`) ? 'missing' : 'failed'
  }
}
