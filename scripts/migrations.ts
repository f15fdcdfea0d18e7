import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

// A migration must never change after it is published: databases that applied it would differ from new ones, and the
// program refuses to start on them. test/releases/migrations.txt lists the hash of each migration, with its first
// release.

export const UNRELEASED = 'unreleased'

export type Pin = { sha256: string; release: string; name: string }

const fileOf = (root: string): string => join(root, 'test', 'releases', 'migrations.txt')

/** Parses one line per migration: hash, release, name. */
export const parsePins = (text: string): Pin[] =>
  text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => {
      const [sha256 = '', release = '', name = ''] = line.split(/\s+/)
      return { sha256, release, name }
    })

export const printPins = (pins: readonly Pin[]): string => {
  const lines = pins.map(({ sha256, release, name }) => `${sha256} ${release} ${name}\n`)
  return [...new Set(lines)].sort((a, b) => (a.slice(65) < b.slice(65) ? -1 : 1)).join('')
}

export const readPins = (root: string): Pin[] => parsePins(readFileSync(fileOf(root), 'utf8'))

export const writePins = (root: string, pins: readonly Pin[]): void => writeFileSync(fileOf(root), printPins(pins))

export const hashMigrations = (root: string): { name: string; sha256: string }[] =>
  readdirSync(join(root, 'migrations'))
    .filter((name) => name.endsWith('.sql'))
    .sort()
    .map((name) => ({
      name,
      sha256: createHash('sha256')
        .update(readFileSync(join(root, 'migrations', name)))
        .digest('hex'),
    }))

/** Describes the differences between the files and the list. */
export function pinViolations(pins: readonly Pin[], files: readonly { name: string; sha256: string }[]): string[] {
  const pinned = new Map(pins.map((pin) => [pin.name, pin]))
  const names = new Set(files.map(({ name }) => name))
  return [
    ...pins
      .filter(({ name }) => !names.has(name))
      .map(({ name, release }) => `${name} (${release}) was removed: restore it`),
    ...files.flatMap(({ name, sha256 }) => {
      const pin = pinned.get(name)
      if (pin === undefined) return [`${name} is not listed in test/releases/migrations.txt: run npm run generate`]
      if (pin.sha256 === sha256) return []
      return [
        `${name} (${pin.release}) was changed: restore it and add a new file. If nobody has the file yet, remove its line from test/releases/migrations.txt and run npm run generate`,
      ]
    }),
  ]
}

/** Adds new migrations to the list. Never changes a line, because that would defeat the purpose of the list. */
export function pinNewMigrations(root: string): void {
  const pins = readPins(root)
  const files = hashMigrations(root)
  const known = new Set(pins.map(({ name }) => name))
  const added = files.filter(({ name }) => !known.has(name)).map((file) => ({ ...file, release: UNRELEASED }))
  const all = [...pins, ...added]
  const [violation] = pinViolations(all, files)
  if (violation !== undefined) throw new Error(violation)
  writePins(root, all)
}
