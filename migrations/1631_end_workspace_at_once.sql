-- Breaks nothing: replaces a function that the deletion of a workspace and its cleanup call.

-- As before (0101), in one statement: a statement per execution took so long that a workspace with tens of thousands of live executions could
-- not be deleted within the time limit of a request.
create or replace function engine.end_workspace(p_workspace uuid)
returns integer language plpgsql security definer set search_path to 'public', 'pg_temp' as $$
declare
  v_ended integer;
begin
  with live as materialized (
    select e.execution_id, e.status, e.inbox from executions e
      where e.workspace_id = p_workspace and e.status in ('queued', 'running', 'waiting') order by e.execution_id for no key update),
  ended as (
    update executions e set status = 'cancelled', finished_at = now(), due_at = null, waiting_for = '[]', snapshot = null,
        snapshot_seq = 0, tell_end = false, epoch = e.epoch + 1
      from live l where e.workspace_id = p_workspace and e.execution_id = l.execution_id and l.status <> 'running'
      returning 1),
  told as (
    insert into inbox (workspace_id, execution_id, n, key, payload)
      select p_workspace, l.execution_id, l.inbox + 1, 'cancel',
        json_build_object('type', 'cancel', 'by', null, 'reason', 'the workspace was deleted')
      from live l where l.status = 'running'
      on conflict (execution_id, key) do nothing returning execution_id),
  counted as (
    update executions e set inbox = e.inbox + 1 from told t
      where e.workspace_id = p_workspace and e.execution_id = t.execution_id)
  select count(*) into v_ended from ended;
  return v_ended;
end $$;
