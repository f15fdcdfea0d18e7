import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'

// Decides to which project of the test run a file belongs. `unit` needs no database and no browser, so it can run on
// every save.

export type Project = 'unit' | 'console' | 'service' | 'browser' | 'models' | 'slow' | 'journeys'

const root = join(import.meta.dirname, '..', '..')

const TESTS = ['model', 'server', 'test', 'sdk', 'web', 'widget'].map((folder) => `${folder}/**/*.test.ts`)

/** Files that start a PostgreSQL or the whole program, or give access to one. */
const SERVICE =
  /test\/harness\/(postgres|program|embedded-child|service-child)\.ts$|platform\/db\/embedded\.ts$|server\/(main\.mjs|program\.ts)$/

/**
 * Support code of tests: its imports count as imports of the test. Imports of the modules of the program do not count.
 */
const SUPPORT = /^(test|bench)\/|\/testing\.ts$|\.test\.ts$/

const ALIASES: [alias: string, folder: string][] = [
  ['#test/', 'test/'],
  ['#engine/', 'server/engine/'],
  ['#platform/', 'server/platform/'],
  ['#server/', 'server/'],
]

function resolveImport(from: string, specifier: string): string | undefined {
  if (specifier.startsWith('.')) return relative(root, join(root, dirname(from), specifier))
  const alias = ALIASES.find(([prefix]) => specifier.startsWith(prefix))
  return alias && `${alias[1]}${specifier.slice(alias[0].length)}.ts`
}

function reachesService(file: string, seen: Set<string>): boolean {
  if (SERVICE.test(file)) return true
  if (seen.has(file) || !SUPPORT.test(file) || !existsSync(join(root, file))) return false
  seen.add(file)
  const source = readFileSync(join(root, file), 'utf8')
  const specifiers = source.matchAll(
    /(?:^|\n)(?:import|export)\s(?!type\s)[^'"]*?from\s+'([^']+)'|import\('([^']+)'\)/g,
  )
  for (const [, fixed, lazy] of specifiers) {
    const target = resolveImport(file, fixed ?? lazy ?? '')
    if (target && reachesService(target, seen)) return true
  }
  return /\bserver\/main\.mjs\b|\binject\('postgres'\)/.test(source)
}

/**
 * Tests of speech and transcription. They load models, which takes seconds each, and other changes do not affect them.
 */
const MODELS = /^server\/providers\/(speech|transcription)\//

/**
 * Test scenarios of seconds to minutes, which only `npm run test:slow` runs: killed programs, silent networks, the
 * built program, its most detailed log, real voices, servers of vendors over TLS, and third-party tools. A file that
 * also has quick tests stays in its project and marks its slow tests with `slow`.
 */
const SLOW = new RegExp(
  `^(${[
    'test/(bundle|exhausted|key-rotation|lifecycle|never-out|never-out-ways|openapi-tools|partition|processes|rolling|secrets)',
    'server/areas/.*/(inspector|killed|silence)',
    'server/platform/db/(pooler|silence)',
    'server/providers/speech/(process|roundtrip)',
    'server/providers/transcription/contract',
    'server/providers/warehouse/silence',
  ].join('|')})\\.test\\.ts$`,
)

/**
 * One journey through each main part of the console, in one file, because each process would start a service and a
 * browser. The other files of test/e2e, and the whole of the files it imports, are the project `journeys` of `npm run
 * test:slow`.
 */
const BROWSER = 'test/e2e/in-short.test.ts'

function projectOf(file: string): Project {
  if (SLOW.test(file)) return 'slow'
  if (MODELS.test(file)) return 'models'
  if (file.startsWith('test/e2e/')) return file === BROWSER ? 'browser' : 'journeys'
  // The modules of these tests contain JSX, which Node does not run unchanged.
  if (/^(web|widget)\//.test(file)) return 'console'
  return reachesService(file, new Set()) ? 'service' : 'unit'
}

/** Checks whether a file has tests only for `npm run test:slow`, which then runs the whole file. */
const isRehearsal = (file: string): boolean => readFileSync(join(root, file), 'utf8').includes('harness/slow')

export function testFiles(): Record<Project, string[]> {
  const files: Record<Project, string[]> = {
    unit: [],
    console: [],
    service: [],
    browser: [],
    models: [],
    slow: [],
    journeys: [],
  }
  for (const file of globSync(TESTS, { cwd: root }).sort()) {
    const project = projectOf(file)
    files[project].push(file)
    if (project !== 'slow' && project !== 'journeys' && isRehearsal(file)) files.slow.push(file)
  }
  return files
}
