import { control, fields } from './kind.ts'

export const subworkflow = control({
  type: 'subworkflow',
  kind: 'capability',
  group: 'control',
  title: 'Run a workflow',
  description: 'Runs another workflow of the workspace and returns its results.',
  icon: 'workflow',
  colour: '#64748b',
  keywords: ['child', 'call', 'reuse', 'nested', 'sub-workflow'],
  args_schema: fields(
    {
      workflow_id: { type: 'string', title: 'Workflow', minLength: 1, 'x-id': 'wf' },
      version_id: { type: 'string', title: 'Version', description: 'Default: the active version', 'x-id': 'wfv' },
      input: { title: 'Input' },
    },
    ['workflow_id'],
  ),
  output_schema: { description: 'The results of the other workflow' },
  ports: ['out'],
  effect: 'pure',
  metered: true,
  defaults: { workflow_id: '', input: {} },
})
