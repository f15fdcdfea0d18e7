import { CredentialRefused } from '#areas/credentials/use'
import { type AgentTool, offeredSchema, problemsOf, safeName } from '#engine/agents/tools'
import { NodeFailure } from '#engine/node'
import { callFound, EFFECTS, isImportedName } from '#engine/nodes/service-call'
import { fromWire, UNKNOWN_ID } from '#platform/ids'
import { allowedOf, fixedOf, type TurnContext } from './turn-context.ts'
import type { AgentPorts, TemplateTool } from './types.ts'

export type ServiceGrant = Extract<TemplateTool, { service: string }>

/** Finds the action among the built-in services and the services that the workspace imported. */
async function findAction({ services }: AgentPorts, workspaceId: string, { service: name, action }: ServiceGrant) {
  if (isImportedName(name)) return services.findImported(workspaceId, name, action)
  const service = services.catalogue.get(name)
  const found = service?.actions.get(action)
  return service && found && { service, action: found }
}

/**
 * Returns an action of a service as a tool, with the credential of the template opened for its owner. Undefined if
 * there is no such action.
 */
export async function serviceTool(
  ports: AgentPorts,
  context: TurnContext,
  grant: ServiceGrant,
): Promise<AgentTool | undefined> {
  const { services } = ports
  const { workspace_id: workspaceId } = context.thread
  const found = await findAction(ports, workspaceId, grant)
  if (!found) return undefined
  const { service, action } = found
  const fixed = fixedOf(grant)
  const schema = offeredSchema(action.args_schema, fixed, allowedOf(grant))

  const open = async () => {
    if (grant.credential_id === undefined) return undefined
    const credentialId = fromWire('cred', grant.credential_id) ?? UNKNOWN_ID
    try {
      return await services.openFor({ workspaceId, credentialId, userId: context.voice.owner_id })
    } catch (error) {
      if (!(error instanceof CredentialRefused)) throw error
      throw new NodeFailure('credential_not_allowed', 'the credential of this tool cannot be used now')
    }
  }

  return {
    name: safeName(`${grant.service}_${grant.action}`),
    title: `${service.title}: ${action.title}`,
    description: grant.description ?? `${service.title}: ${action.title}`,
    schema,
    effect: EFFECTS[action.effect],
    check: (args) => {
      const problems = problemsOf(schema, args)
      return problems.length > 0 ? problems : problemsOf(action.args_schema, { ...args, ...fixed })
    },
    run: async (call) =>
      callFound(
        services.deps,
        {
          service,
          action,
          args: { ...call.args, ...fixed },
          credential: await open(),
          credentialId: grant.credential_id,
        },
        call,
      ),
  }
}
