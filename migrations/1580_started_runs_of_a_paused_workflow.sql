-- Breaks nothing: functions that decide as before, for all but executions that have started. A paused workflow kept them from continuing: one
-- that had given its place away while it waited for an answer, a timer or a child got no place again until the workflow was resumed.

-- An execution that has started and needs a place again waits in a stage of its own, `again`. So it is found by the index among any number of
-- executions that have not started. In the order of the queue both stages count as one.
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
      select execution_id, workflow_id, crashes, max_concurrency, held, place, stage, started_at from executions
        where workspace_id = v_workspace and status = 'queued' and v_suspects + engine.suspicion(crashes) <= p_suspects
        order by due_at limit greatest(0, least(v_room, p_per_workspace, p_total - v_taken)) for no key update skip locked
    loop
      if (v_one.held = false or (v_one.held is null and v_one.max_concurrency is not null and v_one.workflow_id is not null))
          and not exists (select from inbox i where i.execution_id = v_one.execution_id and i.key = 'cancel') then
        update executions e set status = 'waiting', due_at = null, held = false,
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

-- Gives the free places of one group to those that have waited longest in these stages; says how many of p_most it gave.
create function engine.flow_grant(p_workspace uuid, p_workflow uuid, p_place uuid, p_rules jsonb, p_most integer, p_stages text[],
  out granted integer, out queued integer)
language plpgsql set enable_sort to off set enable_bitmapscan to off as $$
declare
  v_limit integer := (p_rules -> 'concurrency' ->> 'limit')::integer;
  v_free integer := p_most;
  v_ids uuid[];
  v_permits timestamptz[];
begin
  granted := 0;
  queued := 0;
  if v_limit is not null then
    select least(p_most, v_limit - count(*)) into v_free from (select from executions
      where workspace_id = p_workspace and place = p_place and held and status in ('queued', 'running', 'waiting') limit v_limit) as held;
  end if;
  if v_free <= 0 then return; end if;
  with chosen as (
    select c.* from unnest(p_stages) as s (stage)
    cross join lateral (
      select e.execution_id, e.queue_at, e.flow, e.started_at from executions e
      where e.workspace_id = p_workspace and e.workflow_id = p_workflow and e.status = 'waiting' and e.held = false
        and e.stage = s.stage and e.gate = p_place
      order by e.queue_at, e.execution_id limit v_free for no key update) as c
    order by c.queue_at, c.execution_id limit v_free)
  select array_agg(execution_id order by queue_at, execution_id),
      array_agg(case when p_rules ? 'rate' and started_at is null then engine.flow_permit(p_workspace,
        coalesce((flow ->> 'rate')::uuid, p_workflow), (p_rules -> 'rate' ->> 'limit')::integer,
        (p_rules -> 'rate' ->> 'per_s')::double precision, execution_id) end order by queue_at, execution_id)
    into v_ids, v_permits from chosen;
  if v_ids is null then return; end if;
  granted := cardinality(v_ids);
  update executions e set held = true, gate = null,
      status = case when v_permits[array_position(v_ids, e.execution_id)] > now() then 'waiting' else 'queued' end,
      stage = case when v_permits[array_position(v_ids, e.execution_id)] > now() then 'rate' end,
      due_at = case when v_permits[array_position(v_ids, e.execution_id)] > now() then v_permits[array_position(v_ids, e.execution_id)]
        else now() - coalesce(e.priority, 0) * interval '1 hour' end,
      waiting_for = case when v_permits[array_position(v_ids, e.execution_id)] > now()
        then engine.flow_wait('rate', v_permits[array_position(v_ids, e.execution_id)]) else '[]' end
    where e.workspace_id = p_workspace and e.execution_id = any (v_ids) and e.status = 'waiting';
  select count(*) into queued from unnest(v_permits) as p (permit) where p.permit is null or p.permit <= now();
end $$;
revoke all on function engine.flow_grant(uuid, uuid, uuid, jsonb, integer, text[]) from public;
grant execute on function engine.flow_grant(uuid, uuid, uuid, jsonb, integer, text[]) to heddle_engine;

create or replace function engine.flow_when_full(p_workspace uuid, p_workflow uuid, p_execution uuid, p_place uuid, p_rule jsonb)
returns uuid[] language plpgsql as $$
declare
  v_limit integer := (p_rule ->> 'limit')::integer;
  v_others uuid[];
