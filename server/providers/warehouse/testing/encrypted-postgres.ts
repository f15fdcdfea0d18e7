import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { startEmbeddedPostgres } from '#platform/db/embedded'
import { makeLogger } from '#platform/log'
import { until } from '#test/harness/until'
import type { makeCertificate } from './certificate.ts'

type Certificate = ReturnType<typeof makeCertificate>
/** Whatever name it is for. */
const checkServerIdentity = (): undefined => undefined

/** A real PostgreSQL with a certificate, and two roles: `reader`, and `guarded`, which it lets in over TLS alone. */
export async function startEncryptedPostgres(certificate: Certificate, password: string) {
  const dataDir = mkdtempSync(join(tmpdir(), 'heddle-encrypted-'))
  chmodSync(dataDir, 0o711)
  const postgres = await startEmbeddedPostgres({ dataDir, log: makeLogger('silent'), durable: false })
  const client = new pg.Client({ connectionString: postgres.ownerUrl })
  client.on('error', () => {})
  await client.connect()
  // Written by the server itself: only its own account may be able to read the key.
  const write = (file: string, text: string): Promise<unknown> =>
    client.query(
      `copy (select '${Buffer.from(text).toString('base64')}') to program 'base64 -d > ${file} && chmod 600 ${file}'`,
    )
  const { hostname, port } = new URL(postgres.ownerUrl)

  /** The settings are read again a moment after the server was told to. */
  async function present({ key, cert }: Certificate): Promise<void> {
    await write('server.key', key)
    await write('server.crt', cert)
    await client.query('select pg_reload_conf()')
    await until(async () => {
      const seen = new pg.Client({ connectionString: postgres.ownerUrl, ssl: { ca: cert, checkServerIdentity } })
      seen.on('error', () => {})
      return seen.connect().then(
        () => seen.end().then(() => true),
        () => false,
      )
    }, 'TLS')
  }

  await write('pg_hba.conf', 'hostnossl all guarded all reject\nhost all all all scram-sha-256\n')
  await client.query('alter system set ssl = on')
  for (const role of ['reader', 'guarded']) await client.query(`create role ${role} login password '${password}'`)
  await present(certificate)
  return {
    host: hostname,
    port: Number(port),
    /** From the next connection on. */
    present,
    async stop(): Promise<void> {
      await client.end()
      await postgres.stop()
      rmSync(dataDir, { recursive: true, force: true })
    },
  }
}
