import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { violations, violationsOf } from '../scripts/architecture.ts'
import { importCycles } from '../scripts/import-cycles.ts'
import { importGraph, readSources } from '../scripts/imports.ts'
import { MAX_LINES, overlongCode } from '../scripts/lengths.ts'

const sources = readSources(join(import.meta.dirname, '..'))

describe('the architecture', () => {
  test('has only imports that point down', () => {
    expect(violations(sources)).toEqual([])
  })

  test.each([
    ['model/graph.ts', `import { newId } from '#platform/ids'`],
    ['server/platform/http/kernel.ts', `import { teamRoutes } from '#areas/teams/routes'`],
    ['server/platform/audit.ts', `import type { App } from '#server/app'`],
    ['server/engine/worker.ts', `export { castVote } from '#areas/approvals/service'`],
    ['server/providers/llm/index.ts', `const engine = await import('#engine/worker')`],
    ['server/areas/teams/service.ts', `import { findCompany } from '#areas/companies/store'`],
    ['server/areas/teams/service.ts', `import { findCompany } from '../companies/store.ts'`],
    ['server/areas/teams/service.ts', `import type { Member } from '#areas/workspaces/members-store'`],
    ['server/areas/teams/service.ts', `import { problem } from '../../platform/errors.ts'`],
    ['web/features/teams/page.tsx', `import { problem } from '#platform/errors'`],
  ])('is broken by %s with %s', (file, source) => {
    expect(violationsOf(file, source)).toHaveLength(1)
  })

  test.each([
    ['server/areas/teams/service.ts', `import { getCompany } from '#areas/companies/service'`],
    ['server/areas/teams/service.ts', `import { findTeam } from './store.ts'`],
    ['server/app.ts', `import { makeTeams } from '#areas/teams/service'`],
    ['server/engine/worker.ts', `import pg from 'pg'\nimport { problem } from '#platform/errors'`],
  ])('allows %s with %s', (file, source) => {
    expect(violationsOf(file, source)).toEqual([])
  })
})

describe('import cycles', () => {
  const find = (modules: Record<string, string>): string[] =>
    importCycles(importGraph(new Map(Object.entries(modules).map(([name, source]) => [`model/${name}.ts`, source]))))

  test('do not exist in the program', () => {
    expect(importCycles(importGraph(sources))).toEqual([])
  })

  test.each([
    ['of values', { a: `import { b } from './b.ts'`, b: `import { a } from './a.ts'` }],
    ['of types', { a: `import type { B } from './b.ts'`, b: `import { a } from '#model/a'` }],
    ['of re-exports', { a: `export { b } from './b.ts'`, b: `export * from './a.ts'` }],
    ['of a dynamic import', { a: `const b = await import('./b.ts')`, b: `import { a } from './a.ts'` }],
  ])('a cycle %s is found', (_, modules) => {
    expect(find(modules)).toEqual(['model/a.ts → model/b.ts → model/a.ts'])
  })

  test('the shortest cycle is reported', () => {
    const modules = {
      a: `import './b.ts'`,
      b: `import './c.ts'`,
      c: `import './a.ts'; import './d.ts'`,
      d: `import './c.ts'`,
      e: `import './a.ts'`,
    }
    expect(find(modules)).toEqual(['model/c.ts → model/d.ts → model/c.ts'])
  })

  test('two paths to the same module are not a cycle', () => {
    expect(find({ a: `import './b.ts'; import './c.ts'`, b: `import './c.ts'`, c: `export const c = 1` })).toEqual([])
  })
})

describe('files and functions', () => {
  const lines = (count: number): string => Array.from({ length: count }, (_, at) => `const a${at} = 1`).join('\n')
  const inside = (begin: string, count: number, end: string): string => `${begin}\n${lines(count - 2)}\n${end}`
  const find = (file: string, source: string, exceptions = {}): string[] =>
    overlongCode(new Map([[file, source]]), exceptions)

  test.each([
    ['a file', 'model/a.ts', lines(MAX_LINES.file), lines(MAX_LINES.file + 1)],
    [
      'a function',
      'model/a.ts',
      inside('function f() {', MAX_LINES.function, '}'),
      inside('function f() {', MAX_LINES.function + 1, '}'),
    ],
    [
      'a function in a test',
      'model/a.test.ts',
      inside(`describe('a', () => {`, MAX_LINES.function + 1, '})'),
      inside(`test('a', async () => {`, MAX_LINES.function + 1, '})'),
    ],
  ])('%s that is too long is found', (_, file, right, wrong) => {
    expect(find(file, right)).toEqual([])
    expect(find(file, wrong)).toHaveLength(1)
  })

  test('an exception is refused if it is exceeded or not needed', () => {
    const exceptions = { 'model/a.ts': MAX_LINES.file + 2 }
    expect(find('model/a.ts', lines(MAX_LINES.file + 2), exceptions)).toEqual([])
    expect(find('model/a.ts', lines(MAX_LINES.file + 3), exceptions)).toHaveLength(1)
    expect(find('model/a.ts', lines(MAX_LINES.file), exceptions)).toHaveLength(1)
    expect(find('model/b.ts', lines(1), exceptions)).toHaveLength(1)
  })
})
