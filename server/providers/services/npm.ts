import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { promisify } from 'node:util'

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

/** Runs npm. Undefined on success. */
export async function runNpm(args: readonly string[], folder: string): Promise<NpmProblem | undefined> {
  try {
    const options = { env: npmEnvironment(), cwd: folder, timeout: RUN_WITHIN_MS, maxBuffer: MAX_SAID }
    await promisify(execFile)('npm', [...args], options)
    return undefined
  } catch (error) {
    const { code, stdout, stderr } = error as { code?: unknown; stdout?: string; stderr?: string }
    if (code === 'ENOENT') return 'not_installed'
    return /E404|ETARGET|No matching version/.test(`${stdout} ${stderr}`) ? 'missing' : 'failed'
  }
}
