import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { createRequire, isBuiltin } from 'node:module'
import { dirname, join, relative } from 'node:path'
import type { Plugin } from 'esbuild'
import { BUILDS, describe, ENTRY, findProgram, recordBuild } from '../server/built.mjs'
import { rewritten } from './rewritten-packages.ts'

// Builds the program of a checkout into dist/server/<hash>, where server/main.mjs finds it. Child processes, workers
// and assets are not part of the bundle: they are started and read at their original paths, so each module still knows
// the path of its source.

const root = join(import.meta.dirname, '..')

/** Packages that the program needs at start. All others are loaded on demand, from their own folders. */
const INSIDE = new Set([
  '@fastify/busboy',
  '@fastify/cookie',
  'acorn',
  'canonicalize',
  'croner',
  'csv-parse',
  'fastify',
  'ipaddr.js',
  'pg',
  'pino',
  'postal-mime',
  'prom-client',
  're2js',
  'undici',
  'ws',
  'yaml',
  'zod',
])

/** Packages that other packages use only if they are installed, or only for what the service does not use. */
const OUTSIDE = new Set([
  ...['pg-native', 'bufferutil', 'utf-8-validate'],
  // For schemas of the framework. The service has its own.
  ...['@fastify/ajv-compiler', '@fastify/fast-json-stringify-compiler'],
])

const packageOf = (specifier: string): string =>
  specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/')

const isVendors = (path: string): boolean => path.includes('/node_modules/')

const packages: Plugin = {
  name: 'packages',
  setup(build) {
    build.onResolve({ filter: /^[^.#/]/ }, ({ path, importer, kind }) => {
      if (kind === 'entry-point' || isBuiltin(path)) return undefined
      const isInside = isVendors(importer) ? !OUTSIDE.has(path) : INSIDE.has(packageOf(path))
      return isInside ? undefined : { path, external: true }
    })
    // The build scripts of a checkout are not in the package, which contains their output.
    build.onResolve({ filter: /^\.\.\/scripts\// }, ({ path, resolveDir }) =>
      existsSync(join(resolveDir, path)) ? undefined : { path, external: true },
    )
  },
}

/**
 * Importing a built-in module of Node.js evaluates each of its exports: `node:http` then loads its WebSocket, with its
 * own copy of undici, and `node:crypto` loads the Web Crypto API. Here, only the imported exports are read.
 */
const BUILTIN = 'builtin'

const builtins: Plugin = {
  name: 'builtins',
  setup(build) {
    build.onResolve({ filter: /^[^.#/]/ }, ({ path, kind }) => {
      if (!isBuiltin(path)) return undefined
      const name = path.startsWith('node:') ? path : `node:${path}`
      return kind === 'import-statement' ? { path: name, namespace: BUILTIN } : { path: name, external: true }
    })
    build.onLoad({ filter: /./, namespace: BUILTIN }, ({ path }) => ({ contents: builtinText(path) }))
  },
}

/** esbuild leaves out the exports that nothing imports, because their calls are marked as pure. */
function builtinText(path: string): string {
  const names = Object.keys(createRequire(import.meta.url)(path)).filter((name) => /^[\w$]+$/.test(name))
  const parts = names.map((name) => `const $${name} = /* @__PURE__ */ part('${name}')\nexport { $${name} as ${name} }`)
  return [
    `const whole = require('${path}')`,
    'const part = (name) => whole[name]',
    'export default whole',
    ...parts,
  ].join('\n')
}

/** Makes `import.meta` of a module refer to the path of its source, relative to `home`. */
const places = (home: string): Plugin => ({
  name: 'places',
  setup(build) {
    build.onLoad({ filter: /\.m?[tj]s$/ }, async ({ path }) => {
      if (isVendors(path)) return undefined
      const source = await readFile(path, 'utf8')
      const folder = JSON.stringify(relative(home, dirname(path)))
      const file = JSON.stringify(relative(home, path))
      const contents = source
        .replaceAll('import.meta.dirname', `__placeOf(${folder})`)
        .replaceAll('import.meta.url', `__addressOf(${file})`)
      return { contents, loader: path.endsWith('.ts') ? 'ts' : 'js' }
    })
  },
})

const preamble = (toHome: string): string => `
import { createRequire as __createRequire } from 'node:module'
import { join as __join } from 'node:path'
import { pathToFileURL as __pathToFileURL } from 'node:url'
const require = __createRequire(import.meta.url)
const __placeOf = (path) => __join(import.meta.dirname, ${JSON.stringify(toHome)}, path)
const __addressOf = (path) => __pathToFileURL(__placeOf(path)).href`

/** Bundles the program whose sources are below `home`, and returns its source files. */
export async function bundleProgram({
  home,
  entry,
  directory,
  runsIn = directory,
}: {
  home: string
  entry: string
  directory: string
  /** The directory in which the bundle will run, if it differs from the build directory. */
  runsIn?: string
}): Promise<string[]> {
  const { build } = await import('esbuild')
  const { metafile } = await build({
    absWorkingDir: home,
    entryPoints: [{ in: join(home, entry), out: ENTRY.replace(/\.js$/, '') }],
    outdir: directory,
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node24',
    // One byte a character in memory, which a text with others would take two for.
    charset: 'ascii',
    legalComments: 'external',
    banner: { js: preamble(relative(runsIn, home)) },
    plugins: [builtins, packages, rewritten, places(home)],
    metafile: true,
    logLevel: 'error',
  })
  return Object.keys(metafile.inputs)
}

const SCRIPTS = ['scripts/build-server.ts', 'scripts/rewritten-packages.ts']

async function buildServer(): Promise<void> {
  mkdirSync(BUILDS, { recursive: true })
  const draft = join(BUILDS, `.building-${process.pid}`)
  try {
    const inputs = await bundleProgram({
      home: root,
      entry: 'server/begin.ts',
      directory: draft,
      runsIn: join(BUILDS, 'built'),
    })
    const own = inputs.filter((path) => !isVendors(`/${path}`) && !path.startsWith(`${BUILTIN}:`))
    const files = [...own, 'package.json', 'package-lock.json', ...SCRIPTS].map(describe)
    const name = createHash('sha256').update(JSON.stringify(files)).digest('hex').slice(0, 16)
    const directory = join(BUILDS, name)
    if (!existsSync(directory)) renameSync(draft, directory)
    recordBuild(BUILDS, name, files)
    forgetOld(directory)
  } finally {
    rmSync(draft, { recursive: true, force: true })
  }
}

/** The number of builds to keep, because running programs load parts of their build later. */
const KEPT = 3

function forgetOld(current: string): void {
  const others = readdirSync(BUILDS)
    .filter((name) => /^[0-9a-f]{16}$/.test(name))
    .map((name) => join(BUILDS, name))
    .filter((path) => path !== current)
    .sort((a, b) => statSync(b).mtimeMs - statSync(a).mtimeMs)
  for (const path of others.slice(KEPT - 1)) rmSync(path, { recursive: true, force: true })
}

if (import.meta.main && findProgram() === undefined) await buildServer()
