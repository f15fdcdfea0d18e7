import { mayUseNamed } from '#areas/credentials/rights'
import { mayReadNamed } from '#areas/knowledge/rights'
import { type FindImported, isImportedName, needsCredential } from '#engine/nodes/service-call'
import type { JsonObject } from '#model/definition'
import { isObject } from '#model/json'
import type { Tx } from '#platform/db/pool'
import { type FieldError, invalid, problem, unknownReference } from '#platform/errors'
import type { Context } from '#platform/http/context'
import { fromWire, toWire } from '#platform/ids'
import type { Catalogue } from '#providers/services/catalogue'
import type { TemplatePatch } from './schema.ts'
import { listStartable } from './store.ts'

// The tools and knowledge of an agent are checked for the caller and for the owner of the template: the caller cannot
// give access that they do not have, and the agent gets nothing that the owner could not use.

export type AgentCheckParts = {
  hasModel(): boolean
  catalogue: Catalogue
  findImported: FindImported
  findDataset(tx: Tx, workspaceId: string, datasetId: string): Promise<unknown>
}

type Given = Pick<TemplatePatch, 'mode' | 'knowledge_ids' | 'tools'>
type Tool = NonNullable<Given['tools']>[number]

export async function checkAgent(
  parts: AgentCheckParts,
  ctx: Context,
  given: Given,
  ownerId: string = ctx.person.user_id,
): Promise<void> {
  if (given.mode === 'agent' && !parts.hasModel())
    throw problem(
      'provider_not_configured',
      'The mode "agent" needs a language model: store a credential of kind llm, or ask the operator to configure one.',
    )
  const both = [...new Set([ctx.person.user_id, ownerId])]
  const unknown = [
    ...(await unreadable(ctx, given.knowledge_ids ?? [], both)),
    ...(await unusable(parts, ctx, given.tools ?? [], both)),
  ]
  if (unknown.length > 0) throw unknownReference(...unknown)
  const wrong: FieldError[] = []
  for (const [at, tool] of (given.tools ?? []).entries())
    if ('service' in tool) wrong.push(...(await checkService(parts, ctx.workspace.workspace_id, tool, at)))
  if (wrong.length > 0) throw invalid(wrong)
}

async function unreadable({ tx, workspace }: Context, ids: string[], people: string[]): Promise<string[]> {
  const paths: string[] = []
  for (const [at, id] of ids.entries())
    for (const userId of people)
      if (!(await mayReadNamed(tx, workspace.workspace_id, toWire('kb', id), userId)))
        paths.push(`/knowledge_ids/${at}`)
  return [...new Set(paths)]
}

async function unusable(
  { findDataset }: AgentCheckParts,
  { tx, workspace: { workspace_id: workspaceId } }: Context,
  tools: Tool[],
  people: string[],
): Promise<string[]> {
  const paths: string[] = []
  for (const [at, tool] of tools.entries()) {
    if ('workflow_id' in tool) {
      const id = fromWire('wf', tool.workflow_id)
      for (const userId of people)
        if (id === undefined || (await listStartable(tx, workspaceId, [id], userId)).length === 0)
          paths.push(`/tools/${at}/workflow_id`)
    } else if ('dataset_id' in tool) {
      const id = fromWire('ds', tool.dataset_id)
      if (id === undefined || !(await findDataset(tx, workspaceId, id))) paths.push(`/tools/${at}/dataset_id`)
    } else if (tool.credential_id !== undefined) {
      for (const userId of people)
        if (!(await mayUseNamed(tx, workspaceId, tool.credential_id, userId))) paths.push(`/tools/${at}/credential_id`)
    }
  }
  return [...new Set(paths)]
}

async function checkService(
  { catalogue, findImported }: AgentCheckParts,
  workspaceId: string,
  tool: Extract<Tool, { service: string }>,
  at: number,
): Promise<FieldError[]> {
  const path = `/tools/${at}`
  const found = isImportedName(tool.service) ? await findImported(workspaceId, tool.service, tool.action) : undefined
  const service = found?.service ?? catalogue.get(tool.service)
  if (!service) return [{ path: `${path}/service`, message: 'is not a known service, or does not have this action' }]
  const action = service.actions.get(tool.action)
  if (!action) return [{ path: `${path}/action`, message: `is not an action of ${service.title}` }]
  if (action.save) return [{ path: `${path}/action`, message: 'returns a file, which a conversation cannot use' }]
  if (needsCredential(service) && tool.credential_id === undefined)
    return [{ path: `${path}/credential_id`, message: `is required: ${service.title} needs a credential` }]
  const properties = action.args_schema.properties
  const known = isObject(properties) ? properties : ({} as JsonObject)
  return (['fixed', 'allowed'] as const).flatMap((kind) =>
    Object.keys(tool.arguments?.[kind] ?? {})
      .filter((name) => !Object.hasOwn(known, name))
      .map((name) => ({ path: `${path}/arguments/${kind}/${name}`, message: 'is not an argument of the action' })),
  )
}
