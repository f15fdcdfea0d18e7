import { execFileSync } from 'node:child_process'
import { cpSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join, relative } from 'node:path'
import { manifest, root, writeManifest } from './emit.ts'

// Builds the packages `@heddle/sdk` and `@heddle/workflows`: plain JavaScript with declarations, without dependencies
// except on each other. Each entry can be imported by itself.

type Library = {
  name: string
  description: string
  /** The folder of the sources, and the files in it that are entries in addition to the index. */
  folder: string
  entries: string[]
  /** The modules that the index exports. */
  index: string[]
  dependencies?: Record<string, string>
}

export const LIBRARIES: Library[] = [
  {
    name: '@heddle/sdk',
    description: 'Typed client for Heddle, without dependencies',
    folder: 'sdk',
    entries: [
      'client',
      'problems',
      'lists',
      'executions',
      'sockets',
      'frames',
      'events',
      'receipts',
      'types.generated',
    ],
    // `events` and `receipts` need node:crypto, so they do not work in browsers.
    index: ['client', 'problems', 'lists', 'executions', 'sockets', 'frames', 'types.generated'],
  },
  {
    name: '@heddle/workflows',
    description: 'Heddle workflows as typed code',
    folder: 'sdk/workflows',
    entries: ['build', 'values', 'print', 'testing'],
    index: ['build', 'values', 'print', 'nodes.generated'],
    dependencies: { '@heddle/sdk': manifest.version },
  },
]

/** Compiles the sources of a library, together with the modules that they import (types of the model, the SDK). */
function compile(files: string[], directory: string): void {
  const config = join(directory, 'tsconfig.json')
  mkdirSync(directory, { recursive: true })
  writeFileSync(
    config,
    JSON.stringify({
      extends: join(root, 'tsconfig.json'),
      compilerOptions: {
        noEmit: false,
        declaration: true,
        rewriteRelativeImportExtensions: true,
        rootDir: root,
        outDir: join(directory, 'out'),
        lib: ['ES2023', 'DOM', 'DOM.Iterable'],
        types: ['node'],
        typeRoots: [join(root, 'node_modules', '@types')],
      },
      files: files.map((file) => join(root, file)),
      include: [],
    }),
  )
  execFileSync(process.execPath, [join(root, 'node_modules', 'typescript', 'bin', 'tsc'), '-p', config], {
    stdio: 'inherit',
    cwd: root,
  })
  rmSync(config)
}

/** Replaces `#model/…` with a relative path, and the SDK with the package of that name. */
function resolveAliases(directory: string, own: string): void {
  for (const file of globSync('**/*.{js,d.ts}', { cwd: directory })) {
    const path = join(directory, file)
    const code = readFileSync(path, 'utf8').replace(/(["'])#(\w+)\/([\w./-]+)\1/g, (_, quote, alias, rest) => {
      if (alias === 'sdk' && own !== 'sdk') return `${quote}@heddle/sdk/${rest}${quote}`
      const target = join(directory, alias, `${rest}.js`)
      const to = relative(dirname(path), target)
      return `${quote}${to.startsWith('.') ? to : `./${to}`}${quote}`
    })
    writeFileSync(path, code)
  }
}

function packageLibrary({ name, description, folder, entries, index, dependencies }: Library, directory: string): void {
  const existing = new Set(globSync(`${folder}/*.ts`, { cwd: root }).map((file) => basename(file, '.ts')))
  const modules = index.filter((entry) => existing.has(entry))
  compile(
    [...new Set([...entries, ...index])].filter((entry) => existing.has(entry)).map((entry) => `${folder}/${entry}.ts`),
    directory,
  )
  const out = join(directory, 'out')
  resolveAliases(out, folder)
  // The other library was compiled only for its types; it is a separate package.
  if (folder !== 'sdk') for (const file of globSync('sdk/*.{js,d.ts}', { cwd: out })) rmSync(join(out, file))
  for (const part of globSync('*', { cwd: out })) cpSync(join(out, part), join(directory, part), { recursive: true })
  rmSync(out, { recursive: true })
  const exported = modules.map((entry) => `export * from './${folder}/${entry}.js'\n`).join('')
  writeFileSync(join(directory, 'index.js'), exported)
  writeFileSync(join(directory, 'index.d.ts'), exported)
  cpSync(join(root, 'LICENSE'), join(directory, 'LICENSE'))
  cpSync(join(root, 'docs', folder === 'sdk' ? 'sdk.md' : 'workflows-as-code.md'), join(directory, 'README.md'))
  const entryOf = (path: string) => ({ types: `./${path}.d.ts`, default: `./${path}.js` })
  writeManifest(directory, {
    name,
    version: manifest.version,
    description,
    license: manifest.license,
    type: 'module',
    sideEffects: false,
    engines: { node: '>=20' },
    exports: {
      '.': entryOf('index'),
      ...Object.fromEntries(
        entries.filter((entry) => existing.has(entry)).map((entry) => [`./${entry}`, entryOf(`${folder}/${entry}`)]),
      ),
    },
    ...(dependencies && { dependencies }),
  })
}

export const libraries: Record<string, (directory: string) => Promise<void>> = Object.fromEntries(
  LIBRARIES.map((library) => [
    library.name.split('/')[1]!,
    async (directory: string) => packageLibrary(library, directory),
  ]),
)
