-- Breaks nothing: a function, settings of functions, and a narrower index. What came to the rules is found by its index.

-- Plans that were made while few executions waited read all that wait: 37 ms for each place that was handed over among 10,000, and ten
-- times as much among 100,000. The index of what waits for the rules gives them in their order, so nothing needs to be sorted, and rows are
-- changed by their keys: a join reads all rows of the workspace that wait.

-- What came to the rules and has not been looked at, or is past its debounce, oldest first. By stage: each is a piece of the index.
create function engine.flow_came(p_workspace uuid, p_workflow uuid, p_most integer)
returns table (execution_id uuid, stage text, place uuid, flow json, started_at timestamptz) language plpgsql rows 1
set enable_sort to off set enable_bitmapscan to off as $$
begin
  return query
    select c.execution_id, c.stage, c.place, c.flow, c.started_at
    from unnest(array['enter', 'arrive']) as s (stage)
    cross join lateral (
      select e.execution_id, e.stage, e.place, e.flow, e.started_at, e.queue_at from executions e
      where e.workspace_id = p_workspace and e.workflow_id = p_workflow and e.status = 'waiting' and e.held = false
        and e.stage = s.stage and e.gate = '00000000-0000-0000-0000-000000000000'
      order by e.queue_at, e.execution_id limit p_most for no key update) as c
    order by c.queue_at, c.execution_id limit p_most;
end $$;
revoke all on function engine.flow_came(uuid, uuid, integer) from public;
grant execute on function engine.flow_came(uuid, uuid, integer) to heddle_engine;

-- Gives the free places of one group to those that have waited longest; says how many of p_most it gave.
create or replace function engine.flow_grant(p_workspace uuid, p_workflow uuid, p_place uuid, p_rules jsonb, p_most integer,
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
    select execution_id, queue_at, flow, started_at from executions
    where workspace_id = p_workspace and workflow_id = p_workflow and status = 'waiting' and held = false and stage = 'place'
      and gate = p_place
    order by queue_at, execution_id limit v_free for no key update)
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

-- Decides what there is to be decided for one workflow: some of it, then it is called again (`more`). One caller at a time, so every
-- limit is exact however many workers there are; whoever comes meanwhile is told that it is `busy`.
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
begin
  busy := not pg_try_advisory_xact_lock(hashtextextended(p_workflow::text, 7102));
  more := false;
  queued := 0;
  cancelled := '{}';
  if busy then return; end if;
  perform set_config('synchronous_commit', 'off', true);
  select r.rules, r.paused_at into v_rules, v_paused from flow_rules r where r.workspace_id = p_workspace and r.workflow_id = p_workflow;
  v_rules := coalesce(v_rules, '{}');
  with gone as (delete from flow_dirty d where d.workspace_id = p_workspace and d.workflow_id = p_workflow returning d.place, d.after)
    select coalesce(array_agg(distinct g.place) filter (where g.place is not null), '{}'),
      (array_agg(coalesce(g.after, c_nowhere) order by coalesce(g.after, c_nowhere)) filter (where g.place is null))[1]
    into v_places, v_walk from gone g;
  if v_paused is not null then return; end if;
  if not v_rules ?| array['dedupe', 'debounce'] and coalesce(v_rules -> 'concurrency' ->> 'when_full', 'queue') = 'queue' then
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
    select c.execution_id, c.stage, c.place, c.flow, c.started_at from engine.flow_came(p_workspace, p_workflow, p_most) c where not more
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
    select * into v_granted from engine.flow_grant(p_workspace, p_workflow, v_one.place, v_rules, greatest(v_left, 1));
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
    select * into v_granted from engine.flow_grant(p_workspace, p_workflow, v_place, v_rules, v_left);
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
    select e.gate into v_place from executions e where e.workspace_id = p_workspace and e.workflow_id = p_workflow
      and e.status = 'waiting' and e.held = false and e.stage = 'place' and e.gate > v_walk order by e.gate limit 1;
    exit when not found;
    v_visits := v_visits + 1;
    select * into v_granted from engine.flow_grant(p_workspace, p_workflow, v_place, v_rules, v_left);
    queued := queued + v_granted.queued;
    v_left := v_left - v_granted.granted;
    -- A group of which only a part was looked at comes again.
    if v_left > 0 then v_walk := v_place; end if;
  end loop;
end $$;

-- Twice a second each worker asks whether an older release left executions that wait for a slot. The index for that held all that wait
-- for a rule as well, and all of them were read.
drop index executions_slot;
create index executions_slot on executions (workspace_id, workflow_id, execution_id)
  where status = 'waiting' and waiting_for @> '[{"kind": "slot"}]' and max_concurrency is not null and held is null;
