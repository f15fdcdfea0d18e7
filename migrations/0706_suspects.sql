-- Breaks nothing: functions. Executions that may have killed their workers run in groups that get smaller with each crash.

-- What an execution takes of the room that a worker has for suspects (16): after two crashes 1, after three 4, after four
-- all of it. Sixteen suspects of which one kills its worker are narrowed down to four, then to the one that is parked: no
-- other is blamed for the last crash. One at a time, a backlog of 571 of them was taken up at 1.2 a second.
create function engine.suspicion(p_crashes integer) returns integer language sql immutable
  return case when p_crashes < 2 then 0 when p_crashes >= 4 then 16 else 4 ^ (p_crashes - 2) end;

-- As engine.claim_some; p_suspects is the room that is left for suspects.
create function engine.claim_more(p_worker uuid, p_after uuid, p_total integer, p_per_workspace integer,
  p_workspace_limit integer, p_suspects integer)
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
      select execution_id, workflow_id, crashes, max_concurrency from executions
        where workspace_id = v_workspace and status = 'queued' and v_suspects + engine.suspicion(crashes) <= p_suspects
        order by due_at limit greatest(0, least(v_room, p_per_workspace, p_total - v_taken)) for no key update skip locked
    loop
      -- They are due before the others: those that do not fit are passed over, or a workspace with many would have nothing claimed.
      if v_one.crashes >= 2 then
        if v_suspects + engine.suspicion(v_one.crashes) > p_suspects then continue; end if;
        v_suspects := v_suspects + engine.suspicion(v_one.crashes);
      end if;
      if v_one.max_concurrency is not null and v_one.workflow_id is not null then
        -- Such claims are serialised per workflow, so the limit is exact. Those chosen here count already.
        perform pg_advisory_xact_lock(hashtextextended(v_one.workflow_id::text, 7100));
        if (select count(*) from executions where workspace_id = v_workspace and workflow_id = v_one.workflow_id
              and status = 'running')
            + (select count(*) from executions where workspace_id = v_workspace and execution_id = any (v_chosen)
              and workflow_id = v_one.workflow_id) >= v_one.max_concurrency then
          update executions set status = 'waiting', due_at = null,
              waiting_for = jsonb_build_array(jsonb_build_object('kind', 'slot', 'since', now()))
            where workspace_id = v_workspace and execution_id = v_one.execution_id and status = 'queued';
          continue;
        end if;
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
revoke all on function engine.claim_more(uuid, uuid, integer, integer, integer, integer) from public;
grant execute on function engine.claim_more(uuid, uuid, integer, integer, integer, integer) to heddle_engine;
revoke all on function engine.suspicion(integer) from public;
grant execute on function engine.suspicion(integer) to heddle_engine;
