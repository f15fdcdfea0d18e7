import { member, sees, viewer } from '#platform/access/rules'
import { type AnyRoute, routes } from '#platform/http/route'
import { page } from '#platform/http/schema'
import {
  allSuiteList,
  CaseQuery,
  ListedSuite,
  NewSuite,
  ReportQuery,
  RunSuite,
  Suite,
  SuiteCase,
  SuitePatch,
  SuiteReport,
  SuiteRun,
  suiteList,
  suiteRunList,
} from './schema.ts'
import type { Suites } from './service.ts'

const example = {
  name: 'Known greetings',
  dataset_id: 'ds_01kf3v6h2he3wtpk1fw5c0wz9d',
  mapping: { name: { $cel: 'record.name' } },
  checks: [
    { kind: 'equal', expected: { $cel: 'record.expected' } },
    { kind: 'cel', expression: 'size(results) < 100' },
  ],
}

export const suiteRoutes = (suites: Suites): AnyRoute[] =>
  routes(
    'Suites',
    {
      searchSuites: ['GET', '/api/suites', sees('workspace')],
      listSuites: ['GET', '/api/workflows/:workflow_id/suites', viewer('workflow')],
      createSuite: ['POST', '/api/workflows/:workflow_id/suites', member('workflow')],
      getSuite: ['GET', '/api/suites/:suite_id', viewer('suite')],
      updateSuite: ['PATCH', '/api/suites/:suite_id', member('suite')],
      deleteSuite: ['DELETE', '/api/suites/:suite_id', member('suite')],
      runSuite: ['POST', '/api/suites/:suite_id/run', member('suite'), 'run'],
      listSuiteRuns: ['GET', '/api/suites/:suite_id/runs', viewer('suite')],
      getSuiteRun: ['GET', '/api/suites/:suite_id/runs/:run_id', viewer('suite')],
      getSuiteCase: ['GET', '/api/suites/:suite_id/runs/:run_id/cases/:position', viewer('suite')],
    },
    {
      searchSuites: {
        summary: 'Suites of all workflows in which the caller has a role',
        query: allSuiteList.query,
        answer: page(ListedSuite),
        extension: true,
        run: suites.searchSuites,
      },
      listSuites: {
        summary: 'Suites of a workflow',
        query: suiteList.query,
        answer: page(Suite),
        extension: true,
        run: suites.listSuites,
      },
      createSuite: {
        summary: 'Create a suite: a dataset, and what the workflow must give for each of its records',
        body: NewSuite,
        answer: Suite,
        status: 201,
        location: ({ suite_id }) => `/api/suites/${suite_id}`,
        extension: true,
        examples: { body: example },
        run: suites.createSuite,
      },
      getSuite: { summary: 'One suite', answer: Suite, extension: true, run: suites.getSuite },
      updateSuite: {
        summary: 'Change a suite, or bind it to another dataset',
        body: SuitePatch,
        answer: Suite,
        current: suites.getSuite,
        extension: true,
        run: suites.updateSuite,
      },
      deleteSuite: {
        summary: 'Delete a suite and its reports',
        status: 204,
        current: suites.getSuite,
        extension: true,
        run: suites.deleteSuite,
      },
      runSuite: {
        summary: 'Run the workflow over every record: its active version unless version_id is given',
        description:
          'Sends nothing unless `effects` is `live`. A live run records what nodes that act are answered; other runs use that record.',
        body: RunSuite,
        answer: SuiteRun,
        status: 202,
        extension: true,
        run: suites.runSuite,
      },
      listSuiteRuns: {
        summary: 'Runs of a suite, newest first: which there are to compare',
        query: suiteRunList.query,
        answer: page(SuiteRun),
        extension: true,
        run: suites.listSuiteRuns,
      },
      getSuiteRun: {
        summary: 'The report of a run, record by record; with `compare`, how it differs from another run',
        query: ReportQuery,
        answer: SuiteReport,
        extension: true,
        run: suites.getSuiteRun,
      },
      getSuiteCase: {
        summary: 'One case of a run; with `compare`, side by side with the same case of another run',
        query: CaseQuery,
        answer: SuiteCase,
        extension: true,
        run: suites.getSuiteCase,
      },
    },
  )
