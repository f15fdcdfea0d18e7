import type { Database, Tx } from '#platform/db/pool'
import type { Usage } from '#providers/llm/index'
import type { Price } from '#providers/llm/prices'

/** Returns the operator's price of a model, under the first of its names that has a price. */
export async function findOwnPrice(db: Database, names: string[]): Promise<Price | undefined> {
  const { rows } = await db.appPool.query<Price>({
    name: 'price_of',
    text: 'select input, output from price_of($1)',
    values: [names],
  })
  return rows[0]
}

export type ModelCall = {
  callId: string
  executionId: string | null
  nodePath: string | null
  threadId: string | null
  personId: string | null
  credentialId: string | null
  model: string
  usage: Usage
}

// Inserts the call and adds it to the sums of its day, in one statement.
const INSERT = `with asked as (
    select $2::uuid as call_id, $3::uuid as execution_id, $4::text as node_path, e.workflow_id, coalesce(e.started_by, $5::uuid) as person_id,
      $6::uuid as credential_id, $7::text as model, $8::bigint as input_tokens, $9::bigint as output_tokens, $10::numeric as cost,
      $11::boolean as estimated
    from (select 1) as one left join executions e on e.workspace_id = $1 and e.execution_id = $3),
  called as (
    insert into model_calls (workspace_id, call_id, execution_id, node_path, workflow_id, person_id, credential_id, model,
      input_tokens, output_tokens, cost, estimated, thread_id)
    select $1, call_id, execution_id, node_path, workflow_id, person_id, credential_id, model, input_tokens, output_tokens, cost,
      estimated, $12::uuid from asked)
  insert into usage_days as d (workspace_id, day, workflow_id, model, person_id, credential_id, calls, unpriced_calls,
    input_tokens, output_tokens, cost)
  select $1, (now() at time zone 'utc')::date, workflow_id, model, person_id, credential_id, 1, (cost is null)::integer,
    input_tokens, output_tokens, coalesce(cost, 0) from asked
  on conflict (workspace_id, day, workflow_id, model, person_id, credential_id) do update set calls = d.calls + 1,
    unpriced_calls = d.unpriced_calls + excluded.unpriced_calls, input_tokens = d.input_tokens + excluded.input_tokens,
    output_tokens = d.output_tokens + excluded.output_tokens, cost = d.cost + excluded.cost`

export const insertModelCall = (tx: Tx, workspaceId: string, call: ModelCall): Promise<number> =>
  tx.count(INSERT, [
    workspaceId,
    call.callId,
    call.executionId,
    call.nodePath,
    call.personId,
    call.credentialId,
    call.model,
    call.usage.input_tokens,
    call.usage.output_tokens,
    call.usage.cost ?? null,
    call.usage.estimated ?? false,
    call.threadId,
  ])
