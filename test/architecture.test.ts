import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { violations, violationsOf } from '../scripts/architecture.ts'

describe('the architecture', () => {
  test('holds: every import points down', () => {
    expect(violations(join(import.meta.dirname, '..'))).toEqual([])
  })

  test.each([
    ['model/graph.ts', `import { newId } from '#platform/ids'`],
    ['server/platform/http/kernel.ts', `import { teamRoutes } from '#areas/teams/routes'`],
    ['server/platform/audit.ts', `import type { App } from '#server/app'`],
    ['server/engine/worker.ts', `export { castVote } from '#areas/approvals/service'`],
    ['server/providers/llm/index.ts', `const engine = await import('#engine/worker')`],
    ['server/areas/teams/service.ts', `import { findCompany } from '#areas/companies/store'`],
    ['server/areas/teams/service.ts', `import { findCompany } from '../companies/store.ts'`],
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
