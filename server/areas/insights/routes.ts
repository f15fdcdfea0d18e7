import { operator, viewer } from '#platform/access/rules'
import { type AnyRoute, routes } from '#platform/http/route'
import { getPrices, putPrices } from './prices.ts'
import { getRunInsights, getStepInsights } from './runs.ts'
import { NewPrices, Prices, RunReport, runsQuery, StepReport, stepsQuery, UsageReport, usageQuery } from './schema.ts'
import { getUsage } from './usage.ts'

export const insightRoutes = (): AnyRoute[] => [
  ...routes(
    'Insights',
    {
      getRunInsights: ['GET', '/api/insights/executions', viewer('workspace')],
      getStepInsights: ['GET', '/api/insights/steps', viewer('workspace')],
      getUsageInsights: ['GET', '/api/insights/usage', viewer('workspace')],
    },
    {
      getRunInsights: {
        summary: 'How many runs ended how, how long they took, and how long they waited for people',
        description:
          'Updated when executions end, within a second or two. Owners of the workspace see all workflows, others those that they may see. Runs for ' +
          'records of jobs are left out unless `include_jobs` asks for them; trials of drafts and runs of suites always are. A run counts in ' +
          'the hour in which it ends.',
        query: runsQuery,
        answer: RunReport,
        extension: true,
        run: getRunInsights,
      },
      getStepInsights: {
        summary: 'The slowest steps of workflows',
        description: 'Days in UTC. Nodes inside a map or loop are counted with the map or loop.',
        query: stepsQuery,
        answer: StepReport,
        extension: true,
        run: getStepInsights,
      },
      getUsageInsights: {
        summary: 'Tokens, cost and calls of language models',
        description:
          'Owners of the workspace see all of it. Others see the usage of workflows that they may see, and their own usage. ' +
          'The cost is reported by the provider, or else computed from the price table.',
        query: usageQuery,
        answer: UsageReport,
        extension: true,
        run: getUsage,
      },
    },
  ),
  ...routes(
    'Operations',
    {
      getModelPrices: ['GET', '/api/operations/prices', operator],
      putModelPrices: ['PUT', '/api/operations/prices', operator],
    },
    {
      getModelPrices: {
        summary: 'What a million tokens of each language model cost',
        answer: Prices,
        transaction: false,
        extension: true,
        run: getPrices,
      },
      putModelPrices: {
        summary: 'Set prices of language models that replace the built-in prices',
        description: 'They apply to calls from now on; earlier usage keeps its cost.',
        body: NewPrices,
        answer: Prices,
        transaction: false,
        extension: true,
        examples: { body: { prices: [{ model: 'openai/gpt-4o', input: 2.5, output: 10 }] } },
        current: getPrices,
        run: putPrices,
      },
    },
  ),
]
