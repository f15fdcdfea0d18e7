import type pg from 'pg'
import { withClient } from '../db/client.ts'
import { changeStoredPasswords } from '../db/role-passwords.ts'
import { problem } from '../errors.ts'
import { sealedUnder, type Vault } from '../secrets.ts'
import { CURRENT, FIRST, ROTATION, type Rotation, ringName, ringOf } from './facts.ts'
import { type SealedColumn, sealedColumns } from './sealed-columns.ts'
import { openPasswords, sealPasswords } from './sign-in.ts'

// A rotation has phases. Each phase can be repeated, so that any process can continue where another stopped:
// announced   the database contains the new key sealed with the old key, and the old key sealed with the new key
// sealing     every process has both keys; new values are sealed with the new key, and existing values are resealed
// restarting  nothing is sealed with the old key; processes with the old key in their environment must be restarted
// After that the sealed keys are deleted, and the old key no longer opens anything.

export type RotationParts = { vault: Vault; ownerUrl: string; adminUrl: string }
export type Holder = { process_id: string; keys: string[]; current: string; configured: string; source: string }

const NOT_KEPT =
  'The passwords of the database roles are still made from the key: the user of DATABASE_URL may not comment on roles that another user made. Grant it the roles with admin option, start again, then rotate.'

const LOCK = 7_203_004
const BATCH = 200

const signedIn = <T>(ownerUrl: string, work: (client: pg.Client) => Promise<T>): Promise<T> =>
  withClient({ connectionString: ownerUrl, connectionTimeoutMillis: 10_000 }, work)

const putFact = (client: pg.Client, name: string, value: Buffer): Promise<unknown> =>
  client.query(
    'insert into installation (name, value) values ($1, $2) on conflict (name) do update set value = excluded.value',
    [name, value],
  )
const dropFacts = (client: pg.Client, names: string[]): Promise<unknown> =>
  client.query('delete from installation where name = any ($1)', [names])

const rotationOf = async (client: pg.Client): Promise<Rotation | undefined> => {
  const { rows } = await client.query<{ value: Buffer }>('select value from installation where name = $1', [ROTATION])
  return rows[0] && (JSON.parse(rows[0].value.toString()) as Rotation)
}
const putRotation = (client: pg.Client, rotation: Rotation): Promise<unknown> =>
  putFact(client, ROTATION, Buffer.from(JSON.stringify(rotation)))

/** Returns the processes that reported within the last 15 seconds. */
export const listHolders = async (client: pg.Client | pg.Pool): Promise<Holder[]> =>
  (
    await client.query<Holder>(
      `select process_id, keys, current, configured, source from key_holders where seen_at > now() - interval '15 seconds'`,
    )
  ).rows

/** Starts a rotation. Returns false if another rotation is in progress. */
export const beginRotation = ({ vault, ownerUrl, adminUrl }: RotationParts, key: Buffer): Promise<boolean> =>
  signedIn(ownerUrl, async (client) => {
    await client.query('begin')
    await client.query('select pg_advisory_xact_lock($1)', [LOCK])
    if (await rotationOf(client)) {
      await client.query('rollback')
      return false
    }
    const from = vault.keys.current()
    const to = vault.keys.add(key)
    for (const [name, sealed] of ringOf(vault.keys, from, to)) await putFact(client, name, sealed)
    await putRotation(client, { from, to, phase: 'announced', started_at: new Date().toISOString(), sealed: 0 })
    // The passwords are resealed before any process uses the new key: a process that starts with either key must be
    // able to sign in.
    if ((await keepPasswordsUnder(vault, adminUrl, [from, to])) === 'unkept') throw problem('conflict', NOT_KEPT)
    await client.query('commit')
    return true
  })

const keepPasswordsUnder = (vault: Vault, adminUrl: string, ids: string[]): Promise<'changed' | 'none' | 'unkept'> =>
  changeStoredPasswords(adminUrl, (comment) => {
    const passwords = openPasswords(vault, comment)
    return passwords && sealPasswords(vault, passwords, ids)
  })

