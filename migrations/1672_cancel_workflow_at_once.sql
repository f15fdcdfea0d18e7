-- Breaks nothing: new functions and an index.

-- Tells all live executions of a workflow to cancel, in one statement, and returns those that had not been told. It has the effect of engine.cancel
-- for each of them: a statement per execution took so long that a workflow with tens of thousands of them could not be deleted within the time
-- limit of a request. Executions are found by the index of each status, and their status is checked again once they are locked: an execution that
-- changes from waiting to queued meanwhile is still live.
create function engine.cancel_workflow(p_workspace uuid, p_workflow uuid, p_by text, p_reason text default null)
returns setof uuid language plpgsql security definer set search_path to 'public', 'pg_temp' as $$
begin
  if not engine.may_touch(p_workspace) then return; end if;
  return query
    with found as materialized (
      select f.execution_id from executions f where f.workspace_id = p_workspace and f.workflow_id = p_workflow and f.status = 'queued'
      union all select f.execution_id from executions f where f.workspace_id = p_workspace and f.workflow_id = p_workflow and f.status = 'running'
      union all select f.execution_id from executions f where f.workspace_id = p_workspace and f.workflow_id = p_workflow and f.status = 'waiting'),
    live as materialized (
      select e.execution_id, e.inbox + 1 as n from found f join executions e using (execution_id)
        where e.workspace_id = p_workspace and e.status in ('queued', 'running', 'waiting')
          and not exists (select from inbox i where i.execution_id = e.execution_id and i.key = 'cancel')
        order by e.execution_id for no key update of e),
    told as (
      insert into inbox (workspace_id, execution_id, n, key, payload)
        select p_workspace, l.execution_id, l.n, 'cancel',
          case when p_reason is null then json_build_object('type', 'cancel', 'by', p_by)
            else json_build_object('type', 'cancel', 'by', p_by, 'reason', p_reason) end
        from live l
        on conflict (execution_id, key) do nothing returning inbox.execution_id, inbox.n)
    update executions e set inbox = t.n, status = case e.status when 'waiting' then 'queued' else e.status end,
        due_at = case e.status when 'waiting' then now() else e.due_at end,
        waiting_for = case e.status when 'waiting' then '[]' else e.waiting_for end
      from told t where e.workspace_id = p_workspace and e.execution_id = t.execution_id
      returning e.execution_id;
end $$;

-- An execution whose start was under way during the deletion of its workflow is written after it, and is cancelled then.
create index workflows_deleted on workflows (deleted_at) where deleted_at is not null;
create function workflows_deleted_since(since interval) returns table (workspace_id uuid, workflow_id uuid)
  stable security definer set search_path = public, pg_temp begin atomic
  select w.workspace_id, w.workflow_id from workflows w where w.deleted_at > now() - since order by w.deleted_at;
end;

revoke all on function engine.cancel_workflow(uuid, uuid, text, text), workflows_deleted_since(interval) from public;
grant execute on function engine.cancel_workflow(uuid, uuid, text, text), workflows_deleted_since(interval) to heddle_app;