begin
  v_others := array(select o.execution_id from (
      select e.execution_id, e.queue_at from executions e
        where e.workspace_id = p_workspace and e.place = p_place and e.held and e.status in ('queued', 'running', 'waiting')
      union all
      select e.execution_id, e.queue_at from executions e where e.workspace_id = p_workspace and e.workflow_id = p_workflow
        and e.status = 'waiting' and e.held = false and e.stage in ('place', 'again') and e.gate = p_place and e.execution_id <> p_execution) o
    where not exists (select from inbox i where i.execution_id = o.execution_id and i.key = 'cancel')
    order by o.queue_at, o.execution_id);
  if cardinality(v_others) < v_limit then return '{}'; end if;
  if p_rule ->> 'when_full' = 'skip' then
    perform engine.flow_cancel(p_workspace, p_execution, 'skipped',
      'as many executions as the concurrency setting allows were under way', v_others[1]);
    return array[p_execution];
  end if;
  v_others := v_others[1 : cardinality(v_others) - v_limit + 1];
  perform engine.flow_cancel(p_workspace, other, 'replaced', 'a newer execution took its place', p_execution)
    from unnest(v_others) as other;
  return v_others;
end $$;

create or replace function engine.flow_decide(p_workspace uuid, p_workflow uuid, p_most integer,
  out busy boolean, out more boolean, out queued integer, out cancelled uuid[])
language plpgsql set enable_sort to off set enable_bitmapscan to off as $$
declare
  c_nowhere constant uuid := '00000000-0000-0000-0000-000000000000';
  v_rules jsonb;
  v_paused timestamptz;
  v_places uuid[];
  v_walk uuid;
  v_place uuid;
  v_one record;
  v_other uuid;
  v_left integer := p_most;
  v_visits integer := 0;
  v_granted record;
  v_stages text[];
