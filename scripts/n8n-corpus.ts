import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { validateDefinition } from '#model/graph'
import { convertN8n } from '#model/n8n/convert'
import { MAPPED } from '#model/n8n/nodes/service-table'
import { readN8n } from '#model/n8n/read'
import { type Catalogue, ImportFailure } from '#model/n8n/types'
import { serviceCatalogue } from '#providers/services/catalogue'
import { importerKinds } from '#test/n8n/kinds'

// Measures how much of a folder of n8n workflows can be converted: `node scripts/n8n-corpus.ts DIR [--services
// present|assume] [--every 10 [--from 5]]`. The folder is never part of the repository. `assume` treats every service
// that the importer maps as present.

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    services: { type: 'string', default: 'present' },
    every: { type: 'string', default: '1' },
    from: { type: 'string', default: '0' },
    reasons: { type: 'string', default: '25' },
    show: { type: 'string' },
  },
})

function catalogueOf(source: string): Catalogue {
  const present = new Map(
    [...serviceCatalogue()].map(([name, { actions }]) => [
      name,
      new Map([...actions].map(([key, one]) => [key, one.args_schema])),
    ]),
  )
  if (source !== 'assume') return present
  const assumed = [...MAPPED].map(
    ([name, actions]) =>
      [name, new Map([...actions].map((action) => [action, present.get(name)?.get(action) ?? {}]))] as const,
  )
  return new Map([...present, ...assumed])
}

const services = catalogueOf(values.services)
const kinds = importerKinds()
const count = { read: 0, unreadable: 0, accepted: 0, complete: 0, remarks: 0, nodes: 0, byHand: 0 }
const reasons = new Map<string, number>()
const alone = new Map<string, number>()

const directory = positionals[0]
if (directory === undefined) throw new Error('Name the folder of workflows.')
const files = readdirSync(directory)
  .filter((file) => file.endsWith('.json'))
  .sort()
for (const [index, file] of files.entries()) {
  if (index % Number(values.every) !== Number(values.from)) continue
  const text = readFileSync(join(directory, file), 'utf8')
  try {
    const workflow = readN8n(text)
    count.read += 1
    const { definition, report } = convertN8n(workflow, { kinds, services })
    const result = validateDefinition(definition, kinds)
    if (result.ok) count.accepted += 1
    else if (values.show === 'refused') console.log(file, result.errors.slice(0, 2))
    const left = report.filter(({ outcome }) => outcome === 'by_hand')
    count.nodes += report.length
    count.byHand += left.length
    if (left.length === 0 && result.ok) count.complete += 1
    else if (report.every(({ outcome }) => outcome === 'converted')) count.remarks += 1
    const kindsOfReason = new Set(left.flatMap(({ type, why }) => why.split('; ').map((one) => reasonOf(type, one))))
    for (const reason of kindsOfReason) reasons.set(reason, (reasons.get(reason) ?? 0) + 1)
    if (kindsOfReason.size === 1) for (const reason of kindsOfReason) alone.set(reason, (alone.get(reason) ?? 0) + 1)
    if (values.show !== undefined && left.some(({ why }) => why.includes(values.show!)))
      console.log(file, left.filter(({ why }) => why.includes(values.show!)).slice(0, 3))
  } catch (error) {
    if (!(error instanceof ImportFailure)) {
      console.log(file, error)
      throw error
    }
    count.unreadable += 1
  }
}

function reasonOf(type: string, why: string): string {
  const plain = why
    .replaceAll(/"[^"]*"/g, '"…"')
    .replace(/^[\w .-]{1,60}: (?=.*(counterpart|not known|computed|cannot be|has not run))/, '')
    .slice(0, 90)
  return /no counterpart of|is not there yet|is not mapped|has no action/.test(plain)
    ? plain
    : `${plain} [${type.split('.').at(-1)}]`
}

const share = (part: number): string => `${((100 * part) / Math.max(1, count.read)).toFixed(1)} %`
console.log(`workflows ${count.read} (not readable: ${count.unreadable})`)
console.log(`accepted by validation ${count.accepted} (${share(count.accepted)})`)
console.log(`nothing left to do ${count.complete} (${share(count.complete)})`)
console.log(
  `nodes ${count.nodes}, to be done by hand ${count.byHand} (${((100 * count.byHand) / Math.max(1, count.nodes)).toFixed(1)} %)`,
)
const top = (counts: Map<string, number>): void => {
  for (const [reason, times] of [...counts].sort(([, a], [, b]) => b - a).slice(0, Number(values.reasons)))
    console.log(`  ${times}\t${reason}`)
}
console.log('reasons, by workflows:')
top(reasons)
console.log('the only reason of a workflow:')
top(alone)
