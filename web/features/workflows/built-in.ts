import { isObject } from '#model/json'
import type { Workflow } from '#sdk/types.generated'

// Built-in workflows, in the language of the console. Workflows of users keep their own names.

type Text = { title: string; description?: string }
type BuiltIn = { title: string; description: string; fields: Readonly<Record<string, Text>> }

export const builtIn: Readonly<Record<string, BuiltIn>> = {
  echo: {
    title: 'Echo',
    description: 'Returns its input. For testing the service.',
    fields: {},
  },
  'nhl-odds-digest': {
    title: 'NHL odds digest',
    description: 'Fetches the odds of a day and sums up the best price for each team of each game.',
    fields: {
      date: { title: 'Date', description: 'The game day in New York time' },
      regions: { title: 'Regions', description: 'The region of the bookmakers, such as us or eu' },
    },
  },
  'workspace-usage-report': {
    title: 'Workspace usage report',
    description:
      'Counts people, workflows and runs of the workspace over the last days, with the share that succeeded.',
    fields: { days: { title: 'Days' } },
  },
  'dataset-profile': {
    title: 'Dataset profile',
    description: 'Describes each column of a dataset: types, gaps, extremes, common values.',
    fields: { dataset_id: { title: 'Dataset', description: 'The id of a dataset of this workspace' } },
  },
}

type Named = Pick<Workflow, 'kind' | 'workflow_id' | 'name'>

const offered = ({ kind, workflow_id }: Named) => (kind === 'system' ? builtIn[workflow_id] : undefined)

export const workflowName = (workflow: Named): string => offered(workflow)?.title ?? workflow.name

export const workflowDescription = (workflow: Named & Pick<Workflow, 'description'>): string | null =>
  offered(workflow)?.description ?? workflow.description

/** Returns the schema of the input, with titles for its fields. */
export function workflowInputs(workflow: Named, inputs: unknown): unknown {
  const fields = offered(workflow)?.fields
  if (!fields || !isObject(inputs) || !isObject(inputs.properties)) return inputs
  const named = Object.entries(inputs.properties).map(([name, schema]) => [
    name,
    isObject(schema) ? { ...schema, ...fields[name] } : schema,
  ])
  return { ...inputs, properties: Object.fromEntries(named) }
}