begin
  busy := not pg_try_advisory_xact_lock(hashtextextended(p_workflow::text, 7102));
  more := false;
  queued := 0;
  cancelled := '{}';
  if busy then return; end if;
  perform set_config('synchronous_commit', 'off', true);
  with gone as (delete from flow_dirty d where d.workspace_id = p_workspace and d.workflow_id = p_workflow returning d.place, d.after)
    select coalesce(array_agg(distinct g.place) filter (where g.place is not null), '{}'),
      (array_agg(coalesce(g.after, c_nowhere) order by coalesce(g.after, c_nowhere)) filter (where g.place is null))[1]
    into v_places, v_walk from gone g;
  -- After that: the one who changed the rules marked them in the same transaction. Read before, they could be the old ones, and the mark gone.
  select r.rules, r.paused_at into v_rules, v_paused from flow_rules r where r.workspace_id = p_workspace and r.workflow_id = p_workflow;
  v_rules := coalesce(v_rules, '{}');
  -- A pause keeps executions from starting. Those that have started get their place again.
  v_stages := case when v_paused is null then array['again', 'place'] else array['again'] end;
  if v_paused is null and not v_rules ?| array['dedupe', 'debounce'] and coalesce(v_rules -> 'concurrency' ->> 'when_full', 'queue') = 'queue' then
    -- None of them is sent away, so all go on to the place in one statement.
    with moved as (
      update executions e set stage = 'place', gate = e.place, waiting_for = engine.flow_wait('concurrency', null)
      where e.workspace_id = p_workspace and e.status = 'waiting'
        and e.execution_id = any (array(select c.execution_id from engine.flow_came(p_workspace, p_workflow, p_most) c))
      returning e.place)
    select array(select distinct m.place from moved m union select unnest(v_places)), (select count(*) from moved) >= p_most
      into v_places, more;
    if more then
      insert into flow_dirty (workspace_id, workflow_id, place) values (p_workspace, p_workflow, c_nowhere);
    end if;
  end if;
  for v_one in
    select c.execution_id, c.stage, c.place, c.flow, c.started_at from engine.flow_came(p_workspace, p_workflow, p_most) c
      where not more and v_paused is null
  loop
    v_left := v_left - 1;
    if v_one.stage = 'enter' and v_rules ? 'dedupe' and v_one.flow ->> 'dedupe' is not null then
      insert into flow_marks as m (workspace_id, mark, n, at, until, execution_id)
        values (p_workspace, (v_one.flow ->> 'dedupe')::uuid, 0, now(),
          now() + make_interval(secs => (v_rules -> 'dedupe' ->> 'window_s')::double precision), v_one.execution_id)
        on conflict (workspace_id, mark, n) do update set at = excluded.at, until = excluded.until, execution_id = excluded.execution_id
          where m.until <= now();
      if not found then
        select m.execution_id into v_other from flow_marks m
          where m.workspace_id = p_workspace and m.mark = (v_one.flow ->> 'dedupe')::uuid and m.n = 0;
        perform engine.flow_cancel(p_workspace, v_one.execution_id, 'duplicate', 'an execution with the same dedupe key came before it', v_other);
        cancelled := cancelled || v_one.execution_id;
        continue;
      end if;
    end if;
    if v_one.stage = 'enter' and v_rules ? 'debounce' and v_one.flow ->> 'debounce' is not null then
      for v_other in
        select e.execution_id from executions e where e.workspace_id = p_workspace and e.workflow_id = p_workflow
          and e.status = 'waiting' and e.held = false and e.stage = 'debounce' and e.gate = (v_one.flow ->> 'debounce')::uuid
      loop
        perform engine.flow_cancel(p_workspace, v_other, 'debounced', 'a newer execution came within the debounce window', v_one.execution_id);
        cancelled := cancelled || v_other;
      end loop;
      update executions e set stage = 'debounce', gate = (v_one.flow ->> 'debounce')::uuid,
          due_at = now() + make_interval(secs => (v_rules -> 'debounce' ->> 'window_s')::double precision),
          waiting_for = engine.flow_wait('debounce', now() + make_interval(secs => (v_rules -> 'debounce' ->> 'window_s')::double precision))
        where e.workspace_id = p_workspace and e.execution_id = v_one.execution_id and e.status = 'waiting';
      continue;
    end if;
    update executions e set stage = 'place', gate = e.place, waiting_for = engine.flow_wait('concurrency', null)
      where e.workspace_id = p_workspace and e.execution_id = v_one.execution_id and e.status = 'waiting';
    if v_one.started_at is null and v_rules -> 'concurrency' ->> 'when_full' in ('skip', 'cancel_oldest') then
      cancelled := cancelled || engine.flow_when_full(p_workspace, p_workflow, v_one.execution_id, v_one.place, v_rules -> 'concurrency');
    end if;
    -- At once, so that the next one finds the place taken or free.
    select * into v_granted from engine.flow_grant(p_workspace, p_workflow, v_one.place, v_rules, greatest(v_left, 1), v_stages);
    queued := queued + v_granted.queued;
  end loop;
  if v_left <= 0 then
    more := true;
    insert into flow_dirty (workspace_id, workflow_id, place) values (p_workspace, p_workflow, c_nowhere);
  end if;
  foreach v_place in array v_places loop
    if v_left <= 0 then
      insert into flow_dirty (workspace_id, workflow_id, place) values (p_workspace, p_workflow, v_place);
      more := true;
      continue;
    end if;
    select * into v_granted from engine.flow_grant(p_workspace, p_workflow, v_place, v_rules, v_left, v_stages);
    queued := queued + v_granted.queued;
    v_left := v_left - v_granted.granted;
    if v_left <= 0 then
      insert into flow_dirty (workspace_id, workflow_id, place) values (p_workspace, p_workflow, v_place);
      more := true;
    end if;
  end loop;
  while v_walk is not null loop
    if v_left <= 0 or v_visits >= p_most then
      insert into flow_dirty (workspace_id, workflow_id, after) values (p_workspace, p_workflow, v_walk);
      more := true;
      exit;
    end if;
    select g.gate into v_place from unnest(v_stages) as s (stage)
      cross join lateral (
        select e.gate from executions e where e.workspace_id = p_workspace and e.workflow_id = p_workflow
          and e.status = 'waiting' and e.held = false and e.stage = s.stage and e.gate > v_walk order by e.gate limit 1) as g
      order by g.gate limit 1;
    exit when not found;
    v_visits := v_visits + 1;
    select * into v_granted from engine.flow_grant(p_workspace, p_workflow, v_place, v_rules, v_left, v_stages);
    queued := queued + v_granted.queued;
    v_left := v_left - v_granted.granted;
    -- A group of which only a part was looked at comes again.
    if v_left > 0 then v_walk := v_place; end if;
  end loop;
end $$;
