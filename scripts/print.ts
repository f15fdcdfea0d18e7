import { readConfig } from '#platform/config'
import { openDatabase } from '#platform/db/pool'
import { makeVault } from '#platform/secrets'
import { makeApp } from '#server/app'
import { documents } from './documents.ts'
import type { Migrated } from './migrated.ts'

/** Returns the text of every generated document, by path, as the program of this checkout prints it. */
export async function printDocuments({ urls, directory, log }: Migrated): Promise<Map<string, string>> {
  const db = openDatabase({ urls, log })
  const config = readConfig({ HEDDLE_DATA_DIR: directory, HEDDLE_LOG_LEVEL: 'error' })
  const vault = makeVault(Buffer.alloc(32, 1))
  const app = await makeApp({ config, db, vault, log, baseUrl: () => 'http://127.0.0.1:4100' })
  try {
    return new Map(Object.entries(documents).map(([path, print]) => [path, print(app)]))
  } finally {
    await app.stop()
    await db.close()
  }
}
