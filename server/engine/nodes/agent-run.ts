import { asNode } from '#engine/agents/failures'
import { runAgent } from '#engine/agents/loop'
import { type ServiceGrant, toolsOfServices } from '#engine/agents/service-tools'
import {
  type KindGrant,
  type KindLookup,
  type McpGrant,
  toolsOfKinds,
  toolsOfServer,
  withDistinctNames,
} from '#engine/agents/tools'
import { toolsOfWorkflows, type WorkflowGrant } from '#engine/agents/workflow-tools'
import { credentialField, modelCredentialFields } from '#engine/credentials'
import { NodeFailure, type NodeKind } from '#engine/node'
import type { Json, JsonObject } from '#model/definition'
import { isObject } from '#model/json'
import { checkSchema } from '#model/json-schema-check'
import { serviceCatalogue } from '#providers/services/catalogue'
import { approval } from './approval.ts'
import { checked, fields } from './kind.ts'
import {
  type LanguageDeps,
  maxTokensField,
  modelField,
  modelOf,
  temperatureField,
  usageSchema,
} from './language-fields.ts'
import { type McpDeps, serverOf } from './mcp-call.ts'
import type { FindImported } from './service-call.ts'

const DEFAULT_STEPS = 10
const DEFAULT_TOKENS = 50_000

const serverGrant: JsonObject = fields(
  {
    url: { type: 'string', title: 'URL', minLength: 1, maxLength: 8_000 },
    credential_id: credentialField(),
    headers: { type: 'object', title: 'Headers', maxProperties: 50, additionalProperties: { type: 'string' } },
    tools: { type: 'array', title: 'Allowed tools', items: { type: 'string' }, maxItems: 64 },
  },
  ['url'],
)

const grantArguments: JsonObject = {
  ...fields({
    fixed: {
      type: 'object',
      title: 'Fixed',
      description: 'Arguments of every call that the model cannot see or change, for example a credential_id',
    },
    allowed: {
      type: 'object',
      title: 'Allowed',
      description: 'For each argument, the values that the model can choose from',
      additionalProperties: { type: 'array', minItems: 1, maxItems: 200 },
    },
  }),
  title: 'Arguments',
}

/** The approval policy that each call of the tool must pass. */
const approvalPolicy: JsonObject = {
  ...((approval.descriptor.args_schema.properties as JsonObject).policy as JsonObject),
  title: 'Approval',
  description: 'The approvers of each call. The payload of the approval is the call',
}

const toolGrant: JsonObject = {
  ...fields(
    {
      type: { type: 'string', title: 'Type', minLength: 1, maxLength: 100 },
      arguments: grantArguments,
      approval: approvalPolicy,
    },
    ['type'],
  ),
  'x-tool': true,
}

const workflowGrant: JsonObject = fields(
  {
    workflow_id: {
      type: 'string',
      title: 'Workflow',
      description: 'The active version of the workflow runs with the arguments as its input',
      minLength: 1,
      maxLength: 100,
      'x-id': 'wf',
      'x-value': 'literal',
    },
    arguments: grantArguments,
    approval: approvalPolicy,
  },
  ['workflow_id'],
)

const serviceGrant: JsonObject = fields(
  {
    service: { type: 'string', title: 'Service', minLength: 1, maxLength: 80 },
    action: { type: 'string', title: 'Action', minLength: 1, maxLength: 120 },
    credential_id: credentialField(),
    arguments: grantArguments,
    approval: approvalPolicy,
  },
  ['service', 'action'],
)

export type AgentRunDeps = LanguageDeps & McpDeps & { kindOf: KindLookup; findImported?: FindImported }

