import { readFileSync } from 'node:fs'
import { registerHooks, stripTypeScriptTypes } from 'node:module'
import { join, relative } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { Worker } from 'node:worker_threads'
import { type Mutant, mutated } from './mutate.ts'
import { takeTests } from './vitest.ts'

// Loads test files again for every mutant and runs their tests until one fails. The mutant is never written to disk:
// the hook below loads each module whose address ends with `?run=N`, with the mutant in its file.

export type Question = {
  tests: string[]
  /** The file to mutate, the mutation, and the files to load again because they import that file. */
  file?: string
  mutant?: Mutant
  dependents?: string[]
  /** The cost of each test. Cheap tests run first. */
  costs?: Record<string, number>
}
export type Import = [from: string, to: string]
export type Answer = { failed: string | null; costs: Record<string, number>; imports: Import[] }

const root = join(import.meta.dirname, '..', '..')
const standIns: Record<string, string> = {
  vitest: pathToFileURL(join(import.meta.dirname, 'vitest.ts')).href,
  'fast-check': pathToFileURL(join(import.meta.dirname, 'fast-check.ts')).href,
}

const isOurs = (url: string): boolean => url.startsWith(`${pathToFileURL(root)}/`) && !url.includes('/node_modules/')
const fileOf = (url: string): string => relative(root, fileURLToPath(url))
const runOf = (url: string | undefined): string | undefined => url?.split('?run=')[1]

let present: Question = { tests: [] }
let dependents = new Set<string>()
let imports: Import[] = []
let runs = 0
const javascript = new Map<string, string>()

function load(file: string): string {
  const read = (): string => readFileSync(join(root, file), 'utf8')
  if (present.mutant && file === present.file) return stripTypeScriptTypes(mutated(read(), present.mutant))
  const known = javascript.get(file) ?? stripTypeScriptTypes(read())
  javascript.set(file, known)
  return known
}

registerHooks({
  resolve(specifier, context, next) {
    if (runOf(context.parentURL) === undefined) return next(specifier, context)
    const standIn = standIns[specifier]
    if (standIn) return { url: standIn, format: 'module-typescript', shortCircuit: true }
    const resolved = next(specifier, context)
    if (!isOurs(resolved.url)) return resolved
    const file = fileOf(resolved.url)
    imports.push([fileOf(context.parentURL as string), file])
    return { ...resolved, url: `${resolved.url}?run=${dependents.has(file) ? runs : 'unchanged'}` }
  },
  load(url, context, next) {
    if (runOf(url) === undefined) return next(url, context)
    return { format: 'module', source: load(fileOf(url)), shortCircuit: true }
  },
})

async function answer(question: Question): Promise<Answer> {
  present = question
  dependents = new Set(question.dependents)
  imports = []
  runs += 1
  const costs: Record<string, number> = {}
  takeTests()
  for (const file of question.tests) {
    try {
      await import(`${pathToFileURL(join(root, file))}?run=${runs}`)
    } catch (error) {
      return { failed: `${file} is not loaded: ${error}`, costs, imports }
    }
  }
  const known = question.costs ?? {}
  for (const { name, run } of takeTests().sort((a, b) => (known[a.name] ?? 0) - (known[b.name] ?? 0))) {
    const start = performance.now()
    try {
      await run()
    } catch {
      return { failed: name, costs, imports }
    }
    costs[name] = performance.now() - start
  }
  return { failed: null, costs, imports }
}

/** The maximum processor time. The tests of a file need about one second. */
const MAX_CPU_MS = 4_000
const limit = new BigInt64Array(new SharedArrayBuffer(8))
new Worker(join(import.meta.dirname, 'watchdog.ts'), { workerData: limit }).unref()

process.on('message', async (question: Question) => {
  const { user, system } = process.cpuUsage()
  Atomics.store(limit, 0, BigInt(Math.round((user + system) / 1_000) + MAX_CPU_MS))
  const given = await answer(question)
  Atomics.store(limit, 0, 0n)
  process.send?.(given)
})
process.on('disconnect', () => process.exit())
