import { makeLru } from '#model/lru'
import type { Database, Tx } from '../db/pool.ts'
import { problem } from '../errors.ts'
import type { Credential, Identity, Org, Person, SelectedWorkspace, WorkspaceRole } from '../http/context.ts'
import { fromWire, hashSecret, secretLooksValid, UNKNOWN_ID } from '../ids.ts'
import { operatorAddresses } from './email.ts'

// Identifies the caller: the org of the host, the person behind a cookie or a key, and the selected workspace.

export const SESSION_COOKIE = 'heddle_session'

/**
 * Limits updates of the time of last use. A write per request would make this the hottest row of the database, and once
 * a minute is precise enough.
 */
const TOUCH_EVERY = 60_000

export type Credentials = {
  host: string
  bearer: string | undefined
  session: string | undefined
  workspaceHeader: string | undefined
}

type Found = {
  session_id?: string
  key_id?: string
  key_workspace_id?: string | null
  user_id: string
  org_id: string
  email: string
  name: string
  last_seen_at?: Date
  last_used_at?: Date | null
  workspace_id: string | null
  role: WorkspaceRole | null
  factor_missing: boolean
  scopes?: string[] | null
  is_service_account?: boolean
}

const nobody = { workspaceId: null, userId: null }

export function makeIdentifier(options: { db: Database; operators: readonly string[] }) {
  const { db } = options
  const operators = operatorAddresses(options.operators)
  const touched = new Map<string, number>()
  const remembered = makeLru<Found>(REMEMBERED)

  const touch = (statement: string, id: string, last: Date | null | undefined): void => {
    const now = Date.now()
    if (last && now - last.getTime() < TOUCH_EVERY) return
    if (now - (touched.get(id) ?? 0) < TOUCH_EVERY) return
    if (touched.size > 10_000) touched.clear()
    touched.set(id, now)
    db.tenant(nobody, (tx) => tx.rows(statement, [id])).catch(() => touched.delete(id))
  }

  const personOf = (row: Found): Person => ({
    user_id: row.user_id,
    org_id: row.org_id,
    email: row.email,
    name: row.name,
    // A key bound to a workspace gives no access outside the workspace, regardless of its owner.
    operator: operators.has(row.email) && (row.key_workspace_id ?? null) === null,
    ...(row.is_service_account && { isServiceAccount: true as const }),
  })
  const workspaceOf = (row: Found): SelectedWorkspace | null =>
    row.workspace_id ? { workspace_id: row.workspace_id, role: row.role! } : null

  const read = (credentials: Credentials): Reading | undefined => {
    const { bearer, session, workspaceHeader } = credentials
    const wanted = workspaceHeader === undefined ? null : (fromWire('ws', workspaceHeader) ?? UNKNOWN_ID)
    if (bearer !== undefined) return secretLooksValid('hk', bearer) ? readingOf(KEY, bearer, wanted) : undefined
    if (session === undefined || !secretLooksValid('ses', session)) return undefined
    return readingOf(SESSION, session, wanted)
  }

  const noteUse = ({ kind }: Reading, row: Found): void =>
    kind === KEY
      ? touch('select touch_key($1)', row.key_id!, row.last_used_at)
      : touch('select touch_session($1)', row.session_id!, row.last_seen_at)

  const identityOf = (org: Org, credentials: Credentials, row: Found | undefined): Identity => {
    if (!row || row.org_id !== org.org_id) return { org, credential: { kind: 'none' }, person: null, workspace: null }
    const workspace = workspaceOf(row)
    if (credentials.workspaceHeader !== undefined && workspace === null) throw problem('not_found')
    return {
      org,
      credential: credentialOf(row),
      person: personOf(row),
      workspace,
      ...(row.factor_missing && { factorMissing: true as const }),
    }
  }

  const orgOf = makeOrgFinder(db)

  return {
    orgOf,
    /**
     * Identifies the caller. The person is null for an anonymous caller; the access word of the route decides whether
     * that is allowed.
     */
    async identify(credentials: Credentials): Promise<Identity> {
      const org = await orgOf(credentials.host)
      const reading = read(credentials)
      if (!reading) return identityOf(org, credentials, undefined)
      const { rows } = await db.appPool.query<Found>({ name: reading.kind, ...statementOf(reading) })
      const row = rows[0]
      if (row) {
        remembered.set(reading.key, row)
        noteUse(reading, row)
      } else remembered.remove(reading.key)
      return identityOf(org, credentials, row)
    },
    /**
     * Returns the identity found by the last identification with these credentials. `stillHolds` checks that the
     * database still returns the same.
     */
    async remember(credentials: Credentials): Promise<Identity | undefined> {
      const reading = read(credentials)
      const known = reading && remembered.get(reading.key)
      if (!known) return undefined
      const org = await orgOf(credentials.host)
      const isRefused =
        known.factor_missing ||
        known.org_id !== org.org_id ||
        (credentials.workspaceHeader !== undefined && !known.workspace_id)
      // A refusal must come from the database, not from this cache.
      if (isRefused) return undefined
      const stillHolds = async (tx: Tx): Promise<boolean> => {
        const { text, values } = statementOf(reading)
        const row = await tx.maybe<Found>(text, values)
        if (!row || sayingOf(row) !== sayingOf(known)) return false
        noteUse(reading, row)
        return true
      }
      return { ...identityOf(org, credentials, known), stillHolds }
    },
  }
}

