import pg from 'pg'
import { readConfig } from '#platform/config'
import { openDatabase } from '#platform/db/pool'
import { SCHEMA } from '#platform/db/schema'
import { makeVault } from '#platform/secrets'
import { makeApp } from '#server/app'
import { documents } from './documents.ts'
import { type Migrated, root } from './migrated.ts'
import { printSchema } from './schema.ts'

/** Returns the text of every generated document, by path, as the program of this checkout prints it. */
export async function printDocuments({ urls, directory, log }: Migrated): Promise<Map<string, string>> {
  // Before the app writes its first rows.
  const schema = await readSchema(urls.owner)
  const db = openDatabase({ urls, log })
  const config = readConfig({ HEDDLE_DATA_DIR: directory, HEDDLE_LOG_LEVEL: 'error' })
  const vault = makeVault(Buffer.alloc(32, 1))
  const app = await makeApp({ config, db, vault, log, baseUrl: () => 'http://127.0.0.1:4100' })
  try {
    const printed = Object.entries(documents).map(([path, print]): [string, string] => [path, print(app)])
    return new Map([...printed, [SCHEMA, schema]])
  } finally {
    await app.stop()
    await db.close()
  }
}

async function readSchema(ownerUrl: string): Promise<string> {
  const client = new pg.Client({ connectionString: ownerUrl })
  await client.connect()
  try {
    return await printSchema(client, root)
  } finally {
    await client.end()
  }
}
