import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expandService } from './expand.ts'
import type { Manifest, Service } from './manifest.ts'

// All services that ship with the program, by name. A test checks the files against the schema; the program does not.

const FOLDER = join(import.meta.dirname, 'manifests')

export const readManifests = (): Manifest[] =>
  readdirSync(FOLDER)
    .filter((file) => file.endsWith('.json'))
    .sort()
    .map((file) => JSON.parse(readFileSync(join(FOLDER, file), 'utf8')) as Manifest)

export type Catalogue = ReadonlyMap<string, Service>

/**
 * Reads the manifests at first use. Starting does not need them, and reading them would add a twentieth of the start
 * time.
 */
class Services implements Catalogue {
  #read: Map<string, Service> | undefined

  get #services(): Map<string, Service> {
    this.#read ??= new Map(readManifests().map((manifest) => [manifest.service, expandService(manifest)]))
    return this.#read
  }
  get size() {
    return this.#services.size
  }
  get = (name: string) => this.#services.get(name)
  has = (name: string) => this.#services.has(name)
  keys = () => this.#services.keys()
  values = () => this.#services.values()
  entries = () => this.#services.entries()
  forEach = (each: (service: Service, name: string, all: Catalogue) => void) => this.#services.forEach(each);
  [Symbol.iterator] = () => this.#services.entries()
}

const services = new Services()

export const serviceCatalogue = (): Catalogue => services
