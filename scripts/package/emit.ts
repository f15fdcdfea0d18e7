import { cpSync, existsSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { transform } from 'esbuild'
import { specifiersOf } from '../imports.ts'

// Compiles TypeScript files to JavaScript files at the same paths. The layout must not change, because the program
// starts child processes and reads migrations by path.

export const root = join(import.meta.dirname, '..', '..')

export const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  version: string
  license: string
  dependencies: Record<string, string>
  imports: Record<string, string>
}

const isSupport = (file: string): boolean => /\.test\.tsx?$|\.d\.ts$|(^|\/)testing(\/|\.ts$)|(^|\/)fakes\//.test(file)

/** Returns the source files below the folders, without tests and their support code. */
export const sourcesOf = (patterns: string[]): string[] =>
  patterns
    .flatMap((pattern) => globSync(pattern, { cwd: root }))
    .filter((file) => !isSupport(file))
    .sort()

/** Replaces `'./x.ts'` with `'./x.js'` in imports and in paths, if the file is part of the package. */
function renameReferences(code: string, file: string, packaged: Set<string>): string {
  return code.replace(/(["'`])([\w./-]+)\.ts\1/g, (whole, quote: string, path: string) => {
    const target = relative(root, join(root, dirname(file), `${path}.ts`))
    return packaged.has(target) ? `${quote}${path}.js${quote}` : whole
  })
}

/** Writes the files as JavaScript below `directory` and returns the packages they import. */
export async function emit(files: string[], directory: string): Promise<Set<string>> {
  const packaged = new Set(files)
  const imported = new Set<string>()
  await Promise.all(
    files.map(async (file) => {
      const source = readFileSync(join(root, file), 'utf8')
      const { code } = await transform(source, { loader: 'ts', format: 'esm', target: 'node24', charset: 'utf8' })
      for (const name of packagesIn(file.replace(/\.ts$/, '.js'), code)) imported.add(name)
      const target = join(directory, file.replace(/\.ts$/, '.js'))
      mkdirSync(dirname(target), { recursive: true })
      writeFileSync(target, renameReferences(code, file, packaged))
    }),
  )
  return imported
}

const RESOLVED = /(?<!Promise\.)\b(?:resolve|findPackageJSON|directoryOf)\(\s*["'`]([@a-z][^"'`]*)["'`]/g

/** Returns the packages that a file imports or finds by name. */
function packagesIn(file: string, code: string): string[] {
  const specifiers = [...specifiersOf(file, code), ...[...code.matchAll(RESOLVED)].map(([, specifier]) => specifier!)]
  return specifiers
    .filter((specifier) => /^@?[a-z0-9]/.test(specifier) && !specifier.startsWith('node:'))
    .map((specifier) =>
      specifier
        .split('/')
        .slice(0, specifier.startsWith('@') ? 2 : 1)
        .join('/'),
    )
}

export function copy(paths: string[], directory: string): void {
  for (const path of paths)
    if (existsSync(join(root, path))) cpSync(join(root, path), join(directory, path), { recursive: true })
}

export function writeManifest(directory: string, content: object): void {
  mkdirSync(directory, { recursive: true })
  writeFileSync(join(directory, 'package.json'), `${JSON.stringify(content, null, 2)}\n`)
}
