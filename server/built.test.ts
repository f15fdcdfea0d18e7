import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { afterEach, beforeEach, expect, describe as suite, test } from 'vitest'
import { describe, findBuild, recordBuild } from './built.mjs'

const root = join(import.meta.dirname, '..')
let folder: string
let sources: string
let builds: string

const write = (name: string, text: string): void => {
  writeFileSync(join(sources, name), text)
  // A different time than that of the previous text.
  utimesSync(join(sources, name), 1_000, text.length)
}

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'heddle-built-'))
  sources = join(folder, 'sources')
  builds = join(folder, 'builds')
  mkdirSync(sources)
  mkdirSync(builds)
  write('a.ts', 'one')
  recordBuild(
    builds,
    'built',
    [sources, join(sources, 'a.ts')].map((path) => describe(relative(root, path))),
  )
})
afterEach(() => rmSync(folder, { recursive: true }))

suite('a build', () => {
  test('is found while none of its source files has changed', () => {
    expect(findBuild(builds)).toBe(join(builds, 'built'))
  })

  test.each([
    ['changed', () => write('a.ts', 'three')],
    ['touched', () => utimesSync(join(sources, 'a.ts'), 1_000, 2_000)],
    ['removed', () => rmSync(join(sources, 'a.ts'))],
  ])('is not found after a file was %s', (_, change) => {
    change()
    expect(findBuild(builds)).toBeUndefined()
  })

  test('is not found after a file was added to one of its source folders', () => {
    utimesSync(sources, 1_000, 1_000)
    recordBuild(builds, 'built', [describe(relative(root, sources))])
    write('b.ts', 'more')
    expect(findBuild(builds)).toBeUndefined()
  })

  test('is not found if none was recorded, or if the record cannot be read', () => {
    expect(findBuild(sources)).toBeUndefined()
    writeFileSync(join(builds, 'built.json'), '{')
    expect(findBuild(builds)).toBeUndefined()
  })
})
