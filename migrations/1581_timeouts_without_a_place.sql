-- Breaks nothing: the function claims as before, and in addition executions whose time is over.

-- The time limit of an execution includes its waits, also the wait for a place that it gave away. It needs no place to end.
create or replace function engine.claim_placed(p_worker uuid, p_after uuid, p_total integer, p_per_workspace integer, p_workspace_limit integer,
  p_suspects integer)
returns table (claimed json) language plpgsql as $$
declare
  v_workspace uuid := p_after;
  v_wrapped boolean := false;
  v_one record;
  v_chosen uuid[];
  v_taken integer := 0;
  v_room integer;
  v_suspects integer := 0;
  v_claimed text[] := '{}';
begin
  perform set_config('engine.claimed', '', false);
  perform from workers where worker_id = p_worker and not dead for share;
  if not found then return; end if;
  -- A claim that is lost with the database is made again. Whatever the worker then writes is flushed together with it.
  perform set_config('synchronous_commit', 'off', true);
  loop
    select workspace_id into v_workspace from executions
      where status = 'queued' and workspace_id > v_workspace order by workspace_id limit 1;
    if not found then
      exit when v_wrapped or p_after = '00000000-0000-0000-0000-000000000000';
      v_wrapped := true;
      v_workspace := '00000000-0000-0000-0000-000000000000';
      continue;
    end if;
    exit when v_wrapped and v_workspace > p_after;
    select p_workspace_limit - count(*) into v_room from (
      select from executions where workspace_id = v_workspace and status = 'running' limit p_workspace_limit) as running;
    v_chosen := '{}';
    for v_one in
      select execution_id, workflow_id, crashes, max_concurrency, held, place, stage, started_at,
          started_at + timeout_s * interval '1 second' as deadline from executions
        where workspace_id = v_workspace and status = 'queued' and v_suspects + engine.suspicion(crashes) <= p_suspects
        order by due_at limit greatest(0, least(v_room, p_per_workspace, p_total - v_taken)) for no key update skip locked
    loop
      if (v_one.held = false or (v_one.held is null and v_one.max_concurrency is not null and v_one.workflow_id is not null))
          and not exists (select from inbox i where i.execution_id = v_one.execution_id and i.key = 'cancel')
          and not coalesce(v_one.deadline <= now(), false) then
        update executions e set status = 'waiting', due_at = v_one.deadline, held = false,
            stage = case when v_one.started_at is not null then 'again' when v_one.stage = 'later' then 'enter' else 'arrive' end,
            gate = case when v_one.started_at is not null then coalesce(e.place, e.workflow_id)
              else '00000000-0000-0000-0000-000000000000' end,
            place = coalesce(e.place, e.workflow_id),
            queue_at = coalesce(e.queue_at, e.created_at), waiting_for = engine.flow_wait('concurrency', null)
          where e.workspace_id = v_workspace and e.execution_id = v_one.execution_id and e.status = 'queued';
        insert into flow_dirty (workspace_id, workflow_id, place)
          values (v_workspace, v_one.workflow_id, coalesce(v_one.place, v_one.workflow_id));
        claimed := json_build_object('routed', true, 'workspace_id', v_workspace, 'workflow_id', v_one.workflow_id);
        return next;
        continue;
      end if;
      -- They are due before the others: those that do not fit are passed over, or a workspace with many would have nothing claimed.
      if v_one.crashes >= 2 then
        if v_suspects + engine.suspicion(v_one.crashes) > p_suspects then continue; end if;
        v_suspects := v_suspects + engine.suspicion(v_one.crashes);
      end if;
      v_chosen := v_chosen || v_one.execution_id;
    end loop;
    if cardinality(v_chosen) > 0 then
      for v_one in
        with taken as (
          update executions e set status = 'running', worker_id = p_worker, due_at = null,
              started_at = coalesce(e.started_at, now())
            from unnest(v_chosen) as c (execution_id)
            where e.workspace_id = v_workspace and e.execution_id = c.execution_id and e.status = 'queued'
            returning e.*)
        select row_to_json(t) as claimed, format('%s %s %s', t.execution_id, t.snapshot_seq, t.seen) as name from taken t
      loop
        v_taken := v_taken + 1;
        v_claimed := v_claimed || v_one.name;
        claimed := v_one.claimed;
        return next;
      end loop;
    end if;
    exit when v_taken >= p_total;
  end loop;
  perform set_config('engine.claimed', array_to_string(v_claimed, ','), false);
end $$;
