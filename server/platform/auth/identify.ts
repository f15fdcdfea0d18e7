import type { Database } from '../db/pool.ts'
import { problem } from '../errors.ts'
import type { Credential, Identity, Org, Person, Selected, WorkspaceRole } from '../http/context.ts'
import { fromWire, hashSecret, NOWHERE, secretLooksValid } from '../ids.ts'
import { operatorAddresses } from './email.ts'

// Who is calling: the org of the host, the person behind a cookie or a key, the workspace they selected.

export const SESSION_COOKIE = 'heddle_session'

/** A write per request would be the hottest row of the database; once a minute tells as much. */
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
}

const nobody = { workspaceId: null, userId: null }

export function makeIdentifier(options: { db: Database; operators: readonly string[] }) {
  const { db } = options
  const operators = operatorAddresses(options.operators)
  const touched = new Map<string, number>()

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
    operator: operators.has(row.email),
  })
  const workspaceOf = (row: Found): Selected | null =>
    row.workspace_id ? { workspace_id: row.workspace_id, role: row.role! } : null

  async function findPerson(credentials: Credentials): Promise<{ row: Found; credential: Credential } | undefined> {
    const wanted =
      credentials.workspaceHeader === undefined ? null : (fromWire('ws', credentials.workspaceHeader) ?? NOWHERE)
    const { bearer, session } = credentials
    if (bearer !== undefined) {
      if (!secretLooksValid('hk', bearer)) return undefined
      const { rows } = await db.appPool.query<Found>({
        name: 'identify_key',
        text: 'select * from identify_key($1, $2)',
        values: [hashSecret(bearer), wanted],
      })
      const row = rows[0]
      if (!row) return undefined
      touch('select touch_key($1)', row.key_id!, row.last_used_at)
      return { row, credential: { kind: 'api_key', id: row.key_id!, workspace_id: row.key_workspace_id ?? null } }
    }
    if (session === undefined || !secretLooksValid('ses', session)) return undefined
    const { rows } = await db.appPool.query<Found>({
      name: 'identify_session',
      text: 'select * from identify_session($1, $2)',
      values: [hashSecret(session), wanted],
    })
    const row = rows[0]
    if (!row) return undefined
    touch('select touch_session($1)', row.session_id!, row.last_seen_at)
    return { row, credential: { kind: 'session', id: row.session_id! } }
  }

  const orgOf = makeOrgFinder(db)

  return {
    orgOf,
    /** The person, or nobody: whether that is allowed the route's access word decides. */
    async identify(credentials: Credentials): Promise<Identity> {
      const org = await orgOf(credentials.host)
      const found = await findPerson(credentials)
      if (!found || found.row.org_id !== org.org_id)
        return { org, credential: { kind: 'none' }, person: null, workspace: null }
      const workspace = workspaceOf(found.row)
      if (credentials.workspaceHeader !== undefined && workspace === null) throw problem('not_found')
      return { org, credential: found.credential, person: personOf(found.row), workspace }
    },
  }
}

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
    // Whoever asks while they are being read waits for the same answer.
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
