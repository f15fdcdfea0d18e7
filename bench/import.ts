import { type ChildProcess, fork, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { createReadStream, createWriteStream, existsSync, readFileSync, rmSync, statSync } from 'node:fs'
import { mkdtemp } from 'node:fs/promises'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { parse } from 'csv-parse'
import { median } from './database.ts'

// One CSV of a million records, imported through HTTP into the real program, against csv-parse alone reading the same
// file. Rounds alternate, so that what else the machine does hits both. Then the dataset is read back and re-fingerprinted.
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
    console.log(`${RECORDS.toLocaleString('en')} records, ${(bytes / 1e6).toFixed(0)} MB`)
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
  let slowest = 0
  let id = ''
  let sha256 = ''
  const before = memoryOf(server).now
  for (let round = 0; round < ROUNDS; round++) {
    alone.push(await parseAlone(file))
    const health = watchHealth(server)
    const from = performance.now()
    const made = await importFile(server, file)
    imports.push((performance.now() - from) / 1000)
    slowest = Math.max(slowest, await health.stop())
    id = made.dataset_id
    sha256 = made.sha256
    if (made.record_count !== RECORDS) throw new Error(`${made.record_count} records were stored`)
    console.log(
      `round ${round + 1}: csv-parse alone ${alone.at(-1)!.toFixed(1)} s, import ${imports.at(-1)!.toFixed(1)} s`,
    )
  }
  const rate = (seconds: number[]): string => `${(bytes / 1e6 / median(seconds)).toFixed(1)} MB/s`
  console.log(`csv-parse alone    ${rate(alone)}`)
  console.log(
    `import             ${rate(imports)}, ${Math.round(RECORDS / median(imports)).toLocaleString('en')} records/s`,
  )
  const ratio = median(alone) / median(imports)
  console.log(`ratio              ${ratio.toFixed(2)} (bar 0.30)`)
  const peak = memoryOf(server).peak
  console.log(`memory             ${before} MB before, ${peak} MB at most (bar 512)`)
  console.log(`health             ${slowest.toFixed(0)} ms at most (bar 100)`)

  const health = watchHealth(server)
  const from = performance.now()
  const read = await readBack(server, id)
  const seconds = (performance.now() - from) / 1000
  console.log(
    `read back          ${(read.bytes / 1e6 / seconds).toFixed(1)} MB/s, fingerprint ${read.sha256 === sha256 ? 'equal' : 'NOT EQUAL'}`,
  )
  console.log(
    `memory             ${memoryOf(server).peak} MB at most; health ${(await health.stop()).toFixed(0)} ms at most`,
  )
  if (ratio < 0.3 || peak > 512 || slowest > 100 || read.sha256 !== sha256) process.exitCode = 1
}

type Server = { child: ChildProcess; base: URL; key: string }

async function startServer(dataDir: string): Promise<Server> {
  const child = spawn(process.execPath, [join(import.meta.dirname, '..', 'server', 'main.ts')], {
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

function memoryOf({ child }: Server): { now: number; peak: number } {
  const path = `/proc/${child.pid}/status`
  if (!existsSync(path)) return { now: Number.NaN, peak: Number.NaN }
  const status = readFileSync(path, 'utf8')
  const megabytes = (name: string): number =>
    Math.round(Number(new RegExp(`${name}:\\s+(\\d+)`).exec(status)?.[1]) / 1024)
  return { now: megabytes('VmRSS'), peak: megabytes('VmHWM') }
}

/** Asks for health ten times a second; the slowest answer in ms. */
function watchHealth({ base }: Server): { stop(): Promise<number> } {
  let slowest = 0
  let going = true
  const asking = (async () => {
    while (going) {
      const from = performance.now()
      await fetch(new URL('/healthz', base)).then((answer) => answer.arrayBuffer())
      slowest = Math.max(slowest, performance.now() - from)
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
  })()
  return {
    async stop() {
      going = false
      await asking
      return slowest
    },
  }
}

function parseAlone(file: string): Promise<number> {
  const child = fork(import.meta.filename, ['--parse-alone', file])
  return new Promise((resolve, reject) => {
    child.once('message', (message: { seconds: number }) => resolve(message.seconds))
    child.once('error', reject)
  })
}

async function importFile(
  { base, key }: Server,
  file: string,
): Promise<{ dataset_id: string; sha256: string; record_count: number }> {
  const boundary = 'heddle-bench-boundary'
  const upload = request(new URL('/api/datasets/import', base), {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': `multipart/form-data; boundary=${boundary}` },
  })
  const answered = new Promise<string>((resolve, reject) => {
    upload.once('error', reject)
    upload.once('response', async (answer) => {
      let text = ''
      for await (const part of answer) text += part
      if (answer.statusCode === 201) resolve(text)
      else reject(new Error(`status ${answer.statusCode}: ${text}`))
    })
  })
  upload.write(`--${boundary}\r\ncontent-disposition: form-data; name="file"; filename="records.csv"\r\n\r\n`)
  await pipeline(createReadStream(file, { highWaterMark: 256 << 10 }), upload, { end: false })
  upload.end(`\r\n--${boundary}--\r\n`)
  return JSON.parse(await answered) as { dataset_id: string; sha256: string; record_count: number }
}

/** The records of the answer are the canonical text itself: hashing them as they come must give the fingerprint. */
async function readBack({ base, key }: Server, id: string): Promise<{ bytes: number; sha256: string }> {
  const answer = await fetch(new URL(`/api/datasets/${id}`, base), { headers: { authorization: `Bearer ${key}` } })
  const hash = createHash('sha256')
  const marker = Buffer.from('"records":')
  let head: Buffer | null = Buffer.alloc(0)
  let bytes = 0
  let held = Buffer.alloc(0)
  for await (const part of answer.body as unknown as AsyncIterable<Uint8Array>) {
    bytes += part.length
    let block = Buffer.from(part)
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
