import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expandService } from './expand.ts'
import type { Manifest, Service } from './manifest.ts'

// Every service that comes with the program, by name. The files are checked against the schema by a test, not at each start.

const FOLDER = join(import.meta.dirname, 'manifests')

export const readManifests = (): Manifest[] =>
  readdirSync(FOLDER)
    .filter((file) => file.endsWith('.json'))
    .sort()
    .map((file) => JSON.parse(readFileSync(join(FOLDER, file), 'utf8')) as Manifest)

export type Catalogue = ReadonlyMap<string, Service>

let known: Catalogue | undefined

export function serviceCatalogue(): Catalogue {
  known ??= new Map(readManifests().map((manifest) => [manifest.service, expandService(manifest)]))
  return known
}
