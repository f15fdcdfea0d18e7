-- Breaks nothing: a function. Queued executions are claimed by one statement for each workspace.

-- As engine.claim, and fair in the same way, but what it takes of a workspace it updates at once: an update of a partitioned
-- table opens every partition, and row by row 128 executions took 300 ms. Only those with a limit of their workflow's own are
-- still decided one by one. Each execution comes as one value with all its columns.
create function engine.claim_some(p_worker uuid, p_after uuid, p_total integer, p_per_workspace integer,
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
        where workspace_id = v_workspace and status = 'queued' and (crashes < 2 or v_suspects < p_suspects)
        order by due_at limit greatest(0, least(v_room, p_per_workspace, p_total - v_taken)) for no key update skip locked
    loop
      -- One that may have killed its workers runs with no other of that kind beside it, so that only it is blamed.
      -- They are due before the others: while one runs the rest are passed over, or a workspace with many would have nothing claimed.
      if v_one.crashes >= 2 then
        if v_suspects >= p_suspects then continue; end if;
        v_suspects := v_suspects + 1;
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
revoke all on function engine.claim_some(uuid, uuid, integer, integer, integer, integer) from public;
grant execute on function engine.claim_some(uuid, uuid, integer, integer, integer, integer) to heddle_engine;