/**
 * Does one step of the current rotation, unless another process is doing one. Aborting the signal closes the
 * connection.
 */
export const stepRotation = (parts: RotationParts, signal: AbortSignal): Promise<void> =>
  signedIn(parts.ownerUrl, async (client) => {
    signal.throwIfAborted()
    const cut = (): void => void client.end().catch(() => {})
    signal.addEventListener('abort', cut, { once: true })
    try {
      await takeStep(client, parts)
    } finally {
      signal.removeEventListener('abort', cut)
    }
  })

async function takeStep(client: pg.Client, parts: RotationParts): Promise<void> {
  const { rows } = await client.query<{ mine: boolean }>('select pg_try_advisory_lock($1) as mine', [LOCK])
  if (!rows[0]!.mine) return
  const rotation = await rotationOf(client)
  if (!rotation || !parts.vault.keys.has(rotation.to) || !parts.vault.keys.has(rotation.from)) return
  const holders = await listHolders(client)
  const { to } = rotation
  if (rotation.phase === 'announced') {
    if (!holders.every(({ keys }) => keys.includes(to))) return
    await putFact(client, CURRENT, Buffer.from(to))
    await putRotation(client, { ...rotation, phase: 'sealing' })
  } else if (rotation.phase === 'sealing') {
    const sealed = rotation.sealed + (await sealAnew(client, parts.vault, rotation))
    // A process that has not noticed the new key may still seal with the old key. The last pass is one that starts
    // after all processes use the new key.
    const isLast = holders.every(({ current }) => current === to)
    await putRotation(client, { ...rotation, sealed, phase: isLast ? 'restarting' : 'sealing' })
  } else {
    if (!holders.every(({ configured }) => configured === to)) return
    const sealed = rotation.sealed + (await sealAnew(client, parts.vault, rotation))
    if (sealed !== rotation.sealed) return void (await putRotation(client, { ...rotation, sealed }))
    await finish(client, parts, rotation)
  }
}

async function finish(client: pg.Client, { vault, adminUrl }: RotationParts, { from, to }: Rotation): Promise<void> {
  await keepPasswordsUnder(vault, adminUrl, [to])
  await dropFacts(client, [ringName(from, to), ringName(to, from), FIRST, ROTATION])
}

async function sealAnew(client: pg.Client, vault: Vault, rotation: Rotation): Promise<number> {
  let sealed = 0
  for (const column of sealedColumns) sealed += await sealColumn(client, vault, rotation, column)
  return sealed
}

/** Reseals the values of one column. A value that changed since it was read is skipped; the next pass handles it. */
async function sealColumn(
  client: pg.Client,
  vault: Vault,
  { from, to }: Rotation,
  { table, column, key, where = 'true' }: SealedColumn,
): Promise<number> {
  const present = await client.query<{ there: boolean }>('select to_regclass($1) is not null as there', [table])
  if (!present.rows[0]!.there) return 0
  let sealed = 0
  const places = key.map((_, index) => `$${index + 2}`).join(', ')
  for (let after: unknown[] | undefined; ; ) {
    const { rows } = await client.query<Record<string, unknown> & { sealed_value: Buffer }>(
      `select ${key.join(', ')}, ${column} as sealed_value from ${table}
       where ${column} is not null and ${where} and substring(${column} from 1 for 9) <> $1
         ${after ? `and (${key.join(', ')}) > (${places})` : ''}
       order by ${key.join(', ')} limit ${BATCH}`,
      [sealedUnder(to), ...(after ?? [])],
    )
    for (const row of rows) {
      const next = vault.keys.rewrap(row.sealed_value, from, to)
      if (!next) continue
      const found = key.map((name, index) => `${name} = $${index + 3}`).join(' and ')
      const { rowCount } = await client.query(`update ${table} set ${column} = $1 where ${found} and ${column} = $2`, [
        next,
        row.sealed_value,
        ...key.map((name) => row[name]),
      ])
      sealed += rowCount ?? 0
    }
    if (rows.length < BATCH) return sealed
    const last = rows.at(-1)!
    after = key.map((name) => last[name])
  }
}
