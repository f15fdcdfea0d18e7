import { z } from 'zod'
import { Execution, Status } from '#areas/executions/schema'
import { effectModes } from '#model/node-access'
import { definition, definitionIn, id, jsonObject, timestamp } from '#platform/http/schema'

export const Effects = z.enum(effectModes)

const nodeId = z.string().min(1).max(200)

export const TryBody = z
  .strictObject({
    definition: definitionIn(),
    input: jsonObject().optional(),
    node_id: nodeId.optional().describe('Only this node runs, on the answers of those before it'),
    until: nodeId.optional().describe('Everything that leads to this node runs, and the node'),
    pinned: z
      .record(z.string().max(200), z.unknown())
      .default({})
      .describe('Outputs by node id, used as if the node had run'),
    effects: Effects.default('mock').describe(
      '`live`: nodes act. `pinned`: nodes that act return the pinned or recorded output; refused if there is neither. `mock`: as `pinned`, but if there is neither, a value made from the output schema',
    ),
    dry_run: z.boolean().default(false).describe('Answers with the plan and runs nothing'),
  })
  .meta({ id: 'TryRequest' })
export type TryBody = z.output<typeof TryBody>

const PlannedNode = z
  .object({
    node_id: z.string().describe('Inside a map or loop `map[].node`'),
    type: z.string(),
    mode: z.enum(['live', 'pinned', 'mocked']),
    source: z
      .enum(['given', 'recorded', 'schema'])
      .nullable()
      .describe('The source of its output: pinned by the caller, the last stored run, or the output schema'),
    acts: z.boolean().describe('It reaches something outside, people or a model'),
  })
  .meta({ id: 'TrialNode' })

export const Tried = z
  .object({
    execution_id: id('exe').nullable().describe('Null after a dry run'),
    status: Status.nullable(),
    plan: z.array(PlannedNode),
    execution: Execution.nullable().describe('The whole execution, if it ended within `wait_s`'),
  })
  .meta({ id: 'TryAnswer' })
export type Tried = z.input<typeof Tried>

export const Trial = z
  .object({
    execution_id: id('exe'),
    workflow_id: id('wf'),
    effects: Effects.describe('How nodes that act were treated'),
    plan: z.array(PlannedNode),
    definition: definition().describe('The draft as it was sent'),
    created_by: id('usr').nullable(),
    created_at: timestamp(),
  })
  .meta({ id: 'Trial' })
export type Trial = z.input<typeof Trial>
