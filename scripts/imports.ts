import { globSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { parseSync } from 'oxc-parser'

// Determines the imports between modules of the project, including types.

const FOLDERS: Record<string, string> = {
  model: 'model',
  platform: 'server/platform',
  engine: 'server/engine',
  providers: 'server/providers',
  areas: 'server/areas',
  server: 'server',
  sdk: 'sdk',
  web: 'web',
  test: 'test',
}

const SOURCES = '{model,server,sdk,web,widget,test,bench,scripts}/**/*.{ts,tsx}'

/** Returns all source files of the project by path. */
export function readSources(root: string): Map<string, string> {
  const files = globSync(SOURCES, { cwd: root, exclude: (path) => path.includes('node_modules') }).sort()
  return new Map(files.map((file) => [file, readFileSync(join(root, file), 'utf8')]))
}

/** Returns the specifiers of a module's imports and re-exports, as written, including `import(…)` of a literal. */
export function specifiersOf(file: string, source: string): string[] {
  const { module, errors } = parseSync(file, source)
  if (errors.length > 0) throw new Error(`${file} cannot be parsed: ${errors[0]!.message}`)
  const lazy = module.dynamicImports.flatMap(({ moduleRequest: { start, end } }) => {
    const text = source.slice(start, end)
    return /^(['"])[^'"]*\1$/.test(text) ? [text.slice(1, -1)] : []
  })
  return [
    ...module.staticImports.map(({ moduleRequest }) => moduleRequest.value),
    ...module.staticExports.flatMap(({ entries }) =>
      entries.flatMap(({ moduleRequest }) => moduleRequest?.value ?? []),
    ),
    ...lazy,
  ]
}

/** Returns the path inside the project, even if the file does not exist. Undefined for a package. */
export function pathOf(file: string, specifier: string): string | undefined {
  if (specifier.startsWith('.')) return normalize(join(dirname(file), specifier))
  const [, name = '', rest] = /^#(\w+)\/(.*)$/.exec(specifier) ?? []
  const folder = FOLDERS[name]
  return folder === undefined ? undefined : `${folder}/${rest}`
}

export type ImportGraph = Map<string, string[]>

export function importGraph(sources: Map<string, string>): ImportGraph {
  const existing = (path: string): string | undefined =>
    ['', '.ts', '.tsx'].map((ending) => path + ending).find((candidate) => sources.has(candidate))
  const targetsOf = (file: string, source: string): string[] =>
    specifiersOf(file, source).flatMap((specifier) => existing(pathOf(file, specifier) ?? '') ?? [])
  return new Map([...sources].map(([file, source]) => [file, [...new Set(targetsOf(file, source))]]))
}
