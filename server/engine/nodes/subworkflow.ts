import { NodeFailure } from '#engine/node'
import type { JsonObject } from '#model/definition'
import { control, fields } from './kind.ts'

/**
 * Returns the workflow that a node names, from its written and its resolved arguments. Data can only choose among the
 * workflows that the author listed. A definition that was saved before this rule may have no list.
 */
export function workflowNamed(written: JsonObject, resolved: JsonObject): string {
  const id = String(resolved.workflow_id)
  if (typeof written.workflow_id === 'string') return id
  const { workflow_ids: listed } = written
  if (!Array.isArray(listed))
    throw new NodeFailure(
      'unknown_reference',
      'workflow_id comes from data, but the node has no workflow_ids; list the allowed workflows there and save again',
      { retryable: false },
    )
  if (!listed.includes(id))
    throw new NodeFailure('unknown_reference', `workflow_id is ${id.slice(0, 100)}, which workflow_ids does not list`, {
      retryable: false,
    })
  return id
}

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
      workflow_id: {
        type: 'string',
        title: 'Workflow',
        description: 'The id of the workflow. If it comes from data, workflow_ids lists the allowed workflows',
        minLength: 1,
        'x-id': 'wf',
        'x-one-of': 'workflow_ids',
      },
      workflow_ids: {
        type: 'array',
        title: 'Allowed workflows',
        description: 'Required if workflow_id comes from data',
        minItems: 1,
        maxItems: 100,
        items: { type: 'string', minLength: 1, 'x-id': 'wf', 'x-value': 'literal' },
        'x-value': 'literal',
      },
      version_id: { type: 'string', title: 'Version', description: 'Default: the active version', 'x-id': 'wfv' },
      input: { title: 'Input' },
      wait: {
        type: 'boolean',
        title: 'Wait for its end',
        description: 'If false, the node continues at once and its output is {execution_id}',
        default: true,
        'x-value': 'literal',
      },
    },
    ['workflow_id'],
  ),
  output_schema: { description: 'The results of the other workflow; `{execution_id}` with `wait: false`' },
  ports: ['out'],
  effect: 'pure',
  metered: true,
  defaults: { workflow_id: '', input: {} },
})
