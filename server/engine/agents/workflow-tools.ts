import { type NodeCall, NodeFailure } from '#engine/node'
import type { Json, JsonObject } from '#model/definition'
import { isObject } from '#model/json'
import { problemsWithin } from './call-bounds.ts'
import { notGrantable } from './failures.ts'
import { type AgentTool, type GrantedArguments, inWords, offeredSchema, safeName } from './tools.ts'

// A workflow as a tool of an agent. Each call starts exactly one execution. The agent is suspended until that
// execution ends, however long it takes.

export type WorkflowGrant = { workflowId: string; approval?: JsonObject | undefined } & GrantedArguments

/** The inputs of each workflow are journalled, so an attempt that takes over offers the model the same tools. */
export async function toolsOfWorkflows(grants: WorkflowGrant[], call: NodeCall): Promise<AgentTool[]> {
  const tools: AgentTool[] = []
  for (const [index, grant] of grants.entries()) tools.push(await workflowTool(grant, index, call))
  return tools
}

async function workflowTool(
  { workflowId, fixed, allowed, approval }: WorkflowGrant,
  index: number,
  call: NodeCall,
): Promise<AgentTool> {
  const { describeWorkflow } = call
  if (!describeWorkflow) throw notGrantable('workflows cannot be run as tools here')
  const about = (await call.step(
    `workflow:${index}`,
    async () => (await describeWorkflow(workflowId)) as unknown as JsonObject,
  )) as { name: string; description: string | null; inputs: Json }
  const inputs: JsonObject = isObject(about.inputs) ? { ...about.inputs, type: 'object' } : { type: 'object' }
  const properties = isObject(inputs.properties) ? inputs.properties : {}
  const named = [...Object.keys(fixed), ...Object.keys(allowed)]
  const unknown = named.find((field) => !Object.hasOwn(properties, field))
  if (unknown !== undefined) throw notGrantable(`"${about.name}" has no input "${unknown}"`)
  const schema = offeredSchema(inputs, fixed, allowed)
  const bounds = { schema, full: inputs, fixed }
  return {
    name: nameOf(about.name),
    title: about.name,
    description: (about.description ?? `Runs the workflow "${about.name}" and gives its results.`).slice(0, 1_000),
    schema,
    // The id of the started execution is derived from the call, so a repeated call does not start a second execution.
    effect: 'idempotent',
    bounds,
    approval,
    check: (args) => inWords(problemsWithin(bounds, args)),
    run: async ({ args, effectKey, runWorkflow }) => {
      if (!runWorkflow) throw notGrantable('workflows cannot be run as tools here')
      const { results, error } = await runWorkflow(effectKey, { workflow_id: workflowId, input: { ...args, ...fixed } })
      if (error) throw new NodeFailure(error.code, `the workflow failed: ${error.message}`)
      return results
    },
  }
}

const nameOf = (title: string): string => {
  const words = title
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '_')
    .replace(/^_+|_+$/g, '')
  return safeName(words || 'workflow')
}
