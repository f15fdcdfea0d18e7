import type { Json, JsonObject } from '#model/definition'
import { isObject } from '#model/json'

// MCP servers that are programs: packages of the registry that speak over standard input and output. They run behind the wall as
// pieces do, and where they want a secret they are given a placeholder.

export type ProgramPackage = { name: string; version: string; integrity: string }

export type McpProgram = ProgramPackage & {
  /** The file that runs, from the folder of the installed package. */
  entry: string
  args: string[]
  /** `{{token}}` in a value stands for the secret of that name. */
  environment: Record<string, string>
}

/** What pins a package with everything that it depends on. Null where it depends on nothing. */
export type ProgramLock = JsonObject | null

export const PROGRAM_NAME = /^(@[a-z0-9][a-z0-9._-]{0,60}\/)?[a-z0-9][a-z0-9._-]{0,100}$/
export const ENVIRONMENT_NAME = /^[A-Za-z_][A-Za-z0-9_]{0,63}$/

/** Read by Node, the linker and libraries before the program runs: they would change what the wall starts. */
const RESERVED =
  /^(NODE_.*|LD_.*|DYLD_.*|OPENSSL_.*|UV_.*|MALLOC_.*|GLIBC_.*|GCONV_PATH|SSL_.*|PATH|HOME|SHELL|IFS|ENV|BASH_ENV)$/i

export const isReservedName = (name: string): boolean => RESERVED.test(name)

const SECRET = /\{\{\s*([A-Za-z_][A-Za-z0-9_]*)\s*\}\}/g

/** The secrets that a program is started with. */
export const secretsNamedIn = ({ args, environment }: Pick<McpProgram, 'args' | 'environment'>): string[] => [
  ...new Set(
    [...args, ...Object.values(environment)].flatMap((text) => [...text.matchAll(SECRET)].map(([, name]) => name!)),
  ),
]

export const withValues = (text: string, values: Readonly<Record<string, string>>): string =>
  text.replace(SECRET, (whole, name: string) => (Object.hasOwn(values, name) ? values[name]! : whole))

/** The file that a package is started by: its only one, or the one that has its name. */
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
