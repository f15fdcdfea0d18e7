import { callWith, type NodeCall } from '#engine/node'
import { EFFECTS, type FindImported, isImportedName, needsCredential } from '#engine/nodes/service-call'
import type { Json, JsonObject } from '#model/definition'
import type { Catalogue } from '#providers/services/catalogue'
import { problemsWithin } from './call-bounds.ts'
import { notGrantable } from './failures.ts'
import { type AgentTool, inWords, type KindLookup, offeredSchema, safeName } from './tools.ts'

// An action of a service as a tool, with the schema of that action. The service is built in or was imported by the
// workspace (an OpenAPI document, a piece, an MCP server). The tool runs like the node `service.call`, with a
// credential from the definition.

export type ServiceGrant = {
  service: string
  action: string
  credentialId: Json | undefined
  fixed: JsonObject
  allowed: Record<string, Json[]>
  approval?: JsonObject | undefined
}

export type ServiceToolDeps = { kindOf: KindLookup; catalogue: Catalogue; findImported?: FindImported | undefined }

export const toolsOfServices = (
  grants: ServiceGrant[],
  call: Pick<NodeCall, 'workspaceId'>,
  deps: ServiceToolDeps,
): Promise<AgentTool[]> => Promise.all(grants.map((grant) => serviceTool(grant, call, deps)))

async function findAction({ service: name, action }: ServiceGrant, workspaceId: string, deps: ServiceToolDeps) {
  if (isImportedName(name)) return deps.findImported?.(workspaceId, name, action)
  const service = deps.catalogue.get(name)
  const found = service?.actions.get(action)
  return service && found && { service, action: found }
}

async function serviceTool(
  grant: ServiceGrant,
  { workspaceId }: Pick<NodeCall, 'workspaceId'>,
  deps: ServiceToolDeps,
): Promise<AgentTool> {
  const { service: wanted, action: name, credentialId, fixed, allowed, approval } = grant
  const found = await findAction(grant, workspaceId, deps)
  const run = deps.kindOf('service.call')?.run
  if (!found || !run)
    throw notGrantable(`there is no service "${wanted.slice(0, 60)}" with the action "${name.slice(0, 60)}"`)
  const { service, action } = found
  if (needsCredential(service) && credentialId === undefined)
    throw notGrantable(`${service.title} needs a credential: choose one for the tool`)
  const properties = (action.args_schema.properties ?? {}) as JsonObject
  const unknown = [...Object.keys(fixed), ...Object.keys(allowed)].find((field) => !Object.hasOwn(properties, field))
  if (unknown !== undefined) throw notGrantable(`${service.title}, ${action.title} has no argument "${unknown}"`)
  const schema = offeredSchema(action.args_schema, fixed, allowed)
  const bounds = { schema, full: action.args_schema, fixed }
  return {
    name: safeName(`${wanted}_${name}`),
    title: `${wanted}.${name}`,
    description: [`${service.title}: ${action.title}`, action.description].filter(Boolean).join('. ').slice(0, 1_000),
    schema,
    effect: EFFECTS[action.effect],
    bounds,
    approval,
    check: (args) => inWords(problemsWithin(bounds, args)),
    run: async (call) => {
      const args = {
        service: wanted,
        action: name,
        ...(credentialId !== undefined && { credential_id: credentialId }),
        args: { ...call.args, ...fixed },
      }
      return (await run(callWith(call, { args }))).output
    },
  }
}
