import { type OpenCredential, openNamed } from '#engine/credentials'
import { callWith, type NodeCall, NodeFailure, type NodeKind } from '#engine/node'
import type { Json, JsonObject } from '#model/definition'
import type { Issue } from '#model/issue'
import { isObject } from '#model/json'
import { validateJson } from '#model/json-schema'
import { checkSchema } from '#model/json-schema-check'
import type { Effect } from '#model/node'
import type { Outgoing } from '#platform/outgoing/outgoing'
import type { Tool } from '#providers/llm/index'
import { type CallBounds, problemsWithin } from './call-bounds.ts'
import { notGrantable } from './failures.ts'
import { MCP_TIMEOUT, type McpServer, type McpTool, openMcpSession } from './mcp-client.ts'

// The tools that an agent was granted: node kinds of the registry and tools of tool servers. The agent can call
// nothing else.

export type AgentTool = Tool & {
  /** The name for people: `http.request`, or the name of the tool at its tool server. */
  title: string
  effect: Effect
  /** The arguments that the author fixed or left open. Absent if calls are never approved. */
  bounds?: CallBounds
  /** The approval policy that each call must pass before it is made. */
  approval?: JsonObject | undefined
  /** Returns the problems of the arguments, before anything runs. */
  check(args: JsonObject): string[]
  run(call: NodeCall): Promise<Json>
}

/** Returns any kind of the registry. Only kinds that have `run` and are tools can be granted. */
export type KindLookup = (
  type: string,
) => { descriptor: NodeKind['descriptor']; run?: NodeKind['run']; unavailable?(): string | null } | undefined

/**
 * A granted kind and its argument rules. The model never sees `fixed` arguments, and chooses `allowed` ones from a
 * list.
 */
export type KindGrant = { type: string; approval?: JsonObject | undefined } & GrantedArguments
export type GrantedArguments = { fixed: JsonObject; allowed: Record<string, Json[]> }

export const toolsOfKinds = (grants: KindGrant[], kindOf: KindLookup): AgentTool[] =>
  distinct(grants).map(({ type, fixed, allowed, approval }) => {
    const kind = kindOf(type)
    if (kind === undefined) throw notGrantable(`there is no tool "${type}"`)
    const { descriptor, run } = kind
    if (descriptor.kind !== 'tool' || run === undefined)
      throw notGrantable(`"${type}" is not a tool; an agent can be granted tools only`)
    const missing = kind.unavailable?.()
    if (missing) throw new NodeFailure('provider_not_configured', `${type}: ${missing}`, { retryable: false })
    const unknown = [...Object.keys(fixed), ...Object.keys(allowed)].find((name) => !hasField(descriptor, name))
    if (unknown !== undefined) throw notGrantable(`"${type}" has no argument "${unknown}"`)
    const schema = offeredSchema(withoutCredentials(descriptor.args_schema), fixed, allowed)
    const bounds = { schema, full: descriptor.args_schema, fixed }
    return {
      name: safeName(type),
      title: type,
      description: `${descriptor.title}. ${descriptor.description}`.slice(0, 1_000),
      schema,
      effect: descriptor.effect,
      bounds,
      approval,
      check: (args) => inWords(problemsWithin(bounds, args)),
      run: async (call) => (await run(callWith(call, { args: { ...call.args, ...fixed } }))).output,
    }
  })

/** Removes repeated grants. The same kind with other arguments is another tool. */
const distinct = (grants: KindGrant[]): KindGrant[] => [
  ...new Map(grants.map((grant) => [JSON.stringify(grant), grant])).values(),
]

const hasField = ({ args_schema }: NodeKind['descriptor'], name: string): boolean =>
  isObject(args_schema.properties) && Object.hasOwn(args_schema.properties, name)

/** Returns the schema that the model sees: without fixed arguments, and with limited arguments as required choices. */
export function offeredSchema(schema: JsonObject, fixed: JsonObject, allowed: Record<string, Json[]>): JsonObject {
  const names = Object.keys(allowed)
  if (Object.keys(fixed).length === 0 && names.length === 0) return schema
  const properties = Object.entries((schema.properties ?? {}) as JsonObject).flatMap(([name, field]) => {
    if (Object.hasOwn(fixed, name)) return []
    const choices = Object.hasOwn(allowed, name) ? allowed[name] : undefined
    return [[name, choices === undefined ? field : { ...(field as JsonObject), enum: choices }] as const]
  })
  const required = Array.isArray(schema.required) ? schema.required.map(String) : []
  return {
    type: 'object',
    properties: Object.fromEntries(properties),
    required: [...new Set([...required, ...names])].filter((name) => !Object.hasOwn(fixed, name)),
    additionalProperties: false,
  }
}

