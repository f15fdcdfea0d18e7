-- Breaks nothing: new functions. Ended executions are forgotten after the days that their workflow asks for.

-- How long each workflow that says so keeps its ended executions.
create function workflow_retentions() returns table (workspace_id uuid, workflow_id uuid, retention_days integer)
language sql stable security definer set search_path = public
begin atomic
  select w.workspace_id, w.workflow_id, (w.settings ->> 'retention_days')::integer from workflows w
  where w.settings ->> 'retention_days' is not null;
end;
revoke execute on function workflow_retentions() from public;
grant execute on function workflow_retentions() to heddle_app;

-- Forgets some executions of a workflow that ended longer ago than that, oldest first, and says which of them left blobs.
-- By the index (workflow_id, execution_id): the id says when an execution began, and it ended no earlier.
create function engine.forget_ended(p_workspace uuid, p_workflow uuid, p_days integer, p_limit integer)
returns table (execution_id uuid, left_blobs boolean) language plpgsql as $$
declare
  v_before timestamptz := now() - p_days * interval '1 day';
  v_ids uuid[];
begin
  v_ids := array(select e.execution_id from executions e
    where e.workspace_id = p_workspace and e.workflow_id = p_workflow and e.execution_id < engine.first_id(v_before)
      and e.finished_at < v_before and not e.tell_end
    order by e.execution_id limit p_limit for no key update skip locked);
  return query select e.execution_id, e.results_blob is not null or exists (
      select from events v where v.execution_id = e.execution_id and v.data -> 'blob' is not null)
    from executions e where e.workspace_id = p_workspace and e.execution_id = any (v_ids);
  delete from events v where v.execution_id = any (v_ids);
  delete from map_items m where m.execution_id = any (v_ids);
  delete from executions e where e.workspace_id = p_workspace and e.execution_id = any (v_ids);
end $$;
revoke all on function engine.forget_ended(uuid, uuid, integer, integer) from public;
grant execute on function engine.forget_ended(uuid, uuid, integer, integer) to heddle_engine;
