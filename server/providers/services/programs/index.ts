import type { Json, JsonObject } from '#model/definition'
import { isObject } from '#model/json'

// MCP servers that are programs: packages of the registry that communicate over standard input and output. They run
// behind the wall like pieces, and receive placeholders instead of secrets.

export type ProgramPackage = { name: string; version: string; integrity: string }

export type McpProgram = ProgramPackage & {
  /** The file to run, relative to the folder of the installed package. */
  entry: string
  args: string[]
  /** `{{token}}` in a value is replaced by the placeholder of the secret with that name. */
  environment: Record<string, string>
}

/** Pins a package and all of its dependencies. Null if the package has no dependencies. */
export type ProgramLock = JsonObject | null

export const PROGRAM_NAME = /^(@[a-z0-9][a-z0-9._-]{0,60}\/)?[a-z0-9][a-z0-9._-]{0,100}$/
export const ENVIRONMENT_NAME = /^[A-Za-z_][A-Za-z0-9_]{0,63}$/

/**
 * Variables that Node.js, the linker and libraries read before the program runs. They would change what the wall
 * starts.
 */
const RESERVED =
  /^(NODE_.*|LD_.*|DYLD_.*|OPENSSL_.*|UV_.*|MALLOC_.*|GLIBC_.*|GCONV_PATH|SSL_.*|PATH|HOME|SHELL|IFS|ENV|BASH_ENV)$/i

export const isReservedName = (name: string): boolean => RESERVED.test(name)

const SECRET = /\{\{\s*([A-Za-z_][A-Za-z0-9_]*)\s*\}\}/g

/** Returns the names of the secrets that a program is started with. */
export const secretsNamedIn = ({ args, environment }: Pick<McpProgram, 'args' | 'environment'>): string[] => [
  ...new Set(
    [...args, ...Object.values(environment)].flatMap((text) => [...text.matchAll(SECRET)].map(([, name]) => name!)),
  ),
]

export const withValues = (text: string, values: Readonly<Record<string, string>>): string =>
  text.replace(SECRET, (whole, name: string) => (Object.hasOwn(values, name) ? values[name]! : whole))

/** Returns the file that starts a package: its only executable, or the executable with the name of the package. */
export function entryOf(about: Json, name: string): string | undefined {
  if (!isObject(about)) return undefined
  const { bin } = about
  const own = name.replace(/^@[^/]+\//, '')
  const found =
    typeof bin === 'string'
      ? bin
      : isObject(bin)
        ? (bin[own] ?? (Object.keys(bin).length === 1 ? Object.values(bin)[0] : undefined))
        : undefined
  if (typeof found !== 'string') return undefined
  const steps = found.split('/').filter((step) => step !== '' && step !== '.')
  return steps.length === 0 || steps.includes('..') || /[\\\0]/.test(found) ? undefined : steps.join('/')
}
