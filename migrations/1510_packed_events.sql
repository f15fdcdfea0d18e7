-- Breaks the reading of new journals in older processes, which leave those executions to newer ones: small events of one append are one row.

-- A row of the type `packed` holds several events that follow each other: [[type, milliseconds after the row's time, data], …]. Its seq is that
-- of the first of them. It holds at most 16, so that the event of a number is found in the 16 rows up to it.
create function unpacked(p_seq integer, p_at timestamptz, p_type text, p_data json)
returns table (seq integer, at timestamptz, type text, data json) language sql immutable
begin atomic
  select p_seq, p_at, p_type, p_data where p_type <> 'packed'
  union all
  select p_seq + x.n::integer - 1, p_at + (x.fact ->> 1)::double precision * interval '1 millisecond', x.fact ->> 0, x.fact -> 2
  from json_array_elements(case when p_type = 'packed' then p_data else '[]' end) with ordinality as x (fact, n);
end;

-- Every event of every execution, one row each, with the rights of the reader. By the number of a row alone an index finds it.
create view journal with (security_invoker = true) as
  select e.workspace_id, e.execution_id, e.seq as row_seq, u.seq, u.at, u.type, u.data
  from events e cross join lateral unpacked(e.seq, e.at, e.type, e.data) u;

-- The events of one execution after a number, and no more of its rows than they need.
create function journal_page(p_workspace uuid, p_execution uuid, p_after integer, p_most integer)
returns table (seq integer, at timestamptz, type text, data json) language sql stable
begin atomic
  select u.seq, u.at, u.type, u.data
  from (select * from events e where e.workspace_id = p_workspace and e.execution_id = p_execution and e.seq > p_after - 16
    order by e.seq limit p_most + 16) e cross join lateral unpacked(e.seq, e.at, e.type, e.data) u
  where u.seq > p_after order by u.seq limit p_most;
end;

revoke execute on function unpacked(integer, timestamptz, text, json), journal_page(uuid, uuid, integer, integer) from public;
grant execute on function unpacked(integer, timestamptz, text, json), journal_page(uuid, uuid, integer, integer) to heddle_app, heddle_engine, heddle_operator;
grant select on journal to heddle_app, heddle_engine, heddle_operator;

-- As before (0200), by events instead of rows.
create or replace function read_execution_feeds(watched uuid[], after integer[], most integer)
returns table (request bigint, seq integer, type text, at timestamptz, data json)
language sql stable security definer set search_path = public
begin atomic
  select w.n, u.seq, u.type, u.at, u.data from unnest(watched, after) with ordinality as w (execution, after, n),
    lateral (select u.seq, u.type, u.at, u.data
      from (select * from events e where e.execution_id = w.execution and e.seq > w.after - 16 order by e.seq limit most + 16) e
        cross join lateral unpacked(e.seq, e.at, e.type, e.data) u
      where u.seq > w.after order by u.seq limit most) u
  order by w.n, u.seq;
end;

-- As before (0402), likewise.
create or replace function usage_of_execution(space uuid, execution uuid) returns json language sql stable set search_path = public
begin atomic
  with recursive its (execution_id) as (
    select execution
    union all
    select e.execution_id from its, executions e where e.workspace_id = space and e.parent_execution_id = its.execution_id)
  select json_object_agg(u.key, u.total) from (
    select x.key, sum(x.value::numeric) as total
    from its, lateral (select case v.type when 'node.succeeded' then v.data -> 'usage' else v.data #> '{error,details,usage}' end as usage
        from journal v where v.execution_id = its.execution_id and v.type in ('node.succeeded', 'node.failed', 'node.retrying')
      union all
      select i.usage from map_items i where i.execution_id = its.execution_id and i.usage is not null) v,
      lateral json_each_text(case when json_typeof(v.usage) = 'object' then v.usage else '{}' end) x
    where x.value ~ '^[0-9]+(\.[0-9]+)?$' group by x.key) u;
end;

-- As before (1410), likewise.
create or replace function engine.signal_and_claim(p_worker uuid, p_workspace uuid, p_execution uuid, p_key text, p_payload json) returns json
language plpgsql security definer set search_path = public, pg_temp set enable_seqscan = off as $$
declare
  v_status text;
  v_number integer;
  v_free boolean;
  v_claimed json;
begin
  if not engine.may_touch(p_workspace) then return null; end if;
  select status, inbox + 1, crashes = 0 and held is not false and (max_concurrency is null or held) into v_status, v_number, v_free
    from executions where workspace_id = p_workspace and execution_id = p_execution for no key update;
  if not found or v_status not in ('queued', 'running', 'waiting') then return null; end if;
  insert into inbox (workspace_id, execution_id, n, key, payload)
    values (p_workspace, p_execution, v_number, p_key, p_payload) on conflict (execution_id, key) do nothing;
  if not found then return null; end if;
  if v_status = 'running' then
    update executions set inbox = v_number where workspace_id = p_workspace and execution_id = p_execution;
    return null;
  end if;
  if v_free then perform from workers where worker_id = p_worker and not dead for share skip locked; end if;
  if not coalesce(v_free, false) or not found then
    update executions set inbox = v_number, status = 'queued', due_at = case when v_status = 'waiting' then now() else due_at end,
        waiting_for = case when v_status = 'waiting' then '[]' else waiting_for end
      where workspace_id = p_workspace and execution_id = p_execution;
    return null;
  end if;
  update executions e set inbox = v_number, status = 'running', worker_id = p_worker, due_at = null,
      waiting_for = case when v_status = 'waiting' then '[]' else waiting_for end, started_at = coalesce(e.started_at, now())
    where workspace_id = p_workspace and execution_id = p_execution and status in ('queued', 'waiting')
    returning json_build_object(
      'row', json_build_object('execution_id', execution_id, 'workspace_id', workspace_id, 'workflow_id', workflow_id,
        'system_slug', system_slug, 'version_id', version_id, 'definition_ref', definition_ref, 'status', status, 'input', input,
        'trigger_kind', trigger_kind, 'trigger_id', trigger_id, 'started_by', started_by, 'initiated_by', initiated_by,
        'principal_id', principal_id, 'parent_execution_id', parent_execution_id, 'parent_node', parent_node,
        'started_at', started_at, 'timeout_s', timeout_s, 'held', held, 'scheduled_at', scheduled_at, 'epoch', epoch,
        'inbox', inbox, 'seen', seen, 'snapshot', snapshot, 'snapshot_seq', snapshot_seq, 'crashes', crashes,
        'tell_end', tell_end, 'depth', depth, 'traceparent', traceparent),
      'events', (select json_agg(json_build_array(v.type, extract(epoch from v.at) * 1000, v.data) order by v.seq)
        from journal v where v.execution_id = p_execution and v.row_seq > e.snapshot_seq - 16 and v.seq > e.snapshot_seq),
      'messages', (select json_agg(json_build_object('n', i.n, 'payload', i.payload) order by i.n)
        from inbox i where i.execution_id = p_execution and i.n > e.seen)) into v_claimed;
  return v_claimed;
end $$;
