-- Breaks nothing: a function with one more parameter beside the one that older releases call.

-- Returns what an execution that has not started waits for. It waits at the earliest since it was created: its workflow may have been paused
-- before that, and the clock of the process that started it may be slow.
create function engine.shown_flow(p_workspace uuid, p_workflow uuid, p_status text, p_held boolean, p_waiting_for jsonb, p_created timestamptz)
returns jsonb language sql stable
return case
  when p_held is distinct from false or p_status <> 'waiting' then p_waiting_for
  else coalesce(
    (select jsonb_build_array(jsonb_build_object('kind', 'slot', 'reason', 'paused', 'since', greatest(r.paused_at, p_created)))
      from public.flow_rules r where r.workspace_id = p_workspace and r.workflow_id = p_workflow and r.paused_at is not null),
    case when (p_waiting_for -> 0 ->> 'since')::timestamptz < p_created then jsonb_set(p_waiting_for, '{0,since}', to_jsonb(p_created)) end,
    p_waiting_for)
end;
revoke all on function engine.shown_flow(uuid, uuid, text, boolean, jsonb, timestamptz) from public;
grant execute on function engine.shown_flow(uuid, uuid, text, boolean, jsonb, timestamptz) to heddle_app, heddle_operator, heddle_engine;
