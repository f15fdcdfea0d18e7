import { credentialField, type OpenCredential, openNamed } from '#engine/credentials'
import { type NodeCall, NodeFailure, type NodeKind } from '#engine/node'
import { callService, checkServiceArgs, type ServiceDeps } from '#engine/services/call'
import { callMcpTool } from '#engine/services/call-mcp'
import { callPieceAction } from '#engine/services/call-piece'
import { programSession } from '#engine/services/mcp-program'
import type { Json, JsonObject } from '#model/definition'
import { replacesValue } from '#model/graph-expressions'
import type { Issue } from '#model/issue'
import { isObject } from '#model/json'
import { validateJson } from '#model/json-schema'
import type { Effect } from '#model/node'
import type { OutgoingCredential } from '#platform/outgoing/credential'
import type { Outgoing } from '#platform/outgoing/outgoing'
import { type Catalogue, serviceCatalogue } from '#providers/services/catalogue'
import type { Service, ServiceAction, ServiceEffect } from '#providers/services/manifest'
import type { PieceRunner } from '#providers/services/pieces/runner'
import type { ProgramLock } from '#providers/services/programs/index'
import type { ProgramRunner } from '#providers/services/programs/runner'
import { checked, fields } from './kind.ts'

const name = (title: string): JsonObject => ({ type: 'string', title, maxLength: 120, 'x-value': 'literal' })

/** The prefix of services that a workspace imported. No built-in service has it. */
export const IMPORTED = 'custom.'
/** The prefix of pieces, which a workspace also imports. */
export const PIECES = 'piece.'
export const isImportedName = (service: string): boolean => service.startsWith(IMPORTED) || service.startsWith(PIECES)

export const EFFECTS: Record<ServiceEffect, Effect> = { read: 'pure', idempotent: 'idempotent', write: 'at_most_once' }

type Found = { service: Service; action: ServiceAction }

/** Finds an action of a service that the workspace imported. */
export type FindImported = (workspaceId: string, service: string, action: string) => Promise<Found | undefined>

/** Finds the lock file that installs the program of an MCP server if it is not on this machine yet. */
export type FindLock = (workspaceId: string, integrity: string) => Promise<ProgramLock>

/** The dependencies of a call whose action was found and whose credential is open. */
export type FoundCallDeps = ServiceDeps & {
  outgoing: Pick<Outgoing, 'request' | 'fetch' | 'fetchWith'>
  pieces: PieceRunner
  programs: ProgramRunner
  findLock: FindLock
}

export type ServiceCallDeps = FoundCallDeps & { openCredential: OpenCredential; findImported: FindImported }

const find = (catalogue: Catalogue, args: JsonObject): Found | undefined => {
  const service = typeof args.service === 'string' ? catalogue.get(args.service) : undefined
  const action = typeof args.action === 'string' ? service?.actions.get(args.action) : undefined
  return service && action && { service, action }
}

export const needsCredential = ({ credentials, credential_optional, imported }: Service): boolean =>
  imported ? imported.credential_required : credentials.length > 0 && credential_optional !== true

/** Returns the effect from the method with which the name of an imported action starts, so no lookup is needed. */
function effectOfName(action: string): ServiceEffect {
  const [method = ''] = action.split('_')
  if (method === 'get' || method === 'head') return 'read'
  return ['put', 'patch', 'delete'].includes(method) ? 'idempotent' : 'write'
}

/** Returns the problems of the arguments that are known before the node runs. */
export function checkServiceNode(catalogue: Catalogue, args: JsonObject, path: string): Issue[] {
  if (typeof args.service !== 'string' || typeof args.action !== 'string') return []
  // Only the workspace knows imported services. It checks the arguments when a definition is saved.
  if (isImportedName(args.service)) return []
  const service = catalogue.get(args.service)
  return checkCall(service, service?.actions.get(args.action), args, path)
}