export const makeAgentRun = (deps: AgentRunDeps): NodeKind =>
  checked({
    descriptor: {
      type: 'agent.run',
      kind: 'agent',
      group: 'agents',
      title: 'Run an agent',
      description:
        'A language model works towards a goal with the tools allowed here. Every turn and tool call is recorded; none is repeated after a crash.',
      icon: 'bot',
      colour: '#be185d',
      keywords: ['ai', 'agent', 'tools', 'goal', 'autonomous', 'assistant'],
      args_schema: fields(
        {
          goal: { type: 'string', title: 'Goal', minLength: 1, maxLength: 200_000, 'x-editor': 'text' },
          instructions: { type: 'string', title: 'Instructions', maxLength: 100_000, 'x-editor': 'text' },
          tools: {
            type: 'array',
            title: 'Tools',
            description:
              'What the agent may call: node types such as http.request, workflows and actions of services, each with fixed or allowed arguments',
            items: { anyOf: [{ type: 'string', maxLength: 100 }, toolGrant, workflowGrant, serviceGrant] },
            maxItems: 64,
            'x-editor': 'tools',
          },
          mcp: {
            title: 'MCP servers',
            anyOf: [{ type: 'array', items: serverGrant, maxItems: 8 }, serverGrant],
          },
          max_steps: { type: 'integer', title: 'Max steps', minimum: 1, maximum: 100, default: DEFAULT_STEPS },
          max_tokens: {
            ...maxTokensField,
            default: DEFAULT_TOKENS,
            description: 'Input and output tokens of all steps together',
          },
          max_cost: {
            type: 'number',
            title: 'Max cost',
            description:
              'In US dollars. Requires that the provider reports the cost of a turn or that the price table contains the model',
            exclusiveMinimum: 0,
          },
          output_schema: {
            type: 'object',
            title: 'Output schema',
            description: 'A JSON Schema of an object. The answer is also returned as "value", which matches the schema',
            'x-editor': 'schema',
          },
          model: modelField,
          ...modelCredentialFields,
          temperature: temperatureField,
        },
        ['goal'],
      ),
      output_schema: {
        type: 'object',
        properties: {
          answer: { type: 'string' },
          value: { description: 'The answer in the form of output_schema' },
          steps: {
            type: 'array',
            items: {
              type: 'object',
              properties: {
                turn: { type: 'integer' },
                text: { type: 'string' },
                calls: {
                  type: 'array',
                  items: {
                    type: 'object',
                    properties: {
                      tool: { type: 'string' },
                      arguments: {},
                      ok: { type: 'boolean' },
                      result: {},
                      edited_by: { type: 'string', description: 'Who edited the arguments before they were approved' },
                    },
                  },
                },
              },
            },
          },
          usage: usageSchema,
        },
      },
      ports: ['out'],
      // The journal and the effects of the tools decide for each step whether it may be repeated.
      effect: 'idempotent',
      metered: true,
      defaults: { goal: '', tools: [], max_steps: DEFAULT_STEPS, max_tokens: DEFAULT_TOKENS },
    },
    unavailableByDefault: () => deps.llm.available(),
    run: (call) =>
      asNode(call.signal, async () => {
        const { args } = call
        const model = await modelOf(deps, call)
        const outputSchema = usableSchema(args.output_schema)
        const tools = toolsOfKinds(kindGrantsOf(args.tools), deps.kindOf)
        tools.push(...(await toolsOfWorkflows(workflowGrantsOf(args.tools), call)))
        tools.push(
          ...(await toolsOfServices(serviceGrantsOf(args.tools), call, { ...deps, catalogue: serviceCatalogue() })),
        )
        for (const [index, grant] of grantsOf(args.mcp).entries())
          tools.push(...(await toolsOfServer(grant, index, call, deps)))
        const { answer, value, steps, usage } = await runAgent(call, model, withDistinctNames(tools), {
          goal: String(args.goal),
          maxSteps: Number(args.max_steps ?? DEFAULT_STEPS),
          maxTokens: Number(args.max_tokens ?? DEFAULT_TOKENS),
          ...(typeof args.max_cost === 'number' && { maxCost: args.max_cost }),
          ...(outputSchema && { outputSchema }),
          ...(typeof args.instructions === 'string' && { instructions: args.instructions }),
          ...(typeof args.model === 'string' && { model: args.model }),
          ...(typeof args.temperature === 'number' && { temperature: args.temperature }),
        })
        const shown = { answer, ...(value !== undefined && { value }), steps: steps as unknown as Json[], usage }
        return { output: shown, usage }
      }),
  })

const argumentsOf = (given: Json | undefined): { fixed: JsonObject; allowed: Record<string, Json[]> } => {
  const { fixed, allowed } = isObject(given) ? given : {}
  return {
    fixed: isObject(fixed) ? fixed : {},
    allowed: (isObject(allowed) ? allowed : {}) as Record<string, Json[]>,
  }
}

const approvalOf = ({ approval: policy }: JsonObject): { approval?: JsonObject } =>
  isObject(policy) ? { approval: policy } : {}

const isServiceGrant = (grant: Json): grant is JsonObject => isObject(grant) && grant.service !== undefined

const isWorkflowGrant = (grant: Json): grant is JsonObject => isObject(grant) && grant.workflow_id !== undefined

const kindGrantsOf = (value: Json | undefined): KindGrant[] =>
  (Array.isArray(value) ? value : [])
    .filter((grant) => !isServiceGrant(grant) && !isWorkflowGrant(grant))
    .map((grant) =>
      isObject(grant)
        ? { type: String(grant.type), ...argumentsOf(grant.arguments), ...approvalOf(grant) }
        : { type: String(grant), ...argumentsOf(undefined) },
    )

const workflowGrantsOf = (value: Json | undefined): WorkflowGrant[] =>
  (Array.isArray(value) ? value : []).filter(isWorkflowGrant).map((grant) => ({
    workflowId: String(grant.workflow_id),
    ...argumentsOf(grant.arguments),
    ...approvalOf(grant),
  }))

const serviceGrantsOf = (value: Json | undefined): ServiceGrant[] =>
  (Array.isArray(value) ? value : []).filter(isServiceGrant).map((grant) => ({
    service: String(grant.service),
    action: String(grant.action),
    credentialId: grant.credential_id,
    ...argumentsOf(grant.arguments),
    ...approvalOf(grant),
  }))

const usableSchema = (schema: Json | undefined): JsonObject | undefined => {
  if (!isObject(schema)) return undefined
  const issues = checkSchema(schema, '/output_schema')
  if (schema.type !== 'object') issues.push({ path: '/output_schema/type', message: 'must be object' })
  const [first] = issues
  if (first === undefined) return schema
  throw new NodeFailure('args_invalid', `Run an agent: ${first.path.slice(1)} ${first.message}`, {
    details: { errors: issues as unknown as Json[] },
    retryable: false,
  })
}

const grantsOf = (value: Json | undefined): McpGrant[] =>
  (Array.isArray(value) ? value : value === undefined ? [] : [value]).map((grant) => ({
    ...serverOf(grant),
    ...(isObject(grant) && Array.isArray(grant.tools) && { tools: grant.tools.map(String) }),
  }))
