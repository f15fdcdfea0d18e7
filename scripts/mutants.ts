import { type ChildProcess, fork } from 'node:child_process'
import { globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Answer, Ask } from './mutants/host.ts'
import { type Mutant, mutantsOf } from './mutants/mutate.ts'
import { type Target, targets } from './mutants/targets.ts'

// `npm run mutants [-- NAME…] [--sample N]`: makes one small mistake at a time in the pure cores and counts how many
// the unit tests notice. It fails where fewer than nine in ten are noticed.

const SHARE = 0.9
const PATIENCE_MS = 60_000
const root = join(import.meta.dirname, '..')
const words = process.argv.slice(2)
const sampleAt = words.indexOf('--sample')
const sample = sampleAt === -1 ? Number.POSITIVE_INFINITY : Number(words[sampleAt + 1])
const names = words.filter((word, index) => !word.startsWith('--') && (sampleAt === -1 || index !== sampleAt + 1))

let host: ChildProcess | undefined

const copies: string[] = []
process.on('exit', () => {
  for (const copy of copies) rmSync(copy, { recursive: true, force: true })
})

async function startHost(): Promise<ChildProcess> {
  const copy = mkdtempSync(join(tmpdir(), 'heddle-mutants-'))
  copies.push(copy)
  const child = fork(join(root, 'scripts', 'mutants', 'host.ts'), [copy], {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  await new Promise((resolve, reject) => {
    child.once('message', resolve)
    child.once('exit', () => reject(new Error('the test host did not start')))
  })
  return child
}

/** A mistake that makes the tests run for ever counts as noticed. */
async function ask(question: Ask): Promise<Answer> {
  host ??= await startHost()
  const child = host
  return new Promise((resolve) => {
    const timer = setTimeout(() => child.kill('SIGKILL'), PATIENCE_MS)
    const done = (answer: Answer): void => {
      clearTimeout(timer)
      child.removeAllListeners()
      resolve(answer)
    }
    child.once('message', (answer: Answer) => done(answer))
    child.once('exit', () => {
      host = undefined
      done({ killed: true, by: 'timeout' })
    })
    child.send(question)
  })
}

/** Spread evenly over the file, the same ones at every run. */
const chosen = (mutants: Mutant[]): Mutant[] =>
  mutants.length <= sample
    ? mutants
    : mutants.filter(
        (_mutant, index) =>
          Math.floor((index * sample) / mutants.length) !== Math.floor(((index - 1) * sample) / mutants.length),
      )

async function measure({ name, files, tests }: Target): Promise<boolean> {
  const paths = globSync(files, { cwd: root })
    .filter((path) => !/test/.test(path))
    .sort()
  let killed = 0
  let total = 0
  for (const file of paths) {
    const sound = await ask({ file, mutant: null, tests })
    if (sound.killed) throw new Error(`the tests fail without any mistake: ${sound.by}`)
    for (const mutant of chosen(mutantsOf(file, readFileSync(join(root, file), 'utf8')))) {
      const answer = await ask({ file, mutant, tests })
      total += 1
      if (answer.killed) killed += 1
      else console.log(`survived  ${file}:${mutant.line}  ${mutant.what}`)
    }
  }
  const share = total === 0 ? 1 : killed / total
  console.log(`${name}: ${killed} of ${total} noticed, ${(share * 100).toFixed(1)} %`)
  return share >= SHARE
}

let good = true
for (const target of targets) {
  if (names.length > 0 && !names.includes(target.name)) continue
  good = (await measure(target)) && good
}
host?.disconnect()
process.exitCode = good ? 0 : 1
