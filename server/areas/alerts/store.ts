import type { Tx } from '#platform/db/pool'
import { type ListInput, readList } from '#platform/http/list'
import { type AlertRule, type AlertRulePatch, alertRuleList, type NewAlertRule } from './schema.ts'

const columns = `r.rule_id, r.name, r.kind, r.workflow_id, r.threshold, r.window_s, r.min_runs, r.people, r.mail,
  case when r.config_id is not null then json_build_object('config_id', r.config_id, 'to', r.channel_to) end as channel, r.enabled,
  r.silenced_until, r.state, r.since, r.value, r.checked_at, r.created_by, r.created_at, r.updated_at`

/**
 * `$2` is the caller; `$3` is true if the caller owns the workspace. A rule shows figures of its workflow, so the person
 * who created the rule must still be able to see the workflow.
 */
const SEEN = `(r.workflow_id is null or $3 or exists (select from workflows w where w.workspace_id = r.workspace_id
    and w.workflow_id = r.workflow_id and w.owner_id = $2)
  or exists (select from workflow_people m where m.workspace_id = r.workspace_id and m.workflow_id = r.workflow_id and m.user_id = $2))`

export const listRules = (
  tx: Tx,
  workspaceId: string,
  caller: { userId: string; isOwner: boolean },
  asked: ListInput,
) =>
  readList<AlertRule>(tx, alertRuleList, asked, {
    sql: `select ${columns} from alert_rules r where r.workspace_id = $1 and ${SEEN}`,
    values: [workspaceId, caller.userId, caller.isOwner],
  })

export const findRule = (tx: Tx, workspaceId: string, ruleId: string): Promise<AlertRule | undefined> =>
  tx.maybe<AlertRule>(`select ${columns} from alert_rules r where r.workspace_id = $1 and r.rule_id = $2`, [
    workspaceId,
    ruleId,
  ])

export const findSeenRule = (
  tx: Tx,
  workspaceId: string,
  ruleId: string,
  caller: { userId: string; isOwner: boolean },
): Promise<{ created_by: string | null } | undefined> =>
  tx.maybe(`select r.created_by from alert_rules r where r.workspace_id = $1 and r.rule_id = $4 and ${SEEN}`, [
    workspaceId,
    caller.userId,
    caller.isOwner,
    ruleId,
  ])

/** Serializes the counts of one workspace. */
export async function countRules(tx: Tx, workspaceId: string): Promise<number> {
  await tx.rows(`select pg_advisory_xact_lock(hashtextextended('alert_rules ' || $1, 0))`, [workspaceId])
  return (
    await tx.row<{ rules: number }>('select count(*)::integer as rules from alert_rules where workspace_id = $1', [
      workspaceId,
    ])
  ).rules
}

export const insertRule = (
  tx: Tx,
  workspaceId: string,
  rule: NewAlertRule & { ruleId: string; createdBy: string },
): Promise<number> =>
  tx.count(
    `insert into alert_rules (workspace_id, rule_id, name, kind, workflow_id, threshold, window_s, min_runs, people, mail, config_id,
       channel_to, enabled, created_by, channel_by)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $14)`,
    [
      workspaceId,
      rule.ruleId,
      rule.name,
      rule.kind,
      rule.workflow_id ?? null,
      rule.threshold,
      rule.window_s,
      rule.min_runs,
      rule.people ?? [rule.createdBy],
      rule.mail,
      rule.channel?.config_id ?? null,
      rule.channel?.to ?? null,
      rule.enabled,
      rule.createdBy,
    ],
  )

/** Makes the rule due, so that the change takes effect at once. `userId`: the person who makes the change. */
export const updateRule = (
  tx: Tx,
  workspaceId: string,
  ruleId: string,
  patch: AlertRulePatch,
  userId: string,
): Promise<number> =>
  tx.count(
    `update alert_rules set name = coalesce($3, name), threshold = coalesce($4, threshold), window_s = coalesce($5, window_s),
       min_runs = coalesce($6, min_runs), people = coalesce($7, people), mail = coalesce($8, mail),
       config_id = case when $9 then $10::uuid else config_id end, channel_to = case when $9 then $11::text else channel_to end,
       channel_by = case when $9 then $15::uuid else channel_by end,
       enabled = coalesce($12, enabled), silenced_until = case when $13 then $14::timestamptz else silenced_until end,
       updated_at = now(), next_check_at = now()
     where workspace_id = $1 and rule_id = $2`,
    [
      workspaceId,
      ruleId,
      patch.name ?? null,
      patch.threshold ?? null,
      patch.window_s ?? null,
      patch.min_runs ?? null,
      patch.people ?? null,
      patch.mail ?? null,
      patch.channel !== undefined,
      patch.channel?.config_id ?? null,
      patch.channel?.to ?? null,
      patch.enabled ?? null,
      patch.silenced_until !== undefined,
      patch.silenced_until ?? null,
      userId,
    ],
  )

export const deleteRule = (tx: Tx, workspaceId: string, ruleId: string): Promise<number> =>
  tx.count('delete from alert_rules where workspace_id = $1 and rule_id = $2', [workspaceId, ruleId])

/** Returns the given people who are members of the workspace and not guests. */
export const membersAmong = async (tx: Tx, workspaceId: string, people: readonly string[]): Promise<Set<string>> =>
  new Set(
    (
      await tx.rows<{ user_id: string }>(
        `select user_id from memberships where workspace_id = $1 and user_id = any($2) and role <> 'guest'`,
        [workspaceId, people],
      )
    ).map(({ user_id }) => user_id),
  )

export const hasChannel = async (tx: Tx, workspaceId: string, configId: string): Promise<boolean> =>
  (await tx.maybe('select from gateway_channels where workspace_id = $1 and config_id = $2', [
    workspaceId,
    configId,
  ])) !== undefined

export const hasWorkflow = async (tx: Tx, workspaceId: string, workflowId: string): Promise<boolean> =>
  (await tx.maybe('select from workflows where workspace_id = $1 and workflow_id = $2 and deleted_at is null', [
    workspaceId,
    workflowId,
  ])) !== undefined
