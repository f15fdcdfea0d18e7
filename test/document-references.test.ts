import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { settings } from '#platform/config'
import { commands } from '#sdk/cli/commands'
import { LIBRARIES } from '../scripts/package/libraries.ts'

// Checks that what the documents name exists: files, settings, commands, operations, packages, fields and error codes.

const root = join(import.meta.dirname, '..')
const find = (...patterns: string[]): string[] => globSync(patterns, { cwd: root, exclude: ['**/node_modules'] })
const read = (file: string): string => readFileSync(join(root, file), 'utf8')

/** Without CHANGELOG.md, which also names what existed in the past, and documents that are generated. */
const documents = find('*.md', '.github/**/*.md', 'docs/*.md', 'docs/decisions/*.md', 'web/*.md').filter(
  (file) => file !== 'CHANGELOG.md',
)
const FOLDERS = '{server,model,sdk,web,widget,bench,scripts,test,docs,deploy,migrations}'
const sources = find(`${FOLDERS}/**/*.{ts,tsx,mjs,css}`)
const files = [...find('*.*'), ...find(FOLDERS), ...find(`${FOLDERS}/**/*`)]

const wordsOf = (text: string, pattern: RegExp): string[] =>
  [...new Set([...text.matchAll(pattern)].map(([, word]) => word!))].sort()

