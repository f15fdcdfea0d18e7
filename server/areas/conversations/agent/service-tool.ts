import { CredentialRefused } from '#areas/credentials/use'
import { type AgentTool, offeredSchema, problemsOf, safeName } from '#engine/agents/tools'
import { NodeFailure } from '#engine/node'
import { EFFECTS } from '#engine/nodes/service-call'
import { callService } from '#engine/services/call'
import { fromWire, NOWHERE } from '#platform/ids'
import { allowedOf, fixedOf, type Scene } from './scene.ts'
import type { AgentPorts, TemplateTool } from './types.ts'

export type ServiceGrant = Extract<TemplateTool, { service: string }>

/** An action of a service with the credential of the template, opened for its owner. Undefined where there is no such action. */
export function serviceTool({ services }: AgentPorts, scene: Scene, grant: ServiceGrant): AgentTool | undefined {
  const service = services.catalogue.get(grant.service)
  const action = service?.actions.get(grant.action)
  if (!service || !action) return undefined
  const { workspace_id: workspaceId } = scene.thread
  const fixed = fixedOf(grant)
  const schema = offeredSchema(action.args_schema, fixed, allowedOf(grant))

  const open = async () => {
    if (grant.credential_id === undefined) return undefined
    const credentialId = fromWire('cred', grant.credential_id) ?? NOWHERE
    try {
      return await services.openFor({ workspaceId, credentialId, userId: scene.voice.owner_id })
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
      callService(services.deps, { service, action, args: { ...call.args, ...fixed }, credential: await open() }, call),
  }
}
