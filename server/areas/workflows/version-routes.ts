import { editor, viewer } from '#platform/access/rules'
import { type AnyRoute, routes } from '#platform/http/route'
import { page } from '#platform/http/schema'
import { example } from './example.ts'
import { NewVersion, Version, VersionDiff, VersionMade, versionList } from './schema.ts'
import type { Workflows } from './service.ts'

export const versionRoutes = (workflows: Workflows): AnyRoute[] =>
  routes(
    'Workflows',
    {
      listVersions: ['GET', '/api/workflows/:workflow_id/versions', viewer('workflow')],
      createVersion: ['POST', '/api/workflows/:workflow_id/versions', editor('workflow')],
      getVersion: ['GET', '/api/workflows/:workflow_id/versions/:version_id', viewer('workflow')],
      activateVersion: ['POST', '/api/workflows/:workflow_id/versions/:version_id/activate', editor('workflow')],
      diffVersions: ['GET', '/api/workflows/:workflow_id/versions/:version_a/diff/:version_b', viewer('workflow')],
    },
    {
      listVersions: {
        summary: 'Versions, newest first',
        query: versionList.query,
        answer: page(Version),
        run: workflows.listVersions,
      },
      createVersion: {
        summary: 'Create a version; the first is active at once, a later one with `activate`',
        body: NewVersion,
        answer: VersionMade,
        besides: 'warnings',
        status: 201,
        location: ({ version_id }, path) => `${path}/${version_id}`,
        examples: { body: { definition: example.definition, note: 'First draft', activate: true } },
        run: workflows.createVersion,
      },
      getVersion: { summary: 'One version', extension: true, answer: Version, run: workflows.getVersion },
      activateVersion: {
        summary: 'Make this version the active one',
        answer: Version,
        allowed: workflows.getVersion,
        run: workflows.activateVersion,
      },
      diffVersions: {
        summary: 'What changed between two versions',
        answer: VersionDiff,
        extension: true,
        run: workflows.diffVersions,
      },
    },
  )
