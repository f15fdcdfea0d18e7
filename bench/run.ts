import { spawn } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Figures, numbersIn, printed, tableOf } from './table.ts'

// `npm run bench [names…]`: runs the benchmarks one after the other and compares their ratios with the committed
// baseline. A ratio that has fallen by more than a fifth is a failure, and so is a benchmark that ends with an error;
// the others still run. A table at the end compares every figure with its limit and target. `-- --update` writes a new
// baseline.

const benches = [
  'start',
  'http',
  'services',
  'engine',
  'trigger',
  'signal',
  'loop',
  'flow',
  'waiting',
  'files',
  'history',
  'index',
  'sockets',
  'processes',
  'import',
  'jobs',
  'speech',
  'chat',
  'overload',
].filter((name) => existsSync(join(import.meta.dirname, `${name}.ts`)))
const WORSE_BY = 0.2

const baselineFile = join(import.meta.dirname, 'baseline.json')
const baseline: Record<string, Record<string, number>> = existsSync(baselineFile)
  ? JSON.parse(readFileSync(baselineFile, 'utf8'))
  : {}

function run(name: string): Promise<Figures> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [join(import.meta.dirname, `${name}.ts`)], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    let output = ''
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      output += text
    })
    child.once('close', (code) => {
      // The figures are printed on several lines; log messages before or after them are on one line.
      const figures = /^\{\n[\s\S]*?^\}$/m.exec(output)
      if (code !== 0 || !figures) reject(new Error(`${name} ended with ${code}\n${output}`))
      else resolve(JSON.parse(figures[0]) as Figures)
    })
  })
}

const ratios = (figures: Figures): Record<string, number> =>
  Object.fromEntries(Object.entries(numbersIn(figures)).filter(([path]) => path.endsWith('ratio')))

const update = process.argv.includes('--update')
const wanted = process.argv.slice(2).filter((word) => !word.startsWith('--'))
const measured: Record<string, Figures> = {}
let worse = 0
const failed: string[] = []
for (const name of wanted.length > 0 ? wanted : benches) {
  console.log(`— ${name}`)
  const figures = await run(name).catch((error: Error) => {
    failed.push(name)
    console.error(error.message)
    return undefined
  })
  if (!figures) continue
  console.log(JSON.stringify(figures, null, 2))
  measured[name] = figures
  if (update) baseline[name] = ratios(figures)
  for (const [path, now] of Object.entries(ratios(figures))) {
    const before = baseline[name]?.[path]
    if (typeof before !== 'number') continue
    const fell = now < before * (1 - WORSE_BY)
    if (fell) worse += 1
    console.log(`${fell ? '✗' : '✓'} ${name} ${path}: ${now} (baseline ${before})`)
  }
}
console.log(`\n${printed(tableOf(measured, baseline))}`)
if (failed.length > 0) console.log(`\nfailed: ${failed.join(', ')}`)
if (update) writeFileSync(baselineFile, `${JSON.stringify(baseline, null, 2)}\n`)
process.exitCode = worse + failed.length > 0 ? 1 : 0
