import type { Database, Tx } from '#platform/db/pool'
import { deliverEvent } from '#platform/events'
import { toWire } from '#platform/ids'
import { emitEvent } from '#platform/outbox'
import { type Measured, measure, type Watched } from './measure.ts'
import type { AlertRule } from './schema.ts'
import { bodyOf } from './words.ts'

// Checks one rule: measures it, updates its state and notifies people if needed. All of this is one transaction, so
// that each change is reported once, even if several processes check rules.

const CHECK_EVERY_S = 30

type Row = Watched &
  Pick<AlertRule, 'rule_id' | 'name' | 'threshold' | 'people' | 'mail' | 'state'> & {
    config_id: string | null
    told: boolean
    number: number
    silenced: boolean
    workflow: string | null
    gone: boolean
  }

const TAKE = `select r.workspace_id, r.rule_id, r.name, r.kind, r.workflow_id, r.threshold, r.window_s, r.min_runs, r.people, r.mail, r.config_id,
    r.state, r.told, r.number, r.created_at, coalesce(r.silenced_until > now(), false) as silenced, w.name as workflow,
    r.workflow_id is not null and w.workflow_id is null as gone
  from alert_rules r left join workflows w on w.workspace_id = r.workspace_id and w.workflow_id = r.workflow_id and w.deleted_at is null
  where r.workspace_id = $1 and r.rule_id = $2 and r.enabled and r.next_check_at <= now() for update of r skip locked`

/** Returns the notification to send. Pure, so that a table of cases can test it. */
export function notificationFor(
  rule: { told: boolean; silenced: boolean },
  isFiring: boolean,
): 'firing' | 'resolved' | null {
  if (isFiring === rule.told) return null
  if (rule.silenced) return null
  return isFiring ? 'firing' : 'resolved'
}

/** Leaves out people who can no longer see the workflow or have left the workspace. */
const recipientsOf = async (tx: Tx, rule: Row): Promise<string[]> =>
  (
    await tx.rows<{ user_id: string }>(
      `select m.user_id from memberships m where m.workspace_id = $1 and m.user_id = any($2) and m.role <> 'guest'
         and ($3::uuid is null or m.role = 'owner'
           or exists (select from workflows w where w.workspace_id = $1 and w.workflow_id = $3 and w.owner_id = m.user_id)
           or exists (select from workflow_people p where p.workspace_id = $1 and p.workflow_id = $3 and p.user_id = m.user_id))`,
      [rule.workspace_id, rule.people, rule.workflow_id],
    )
  ).map(({ user_id }) => user_id)

async function notify(tx: Tx, rule: Row, what: 'firing' | 'resolved', measured: Measured): Promise<void> {
  const { workspace_id: workspaceId, rule_id, kind, workflow_id, threshold, window_s } = rule
  const value = measured?.value ?? null
  const title = what === 'firing' ? `Alert: ${rule.name}` : `Resolved: ${rule.name}`
  const body = bodyOf({ kind, workflow: rule.workflow, value, threshold, window_s, runs: measured?.runs })
  const id = toWire('alr', rule_id)
  await emitEvent(tx, {
    workspaceId,
    type: `alert.${what}`,
    subjectId: rule_id,
    seq: rule.number + 1,
    data: {
      rule_id: id,
      name: rule.name,
      kind,
      workflow_id: workflow_id === null ? null : toWire('wf', workflow_id),
      value,
      threshold,
      window_s,
    },
  })
  await deliverEvent(tx, {
    workspaceId,
    kind: `alert.${what}`,
    title,
    body,
    data: { rule_id: id },
    link: '/alerts',
    to: await recipientsOf(tx, rule),
  })
  const ways = [...(rule.mail ? ['mail'] : []), ...(rule.config_id === null ? [] : ['channel'])]
  for (const way of ways)
    await tx.count(
      `insert into alert_messages (workspace_id, rule_id, number, way, subject, body) values ($1, $2, $3, $4, $5, $6)`,
      [workspaceId, rule_id, rule.number + 1, way, title, body],
    )
}

/** Returns false if another process checks the rule or the rule is not due. */
export const checkRule = (db: Database, workspaceId: string, ruleId: string): Promise<boolean> =>
  db.tenant({ workspaceId, userId: null }, async (tx) => {
    const rule = await tx.maybe<Row>(TAKE, [workspaceId, ruleId])
    if (!rule) return false
    const measured = rule.gone ? null : await measure(tx, rule)
    const isFiring = measured !== null && measured.value >= rule.threshold
    const what = notificationFor(rule, isFiring)
    if (what !== null) await notify(tx, rule, what, measured)
    // A silenced rule that resolves before any notification was sent sends none.
    const told = what === null ? rule.told : what === 'firing'
    await tx.count(
      `update alert_rules set state = $3, since = case when state = $3 then since else now() end, value = $4, told = $5,
         number = number + $6, checked_at = now(), next_check_at = now() + make_interval(secs => $7)
       where workspace_id = $1 and rule_id = $2`,
      [
        workspaceId,
        ruleId,
        isFiring ? 'firing' : 'ok',
        measured?.value ?? null,
        told,
        what === null ? 0 : 1,
        CHECK_EVERY_S,
      ],
    )
    return true
  })

export const findDueRules = (db: Database, most: number): Promise<{ workspace_id: string; rule_id: string }[]> =>
  db.appPool
    .query<{ workspace_id: string; rule_id: string }>({
      name: 'due_alert_rules',
      text: 'select workspace_id, rule_id from due_alert_rules($1)',
      values: [most],
    })
    .then(({ rows }) => rows)
