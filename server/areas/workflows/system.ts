import { createHash } from 'node:crypto'
import { definitionText } from '#model/canonical'
import type { Definition } from '#model/definition'
import { buildGraph, cel, ref, withInputs } from './builder.ts'

/** A workflow that is part of the program: the same kind of graph, written in code and not stored in the database. */
export type SystemWorkflow = { slug: string; name: string; description: string; definition: Definition }

const echo: SystemWorkflow = {
  slug: 'echo',
  name: 'Echo',
  description: 'Returns its input. For testing the service.',
  definition: withInputs(
    { type: 'object' },
    buildGraph()
      .node('echo', 'set', { values: { input: ref('input') } })
      .output(ref('nodes.echo.output.input')),
  ),
}

const nhlOddsDigest: SystemWorkflow = {
  slug: 'nhl-odds-digest',
  name: 'NHL odds digest',
  description: 'Fetches the odds of a day and sums up the best price for each team of each game.',
  definition: withInputs(
    {
      type: 'object',
      properties: {
        date: { type: 'string', format: 'date', description: "The league's day (America/New_York)" },
        regions: { type: 'array', items: { type: 'string' } },
      },
      required: ['date'],
      additionalProperties: false,
    },
    buildGraph()
      .node(
        'odds',
        'odds.fetch',
        { date: ref('input.date'), regions: cel('has(input.regions) ? input.regions : ["us"]'), markets: ['h2h'] },
        { retry: { max_attempts: 3, backoff_s: 2 } },
      )
      .node('digest', 'transform', {
        input: ref('nodes.odds.output'),
        expression: `{
          "date": date,
          "games": [games.(
            $game := $;
            $prices := bookmakers.($bookmaker := name; markets[market = "h2h"].outcomes.{ "team": name, "price": price, "bookmaker": $bookmaker });
            {
              "game_id": game_id, "home": home, "away": away, "starts_at": starts_at,
              "best": [[home, away].($team := $; $sort($prices[team = $team], function($a, $b) { $a.price < $b.price })[0])]
            }
          )]
        }`,
      })
      .output(ref('nodes.digest.output')),
  ),
}

const workspaceUsageReport: SystemWorkflow = {
  slug: 'workspace-usage-report',
  name: 'Workspace usage report',
  description:
    'Counts people, workflows and executions of the workspace over the last days, with the share that succeeded.',
  definition: withInputs(
    {
      type: 'object',
      properties: { days: { type: 'integer', minimum: 1, maximum: 366, default: 30 } },
      additionalProperties: false,
    },
    buildGraph()
      .node('usage', 'workspace.usage', { days: cel('has(input.days) ? input.days : 30') })
      .node('report', 'set', {
        values: {
          usage: ref('nodes.usage.output'),
          success_rate: cel(
            'nodes.usage.output.executions.finished > 0 ? nodes.usage.output.executions.succeeded / nodes.usage.output.executions.finished : null',
          ),
        },
      })
      .output(ref('nodes.report.output')),
  ),
}

const datasetProfile: SystemWorkflow = {
  slug: 'dataset-profile',
  name: 'Dataset profile',
  description: 'Describes each column of a dataset: types, gaps, extremes, common values.',
  definition: withInputs(
    {
      type: 'object',
      properties: { dataset_id: { type: 'string', description: 'A dataset of the workspace' } },
      required: ['dataset_id'],
      additionalProperties: false,
    },
    buildGraph()
      .node('profile', 'dataset.profile', { dataset_id: ref('input.dataset_id') })
      .output(ref('nodes.profile.output')),
  ),
}

export const systemWorkflows: ReadonlyMap<string, SystemWorkflow> = new Map(
  [echo, nhlOddsDigest, workspaceUsageReport, datasetProfile].map((workflow) => [workflow.slug, workflow]),
)

/** Returns the same hash as the `sha256` of a version. */
export function systemDefinitionSha256(slug: string): string | null {
  const workflow = systemWorkflows.get(slug)
  return workflow ? createHash('sha256').update(definitionText(workflow.definition)).digest('hex') : null
}
