-- Breaks nothing: columns and functions. A worker that lived while it could not reach the database takes back the crashes counted against its executions.

-- The executions whose count rose when this worker was declared dead.
alter table workers add column counted_workspaces uuid[], add column counted_executions uuid[];

create or replace function engine.bury(p_worker uuid, p_crashed boolean default true) returns integer language plpgsql as $$
declare
  v_workspaces uuid[];
  v_executions uuid[];
begin
  perform from workers where worker_id = p_worker and not dead for update;
  if not found then return 0; end if;
  with released as (
    update executions set worker_id = null, epoch = epoch + 1,
        crashes = crashes + p_crashed::integer,
        status = case when crashes + p_crashed::integer >= 5 then 'waiting' else 'queued' end,
        -- Before whatever has not begun yet: what was under way goes on first.
        due_at = case when crashes + p_crashed::integer >= 5 then null else coalesce(started_at, created_at) end,
        waiting_for = case when crashes + p_crashed::integer >= 5
          then jsonb_build_array(jsonb_build_object('kind', 'slot', 'reason', 'poison', 'since', now(),
            'crashes', crashes + 1)) else '[]' end
      where status = 'running' and worker_id = p_worker
      returning workspace_id, execution_id)
  select array_agg(workspace_id), array_agg(execution_id) into v_workspaces, v_executions from released;
  update workers set dead = true,
      counted_workspaces = case when p_crashed then v_workspaces end,
      counted_executions = case when p_crashed then v_executions end
    where worker_id = p_worker;
  return coalesce(cardinality(v_executions), 0);
end $$;

-- The process of this worker lives: what it executed did not kill it. It was declared dead because it could not reach the
-- database. Takes back what that counted, once, and what only that parked as poison goes on.
create function engine.acquit(p_worker uuid) returns integer language plpgsql as $$
declare
  v_counted record;
  v_acquitted integer;
begin
  select counted_workspaces, counted_executions into v_counted from workers
    where worker_id = p_worker and dead and counted_executions is not null for update;
  if not found then return 0; end if;
  update workers set counted_workspaces = null, counted_executions = null where worker_id = p_worker;
  update executions e set crashes = e.crashes - 1,
      status = case when e.status = 'waiting' then 'queued' else e.status end,
      due_at = case when e.status = 'waiting' then coalesce(e.started_at, e.created_at) else e.due_at end,
      waiting_for = case when e.status = 'waiting' then '[]' else e.waiting_for end
    from unnest(v_counted.counted_workspaces, v_counted.counted_executions) as c (workspace_id, execution_id)
    where e.workspace_id = c.workspace_id and e.execution_id = c.execution_id and e.crashes > 0
      and (e.status in ('queued', 'running')
        or e.status = 'waiting' and e.waiting_for @> '[{"kind": "slot", "reason": "poison"}]');
  get diagnostics v_acquitted = row_count;
  return v_acquitted;
end $$;
revoke all on function engine.acquit(uuid) from public;
grant execute on function engine.acquit(uuid) to heddle_engine;
