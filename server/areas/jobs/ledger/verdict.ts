import type { Definition } from '#model/definition'
import { allNodes } from '#model/graph-ids'

// Decides what happens to a record after its execution has ended: it is done, retried after a pause, or failed.

export type Retry = { max_attempts: number; backoff_s: number; factor: number; max_backoff_s: number }

export const DEFAULT_RETRY: Retry = { max_attempts: 5, backoff_s: 0.5, factor: 2, max_backoff_s: 60 }

/** Returns the seconds before the attempt after `attempt`, which counts from 1. */
export const backoffAfter = ({ backoff_s, factor, max_backoff_s }: Retry, attempt: number): number =>
  Math.min(backoff_s * factor ** (attempt - 1), max_backoff_s)

/** The end of an execution, with the fields that matter here. */
export type Ending = {
  status: string
  /** Whether the execution repeatedly crashed its workers and was parked by the engine. */
  poison: boolean
  code: string | null
  node_id: string | null
  http_status: string | null
  step: string | null
  /**
   * Whether the node that failed, also inside a sub-workflow or map, reported that the same attempt would fail again.
   * Otherwise null.
   */
  permanent: boolean | null
}

/** Temporary failures. With every other status, the same request would get the same response. */
const PASSING_STATUSES = new Set(['408', '425', '429', '500', '502', '503', '504'])
const PASSING_STEPS = new Set(['resolve', 'connect'])

/**
 * Codes of permanent failures, for executions of releases that did not set `permanent`, and for failures that a node
 * would retry but a record should not.
 */
const PERMANENT: ReadonlySet<string> = new Set([
  'activation_required',
  'approval_rejected',
  'approvers_excluded',
  'args_invalid',
  'bad_record',
  'budget_exceeded',
  'channel_disabled',
  'code_failed',
  'condition_not_boolean',
  'connection_not_allowed',
  'connection_read_only',
  'connection_revoked',
  'credential_needs_reconnect',
  'credential_not_allowed',
  'credential_refused',
  'dataset_not_allowed',
  'dataset_too_large',
  'expression_failed',
  'expression_invalid',
  'expression_too_large',
  'gate_without_approvers',
  'input_too_large',
  'invalid_input',
  'invalid_text',
  'mail_invalid',
  'mail_refused',
  'map_items',
  'mcp_error',
  'mcp_protocol',
  'mcp_tool_error',
  'model_name_invalid',
  'model_not_allowed',
  'model_refused',
  'no_active_version',
  // The effect may have happened, so a retry could cause it twice.
  'outcome_unknown',
  'provider_not_configured',
  'provider_refused',
  'reference_invalid',
  'refused',
  'request_invalid',
  'response_too_large',
  'response_unreadable',
  'result_too_large',
  'sandbox_memory',
  'sandbox_timeout',
  'step_budget_exceeded',
  'target_refused',
  'token_budget_exceeded',
  'too_deep',
  'too_many_redirects',
  'tool_choice_ignored',
  'tool_not_grantable',
  'transform_failed',
  'unknown_node_type',
  'unknown_reference',
  'workflow_not_allowed',
])

/** Returns the nodes by which the author of a definition declares a failure. */
export const failNodesOf = (definition: Definition): ReadonlySet<string> =>
  new Set([...allNodes(definition)].filter(({ type }) => type === 'fail').map(({ id }) => id))

export function isPermanent(ending: Ending, failNodes: ReadonlySet<string>): boolean {
  if (ending.status === 'timed_out') return false
  if (ending.permanent || (ending.node_id !== null && failNodes.has(ending.node_id))) return true
  if (ending.code === 'http_status') return !PASSING_STATUSES.has(ending.http_status ?? '')
  if (ending.code === 'warehouse_failed') return !PASSING_STEPS.has(ending.step ?? '')
  return ending.code !== null && PERMANENT.has(ending.code)
}

/** Permanent until a cause outside of the record and the recipe is fixed. */
const ELSEWHERE: ReadonlySet<string> = new Set([
  'activation_required',
  'budget_exceeded',
  'channel_disabled',
  'connection_not_allowed',
  'connection_read_only',
  'connection_revoked',
  'credential_needs_reconnect',
  'credential_not_allowed',
  'credential_refused',
  'credential_rejected',
  'dataset_not_allowed',
  'model_not_allowed',
  'no_active_version',
  'piece_unavailable',
  'provider_not_configured',
  'quota_exceeded',
  'workflow_not_allowed',
])
const ELSEWHERE_STEPS = new Set(['tls', 'sign_in'])

const isElsewhere = ({ code, step }: Ending): boolean =>
  code === 'warehouse_failed' ? ELSEWHERE_STEPS.has(step ?? '') : code !== null && ELSEWHERE.has(code)

/**
 * `remember`: later runs skip the record until it or the recipe changes. A cancelled execution, or a missing credential
 * or right, is not a failure of the record, so the next run tries the record again.
 */
export type Verdict =
  | { status: 'succeeded' }
  | { status: 'pending'; again_in_s: number }
  | { status: 'failed'; remember: boolean }

export function verdictOf(
  ending: Ending,
  attempt: number,
  { retry, failNodes }: { retry: Retry; failNodes: ReadonlySet<string> },
): Verdict {
  if (ending.status === 'succeeded') return { status: 'succeeded' }
  if (ending.status === 'cancelled') return { status: 'failed', remember: false }
  if (ending.poison || isPermanent(ending, failNodes) || attempt >= retry.max_attempts)
    return { status: 'failed', remember: !isElsewhere(ending) }
  return { status: 'pending', again_in_s: backoffAfter(retry, attempt) }
}
