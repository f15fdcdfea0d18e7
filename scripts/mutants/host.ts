import { cpSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createVitest, type TestSpecification } from 'vitest/node'
import { type Mutant, mutated } from './mutate.ts'

// Runs the tests again and again, each time with another small mistake in one file of a copy of the sources. Its parent kills
// it when a mistake makes a test run for ever.

export type Ask = { file: string; mutant: Mutant | null; tests: string[] }
export type Answer = { killed: boolean; by?: string }

const origin = join(import.meta.dirname, '..', '..')
const root = process.argv[2] as string
for (const part of ['package.json', 'tsconfig.json', 'model', 'server', 'test']) {
  cpSync(join(origin, part), join(root, part), { recursive: true })
}
symlinkSync(join(origin, 'node_modules'), join(root, 'node_modules'))

const vitest = await createVitest({
  config: false,
  root,
  watch: false,
  bail: 1,
  reporters: [{}],
  include: ['**/*.test.ts'],
  pool: 'forks',
  testTimeout: 60_000,
  maxWorkers: 1,
})

const specifications = new Map<string, TestSpecification[]>()

async function run({ file, mutant, tests }: Ask): Promise<Answer> {
  const path = join(root, file)
  const source = readFileSync(join(origin, file), 'utf8')
  const key = tests.join()
  const known = specifications.get(key) ?? (await vitest.globTestSpecifications(tests))
  specifications.set(key, known)
  writeFileSync(path, mutant ? mutated(source, mutant) : source)
  vitest.invalidateFile(path)
  const { testModules, unhandledErrors } = await vitest.runTestSpecifications(known)
  writeFileSync(path, source)
  vitest.invalidateFile(path)
  for (const module of testModules) {
    if (module.ok()) continue
    for (const test of module.children.allTests('failed')) return { killed: true, by: test.fullName }
    return { killed: true, by: module.relativeModuleId }
  }
  return unhandledErrors.length > 0 ? { killed: true, by: String(unhandledErrors[0]) } : { killed: false }
}

process.on('message', (ask: Ask) => {
  run(ask).then(
    (answer) => process.send?.(answer),
    (error: Error) => process.send?.({ killed: true, by: error.message } satisfies Answer),
  )
})
process.on('disconnect', () => process.exit())
process.send?.('ready')