const BLOCK = /^ *```[^\n]*\n([\s\S]*?)^ *```/gm
const blocksOf = (text: string): string[] => [...text.matchAll(BLOCK)].map(([, block]) => block!)
const spansOf = (text: string): string[] => wordsOf(text.replace(BLOCK, ''), /(?<!`)`([^`]+)`(?!`)/g)

/** Paths below a folder of the repository, and source files that are named with a part of their path or none. */
function missingFiles(text: string): string[] {
  const paths = wordsOf(text, /(?<![\w@#./-])((?:[\w.<>-]+\/)*[\w<>-][\w.<>-]*\.tsx?|[a-z]+\/[\w.<>/-]+)(?![\w*…/])/g)
  const belongsToRepository = (path: string): boolean =>
    FOLDERS.slice(1, -1).split(',').includes(path.split('/')[0]!) || /\.tsx?$/.test(path)
  const exists = (path: string): boolean => files.some((file) => `/${file}`.endsWith(`/${path}`) || file === path)
  const isExample = (path: string): boolean => /[<>]|^\.|^test\/releases\/0\.2\.0/.test(path)
  return paths.filter((path) => belongsToRepository(path) && !isExample(path) && !exists(path.replace(/[./]+$/, '')))
}

/** Names of environment variables that are not settings of the service. */
const VARIABLES: Record<string, string> = {
  HEDDLE_BASE: 'of the command line',
  HEDDLE_KEY: 'of the command line',
  HEDDLE_WORKSPACE: 'of the command line',
  HEDDLE_HOST: 'of compose.yaml',
  HEDDLE_DEV_TARGET: 'of the development server of the console',
  HEDDLE_RECORD_EXAMPLES: 'of the tests',
}
const PREFIXES = [...new Set(Object.keys(settings).map((name) => name.split('_')[0]))].join('|')
const missingSettings = (text: string): string[] =>
  wordsOf(text, new RegExp(`(?<![\\w$])((?:${PREFIXES})_[A-Z0-9_]*[A-Z0-9])\\b(?![*_])`, 'g')).filter(
    (name) => !(name in settings) && !(name in VARIABLES),
  )

const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> }
/** `heddle help` is not in the table. The other words begin lines that the service prints. */
const COMMANDS = new Set([...Object.keys(commands), 'help', 'ready', 'operator', 'demo'])
const missingCommands = (text: string): string[] => [
  ...wordsOf(text, /npm run ([a-z][\w:-]*)/g).filter((name) => !(name in scripts)),
  ...wordsOf(text, /(?:^|npx |npm run --silent )heddle (?:-- )?([a-z][\w-]*)/gm).filter((name) => !COMMANDS.has(name)),
]

type Operations = Record<string, Record<string, unknown>>
const operations = Object.entries((JSON.parse(read('openapi.json')) as { paths: Operations }).paths).flatMap(
  ([path, methods]) => Object.keys(methods).map((method) => ({ method: method.toUpperCase(), parts: path.split('/') })),
)
const isParameter = (part: string): boolean => part.startsWith('{')
/** Checks whether an operation has this path, or ends with it if the path is shortened with "…". */
function hasOperation(method: string | undefined, path: string): boolean {
  const parts = path.replace(/\?.*$/, '').split('/').slice(1)
  return operations.some((operation) => {
    if (method !== undefined && operation.method !== method) return false
    if (path.startsWith('/api/') || path.startsWith('/auth/')) {
      if (operation.parts.length !== parts.length + 1) return false
    }
    const end = operation.parts.slice(-parts.length)
    return (
      end.length === parts.length && end.every((part, n) => part === parts[n] || (isParameter(part) && parts[n] !== ''))
    )
  })
}
const missingOperations = (text: string): string[] =>
  [...text.matchAll(/\b(GET|POST|PUT|PATCH|DELETE) +(…?\/[\w{}./…$-]+)/g)]
    .filter(([, method, path]) => /^(…|\/api\/|\/auth\/)/.test(path!) && !hasOperation(method, path!))
    .map(([place]) => place)

const missingPackages = (text: string): string[] =>
  wordsOf(text, /^import [^'\n]* from '([^']+)'/gm).filter((specifier) => {
    const library = LIBRARIES.find(({ name }) => specifier === name || specifier.startsWith(`${name}/`))
    if (!library) return !specifier.startsWith('./')
    return specifier !== library.name && !library.entries.includes(specifier.slice(library.name.length + 1))
  })

/** Names of other programs, and names that an example chooses. */
const FOREIGN = new Set([
  ...['max_locks_per_transaction', 'max_prepared_statements', 'pg_basebackup', 'pg_stat_statements'], // PostgreSQL
  'deadlock_timeout', // PostgreSQL
  'marked_uncollectible', // Stripe
  ...['notion_tools', 'get_search', 'trigger_3'], // of examples
])
const vocabulary = new Set(
  [
    ...sources,
    'openapi.json',
    ...find('server/**/*.json', 'migrations/*.sql', 'deploy/**/*.*', 'compose.yaml'),
  ].flatMap((file) =>
    file === 'test/document-references.test.ts' ? [] : (read(file).match(/[a-z0-9]+(?:_[a-z0-9]+)+/g) ?? []),
  ),
)
/** Fields, error codes, metrics and other names with an underscore that occur nowhere in the program. */
const unknownNames = (spans: string[]): string[] =>
  spans
    .flatMap((span) => wordsOf(span, /(?<![\w$.])([a-z0-9]+(?:_[a-z0-9]+)+)(?![\w*…])/g))
    .filter((name) => !vocabulary.has(name) && !FOREIGN.has(name))

function missingIn(text: string) {
  const spans = spansOf(text)
  const code = [...blocksOf(text), ...spans].join('\n')
  return {
    files: missingFiles(code),
    settings: missingSettings(text),
    commands: missingCommands(code),
    operations: missingOperations(text),
    packages: missingPackages(code),
    names: unknownNames(spans),
  }
}

test.each(documents)('%s names only what exists', (document) => {
  expect(missingIn(read(document))).toEqual({
    files: [],
    settings: [],
    commands: [],
    operations: [],
    packages: [],
    names: [],
  })
})

test('comments name only files that exist', () => {
  const missing = sources.flatMap((file) => {
    const comments = (read(file).match(/^ *(?:\/\/|\/\*\*|\*) .*$/gm) ?? []).join('\n')
    return missingFiles(comments).map((name) => `${file}: ${name}`)
  })
  expect(missing).toEqual([])
})

test('a document that names something that does not exist is found', () => {
  const text = `\`server/engine/absent.ts\`, \`HEDDLE_ABSENT\`, \`npm run absent\`, \`heddle absent\`, \`GET /api/absent\`,
\`no_such_code\`, \`POST …/tokens/{token_id}/absent\`
\`\`\`ts
import { makeClient } from '@heddle/sdk/absent'
\`\`\`
`
  expect(missingIn(text)).toEqual({
    files: ['server/engine/absent.ts'],
    settings: ['HEDDLE_ABSENT'],
    commands: ['absent', 'absent'],
    operations: ['GET /api/absent', 'POST …/tokens/{token_id}/absent'],
    packages: ['@heddle/sdk/absent'],
    names: ['no_such_code'],
  })
})
