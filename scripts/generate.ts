import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { root, withMigratedDatabase } from './migrated.ts'
import { pinNewMigrations } from './migrations.ts'
import { printDocuments } from './print.ts'

// `npm run generate`: lists new migrations, and prints the documents from a program that runs on a separate database.

pinNewMigrations(root)
for (const [path, text] of await withMigratedDatabase(printDocuments)) writeFileSync(join(root, path), text)
