import { asNode } from '#engine/agents/failures'
import { runAgent } from '#engine/agents/loop'
import { type KindLookup, type McpGrant, toolsOfKinds, toolsOfServer, withDistinctNames } from '#engine/agents/tools'
import { credentialField, modelCredentialFields } from '#engine/credentials'
import type { NodeKind } from '#engine/node'
import type { Json, JsonObject } from '#model/definition'
import { isObject } from '#model/json'
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

export type AgentRunDeps = LanguageDeps & McpDeps & { kindOf: KindLookup }

export const makeAgentRun = (deps: AgentRunDeps): NodeKind =>
  checked({
    descriptor: {
      type: 'agent.run',
      kind: 'agent',
      group: 'agents',
      title: 'Run an agent',
      description:
        'A language model works towards a goal with the tools granted here. Every turn and tool call is recorded; none is repeated after a crash.',
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
            description: 'Node types the agent may call, such as http.request',
            items: { type: 'string', maxLength: 100 },
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
                    properties: { tool: { type: 'string' }, arguments: {}, ok: { type: 'boolean' }, result: {} },
                  },
                },
              },
            },
          },
          usage: usageSchema,
        },
      },
      ports: ['out'],
      // What repeating it would do is decided step by step, by the journal and by the tools' own effects.
      effect: 'idempotent',
      metered: true,
      defaults: { goal: '', tools: [], max_steps: DEFAULT_STEPS, max_tokens: DEFAULT_TOKENS },
    },
    unavailableByDefault: () => deps.llm.available(),
    run: (call) =>
      asNode(call.signal, async () => {
        const { args } = call
        const model = await modelOf(deps, call)
        const types = (Array.isArray(args.tools) ? args.tools : []).map(String)
        const tools = toolsOfKinds(types, deps.kindOf)
        for (const [index, grant] of grantsOf(args.mcp).entries())
          tools.push(...(await toolsOfServer(grant, index, call, deps)))
        const { answer, steps, usage } = await runAgent(call, model, withDistinctNames(tools), {
          goal: String(args.goal),
          maxSteps: Number(args.max_steps ?? DEFAULT_STEPS),
          maxTokens: Number(args.max_tokens ?? DEFAULT_TOKENS),
          ...(typeof args.instructions === 'string' && { instructions: args.instructions }),
          ...(typeof args.model === 'string' && { model: args.model }),
          ...(typeof args.temperature === 'number' && { temperature: args.temperature }),
        })
        return { output: { answer, steps: steps as unknown as Json[], usage }, usage }
      }),
  })

const grantsOf = (value: Json | undefined): McpGrant[] =>
  (Array.isArray(value) ? value : value === undefined ? [] : [value]).map((grant) => ({
    ...serverOf(grant),
    ...(isObject(grant) && Array.isArray(grant.tools) && { tools: grant.tools.map(String) }),
  }))
