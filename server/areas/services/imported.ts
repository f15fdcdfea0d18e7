import type { FindImported } from '#engine/nodes/service-call'
import { checkCall, isImportedName } from '#engine/nodes/service-call'
import type { Definition, JsonObject } from '#model/definition'
import { allNodesWithPaths } from '#model/graph-ids'
import type { Issue } from '#model/issue'
import type { Database, Tx } from '#platform/db/pool'
import type { Service, ServiceAction } from '#providers/services/manifest'
import type { PieceTrigger } from '#providers/services/pieces/index'
import type { McpProgram, ProgramLock } from '#providers/services/programs/index'
import * as store from './import-store.ts'

// Converts imported services of a workspace to the form that the executor and the checks use.

type WithSchema = Pick<
  ServiceAction,
  'args_schema' | 'operation' | 'tool' | 'part' | 'base_url' | 'headers' | 'response'
>

export const actionOfRow = ({ action, ...head }: store.ActionRow & { action: JsonObject }): ServiceAction => ({
  ...(action as unknown as WithSchema),
  ...head,
})

export const serviceOfRow = (row: store.ImportedRow, actions: readonly ServiceAction[]): Service => ({
  service: row.service,
  title: row.title,
  description: row.description,
  reference: row.reference ?? '',
  credentials: [],
  base_url: row.base_url,
  // Fields in which vendors report errors.
  errors: {
    message: ['message', 'error.message', 'error_description', 'detail', 'errors.0.message', 'title', 'error'],
    code: ['code', 'error.code', 'error.type', 'errors.0.code'],
  },
  actions: new Map(actions.map((action) => [action.name, action])),
  triggers: new Map(),
  hooks: new Map(),
  imported: { auth: row.auth, credential_required: row.credential_required },
  ...(row.kind === 'piece' && row.package && { piece: row.package }),
  ...(row.kind === 'mcp_program' && row.package && { program: row.package as McpProgram }),
})

/** Finds a service with the given action. The action is undefined if the service does not have it. */
async function findCall(
  tx: Tx,
  workspaceId: string,
  service: string,
  action: string,
): Promise<{ service: Service; action: ServiceAction | undefined } | undefined> {
  const row = await store.findImported(tx, workspaceId, service)
  if (!row) return undefined
  const [found] = await store.listActions(tx, workspaceId, row.service_id, action)
  const actions = found ? [actionOfRow(found)] : []
  return { service: serviceOfRow(row, actions), action: actions[0] }
}

/** Finds a trigger of an imported piece, with its service. */
export async function findPieceTrigger(
  tx: Tx,
  workspaceId: string,
  service: string,
  trigger: string,
): Promise<{ service: Service; trigger: PieceTrigger | undefined } | undefined> {
  const row = await store.findImported(tx, workspaceId, service)
  if (row?.kind !== 'piece') return undefined
  const triggers = await store.listPieceTriggers(tx, workspaceId, row.service_id)
  return { service: serviceOfRow(row, []), trigger: triggers.find(({ name }) => name === trigger) }
}

export const makeFindImported =
  (db: Database): FindImported =>
  async (workspaceId, service, action) => {
    const found = await db.tenant({ workspaceId, userId: null }, (tx) => findCall(tx, workspaceId, service, action))
    return found?.action && { service: found.service, action: found.action }
  }

/** Finds the lock file with which the program of a service is reinstalled. */
export const makeFindLock =
  (db: Database) =>
  (workspaceId: string, integrity: string): Promise<ProgramLock> =>
    db.tenant({ workspaceId, userId: null }, (tx) => store.findLock(tx, workspaceId, integrity))

/**
 * Checks calls of imported services in a definition: whether the workspace has the service and the action, and the
 * arguments.
 */
export async function checkImportedCalls(tx: Tx, workspaceId: string, definition: Definition): Promise<Issue[]> {
  const issues: Issue[] = []
  for (const { node, path } of allNodesWithPaths(definition)) {
    const { service, action } = node.args ?? {}
    if (node.type !== 'service.call' || typeof service !== 'string' || typeof action !== 'string') continue
    if (!isImportedName(service)) continue
    const found = await findCall(tx, workspaceId, service, action)
    issues.push(...checkCall(found?.service, found?.action, node.args!, `${path}/args`))
  }
  return issues
}
