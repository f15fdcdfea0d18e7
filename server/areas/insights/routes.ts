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
          'Added up as runs end, within a second or two. Owners of the workspace see all workflows, others those that they may see. Runs for ' +
          'records of jobs are left out unless `include_jobs` asks for them; trials of drafts and runs of suites always are. A run counts in ' +
          'the hour in which it ends.',
        query: runsQuery,
        answer: RunReport,
        extension: true,
        run: getRunInsights,
      },
      getStepInsights: {
        summary: 'The slowest steps of workflows',
        description: 'Days in UTC. What happens inside a map or loop is counted with it.',
        query: stepsQuery,
        answer: StepReport,
        extension: true,
        run: getStepInsights,
      },
      getUsageInsights: {
        summary: 'Tokens, cost and calls of language models',
        description:
          'Owners of the workspace see all of it. Others see what the workflows asked that they may see, and what they asked themselves. ' +
          'The cost is what the provider says, else what the price table says.',
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
        summary: 'Set prices of language models in place of the shipped ones',
        description: 'They hold for calls from now on; what was counted before keeps its cost.',
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
