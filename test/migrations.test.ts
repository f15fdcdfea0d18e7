import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { DECLARED } from '#platform/db/migrate'
import { hashMigrations, parsePins, pinViolations, printPins, readPins } from '../scripts/migrations.ts'

// During an upgrade two releases use one database, so a migration that declares to break nothing may only add. `npm run
// chaos -- releases` tests this.

const directory = join(import.meta.dirname, '..', 'migrations')
const migrations = readdirSync(directory).map((name) => ({ name, sql: readFileSync(join(directory, name), 'utf8') }))

const harmful: [what: string, pattern: RegExp][] = [
  ['drops what an older release uses', /\bdrop\s+(?:table|column|function|view|type|schema|policy)\b/i],
  ['renames', /\balter\s+(?:table|function|type|index)\b[^;]*\brename\b/i],
  ['changes a type', /\balter\s+(?:column\s+)?\w+\s+(?:set\s+data\s+)?type\b/i],
  ['demands what an older release does not write', /\bset\s+not\s+null\b/i],
  ['adds a column that an older release does not fill', /\badd\s+column\b(?![^;,]*\bdefault\b)[^;,]*\bnot\s+null\b/i],
  ['takes rights away', /\brevoke\b[^;]*\bfrom\s+heddle_/i],
]

/** Returns the SQL without comments, string literals and bodies of functions. */
const bare = (sql: string): string =>
  sql
    .replaceAll(/--.*$/gm, '')
    .replaceAll(/\bas\s+\$\$[\s\S]*?\$\$/gi, '')
    .replaceAll(/'(?:[^']|'')*'/g, "''")
const harmOf = (sql: string): string[] => harmful.filter(([, pattern]) => pattern.test(bare(sql))).map(([what]) => what)

describe('a migration', () => {
  test.each(migrations)('$name declares what it may break, and breaks nothing else', ({ name, sql }) => {
    const first = name in DECLARED ? `-- ${DECLARED[name]}` : sql.split('\n', 1)[0]!
    expect(first).toMatch(/^-- Breaks \S/)
    if (first.startsWith('-- Breaks nothing')) expect(harmOf(sql)).toEqual([])
  })

  test.each([
    'drop table threads',
    'alter table threads drop column title',
    'alter table threads rename column title to name',
    'alter table threads alter column title type integer',
    'alter table threads alter column title set not null',
    'alter table threads add column mood text not null',
    'revoke insert on threads from heddle_app',
  ])('that would break an older release is found: %s', (sql) => {
    expect(harmOf(sql)).toHaveLength(1)
  })

  test.each([
    'alter table threads add column mood text',
    "alter table threads add column mood text not null default 'fine'",
    '-- drop table threads',
    'revoke execute on function f() from public',
  ])('that only adds is accepted: %s', (sql) => {
    expect(harmOf(sql)).toEqual([])
  })
})

describe('the list of frozen migrations', () => {
  const root = join(directory, '..')

  test('contains every migration with its original hash', () => {
    expect(pinViolations(readPins(root), hashMigrations(root))).toEqual([])
  })

  test.each([
    ['an edit', [{ name: '0001_a.sql', sha256: 'b'.repeat(64) }], /^0001_a\.sql \(0\.1\.0\) was changed: restore it/],
    ['a removal', [], /^0001_a\.sql \(0\.1\.0\) was removed: restore it/],
    [
      'a file that is not listed',
      [
        { name: '0001_a.sql', sha256: 'a'.repeat(64) },
        { name: '0002_b.sql', sha256: 'c'.repeat(64) },
      ],
      /^0002_b\.sql is not listed/,
    ],
  ])('finds %s', (_what, files, complaint) => {
    const pins = [{ name: '0001_a.sql', release: '0.1.0', sha256: 'a'.repeat(64) }]
    expect(pinViolations(pins, files)).toEqual([expect.stringMatching(complaint)])
  })

  test('is sorted by name, has no duplicate lines, and is parsed as it was printed', () => {
    const [one, two] = ['0002_b.sql', '0001_a.sql'].map((name) => ({
      name,
      release: 'unreleased',
      sha256: 'a'.repeat(64),
    }))
    expect(parsePins(printPins([one!, two!, one!]))).toEqual([two, one])
  })
})