/** Returns the problems of the arguments of a service that was already found. */
export function checkCall(
  service: Service | undefined,
  action: ServiceAction | undefined,
  args: JsonObject,
  path: string,
): Issue[] {
  if (!service)
    return [{ path: `${path}/service`, message: `there is no service "${String(args.service).slice(0, 60)}"` }]
  if (!action)
    return [{ path: `${path}/action`, message: `${service.title} has no action "${String(args.action).slice(0, 60)}"` }]
  const issues: Issue[] = []
  if (needsCredential(service) && args.credential_id === undefined)
    issues.push({ path: `${path}/credential_id`, message: `is required: ${service.title} needs a credential` })
  if (service.credentials.length === 0 && !service.imported && args.credential_id !== undefined)
    issues.push({ path: `${path}/credential_id`, message: `${service.title} does not use a credential` })
  const given = args.args ?? {}
  return [...issues, ...validateJson(action.args_schema, given, { opaque: replacesValue, path: `${path}/args` })]
}

export const makeServiceCall = (deps: ServiceCallDeps, catalogue: Catalogue = serviceCatalogue()): NodeKind =>
  checked({
    descriptor: {
      type: 'service.call',
      kind: 'tool',
      group: 'services',
      title: 'Call a service',
      description:
        'Calls an action of a known service, such as adding a row to a sheet or sending a message to a channel. Reads are retried after a failure; writes only if the service recognises a repeated request.',
      icon: 'blocks',
      colour: '#0369a1',
      keywords: ['service', 'integration', 'app', 'api', 'connector'],
      args_schema: fields(
        {
          service: name('Service'),
          action: name('Action'),
          credential_id: credentialField(),
          args: {
            type: 'object',
            title: 'Arguments',
            description: 'The arguments of the action; docs/services lists them for each service',
          },
        },
        ['service', 'action'],
      ),
      output_schema: {
        description:
          'What the service answered. An action that lists gives `items` and `more`; one that downloads gives `file`',
      },
      ports: ['out'],
      effect: 'at_most_once',
      defaults: { service: 'rss', action: 'read_feed', args: { url: 'https://example.com/feed.xml' } },
      checkArgs: (args, path) => checkServiceNode(catalogue, args, path),
    },
    effectOf(args) {
      if (typeof args.service === 'string' && isImportedName(args.service))
        return EFFECTS[effectOfName(String(args.action))]
      const found = find(catalogue, args)
      return found ? EFFECTS[found.action.effect] : 'pure'
    },
    async run(call) {
      const { args } = call
      const found =
        typeof args.service === 'string' && isImportedName(args.service)
          ? await deps.findImported(call.workspaceId, args.service, String(args.action))
          : find(catalogue, args)
      if (!found)
        throw new NodeFailure(
          'unknown_action',
          `there is no service "${args.service}" with the action "${args.action}"`,
          {
            retryable: false,
            nothingDone: true,
          },
        )
      const credential = await openNamed(deps.openCredential, call, args.credential_id)
      if (credential === undefined && needsCredential(found.service))
        throw new NodeFailure('args_invalid', `${found.service.title} needs a credential`, {
          retryable: false,
          nothingDone: true,
        })
      const given = isObject(args.args) ? args.args : {}
      return {
        output: await callFound(deps, { ...found, args: given, credential, credentialId: args.credential_id }, call),
      }
    },
  })

/** Calls an action that was found, with its open credential: in a separate process, as an MCP tool, or by HTTP. */
export async function callFound(
  deps: FoundCallDeps,
  wanted: Found & { args: JsonObject; credential: OutgoingCredential | undefined; credentialId: Json | undefined },
  call: NodeCall,
): Promise<Json> {
  const { service, action, args, credential, credentialId } = wanted
  const { tool } = action
  if (service.piece) return callPieceAction(deps, wanted, call)
  const { program } = service
  if (program && tool !== undefined) {
    checkServiceArgs(wanted, args)
    const { workspaceId, signal, effectKey } = call
    const session = programSession(
      deps.programs,
      {
        workspaceId,
        program,
        credential,
        credentialKey: typeof credentialId === 'string' ? credentialId : undefined,
        findLock: () => deps.findLock(workspaceId, program.integrity),
        signal,
      },
      action.effect,
    )
    return session.callTool(tool, args, effectKey)
  }
  if (tool === undefined) return callService(deps, { service, action, args, credential }, call)
  checkServiceArgs(wanted, args)
  return callMcpTool(deps, { url: service.base_url, tool, args, credential }, call)
}