type Reading = { kind: typeof KEY | typeof SESSION; key: string; values: [Buffer, string | null] }

const KEY = 'identify_scoped_key'
const SESSION = 'identify_session_factor'
const REMEMBERED = 10_000

const readingOf = (kind: Reading['kind'], secret: string, wanted: string | null): Reading => {
  const hash = hashSecret(secret)
  return { kind, key: `${hash.toString('base64')} ${wanted}`, values: [hash, wanted] }
}

const statementOf = ({ kind, values }: Reading) => ({ text: `select * from ${kind}($1, $2)`, values })

const credentialOf = (row: Found): Credential =>
  row.key_id === undefined
    ? { kind: 'session', id: row.session_id! }
    : {
        kind: 'api_key',
        id: row.key_id,
        workspace_id: row.key_workspace_id ?? null,
        ...(row.scopes && { scopes: row.scopes }),
      }

/** Returns everything that a request depends on. The times of last use are not part of it. */
const sayingOf = ({ last_seen_at, last_used_at, ...rest }: Found): string => JSON.stringify(rest)

const ORGS_KEPT_FOR = 2000

function makeOrgFinder(db: Database): (host: string) => Promise<Org> {
  type Known = { byHost: Map<string, Org>; only: Org | null }
  let known: { at: number; orgs: Promise<Known> } | undefined

  const load = async (): Promise<Known> => {
    const { rows } = await db.appPool.query<Org & { host: string | null }>(
      'select o.org_id, o.name, h.host from orgs o left join org_hosts h using (org_id) order by o.org_id',
    )
    const orgs = new Map(rows.map(({ org_id, name }) => [org_id, { org_id, name }]))
    return {
      byHost: new Map(rows.flatMap((row) => (row.host === null ? [] : [[row.host, orgs.get(row.org_id)!]]))),
      only: orgs.size === 1 ? [...orgs.values()][0]! : null,
    }
  }

  return async (host) => {
    // Callers that arrive during a load wait for the same load.
    if (!known || performance.now() - known.at > ORGS_KEPT_FOR) {
      const reading = { at: performance.now(), orgs: load() }
      known = reading
      reading.orgs.catch(() => {
        if (known === reading) known = undefined
      })
    }
    const { byHost, only } = await known.orgs
    const name = host.toLowerCase()
    const org = byHost.get(name) ?? byHost.get(name.replace(/:\d+$/, '')) ?? only
    if (!org) throw problem('unknown_host', 'Use the host name of your organisation.')
    return org
  }
}

export type Identifier = ReturnType<typeof makeIdentifier>
