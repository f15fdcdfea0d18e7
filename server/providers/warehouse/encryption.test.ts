import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { JsonObject } from '#model/definition'
import { type Target, WarehouseFailure, type Warehouses } from './index.ts'
import { makeCertificate } from './testing/certificate.ts'
import { startEncryptedPostgres } from './testing/encrypted-postgres.ts'
import { makeWarehouses } from './warehouses.ts'

// TLS to a real PostgreSQL whose certificate nobody knows, and Redshift, which speaks the same protocol, on the same server.

const SECRET = `s3cret-${randomBytes(8).toString('hex')}`
const certificate = makeCertificate()
let server: Awaited<ReturnType<typeof startEncryptedPostgres>>
let close: () => Promise<void>
let warehouses: Warehouses

beforeAll(async () => {
  server = await startEncryptedPostgres(certificate, SECRET)
  ;({ warehouses, close } = makeWarehouses({ allowTargets: [`${server.host}:${server.port}`], dataDir: '/nowhere' }))
}, 60_000)
afterAll(async () => {
  await close()
  await server.stop()
})

const target = (more: JsonObject): Target => ({
  workspaceId: 'w1',
  config: { host: server.host, port: server.port, database: 'postgres', user: 'reader', ...more },
  secrets: { password: SECRET },
})
const options = () => ({ timeoutMs: 20_000, signal: new AbortController().signal })

describe.each(['postgres', 'redshift'] as const)('%s over TLS', (kind) => {
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

  test('reads through an encrypted connection, whose certificate is checked against the authority that is given', async () => {
    expect(await probe({ ssl: 'verify', ca: certificate.cert })).toBe('works')
    expect(await isEncrypted({ ssl: 'verify', ca: certificate.cert })).toBe(true)
    expect(await isEncrypted({ ssl: 'require' })).toBe(true)
    expect(await isEncrypted({ ssl: 'prefer' })).toBe(true)
    expect(await isEncrypted({ ssl: 'off' })).toBe(false)
  })

  test('sends nothing secret to a server whose certificate is not known, is another one, or is for another host', async () => {
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

  test('encrypts where it is left to itself, and says where the server insists on it', async () => {
    expect(await probe({ user: 'guarded', ssl: 'off' })).toBe('sign_in')
    expect(await probe({ user: 'guarded', ssl: 'require' })).toBe('works')
    // Redshift verifies unless it is told otherwise; PostgreSQL encrypts where that is offered.
    expect(await probe({})).toBe(kind === 'redshift' ? 'tls' : 'works')
    if (kind === 'postgres') expect(await isEncrypted({})).toBe(true)
  })
})
