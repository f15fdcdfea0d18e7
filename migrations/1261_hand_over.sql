-- Breaks nothing: a new function.

-- As engine.signal; and where the execution waited, it becomes that of the worker in the process that sends the message, in the same
-- transaction: it goes on with the commit, without a claim of its own. What is returned is what a claim by name returns
-- (worker/store.ts). Null where it is not the worker's: it is queued then, or was not told anything.
-- A worker that is being declared dead is passed over. One that is declared dead later finds the execution among its own.
create function engine.signal_and_claim(p_worker uuid, p_workspace uuid, p_execution uuid, p_key text, p_payload json) returns json
language plpgsql security definer set search_path = public, pg_temp set enable_seqscan = off as $$
declare
  v_claimed json;
begin
  if engine.signal(p_workspace, p_execution, p_key, p_payload) <> 'accepted' then return null; end if;
  perform from workers where worker_id = p_worker and not dead for share skip locked;
  if not found then return null; end if;
  update executions e set status = 'running', worker_id = p_worker, due_at = null, started_at = coalesce(e.started_at, now())
    where workspace_id = p_workspace and execution_id = p_execution and status = 'queued' and crashes = 0 and held is not false
      and (max_concurrency is null or held)
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

revoke execute on function engine.signal_and_claim(uuid, uuid, uuid, text, json) from public;
grant execute on function engine.signal_and_claim(uuid, uuid, uuid, text, json) to heddle_app, heddle_engine;
