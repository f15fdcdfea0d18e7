import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ask, close } from './mutants/ask.ts'
import { equivalents } from './mutants/equivalent.ts'
import type { Import } from './mutants/host.ts'
import { type Mutant, mutantsOf } from './mutants/mutate.ts'
import { type Target, targets } from './mutants/targets.ts'

// `npm run mutants [-- NAME|FILE…] [--sample N]`: makes one small mistake at a time in the pure functions and counts
// how many the tests next to them detect. NAME is a target, FILE the start of a path. Fails below MIN_SHARE.

const MIN_SHARE = 0.9
const root = join(import.meta.dirname, '..')
const words = process.argv.slice(2)
const sampleAt = words.indexOf('--sample')
const sample = sampleAt === -1 ? Number.POSITIVE_INFINITY : Number(words[sampleAt + 1])
const wanted = words.filter((word, index) => !word.startsWith('--') && (sampleAt === -1 || index !== sampleAt + 1))

/** Selects a sample that is spread evenly over the file and is the same in every run. */
const sampled = (mutants: Mutant[]): Mutant[] =>
  mutants.length <= sample
    ? mutants
    : mutants.filter(
        (_mutant, index) =>
          Math.floor((index * sample) / mutants.length) !== Math.floor(((index - 1) * sample) / mutants.length),
      )

const isEquivalent = (file: string, source: string, mutant: Mutant): boolean =>
  equivalents.some(
    ({ file: its, line, what }) =>
      its === file && what === mutant.what && line === source.split('\n')[mutant.line - 1]?.trim(),
  )

type Baseline = { test: string; imports: Import[]; costs: Record<string, number> }

async function baselineOf(test: string): Promise<Baseline> {
  const { failed, imports, costs } = await ask({ tests: [test] })
  if (failed !== null) throw new Error(`${test} fails without any mistake: ${failed}`)
  return { test, imports, costs }
}

/** Returns the file and all files that import it, directly or indirectly. */
function dependentsOf(file: string, imports: Import[]): Set<string> {
  const found = new Set([file])
  for (let before = 0; before < found.size; ) {
    before = found.size
    for (const [from, to] of imports) if (found.has(to)) found.add(from)
  }
  return found
}

type Score = { killed: number; total: number }
const percent = ({ killed, total }: Score): string => `${((killed / total) * 100).toFixed(1)} %`

async function measureFile(file: string, baselines: Baseline[]): Promise<Score> {
  const source = readFileSync(join(root, file), 'utf8')
  const score = { killed: 0, total: 0 }
  const dependents = dependentsOf(
    file,
    baselines.flatMap(({ imports }) => imports),
  )
  const concerned = baselines.filter(({ test }) => dependents.has(test))
  const tests = concerned.map(({ test }) => test)
  const costs = Object.assign({}, ...concerned.map((baseline) => baseline.costs)) as Record<string, number>
  for (const mutant of sampled(mutantsOf(file, source))) {
    if (isEquivalent(file, source, mutant)) continue
    const { failed } = await ask({ file, mutant, tests, dependents: [...dependents], costs })
    score.total += 1
    if (failed === null) console.log(`survived  ${file}:${mutant.line}  ${mutant.what}`)
    else {
      score.killed += 1
      // The test that detected this mutant is likely to detect the next one, so it runs first.
      costs[failed] = -score.killed
    }
  }
  if (score.total > 0) console.log(`  ${file}: ${score.killed} of ${score.total}, ${percent(score)}`)
  return score
}

async function measure({ name, files, tests }: Target): Promise<Score> {
  const paths = globSync(files, { cwd: root })
    .filter((file) => !file.endsWith('.test.ts') && !file.endsWith('/testing.ts'))
    .filter((file) => wanted.length === 0 || wanted.some((word) => word === name || file.startsWith(word)))
    .sort()
  const score = { killed: 0, total: 0 }
  if (paths.length === 0) return score
  const baselines: Baseline[] = []
  for (const test of globSync(tests, { cwd: root }).sort()) baselines.push(await baselineOf(test))
  for (const path of paths) {
    const { killed, total } = await measureFile(path, baselines)
    score.killed += killed
    score.total += total
  }
  console.log(`${name}: ${score.killed} of ${score.total} noticed, ${percent(score)}`)
  return score
}

const all = { killed: 0, total: 0 }
for (const target of targets) {
  const { killed, total } = await measure(target)
  all.killed += killed
  all.total += total
}
await close()
console.log(`all: ${all.killed} of ${all.total} noticed, ${percent(all)}`)
process.exitCode = all.total > 0 && all.killed / all.total >= MIN_SHARE ? 0 : 1
