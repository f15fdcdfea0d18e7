import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { type Migrated, root, withMigratedDatabase } from './migrated.ts'
import { hashMigrations, pinViolations, readPins } from './migrations.ts'
import { printDocuments } from './print.ts'
import { sqlProblems, statementsOf } from './sql/problems.ts'

// The part of `npm run check` that needs a migrated database. It is a separate program, so that the other checks run in
// parallel.

async function checkSql({ urls }: Migrated): Promise<string[]> {
  const client = new pg.Client({ connectionString: urls.owner })
  await client.connect()
  try {
    return await sqlProblems(client, statementsOf(root))
  } finally {
    await client.end()
  }
}

async function checkDocuments(place: Migrated): Promise<string[]> {
  const stale = [...(await printDocuments(place))].filter(
    ([path, text]) => readFileSync(join(root, path), 'utf8') !== text,
  )
  return stale.map(([path]) => `${path} is stale: run npm run generate`)
}

const problems = pinViolations(readPins(root), hashMigrations(root))
await withMigratedDatabase(async (place) => {
  problems.push(...(await checkSql(place)), ...(await checkDocuments(place)))
})
console.log(problems.join('\n'))
process.exitCode = problems.length > 0 ? 1 : 0
