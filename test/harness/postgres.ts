import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { inject } from 'vitest'
import type { DatabaseUrls } from '#platform/db/pool'
import { bootstrapRoles } from '#platform/db/roles'
import type {} from './global-setup.ts'

export type DatabaseAddress = {
  readonly name: string
  readonly urls: DatabaseUrls
  /** The address of this database for the superuser, for tests that must bypass row security. */
  readonly superuserUrl: string
}

export type TestDatabase = DatabaseAddress & {
  /** Returns a connection as the superuser. It is closed with the database, even if a test fails. */
  superuser(): Promise<pg.Client>
  drop(): Promise<void>
}

/** Creates a copy of the migrated database, for one test file. */
export async function makeTestDatabase(): Promise<TestDatabase> {
  const { superuserUrl, template, urls, migrated } = inject('postgres')
  await waitForTemplate(migrated)
  const name = newName()
  const at = placeOf(name)
  // Measured with 150 tables and fsync off: 37 ms, against 52 ms with the default strategy.
  await administer(superuserUrl, `create database ${name} template ${template} strategy file_copy`)
  return handleOf(name, {
    owner: at(urls.owner),
    app: at(urls.app),
    engine: at(urls.engine),
    operator: at(urls.operator),
  })
}

/** Creates a database with roles and without tables, as the program finds it at its first start. */
export async function makeEmptyDatabase(): Promise<TestDatabase> {
  const { superuserUrl } = inject('postgres')
  const name = newName()
  await administer(superuserUrl, `create database ${name} template template0`)
  const urls = await bootstrapRoles({ ownerUrl: placeOf(name)(superuserUrl), passwordFor: (role) => role })
  return handleOf(name, urls)
}

async function waitForTemplate(migrated: string): Promise<void> {
  while (!existsSync(migrated)) await delay(20)
  const failure = readFileSync(migrated, 'utf8')
  if (failure !== '') throw new Error(failure)
}

const newName = (): string => `test_${randomBytes(6).toString('hex')}`

const placeOf =
  (name: string) =>
  (url: string): string =>
    Object.assign(new URL(url), { pathname: `/${name}` }).href

function handleOf(name: string, urls: DatabaseUrls): TestDatabase {
  const { superuserUrl } = inject('postgres')
  const own = placeOf(name)(superuserUrl)
  const opened: pg.Client[] = []
  return {
    name,
    urls,
    superuserUrl: own,
    async superuser() {
      const client = new pg.Client({ connectionString: own })
      client.on('error', () => {})
      await client.connect()
      opened.push(client)
      return client
    },
    async drop() {
      await Promise.all(opened.map((client) => client.end()))
      await administer(superuserUrl, `drop database if exists ${name} with (force)`)
    },
  }
}

async function administer(url: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    await client.query(statement)
  } finally {
    await client.end()
  }
}
