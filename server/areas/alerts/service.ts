import { maySee } from '#areas/workflows/rights'
import type { FindAccessLevel } from '#platform/access/check'
import { invalid, problem, unknownReference } from '#platform/errors'
import type { Context } from '#platform/http/context'
import type { ListInput } from '#platform/http/list'
import { newId } from '#platform/ids'
import { type AlertRule, type AlertRulePatch, MAX_RULES, type NewAlertRule } from './schema.ts'
import * as store from './store.ts'

// Any user who can see a workflow may watch it. Owners of the workspace may also watch the whole workspace and manage
// every rule.

type ById = { rule_id: string }

const callerOf = (ctx: Context) => ({ userId: ctx.person.user_id, isOwner: ctx.workspace.role === 'owner' })

export const accessLevelInAlertRule: FindAccessLevel = async (ctx, ruleId) => {
  if (ctx.maybeWorkspace === null || ctx.workspace.role === 'guest') return undefined
  const caller = callerOf(ctx)
  const seen = await store.findSeenRule(ctx.tx, ctx.workspace.workspace_id, ruleId, caller)
  if (!seen) return undefined
  const isOwn = seen.created_by === caller.userId && ctx.workspace.role === 'member'
  return caller.isOwner || isOwn ? 'owner' : 'viewer'
}

export const listAlertRules = (ctx: Context, asked: ListInput) =>
  store.listRules(ctx.tx, ctx.workspace.workspace_id, callerOf(ctx), asked)

export async function getAlertRule(ctx: Context, { rule_id }: ById): Promise<AlertRule> {
  const rule = await store.findRule(ctx.tx, ctx.workspace.workspace_id, rule_id)
  if (!rule) throw problem('not_found')
  return rule
}

async function checkWorkflow(ctx: Context, workflowId: string | null | undefined): Promise<void> {
  const { workspace_id, role } = ctx.workspace
  if (workflowId == null) {
    if (role !== 'owner')
      throw problem('forbidden', 'Only owners may watch the whole workspace. Choose a workflow that you may see.')
    return
  }
  const isSeen =
    role === 'owner'
      ? await store.hasWorkflow(ctx.tx, workspace_id, workflowId)
      : await maySee(ctx.tx, workspace_id, workflowId, ctx.person.user_id)
  if (!isSeen) throw unknownReference('/workflow_id')
}

async function checkRecipients(ctx: Context, { people = [], channel }: Pick<AlertRulePatch, 'people' | 'channel'>) {
  const { workspace_id } = ctx.workspace
  const members = await store.membersAmong(ctx.tx, workspace_id, people)
  const unknown = people.flatMap((id, at) => (members.has(id) ? [] : [`/people/${at}`]))
  if (channel && !(await store.hasChannel(ctx.tx, workspace_id, channel.config_id))) unknown.push('/channel/config_id')
  if (unknown.length > 0) throw unknownReference(...unknown)
}

const MAX_SHARE = 1

function checkThreshold(kind: AlertRule['kind'], threshold: number): void {
  if (kind === 'failure_rate' && threshold > MAX_SHARE)
    throw invalid([{ path: '/threshold', message: 'must be at most 1: it is a share' }])
}

export async function createAlertRule(ctx: Context, input: NewAlertRule): Promise<AlertRule> {
  const { workspace_id } = ctx.workspace
  await checkWorkflow(ctx, input.workflow_id)
  checkThreshold(input.kind, input.threshold)
  await checkRecipients(ctx, input)
  if ((await store.countRules(ctx.tx, workspace_id)) >= MAX_RULES)
    throw problem('conflict', `A workspace has at most ${MAX_RULES} alert rules. Delete one first.`)
  const ruleId = newId()
  await store.insertRule(ctx.tx, workspace_id, { ...input, ruleId, createdBy: ctx.person.user_id })
  return getAlertRule(ctx, { rule_id: ruleId })
}

export async function updateAlertRule(ctx: Context, { rule_id, ...patch }: ById & AlertRulePatch): Promise<AlertRule> {
  const rule = await getAlertRule(ctx, { rule_id })
  if (patch.threshold !== undefined) checkThreshold(rule.kind, patch.threshold)
  await checkRecipients(ctx, patch)
  await store.updateRule(ctx.tx, ctx.workspace.workspace_id, rule_id, patch, ctx.person.user_id)
  return getAlertRule(ctx, { rule_id })
}

export async function deleteAlertRule(ctx: Context, { rule_id }: ById): Promise<void> {
  await getAlertRule(ctx, { rule_id })
  await store.deleteRule(ctx.tx, ctx.workspace.workspace_id, rule_id)
}