/** Removes the fields that name a credential, because a model must not choose one. */
const withoutCredentials = (schema: JsonObject): JsonObject => {
  const properties = Object.entries((schema.properties ?? {}) as JsonObject)
  return {
    ...schema,
    properties: Object.fromEntries(properties.filter(([, field]) => !isObject(field) || field['x-id'] !== 'cred')),
  }
}

export type McpGrant = McpServer & { tools?: string[] }

/** The list of tools is journalled, so an attempt that takes over offers the model the same tools. */
export const toolsOfServer = async (
  grant: McpGrant,
  index: number,
  call: NodeCall,
  deps: McpDeps,
): Promise<AgentTool[]> => {
  const listed = (await call.step(`mcp:${index}:tools`, () =>
    withSession(deps, grant, call, async (session) => {
      const all = await session.listTools()
      const wanted = grant.tools === undefined ? all : all.filter(({ name }) => grant.tools?.includes(name))
      return bounded(wanted) as unknown as Json
    }),
  )) as unknown as McpTool[]
  return listed.map((tool) => {
    const usable = checkSchema(tool.schema).length === 0
    return {
      name: safeName(`mcp${index + 1}_${tool.name}`),
      title: tool.name,
      description: tool.description,
      schema: tool.schema,
      effect: 'at_most_once',
      // If the schema uses an unsupported dialect, only the server checks the arguments.
      check: (args) => (usable ? problemsOf(tool.schema, args) : []),
      run: (asked) =>
        withSession(deps, grant, asked, (session) => session.callTool(tool.name, asked.args, asked.effectKey)),
    }
  })
}

const MAX_TOOLS = 64
const MAX_CHARACTERS = 200_000

const bounded = (tools: McpTool[]): McpTool[] => {
  let size = 0
  return tools.slice(0, MAX_TOOLS).filter((tool) => {
    size += JSON.stringify(tool).length
    return size <= MAX_CHARACTERS
  })
}

export type McpDeps = { outgoing: Pick<Outgoing, 'fetchWith'>; openCredential?: OpenCredential }

/** Opens a session with a tool server. If a credential is named, it is added to the requests as they are sent. */
export const openServer = async (deps: McpDeps, server: McpServer, call: NodeCall) => {
  const credential = await openNamed(deps.openCredential, call, server.credentialId)
  const fetch = deps.outgoing.fetchWith(credential, { timeoutMs: MCP_TIMEOUT })
  const { traceparent } = call
  return openMcpSession(
    { fetch },
    traceparent ? { ...server, headers: { traceparent, ...server.headers } } : server,
    call.signal,
  )
}

const withSession = async <T>(
  deps: McpDeps,
  server: McpServer,
  call: NodeCall,
  work: (session: Awaited<ReturnType<typeof openMcpSession>>) => Promise<T>,
): Promise<T> => {
  const session = await openServer(deps, server, call)
  try {
    return await work(session)
  } finally {
    await session.close()
  }
}

export const problemsOf = (schema: JsonObject, args: JsonObject): string[] => inWords(validateJson(schema, args))

/** Formats issues for the model. */
export const inWords = (issues: Issue[]): string[] =>
  issues.slice(0, 8).map(({ path, message }) => `${path === '' ? 'the arguments' : path} ${message}`)

/** Vendors accept letters, digits, `_` and `-`, and at most 64 characters. */
export const safeName = (name: string): string => name.replace(/[^a-zA-Z0-9_-]/g, '_').slice(0, 64)

/** Appends a number to names that became equal after unsupported characters were replaced. */
export const withDistinctNames = (tools: AgentTool[]): AgentTool[] => {
  const taken = new Set<string>()
  return tools.map((tool) => {
    let name = tool.name
    for (let n = 2; taken.has(name); n += 1) name = `${tool.name.slice(0, 60)}_${n}`
    taken.add(name)
    return { ...tool, name }
  })
}
