import { mayUseNamed } from '#areas/credentials/rights'
import type { DescribeCredential } from '#areas/services/credential-check'
import { findPieceTrigger } from '#areas/services/imported'
import { needsCredential, PIECES } from '#engine/nodes/service-call'
import type { JsonObject } from '#model/definition'
import { validateJson } from '#model/json-schema'
import { recordAudit } from '#platform/audit'
import type { Tx } from '#platform/db/pool'
import { invalid, problem, unknownReference } from '#platform/errors'
import type { Context } from '#platform/http/context'
import type { ListInput } from '#platform/http/list'
import { newId, toWire } from '#platform/ids'
import type { Catalogue } from '#providers/services/catalogue'
import type { Service, ServiceHook, ServiceTrigger } from '#providers/services/manifest'
import type { PieceTrigger } from '#providers/services/pieces/index'
import * as hooks from './hook-store.ts'
import type { NewTrigger, Trigger, TriggerPatch } from './schema.ts'
import * as store from './store.ts'

// The triggers of a workflow. They act with the rights of the person who activated the version, while a version is
// active.

const MAX_TRIGGERS = 20
const EVERY_S = 300

type OfWorkflow = { workflow_id: string }
type One = OfWorkflow & { trigger_id: string }

export type TriggerParts = {
  catalogue: Catalogue
  describe: DescribeCredential
  kindsOf(presets: readonly string[]): readonly string[]
}

export const listTriggers = (ctx: Context, { workflow_id, ...asked }: OfWorkflow & ListInput) =>
  store.listTriggers(ctx.tx, ctx.workspace.workspace_id, workflow_id, asked)

export async function getTrigger(ctx: Context, { workflow_id, trigger_id }: One): Promise<Trigger> {
  const found = await store.findTrigger(ctx.tx, ctx.workspace.workspace_id, workflow_id, trigger_id)
  if (!found) throw problem('not_found')
  return found
}

export async function createTrigger(
  parts: TriggerParts,
  ctx: Context,
  { workflow_id, ...input }: OfWorkflow & NewTrigger,
): Promise<Trigger> {
  const { workspace_id } = ctx.workspace
  const { service, trigger } = await findTrigger(parts, ctx, input)
  if (!trigger) throw invalid([{ path: '/trigger', message: `${service.title} has no such trigger` }])
  const args = (input.args ?? {}) as JsonObject
  const issues = validateJson(trigger.args_schema, args, { path: '/args' })
  if (issues.length > 0) throw invalid(issues)
  await checkCredential(parts, ctx, service, input.credential_id)
  await store.lockWorkflow(ctx.tx, workspace_id, workflow_id)
  if ((await store.countTriggers(ctx.tx, workspace_id, workflow_id)) >= MAX_TRIGGERS)
    throw problem('conflict', `A workflow has at most ${MAX_TRIGGERS} triggers.`)
  const triggerId = newId()
  const made = await store.insertTrigger(ctx.tx, workspace_id, {
    triggerId,
    workflowId: workflow_id,
    service: input.service,
    trigger: input.trigger,
    args,
    credentialId: input.credential_id ?? null,
    everyS: input.every_s ?? EVERY_S,
    userId: ctx.person.user_id,
    kind: isCalled(trigger) ? 'webhook' : 'polling',
  })
  if (made.kind === 'webhook') ctx.tx.hint(hooks.TRIGGER_HINTS, '')
  const data = { service: input.service, trigger: input.trigger }
  await recordAudit(ctx, ctx.tx, { action: 'trigger.created', subject: toWire('trg', triggerId), data })
  return made
}

/** Checks whether the vendor calls the trigger; otherwise it is polled. */
const isCalled = (trigger: ServiceTrigger | ServiceHook | PieceTrigger): boolean =>
  'register' in trigger || ('kind' in trigger && trigger.kind === 'webhook')

async function findTrigger({ catalogue }: TriggerParts, ctx: Context, input: NewTrigger) {
  const service = catalogue.get(input.service)
  if (service) return { service, trigger: service.triggers.get(input.trigger) ?? service.hooks.get(input.trigger) }
  const found = input.service.startsWith(PIECES)
    ? await findPieceTrigger(ctx.tx, ctx.workspace.workspace_id, input.service, input.trigger)
    : undefined
  if (!found) throw invalid([{ path: '/service', message: 'is not a known service' }])
  return found
}

async function checkCredential(
  { describe, kindsOf }: TriggerParts,
  ctx: Context,
  service: Service,
  credentialId: string | undefined,
): Promise<void> {
  if (credentialId === undefined) {
    if (needsCredential(service)) throw invalid([{ path: '/credential_id', message: 'is required for this service' }])
    return
  }
  const { workspace_id } = ctx.workspace
  const named = toWire('cred', credentialId)
  const found = await describe(ctx.tx, workspace_id, credentialId)
  if (!found || !(await mayUseNamed(ctx.tx, workspace_id, named, ctx.person.user_id)))
    throw unknownReference('/credential_id')
  // For imported services, the hosts of the credential limit where it is sent.
  if (service.imported) return
  const fits =
    found.service === null
      ? kindsOf(service.credentials).includes(found.kind)
      : service.credentials.includes(found.service)
  if (!fits) throw invalid([{ path: '/credential_id', message: `"${found.name}" is not for ${service.title}` }])
}

/** Enables or disables a trigger. If the state is unchanged, nothing happens. */
export async function updateTrigger(
  ctx: Context,
  { workflow_id, trigger_id, enabled }: One & TriggerPatch,
): Promise<Trigger> {
  const { workspace_id } = ctx.workspace
  const at = { workflowId: workflow_id, triggerId: trigger_id, enabled }
  const changed = await store.switchTrigger(ctx.tx, workspace_id, at)
  if (!changed) return getTrigger(ctx, { workflow_id, trigger_id })
  await hooks.endEvents(ctx.tx, workspace_id, trigger_id)
  if (changed.kind === 'webhook') ctx.tx.hint(hooks.TRIGGER_HINTS, '')
  const action = enabled ? 'trigger.enabled' : 'trigger.disabled'
  await recordAudit(ctx, ctx.tx, { action, subject: toWire('trg', trigger_id) })
  return changed
}

export async function deleteTrigger(ctx: Context, { workflow_id, trigger_id }: One): Promise<void> {
  await hooks.keepRemovals(ctx.tx, ctx.workspace.workspace_id, workflow_id, trigger_id)
  if ((await store.deleteTrigger(ctx.tx, ctx.workspace.workspace_id, workflow_id, trigger_id)) === 0)
    throw problem('not_found')
  await recordAudit(ctx, ctx.tx, { action: 'trigger.deleted', subject: toWire('trg', trigger_id) })
}

export const forgetTriggers = async (tx: Tx, workspaceId: string, workflowId: string): Promise<void> => {
  await hooks.keepRemovals(tx, workspaceId, workflowId, null)
  await store.deleteTriggersOf(tx, workspaceId, workflowId)
}
