import type { Workflow } from '#sdk/types.generated'

// Workflows that are part of the program, in the language of the console. Those of people are called as people call them.

export const builtIn: Readonly<Record<string, { title: string; description: string }>> = {
  echo: {
    title: 'Echo',
    description: 'Gives back what it is given. For trying out the service.',
  },
  'nhl-odds-digest': {
    title: 'NHL odds digest',
    description: 'Fetches the odds of a day and sums up the best price for each team of each game.',
  },
  'workspace-usage-report': {
    title: 'Workspace usage report',
    description:
      'Counts people, workflows and runs of the workspace over the last days, with the share that succeeded.',
  },
  'dataset-profile': {
    title: 'Dataset profile',
    description:
      'Looks through a dataset and tells for each column what stands in it: types, gaps, extremes, common values.',
  },
}

type Named = Pick<Workflow, 'kind' | 'workflow_id' | 'name'>

const offered = ({ kind, workflow_id }: Named) => (kind === 'system' ? builtIn[workflow_id] : undefined)

export const workflowName = (workflow: Named): string => offered(workflow)?.title ?? workflow.name

export const workflowDescription = (workflow: Named & Pick<Workflow, 'description'>): string | null =>
  offered(workflow)?.description ?? workflow.description
