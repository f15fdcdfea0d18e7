import { NodeFailure } from '#engine/node'
import { EFFECTS } from '#engine/nodes/service-call'
import type { Json, JsonObject } from '#model/definition'
import type { Catalogue } from '#providers/services/catalogue'
import { type AgentTool, type KindLookup, offeredSchema, problemsOf, safeName } from './tools.ts'

// An action of a service as a tool, with the schema of that action. It runs as the node `service.call` does, with a credential that
// stands in the definition.

export type ServiceGrant = {
  service: string
  action: string
  credentialId: Json | undefined
  fixed: JsonObject
  allowed: Record<string, Json[]>
  approval?: JsonObject | undefined
}

const refused = (message: string): NodeFailure => new NodeFailure('tool_not_grantable', message, { retryable: false })

export const toolsOfServices = (grants: ServiceGrant[], kindOf: KindLookup, catalogue: Catalogue): AgentTool[] =>
  grants.map(({ service: wanted, action: name, credentialId, fixed, allowed, approval }) => {
    const service = catalogue.get(wanted)
    const action = service?.actions.get(name)
    const run = kindOf('service.call')?.run
    if (!service || !action || !run)
      throw refused(`there is no service "${wanted.slice(0, 60)}" with the action "${name.slice(0, 60)}"`)
    const properties = (action.args_schema.properties ?? {}) as JsonObject
    const unknown = [...Object.keys(fixed), ...Object.keys(allowed)].find((field) => !Object.hasOwn(properties, field))
    if (unknown !== undefined) throw refused(`${service.title}, ${action.title} has no argument "${unknown}"`)
    const schema = offeredSchema(action.args_schema, fixed, allowed)
    return {
      name: safeName(`${wanted}_${name}`),
      title: `${wanted}.${name}`,
      description: `${service.title}: ${action.title}`,
      schema,
      effect: EFFECTS[action.effect],
      fixed,
      approval,
      check: (args) => {
        const problems = problemsOf(schema, args)
        return problems.length > 0 ? problems : problemsOf(action.args_schema, { ...args, ...fixed })
      },
      run: async (call) => {
        const args = {
          service: wanted,
          action: name,
          ...(credentialId !== undefined && { credential_id: credentialId }),
          args: { ...call.args, ...fixed },
        }
        return (await run({ ...call, args })).output
      },
    }
  })
