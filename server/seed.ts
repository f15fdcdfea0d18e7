import { randomBytes } from 'node:crypto'
import type { FastifyInstance } from 'fastify'
import { seedPlans } from '#areas/payments/seed'
import { operatorAddresses } from '#platform/auth/email'
import { hashPassword } from '#platform/auth/passwords'
import type { Config } from '#platform/config'
import { withClient } from '#platform/db/client'
import { type Tx, txOf } from '#platform/db/pool'
import { hashSecret, newId, newSecret, secretPrefix } from '#platform/ids'
import type { Logger } from '#platform/log'

// Fills an empty database at the first start, and creates claims for operators without an account at every start.

export type Demo = { user_id: string; workspace_id: string; key: string }

export type SeedOptions = {
  config: Config
  ownerUrl: string
  /** Awaited only if a demo must be filled. The rest is done while the service is being created. */
  http: FastifyInstance | Promise<FastifyInstance>
  log: Logger
  /** False for a process that starts beside another one of this program, which has printed the claims. */
  claims?: boolean
  /** Fills the demo workspace after it was created, through the HTTP API, with the demo person's key. */
  fillDemo?: (http: FastifyInstance, demo: Demo) => Promise<void>
}

const DEMO_EMAIL = 'demo@heddle.local'

/** Servers that start at the same time take turns. Returns the lines that a person must read. */
export async function seed(options: SeedOptions): Promise<string[]> {
  const { config, http, log } = options
  const { lines, demo } = await asOwner(options.ownerUrl, async (tx) => {
    await tx.rows(`select pg_advisory_xact_lock(hashtext('heddle seed'))`)
    const first = await seedFirst(tx, config)
    const claims = options.claims === false ? [] : await seedClaims(tx, config)
    return { lines: [...first.lines, ...claims], demo: first.demo }
  })
  if (demo && options.fillDemo) {
    // The service is useful without its examples, so a failure here must not keep it from starting.
    await options
      .fillDemo(await http, demo)
      .catch((error: unknown) => log.error({ err: error }, 'the demo data could not be created'))
  }
  return lines
}

export function asOwner<T>(ownerUrl: string, work: (tx: Tx) => Promise<T>): Promise<T> {
  return withClient({ connectionString: ownerUrl }, async (client) => {
    await client.query('begin')
    const result = await work(txOf(client))
    await client.query('commit')
    return result
  })
}

async function seedFirst(tx: Tx, config: Config): Promise<{ lines: string[]; demo?: Demo }> {
  if ((await tx.count('select from orgs limit 1')) > 0) return { lines: [] }
  const orgId = newId()
  await tx.count(`insert into orgs (org_id, name) values ($1, 'Heddle')`, [orgId])
  await seedPlans(tx, orgId)
  if (config.HEDDLE_DEMO === 'off') return { lines: [] }
  const password = randomBytes(12).toString('base64url')
  const demo = { user_id: newId(), workspace_id: newId(), key: newSecret('hk') }
  const companyId = newId()
  // The address counts as confirmed: nobody receives mail there, and an unconfirmed one may neither invite people nor
  // send mail. Only the person who reads the program's output has its password.
  await tx.count(
    `insert into users (user_id, org_id, email, name, password_hash, email_verified_at)
     values ($1, $2, $3, 'Demo Person', $4, now())`,
    [demo.user_id, orgId, DEMO_EMAIL, await hashPassword(password)],
  )
  await tx.count(`insert into companies (company_id, org_id, owner_id, name) values ($1, $2, $3, 'Demo company')`, [
    companyId,
    orgId,
    demo.user_id,
  ])
  await tx.count(`insert into workspaces (workspace_id, company_id, org_id, name) values ($1, $2, $3, 'Demo')`, [
    demo.workspace_id,
    companyId,
    orgId,
  ])
  await tx.count(`insert into memberships (workspace_id, user_id, role) values ($1, $2, 'owner')`, [
    demo.workspace_id,
    demo.user_id,
  ])
  await tx.count(`insert into api_keys (key_id, user_id, name, prefix, token_hash) values ($1, $2, 'Demo', $3, $4)`, [
    newId(),
    demo.user_id,
    secretPrefix(demo.key),
    hashSecret(demo.key),
  ])
  const lines = [
    'A demo workspace was created. These values are shown only once:',
    `heddle demo person: ${DEMO_EMAIL}`,
    `heddle demo password: ${password}`,
    `heddle demo API key: ${demo.key}`,
  ]
  return { lines, demo }
}

/**
 * Reserves the address of an operator: only a person who can read the program's output can claim it. An earlier token
 * stops working.
 */
async function seedClaims(tx: Tx, config: Config): Promise<string[]> {
  const lines: string[] = []
  for (const email of operatorAddresses(config.HEDDLE_OPERATORS)) {
    if ((await tx.count('select from users where email = $1 limit 1', [email])) > 0) continue
    const token = newSecret('claim')
    await tx.count(
      `insert into operator_claims (email, token_hash) values ($1, $2)
       on conflict (email) do update set token_hash = excluded.token_hash`,
      [email, hashSecret(token)],
    )
    lines.push(`heddle operator claim for ${email}: ${token}`)
  }
  // Deletes the claims of people who are no longer operators.
  await tx.count('delete from operator_claims where email <> all($1)', [
    [...operatorAddresses(config.HEDDLE_OPERATORS)],
  ])
  return lines
}
