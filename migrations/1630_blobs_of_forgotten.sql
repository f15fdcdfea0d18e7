-- Breaks nothing: replaces a function that maintenance calls.

-- As before (1601), but blobs that only items of a map or iterations of a loop name are deleted too, and a journal that contains NUL or half a
-- surrogate pair, which older releases stored, no longer stops the retention of all workflows: `->` fails for such an event. A text that only
-- quotes the key costs a search for blobs that are not there.
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
      select from events v where v.execution_id = e.execution_id and strpos(v.data::text, '"blob":') > 0)
      or exists (select from map_items m where m.execution_id = e.execution_id and strpos(m.state::text, '"blob":') > 0)
    from executions e where e.workspace_id = p_workspace and e.execution_id = any (v_ids);
  delete from events v where v.execution_id = any (v_ids);
  delete from map_items m where m.execution_id = any (v_ids);
  delete from inbox i where i.execution_id = any (v_ids);
  delete from executions e where e.workspace_id = p_workspace and e.execution_id = any (v_ids);
end $$;
