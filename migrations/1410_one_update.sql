-- Breaks nothing: the function returns what it returned.

-- As before (1261), with one update of the execution instead of two: each of them writes into every index of the row. An execution that
-- waits or is queued, and that the worker may have, becomes running at once; another is only told, as by engine.signal.
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
        from events v where v.execution_id = p_execution and v.seq > e.snapshot_seq),
      'messages', (select json_agg(json_build_object('n', i.n, 'payload', i.payload) order by i.n)
        from inbox i where i.execution_id = p_execution and i.n > e.seen)) into v_claimed;
  return v_claimed;
end $$;
