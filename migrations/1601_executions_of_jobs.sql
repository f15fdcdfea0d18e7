-- Breaks nothing: processes of older releases list the executions of a workflow with those of its jobs more slowly until they are replaced.

-- Each execution is in one index by workflow instead of two: executions of jobs in this one, all others in executions_not_of_jobs. Every entry is
-- written twice, at the start and at the end of an execution. Building it reads the table once.
drop index executions_by_workflow;
create index executions_of_jobs on executions (workflow_id, execution_id) where trigger_kind = 'job';

-- As before (0720), by both indexes: first the executions that no job started, then those of jobs.
create or replace function engine.forget_ended(p_workspace uuid, p_workflow uuid, p_days integer, p_limit integer)
returns table (execution_id uuid, left_blobs boolean) language plpgsql as $$
declare
  v_before timestamptz := now() - p_days * interval '1 day';
  v_ids uuid[];
begin
  v_ids := array(select e.execution_id from executions e
    where e.workspace_id = p_workspace and e.workflow_id = p_workflow and e.trigger_kind <> 'job'
      and e.execution_id < engine.first_id(v_before) and e.finished_at < v_before and not e.tell_end
    order by e.execution_id limit p_limit for no key update skip locked);
  v_ids := v_ids || array(select e.execution_id from executions e
    where e.workspace_id = p_workspace and e.workflow_id = p_workflow and e.trigger_kind = 'job'
      and e.execution_id < engine.first_id(v_before) and e.finished_at < v_before and not e.tell_end
    order by e.execution_id limit p_limit - cardinality(v_ids) for no key update skip locked);
  return query select e.execution_id, e.results_blob is not null or exists (
      select from events v where v.execution_id = e.execution_id and v.data -> 'blob' is not null)
    from executions e where e.workspace_id = p_workspace and e.execution_id = any (v_ids);
  delete from events v where v.execution_id = any (v_ids);
  delete from map_items m where m.execution_id = any (v_ids);
  delete from inbox i where i.execution_id = any (v_ids);
  delete from executions e where e.workspace_id = p_workspace and e.execution_id = any (v_ids);
end $$;
