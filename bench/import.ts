import { type ChildProcess, fork, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { createReadStream, createWriteStream, rmSync, statSync } from 'node:fs'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { parse } from 'csv-parse'
import { median, percentile } from './database.ts'
import { type ImportedDataset, importFile } from './upload.ts'
import { memoryOf, watchHealth } from './watch.ts'

// Imports one CSV of a million records through HTTP into the real program, compared with csv-parse alone reading the
// same file. Rounds alternate, so that other load of the machine affects both. Then the dataset is read back and its
// fingerprint is computed again.
//   node bench/import.ts            RECORDS=1000000 ROUNDS=3

const RECORDS = Number(process.env.RECORDS ?? 1_000_000)
const ROUNDS = Number(process.env.ROUNDS ?? 3)

if (process.argv[2] === '--parse-alone') {
  let rows = 0
  const from = performance.now()
  for await (const _row of createReadStream(process.argv[3]!).pipe(parse({ columns: true }))) rows += 1
  process.send!({ rows, seconds: (performance.now() - from) / 1000 })
  process.disconnect()
} else await main()

async function main(): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'heddle-bench-import-'))
  try {
    const file = join(directory, 'records.csv')
    await writeCsv(file)
    const bytes = statSync(file).size
    console.error(`${RECORDS.toLocaleString('en')} records, ${(bytes / 1e6).toFixed(0)} MB`)
    const server = await startServer(join(directory, 'data'))
    try {
      await measure(server, file, bytes)
    } finally {
      server.child.kill('SIGTERM')
      await new Promise((resolve) => server.child.once('exit', resolve))
    }
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}

async function measure(server: Server, file: string, bytes: number): Promise<void> {
  const alone: number[] = []
  const imports: number[] = []
  const beside: number[] = []
  const during: number[] = []
  let made: ImportedDataset | undefined
  const before = memoryOf(server.child.pid).now
  for (let round = 0; round < ROUNDS; round++) {
    // The same probe beside csv-parse shows the latency that the machine itself adds.
    const idle = watchHealth(server.base.href)
    alone.push(await parseAlone(file))
    beside.push(...(await idle.stop()))
    const health = watchHealth(server.base.href)
    const from = performance.now()
    made = await importFile(server, file)
    imports.push((performance.now() - from) / 1000)
    during.push(...(await health.stop()))
    if (made.record_count !== RECORDS) throw new Error(`${made.record_count} records were stored`)
    console.error(
      `round ${round + 1}: csv-parse alone ${alone.at(-1)!.toFixed(1)} s, import ${imports.at(-1)!.toFixed(1)} s`,
    )
  }
  const imported = memoryOf(server.child.pid).peak
  const health = watchHealth(server.base.href)
  const from = performance.now()
  const read = await readBack(server, made!.dataset_id)
  const seconds = (performance.now() - from) / 1000
  const reading = await health.stop()
  const rate = (time: number): number => Math.round(bytes / 1e5 / time) / 10
  const figures = {
    records: RECORDS,
    file_mb: Math.round(bytes / 1e6),
    csv_parse_alone_mb_s: rate(median(alone)),
    import_mb_s: rate(median(imports)),
    import_records_s: Math.round(RECORDS / median(imports)),
    ratio: Math.round((median(alone) / median(imports)) * 100) / 100,
    memory_before_mb: before,
    memory_import_mb: imported,
    memory_read_mb: memoryOf(server.child.pid).peak,
    health_ms: { beside_csv_parse: spread(beside), import: spread(during), read: spread(reading) },
    read_mb_s: Math.round(read.bytes / 1e5 / seconds) / 10,
    fingerprint: read.sha256 === made!.sha256 ? 'equal' : 'NOT EQUAL',
  }
  console.log(JSON.stringify(figures, null, 2))
  const healthy = Math.max(...during) <= 100 || Math.max(...beside) > 50
  if (figures.ratio < 0.3 || imported > 512 || !healthy || figures.fingerprint !== 'equal') process.exitCode = 1
}

function spread(values: number[]) {
  return {
    p50: Math.round(median(values)),
    p99: Math.round(percentile(values, 99)),
    most: Math.round(Math.max(...values)),
  }
}

type Server = { child: ChildProcess; base: URL; key: string }

async function startServer(dataDir: string): Promise<Server> {
  const child = spawn(process.execPath, [join(import.meta.dirname, '..', 'server', 'main.mjs')], {
    env: { ...process.env, PORT: '0', HEDDLE_DATA_DIR: dataDir, HEDDLE_RATE_LIMITS: 'off', HEDDLE_LOG_LEVEL: 'warn' },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let said = ''
  return new Promise((resolve, reject) => {
    child.once('exit', () => reject(new Error(`the program ended: ${said}`)))
    child.stdout!.on('data', (data: Buffer) => {
      said += data
      const base = /heddle ready on (\S+)/.exec(said)?.[1]
      const key = /\b(hk_\S+)/.exec(said)?.[1]
      if (base && key) resolve({ child, base: new URL(base), key })
    })
  })
}

function parseAlone(file: string): Promise<number> {
  const child = fork(import.meta.filename, ['--parse-alone', file])
  return new Promise((resolve, reject) => {
    child.once('message', (message: { seconds: number }) => resolve(message.seconds))
    child.once('error', reject)
  })
}

/** The records of the response are the canonical text itself, so their hash must equal the fingerprint. */
async function readBack({ base, key }: Server, id: string): Promise<{ bytes: number; sha256: string }> {
  const answer = await fetch(new URL(`/api/datasets/${id}`, base), { headers: { authorization: `Bearer ${key}` } })
  const hash = createHash('sha256')
  const marker = Buffer.from('"records":')
  let head: Buffer | null = Buffer.alloc(0)
  let bytes = 0
  let held: Buffer = Buffer.alloc(0)
  for await (const part of answer.body as unknown as AsyncIterable<Uint8Array>) {
    bytes += part.length
    let block: Buffer = Buffer.from(part)
    if (head !== null) {
      head = Buffer.concat([head, block])
      const at = head.indexOf(marker)
      if (at === -1) continue
      block = head.subarray(at + marker.length)
      head = null
    }
    // The last byte closes the object around the records.
    const known = Buffer.concat([held, block])
    hash.update(known.subarray(0, -1))
    held = Buffer.from(known.subarray(-1))
  }
  return { bytes, sha256: hash.digest('hex') }
}

async function writeCsv(file: string): Promise<void> {
  function* lines(): Generator<string> {
    yield 'id,name,email,city,amount,date,active,note,code\n'
    let block = ''
    for (let n = 0; n < RECORDS; n++) {
      block += `${n},"Person, ${n}",person${n}@example.com,Amsterdam ${n % 97},${((n * 37) % 100_000) / 100},2026-01-${String((n % 28) + 1).padStart(2, '0')},${n % 2 === 0},"A note about record ${n}, with ""quotes"" and enough words to make the row about two hundred bytes long in all",${n.toString(36)}\n`
      if (block.length > 1 << 20) {
        yield block
        block = ''
      }
    }
    yield block
  }
  await pipeline(lines(), createWriteStream(file))
}
