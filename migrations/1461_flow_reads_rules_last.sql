-- Breaks nothing: the function decides as before. It read the rules of a workflow and then took what was marked. Rules that were changed between
-- the two were never applied: a workflow that was resumed stood still.

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
  with gone as (delete from flow_dirty d where d.workspace_id = p_workspace and d.workflow_id = p_workflow returning d.place, d.after)
    select coalesce(array_agg(distinct g.place) filter (where g.place is not null), '{}'),
      (array_agg(coalesce(g.after, c_nowhere) order by coalesce(g.after, c_nowhere)) filter (where g.place is null))[1]
    into v_places, v_walk from gone g;
  -- After that: the one who changed the rules marked them in the same transaction. Read before, they could be the old ones, and the mark gone.
  select r.rules, r.paused_at into v_rules, v_paused from flow_rules r where r.workspace_id = p_workspace and r.workflow_id = p_workflow;
  v_rules := coalesce(v_rules, '{}');
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
