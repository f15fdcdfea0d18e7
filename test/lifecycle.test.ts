import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { getPriority, tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import pg from 'pg'
import { afterAll, afterEach, describe, expect, inject, test } from 'vitest'
import { accountFor, isAlive, serversIn } from '#platform/db/account'
import { signal } from '#platform/db/cluster'
import { type Program, startProgram, until } from './harness/program.ts'

// All tests use one directory: each start has to handle the state that the previous test left.
const root = mkdtempSync(join(tmpdir(), 'heddle-lifecycle-'))
chmodSync(root, 0o755)
const dataDir = join(root, 'data')
const cluster = join(dataDir, 'postgres', 'cluster')
const HEDDLE_SECRET_KEY = randomBytes(32).toString('base64')
let programs: Program[] = []

afterEach(async () => {
  const ended = programs.map((program) => program.stop('SIGKILL'))
  programs = []
  await Promise.all(ended)
  for (const pid of await serversIn(accountFor(cluster), [cluster])) {
    signal(pid, 'SIGKILL')
    await until(() => !isAlive(pid))
  }
})

afterAll(() => rmSync(root, { recursive: true, force: true }))

function start(env: Record<string, string> = {}, args: string[] = []): Program {
  const program = startProgram({ HEDDLE_DATA_DIR: dataDir, ...env }, args)
  programs.push(program)
  return program
}

type Refused = [env: Record<string, string>, args: string[], message: RegExp]

const postmasterPid = (): number => Number(readFileSync(join(cluster, 'postmaster.pid'), 'utf8').split('\n')[0])

const status = (address: string): Promise<number> =>
  fetch(address).then(
    (answer) => answer.status,
    () => 0,
  )

describe('the program', () => {
  test('stops together with its database if it is stopped during its first start', async () => {
    const program = start()
    await until(async () => (await serversIn(accountFor(cluster), [cluster])).length > 0)
    expect(await program.stop()).toMatchObject({ code: 0 })
    expect(await serversIn(accountFor(cluster), [cluster])).toEqual([])
  })

  test('starts, and stops cleanly with its database', async () => {
    const first = start()
    expect(await status(`${await first.ready}/readyz`)).toBe(200)
    // The ready line is printed only after the new cluster is on disk.
    expect(existsSync(`${cluster}.unsynced`)).toBe(false)
    expect(statSync(join(dataDir, 'secret.key')).mode & 0o777).toBe(0o600)
    const postmaster = postmasterPid()
    expect(await first.stop()).toMatchObject({ code: 0, signal: null })
    expect(isAlive(postmaster)).toBe(false)
  })

  test.runIf(process.platform === 'linux')('gives its event loop precedence over the threads of V8', async () => {
    const program = start()
    await program.ready
    const tasks = `/proc/${program.child.pid}/task`
    const nicenessOf = (thread: string): number =>
      Number(readFileSync(`${tasks}/${thread}/stat`, 'utf8').split(') ')[1]?.split(' ')[16])
    const workers = readdirSync(tasks).filter(
      (thread) => readFileSync(`${tasks}/${thread}/comm`, 'utf8').trimEnd() === 'V8Worker',
    )
    expect(nicenessOf(String(program.child.pid))).toBe(getPriority())
    expect(workers.length).toBeGreaterThan(0)
    expect(new Set(workers.map(nicenessOf))).toEqual(new Set([getPriority() + 10]))
  })

  test('starts again, and stops on SIGINT', async () => {
    const program = start()
    expect(await status(`${await program.ready}/readyz`)).toBe(200)
    expect(await program.stop('SIGINT')).toMatchObject({ code: 0 })
  })

  test('refuses a data directory that another program uses, and does not disturb that program', async () => {
    const first = start()
    const address = await first.ready
    const { code, errors } = await start().ended
    expect(code).toBe(1)
    expect(errors).toContain(`${dataDir} is in use by another heddle`)
    expect(await status(`${address}/readyz`)).toBe(200)
    await first.stop()
  })

  test('replaces a password and exits, together with its database', async () => {
    const program = start({}, ['--reset-password', 'demo@heddle.local'])
    expect(await program.ended).toMatchObject({ code: 0 })
    expect(program.output()).toMatch(/^heddle new password for demo@heddle\.local: [\w-]{24}$/m)
    expect(program.output()).not.toContain('heddle ready')
    expect(await serversIn(accountFor(cluster), [cluster])).toEqual([])
    const nobody = await start({}, ['--reset-password=nobody@example.com']).ended
    expect(nobody).toMatchObject({ code: 1, errors: expect.stringContaining('there is no account nobody@example.com') })
    const none = await start({}, ['--reset-password']).ended
    expect(none).toMatchObject({ code: 1, errors: expect.stringContaining('needs the e-mail address') })
  })

  test('names the file and the parameter if its database does not start', async () => {
    const file = join(cluster, 'postgresql.conf')
    const before = readFileSync(file, 'utf8')
    writeFileSync(file, `${before}\nshared_bufers = 1GB\n`)
    const { code, errors } = await start().ended
    writeFileSync(file, before)
    expect(code).toBe(1)
    expect(errors).toMatch(
      /^heddle cannot start: The database in .* did not start: .*"shared_bufers".*postgresql\.conf/m,
    )
    expect(errors).not.toContain('    at ')
  })

  test('names the reason if its database cannot be created', async () => {
    const entry = join(import.meta.dirname, '..', 'server', 'main.mjs')
    // Stands in for a full disk: no file may become larger than 256 KB.
    const limited = spawn('bash', ['-c', 'ulimit -f 256; exec "$0" "$1"', process.execPath, entry], {
      env: { PATH: process.env.PATH, PORT: '0', HEDDLE_PROCESSES: '1', HEDDLE_DATA_DIR: join(root, 'limited') },
    })
    const [errors] = await Promise.all([text(limited.stderr), once(limited, 'exit')])
    expect(errors).toMatch(/^heddle cannot start: The database in .* could not be created: .*File too large$/m)
    expect(errors).not.toContain('    at ')
  })

  test('names the reason if its database cannot recover after a crash', async () => {
    const program = start()
    await program.ready
    const postmaster = postmasterPid()
    await program.stop('SIGKILL')
    signal(postmaster, 'SIGKILL')
    await until(() => !isAlive(postmaster))
    // PostgreSQL reports it as an error of the checkpoint that ends the recovery, as it reports a full disk.
    const [mappings, elsewhere] = [join(cluster, 'pg_logical', 'mappings'), join(root, 'mappings')]
    renameSync(mappings, elsewhere)
    const { code, errors } = await start().ended
    renameSync(elsewhere, mappings)
    expect(code).toBe(1)
    expect(errors).toMatch(
      /^heddle cannot start: The database in .* did not start: .*"pg_logical\/mappings": No such file/m,
    )
    expect(errors).not.toContain('    at ')
  })

  test('starts again after it was killed, with or without its database', async () => {
    const first = start()
    await first.ready
    const postmaster = postmasterPid()
    await first.stop('SIGKILL')
    expect(isAlive(postmaster)).toBe(true)

    const second = start()
    expect(await status(`${await second.ready}/readyz`)).toBe(200)
    expect(postmasterPid()).toBe(postmaster)
    await second.stop('SIGKILL')
    signal(postmaster, 'SIGKILL')
    await until(() => !isAlive(postmaster))

    const third = start()
    expect(await status(`${await third.ready}/readyz`)).toBe(200)
    expect(await third.stop()).toMatchObject({ code: 0 })
  })

  test('survives a crash of its database and restarts the database', async () => {
    const program = start()
    const address = await program.ready
    const postmaster = postmasterPid()
    signal(postmaster, 'SIGKILL')
    await until(() => !isAlive(postmaster))
    await until(async () => (await status(`${address}/readyz`)) === 200)
    expect(await status(`${address}/healthz`)).toBe(200)
    expect(postmasterPid()).not.toBe(postmaster)
    expect(await program.stop()).toMatchObject({ code: 0 })
  })

  test('refuses a wrong secret key, and starts with the right key afterwards', async () => {
    const wrong = await start({ HEDDLE_SECRET_KEY }).ended
    expect(wrong.code).toBe(1)
    expect(wrong.errors).toContain('HEDDLE_SECRET_KEY is not the key')
    expect(await serversIn(accountFor(cluster), [cluster])).toEqual([])
    const again = start({ HEDDLE_SECRET_KEY: readFileSync(join(dataDir, 'secret.key'), 'utf8').trim() })
    await again.ready
    await again.stop()
  })

  test('reports that its database refuses the stored password, and stops the database', async () => {
    const file = join(dataDir, 'postgres', 'password')
    const right = readFileSync(file, 'utf8')
    writeFileSync(file, 'another\n')
    const { code, errors } = await start().ended
    writeFileSync(file, right)
    expect(code).toBe(1)
    expect(errors).toContain(`The database in ${dataDir} does not accept the password stored beside it`)
    expect(await serversIn(accountFor(cluster), [cluster])).toEqual([])
  })

  test('reports a missing key file, and does not create another key', async () => {
    const file = join(dataDir, 'secret.key')
    const first = start()
    await first.ready
    await first.stop()
    const key = readFileSync(file)
    rmSync(file)
    try {
      const { code, errors } = await start().ended
      expect(code).toBe(1)
      expect(errors).toContain(`${file} is missing`)
      expect(existsSync(file)).toBe(false)
    } finally {
      writeFileSync(file, key, { mode: 0o600 })
    }
    const again = start()
    await again.ready
    await again.stop()
  })

  test('uses the PostgreSQL of DATABASE_URL, also from two programs at once', async () => {
    const name = `external_${randomBytes(4).toString('hex')}`
    const admin = new pg.Client(inject('postgres').superuserUrl)
    await admin.connect()
    try {
      await admin.query(`create database ${name}`)
      const DATABASE_URL = Object.assign(new URL(inject('postgres').superuserUrl), { pathname: `/${name}` }).href
      const both = [start({ DATABASE_URL }), start({ DATABASE_URL })]
      for (const program of both) expect(await status(`${await program.ready}/readyz`)).toBe(200)
      for (const program of both) expect(await program.stop()).toMatchObject({ code: 0 })
    } finally {
      await admin.query(`drop database if exists ${name} with (force)`)
      await admin.end()
    }
  })

  test('refuses a port that is in use, and names the setting', async () => {
    const other = createServer().listen(0, '127.0.0.1')
    await once(other, 'listening')
    try {
      const { port } = other.address() as AddressInfo
      const { code, errors } = await start({ PORT: String(port) }).ended
      expect(code).toBe(1)
      expect(errors).toContain(`PORT ${port} is used by another program`)
      expect(errors).not.toContain('    at ')
    } finally {
      other.close()
    }
  })

  const refuses = async ([env, args, message]: Refused): Promise<void> => {
    const { code, errors } = await start(env, args).ended
    expect(code).toBe(1)
    expect(errors).toMatch(message)
    expect(errors).not.toContain('    at ')
  }

  // Tests beside config.ts cover the values of each setting; this test checks that the program reports the error and
  // exits.
  test('refuses an invalid setting, and names the setting and the allowed values', () =>
    refuses([{ PORT: 'many' }, [], /PORT is not valid\. Allowed: a whole number/]))

  test.each<[args: string[], printed: RegExp]>([
    [['--help'], /--reset-password ADDRESS[\s\S]*HEDDLE_DATA_DIR \(\.\/data\)/],
    [['--role', 'api', '-h'], /--reset-password ADDRESS/],
    [['--version'], /^heddle \d+\.\d+\.\d+\n$/],
  ])('with %o prints a text and starts nothing, also if a setting is invalid', async (args, printed) => {
    const program = start({ PORT: 'many' }, args)
    expect(await program.ended).toMatchObject({ code: 0, errors: '' })
    expect(program.output()).toMatch(printed)
  })

  test.each<Refused>([
    [{}, ['--rol', 'api'], /"--rol" is not an argument of this program; did you mean "--role"\? See --help/],
    [{}, ['api'], /"api" is not an argument of this program\. See --help/],
    [{}, ['--help=all'], /--help has no value/],
    [{ HEDDLE_SIGN_UP: 'maybe' }, [], /HEDDLE_SIGN_UP is not valid\. Allowed: open \| invite/],
    [{ HEDDLE_SECRET_KEY: 'short' }, [], /HEDDLE_SECRET_KEY is not valid\. Allowed: 32 bytes in base64/],
    [{ DATABASE_URL: 'mysql://x' }, [], /DATABASE_URL is not valid\. Allowed: postgres:/],
    [{}, ['--role', 'king'], /--role is not valid\. Allowed: all \| api \| worker/],
    [{ HEDDLE_DATA_DIR: join(import.meta.filename, 'data') }, [], /HEDDLE_DATA_DIR is not valid/],
  ])('refuses the invalid setting %o %o, and names the setting and the allowed values', (...refused) =>
    refuses(refused),
  )

  test.each<Refused>([
    [{ HOST: 'nowhere.invalid' }, [], /HOST is not valid: nowhere\.invalid/],
    [{ HEDDLE_DATA_DIR: import.meta.filename, HEDDLE_SECRET_KEY }, [], /HEDDLE_DATA_DIR is not valid/],
  ])('refuses the setting %o %o, whose error appears only when it is used', (...refused) => refuses(refused))
})
