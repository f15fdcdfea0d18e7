import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { JsonObject } from '#model/definition'
import { isSlowRun } from '#test/harness/slow'
import { encryptionOf } from './encryption.ts'
import { type Target, WarehouseFailure, type Warehouses } from './index.ts'
import { makeCertificate } from './testing/certificate.ts'
import { startClearPostgres } from './testing/clear-postgres.ts'
import { startEncryptedPostgres } from './testing/encrypted-postgres.ts'
import { makeWarehouses } from './warehouses.ts'

// Tests TLS with a real PostgreSQL whose certificate is not publicly trusted. Redshift uses the same protocol and is
// tested on the same server.

const SECRET = `s3cret-${randomBytes(8).toString('hex')}`
const certificate = makeCertificate()
let lure: Awaited<ReturnType<typeof startClearPostgres>>
let server: Awaited<ReturnType<typeof startEncryptedPostgres>>
let close: () => Promise<void>
let warehouses: Warehouses

beforeAll(async () => {
  server = await startEncryptedPostgres(certificate, SECRET)
  lure = await startClearPostgres()
  ;({ warehouses, close } = makeWarehouses({
    allowTargets: [`${server.host}:${server.port}`, `${server.host}:${lure.port}`],
    dataDir: '/nowhere',
  }))
})
afterAll(async () => {
  await close()
  await server.stop()
  await lure.stop()
})

const target = (more: JsonObject): Target => ({
  workspaceId: 'w1',
  config: { host: server.host, port: server.port, database: 'postgres', user: 'reader', ...more },
  secrets: { password: SECRET },
})
const options = () => ({ timeoutMs: 20_000, signal: new AbortController().signal })

const KINDS = isSlowRun ? (['postgres', 'redshift'] as const) : (['postgres'] as const)

describe.each(KINDS)('%s over TLS', (kind) => {
  const probe = (more: JsonObject): Promise<string> =>
    warehouses[kind].probe(target(more), options()).then(
      () => 'works',
      (error: unknown) => {
        expect(error).toBeInstanceOf(WarehouseFailure)
        expect((error as Error).message).not.toContain(SECRET)
        return (error as WarehouseFailure).step
      },
    )
  const isEncrypted = async (more: JsonObject): Promise<unknown> => {
    const text = 'select ssl, version from pg_stat_ssl where pid = pg_backend_pid()'
    const { pages } = await warehouses[kind].query(target(more), { text, limit: 10, ...options() })
    for await (const [row] of pages) return row!.ssl
    return undefined
  }

  test('reads through an encrypted connection whose certificate is verified against the given authority', async () => {
    expect(await probe({ ssl: 'verify', ca: certificate.cert })).toBe('works')
    expect(await isEncrypted({ ssl: 'verify', ca: certificate.cert })).toBe(true)
    expect(await isEncrypted({ ssl: 'require' })).toBe(true)
    expect(await isEncrypted({ ssl: 'prefer' })).toBe(true)
    expect(await isEncrypted({ ssl: 'off' })).toBe(false)
  })

  test('sends no secret to a server with an unknown certificate, a wrong certificate or a certificate for another host', async () => {
    expect(await probe({ ssl: 'verify' })).toBe('tls')
    expect(await probe({ ssl: 'verify', ca: makeCertificate().cert })).toBe('tls')
    const query = warehouses[kind].query(target({ ssl: 'verify' }), { text: 'select 1', limit: 1, ...options() })
    await expect(query).rejects.toMatchObject({ step: 'tls' })
    const elsewhere = makeCertificate(['db.example'])
    await server.present(elsewhere)
    expect(await probe({ ssl: 'verify', ca: elsewhere.cert })).toBe('tls')
    expect(await probe({ ssl: 'require' })).toBe('works')
    await server.present(certificate)
  })

  test('encrypts by default, and reports a server that requires encryption', async () => {
    expect(await probe({ user: 'guarded', ssl: 'off' })).toBe('sign_in')
    expect(await probe({ user: 'guarded', ssl: 'require' })).toBe('works')
    // On the local machine certificates are not required; the tests of encryptionOf cover other addresses.
    expect(await isEncrypted({})).toBe(true)
    expect(await isEncrypted({ ssl: 'no-verify' })).toBe(true)
  })

  test.each(['verify', 'no-verify', 'require', true])(
    'sends nothing to a server that offers no TLS and requests the password in clear text: %s',
    async (ssl) => {
      const at = { port: lure.port, ssl }
      expect(await probe(at)).toBe('tls')
      const query = warehouses[kind].query(target(at), { text: 'select 1', limit: 1, ...options() })
      await expect(query).rejects.toMatchObject({ step: 'tls', message: expect.stringContaining('"ssl": "off"') })
      expect(lure.heard().some((bytes) => bytes.includes(SECRET))).toBe(false)
      // Only the request for TLS was sent, and no further byte.
      expect(new Set(lure.heard().map((bytes) => bytes.toString('hex')))).toEqual(new Set(['0000000804d2162f']))
    },
  )

  test('sends the password in clear text only if the connection allows it', async () => {
    await probe({ port: lure.port, ssl: 'off' })
    expect(lure.heard().some((bytes) => bytes.includes(SECRET))).toBe(true)
    lure.forget()
  })
})

describe('the encryption setting of a connection', () => {
  const verify = { tls: true, verify: true, mayBeClear: false }
  const unchecked = { tls: true, verify: false, mayBeClear: false }
  const local = { tls: true, verify: false, mayBeClear: true }
  const off = { tls: false, verify: false, mayBeClear: true }

  test.each([
    [undefined, verify, local],
    ['verify', verify, verify],
    [true, verify, verify],
    ['something new', verify, verify],
    ['require', unchecked, unchecked],
    ['no-verify', unchecked, unchecked],
    ['prefer', unchecked, local],
    ['off', off, off],
    [false, off, off],
  ])('%s', (ssl, elsewhere, onTheMachine) => {
    for (const address of ['192.0.2.1', '10.1.2.3', '2001:db8::1', '::ffff:127.0.0.1'])
      expect(encryptionOf(ssl, address)).toEqual(elsewhere)
    for (const address of ['127.0.0.1', '127.3.2.1', '::1']) expect(encryptionOf(ssl, address)).toEqual(onTheMachine)
  })
})
