import { describe, expect, test } from 'vitest'
import { useService } from '#test/harness/service'

// Functions that run with the rights of their owner bypass row security. This test reads them from the catalogue of the
// database. It fails for a new function that has no fixed search path, or that reads rows of tenants without a check of
// the caller.

const service = useService()

type Definer = { name: string; source: string; config: string[] | null; roles: string[]; trigger: boolean }

const definers = (): Promise<Definer[]> =>
  service().sql<Definer>(
    `select p.proname as name, pg_get_functiondef(p.oid) as source, p.proconfig as config,
       p.prorettype = 'trigger'::regtype as trigger,
       array(select r.rolname::text from pg_roles r where r.rolname in ('heddle_app', 'heddle_engine', 'heddle_operator')
         and has_function_privilege(r.oid, p.oid, 'execute') order by 1) as roles
     from pg_proc p join pg_namespace n on n.oid = p.pronamespace
     where n.nspname in ('public', 'engine') and p.prosecdef order by 1`,
  )

const asksWho = /\bapp_workspace\(\)|\bapp_user\(\)|\bapp_bound\(\)|\bis_member\(/

/**
 * Functions that the roles of requests and operators call without the scope of a caller, and why that reveals nothing.
 */
const reasons: [reason: string, names: string[]][] = [
  [
    'Called before it is known who calls: answers for the hash of a secret, an account that is signing in, or a random id.',
    [
      'authority_of_webhook',
      'billing_workspace_of',
      'credentials_of',
      'embed_origins',
      'find_account_token',
      'find_factor_challenge',
      'find_invitation',
      'find_oauth_client',
      'find_passkey',
      'find_sign_up',
      'gateway_channel_of',
      'identify_embed_token',
      'has_second_factor',
      'identify_inbound_token',
      'identify_key',
      'identify_key_factor',
      'identify_oidc',
      'identify_scoped_key',
      'identify_session',
      'identify_session_factor',
      'identify_webhook_token',
      'is_invited',
      'redeem_ticket',
      'register_oauth_client',
      'revoke_oauth_token',
      'take_credential_authorization',
      'use_oauth_token',
      'use_operator_claim',
      'use_sign_up',
    ],
  ],
  [
    'Work for all workspaces in turn: answers ids of what is due, and each is then read in the scope of its workspace.',
    [
      'accept_clock',
      'any_model_stored',
      'audio_left_over',
      'unreported_charges',
      'ended_open_runs',
      'open_runs_to_index',
      'newest_run_before',
      'runs_between',
      'workspaces_with_small_blocks',
      'files_left_over',
      'billing_due',
      'billing_stale',
      'claim_deliveries',
      'claim_knowledge_document',
      'claim_replay',
      'clock_was_put_back',
      'due_agent_reviews',
      'due_alert_rules',
      'due_assistant_turns',
      'due_channel_deliveries',
      'due_channel_sends',
      'due_jobs',
      'due_schedules',
      'due_service_triggers',
      'due_webhook_triggers',
      'due_trigger_removals',
      'due_trigger_work',
      'bulks_under_way',
      'schedules_ahead',
      'schedules_due_now',
      'fan_out_events',
      'free_runs',
      'next_ledger_work_at',
      'next_schedule_at',
      'planned_jobs',
      'planned_schedules',
      'stop_destinations',
      'take_alert_messages',
      'take_reach_messages',
      'take_deliveries',
      'unaccounted',
      'workflow_retentions',
      'workflows_deleted_since',
      'workspaces_among',
      'workspaces_to_recheck',
    ],
  ],
  [
    'Maintenance: removes what is old or left over, and answers at most how much.',
    [
      'clear_week',
      'confirm_seal',
      'detach_week',
      'drop_week',
      'end_workspace',
      'ensure_idempotency_days',
      'ensure_partitions',
      'forget_channel_work',
      'forget_assistant_memories',
      'forget_conversations',
      'forget_deliveries',
      'forget_events',
      'forget_history',
      'forget_oauth_tokens',
      'forget_old',
      'forget_reach_messages',
      'forget_replays',
      'forget_run_figures',
      'forget_run_labels',
      'forget_run_logs',
      'forget_service_errors',
      'forget_run_blocks',
      'cover_runs',
      'covered_runs',
      'lease_run_sweep',
      'forget_some',
      'forget_trials',
      'forget_usage',
      'open_week',
      'prune_feeds',
      'prune_sign_ups',
      'prune_tickets',
      'prune_usage',
      'remove_before',
      'remove_week',
      'seal_week',
      'sweep_datasets',
      'sweep_ledger',
      'sweep_workspace',
      'weeks',
    ],
  ],
  [
    'Done for many people at once, whose tickets and sockets were checked one by one; never from what a request says.',
    ['read_execution_feeds', 'read_feeds', 'read_job_feeds', 'tickets_hold', 'watchable_executions'],
  ],
  [
    'The doors of the engine: named with workspace and id by verbs that checked the caller, or by the engine itself.',
    [
      'cancel',
      'cancel_workflow',
      'definition_of_version',
      'deliver_event',
      'event_visible',
      'principal_of_version',
      'release',
      'roles_in_jobs',
      'signal',
      'signal_and_claim',
      'start',
      'told_recently',
      'voters_of_gates',
    ],
  ],
  [
    'Counts or notes a use and shows nothing of any tenant but to the verb that checked its caller.',
    [
      'add_run_figures',
      'add_run_blocks',
      'add_service_errors',
      'close_indexed_runs',
      'add_usage',
      'mail_standing',
      'note_credentials_used',
      'note_mail_leaves',
      'usage_of',
      'touch_key',
      'touch_session',
      'touch_tokens',
      'workspace_quotas',
    ],
  ],
  [
    'Plans and prices of models are public; who subscribes is not told.',
    ['hold_plan', 'plan_has_subscribers', 'price_of'],
  ],
]

describe('every function that runs with the rights of its owner', () => {
  test('has a fixed search path', async () => {
    const found = await definers()
    expect(found.length).toBeGreaterThan(40)
    const loose = found.filter(({ config }) => !config?.some((entry) => /^search_path=(public|engine)/.test(entry)))
    expect(loose.map(({ name }) => name)).toEqual([])
  })

  test('is called by no role, or checks the caller, or is listed above with a reason', async () => {
    const open = (await definers())
      .filter(
        ({ roles, source, trigger }) =>
          roles.some((role) => role !== 'heddle_engine') && !trigger && !asksWho.test(source),
      )
      .map(({ name }) => name)
    const explained = new Set(reasons.flatMap(([, names]) => names))
    expect(open.filter((name) => !explained.has(name))).toEqual([])
  })

  test('and changes plans can be called only by operators; requests only read plans', async () => {
    const rights = await service().sql<{ role: string; able: boolean }>(
      `select r.rolname::text as role, has_any_column_privilege(r.oid, 'plans', 'insert, update')
         or has_table_privilege(r.oid, 'plans', 'delete, truncate') as able
       from pg_roles r where r.rolname in ('heddle_app', 'heddle_engine', 'heddle_operator') order by 1`,
    )
    expect(rights).toEqual([
      { role: 'heddle_app', able: false },
      { role: 'heddle_engine', able: false },
      { role: 'heddle_operator', able: true },
    ])
  })
})
