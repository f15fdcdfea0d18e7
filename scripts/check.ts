import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { checkLanguages } from '../web/words/catalogue.ts'
import { violations } from './architecture.ts'
import { importCycles } from './import-cycles.ts'
import { importGraph, readSources } from './imports.ts'
import { overlongCode } from './lengths.ts'
import { overlongLines, readDocuments } from './wrap.ts'

// `npm run check`: all checks that are not tests. A separate PostgreSQL checks the SQL.

const root = join(import.meta.dirname, '..')

type Step = { name: string; run(): Promise<string | undefined> }

const program = (name: string, ...args: string[]): Step['run'] =>
  command(join(root, 'node_modules', '.bin', name), ...args)

const command = (path: string, ...args: string[]): Step['run'] => {
  return () =>
    new Promise((resolve) => {
      const child = spawn(path, args, { cwd: root })
      let output = ''
      for (const stream of [child.stdout, child.stderr]) {
        stream.setEncoding('utf8').on('data', (text: string) => {
          output += text
        })
      }
      child.once('error', (error) => resolve(error.message))
      child.once('close', (code) => resolve(code === 0 ? undefined : output.trim()))
    })
}

// The package `typescript` is an older release, which client generators need as a library.
const TSC = join(root, 'node_modules', 'typescript7', 'bin', 'tsc')

const sources = readSources(root)

const steps: Step[] = [
  {
    name: 'format and lint',
    run: program('biome', 'ci', '--colors=off', '--error-on-warnings', '--max-diagnostics=20', '.'),
  },
  { name: 'types', run: command(TSC, '-p', '.') },
  { name: 'types of the console', run: command(TSC, '-p', 'web') },
  { name: 'nothing unused', run: program('knip', '--no-progress', '--treat-config-hints-as-errors') },
  {
    name: 'SQL and generated documents',
    run: command(process.execPath, join('scripts', 'check-database.ts')),
  },
  { name: 'architecture', run: async () => violations(sources).join('\n') || undefined },
  { name: 'texts of the console in every language', run: async () => checkLanguages() },
  { name: 'no long files and functions', run: async () => overlongCode(sources).join('\n') || undefined },
  { name: 'no long lines in documents', run: async () => overlongLines(readDocuments(root)).join('\n') || undefined },
  { name: 'no import circles', run: async () => importCycles(importGraph(sources)).join('\n') || undefined },
]

const results = await Promise.all(steps.map(async ({ name, run }) => ({ name, complaint: await run() })))
for (const { name, complaint } of results)
  console.log(complaint === undefined ? `✓ ${name}` : `✗ ${name}\n${complaint}\n`)
process.exitCode = results.some(({ complaint }) => complaint !== undefined) ? 1 : 0
