import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { SECOND } from '#platform/clock'
import { startEmbeddedPostgres } from '#platform/db/embedded'
import { makeLogger } from '#platform/log'
import type { makeCertificate } from './certificate.ts'

type Certificate = ReturnType<typeof makeCertificate>
/** Accepts a certificate for any name. */
const checkServerIdentity = (): undefined => undefined

async function isPresented(url: string, ca: string): Promise<boolean> {
  const client = new pg.Client({ connectionString: url, ssl: { ca, checkServerIdentity } })
  client.on('error', () => {})
  try {
    await client.connect()
    await client.end()
    return true
  } catch {
    return false
  }
}

/** Starts a real PostgreSQL with a certificate and two roles: `reader`, and `guarded`, which must use TLS. */
export async function startEncryptedPostgres(certificate: Certificate, password: string) {
  const dataDir = mkdtempSync(join(tmpdir(), 'heddle-encrypted-'))
  chmodSync(dataDir, 0o711)
  const postgres = await startEmbeddedPostgres({ dataDir, log: makeLogger('silent'), durable: false })
  const client = new pg.Client({ connectionString: postgres.ownerUrl })
  client.on('error', () => {})
  await client.connect()
  // The server itself writes the file, because only its own account may be able to read the key.
  const write = (file: string, text: string): Promise<unknown> =>
    client.query(
      `copy (select '${Buffer.from(text).toString('base64')}') to program 'base64 -d > ${file} && chmod 600 ${file}'`,
    )
  // Uses TCP, because a Unix socket is never encrypted.
  const { hostname, port, href } = Object.assign(new URL(postgres.ownerUrl), { search: '' })

  /** Changes the certificate. The server reloads its settings a moment after it was told to. */
  async function present({ key, cert }: Certificate): Promise<void> {
    await write('server.key', key)
    await write('server.crt', cert)
    await client.query('select pg_reload_conf()')
    for (const giveUpAt = Date.now() + 20 * SECOND; !(await isPresented(href, cert)); ) {
      if (Date.now() > giveUpAt) throw new Error('the server does not present its new certificate')
      await delay(20)
    }
  }

  await write('pg_hba.conf', 'hostnossl all guarded all reject\nhost all all all scram-sha-256\n')
  await client.query('alter system set ssl = on')
  for (const role of ['reader', 'guarded']) await client.query(`create role ${role} login password '${password}'`)
  await present(certificate)
  return {
    host: hostname,
    port: Number(port),
    /** Takes effect with the next connection. */
    present,
    async stop(): Promise<void> {
      await client.end()
      await postgres.stop()
      rmSync(dataDir, { recursive: true, force: true })
    },
  }
}
