-- Breaks nothing: columns, tables and functions. Rules that decide when an execution may start.

-- `held` is null for an execution that no rule concerns. For any other: whether it has a place among those that may run.
-- `stage` says where one without a place stands: `later` (its time has not come), `enter` (no rule has looked at it), `debounce`,
-- `arrive` (past the debounce), `place` (waits for a place in the group `gate`); `rate`: it has a place and waits for its permit.
alter table executions
  add column held boolean,
  add column place uuid,
  add column stage text,
  add column gate uuid,
  add column queue_at timestamptz,
  add column flow json,
  add column priority smallint,
  add column tags text[],
  add column metadata json,
  add column scheduled_at timestamptz,
  add column schedule_id uuid;

create index executions_gated on executions (workspace_id, workflow_id, stage, gate, queue_at, execution_id)
  where status = 'waiting' and held = false;
create index executions_held on executions (workspace_id, place)
  where held and status in ('queued', 'running', 'waiting');

-- The rules of a workflow as they are now. What waits is decided by these and not by those it was started under.
create table flow_rules (
  workspace_id uuid not null,
  workflow_id uuid not null,
  rules jsonb not null,
  paused_at timestamptz,
  primary key (workspace_id, workflow_id)
);

-- Groups in which something may be decided: something came, or a place became free. Written in the transaction that did it, so a
-- process that dies right after it loses nothing. `place` null: all groups of the workflow, those after `after`.
create table flow_dirty (
  workspace_id uuid not null,
  dirty_id uuid not null default gen_random_uuid(),
  workflow_id uuid not null,
  place uuid,
  after uuid,
  primary key (workspace_id, dirty_id)
);
create index flow_dirty_by_workflow on flow_dirty (workspace_id, workflow_id);

-- Permits of a rate, numbered; of a dedupe key the execution that came first (n = 0).
create table flow_marks (
  workspace_id uuid not null,
  mark uuid not null,
  n bigint not null,
  at timestamptz not null,
  until timestamptz not null,
  execution_id uuid not null,
  primary key (workspace_id, mark, n)
);
create index flow_marks_by_age on flow_marks (until);

do $$
declare one_table text;
begin
  foreach one_table in array array['flow_rules', 'flow_dirty', 'flow_marks'] loop
    execute format('alter table %I enable row level security', one_table);
    execute format('alter table %I force row level security', one_table);
    execute format('create policy owner_all on %I to heddle_owner using (true) with check (true)', one_table);
    execute format('create policy engine_all on %I to heddle_engine using (true) with check (true)', one_table);
    execute format('grant select, insert, update, delete on %I to heddle_engine', one_table);
  end loop;
end $$;
create policy own on flow_rules for select to heddle_app
  using (workspace_id = nullif(current_setting('app.ws', true), '')::uuid);
create policy everything on flow_rules for select to heddle_operator using (true);
grant select on flow_rules to heddle_app, heddle_operator;

create function engine.flow_wait(p_reason text, p_until timestamptz) returns jsonb language sql stable
  return jsonb_build_array(jsonb_strip_nulls(jsonb_build_object('kind', 'slot', 'reason', p_reason, 'since', now(), 'until', p_until)));

create function engine.start_wait(p_until timestamptz) returns jsonb language sql stable
  return jsonb_build_array(jsonb_build_object('kind', 'timer', 'reason', 'start_at', 'since', now(), 'until', p_until));

-- As people see it: whatever keeps one from starting, the pause of its workflow comes first.
create function engine.shown_flow(p_workspace uuid, p_workflow uuid, p_status text, p_held boolean, p_waiting_for jsonb)
returns jsonb language sql stable
  return case when p_held is distinct from false or p_status <> 'waiting' then p_waiting_for else coalesce((
    select jsonb_build_array(jsonb_build_object('kind', 'slot', 'reason', 'paused', 'since', r.paused_at)) from flow_rules r
    where r.workspace_id = p_workspace and r.workflow_id = p_workflow and r.paused_at is not null), p_waiting_for) end;

-- An execution that held a place has ended. Where only those that run are counted, one that waits has given its place back, too.
create function engine.flow_left() returns trigger language plpgsql as $$
begin
  if new.status = 'waiting' then
    if exists (select from flow_rules r where r.workspace_id = new.workspace_id and r.workflow_id = new.workflow_id
        and r.rules -> 'concurrency' ->> 'count' = 'live') then
      return null;
    end if;
    update executions set held = false where workspace_id = new.workspace_id and execution_id = new.execution_id and status = 'waiting';
  end if;
  insert into flow_dirty (workspace_id, workflow_id, place) values (new.workspace_id, new.workflow_id, new.place);
  return null;
end $$;
create trigger flow_left after update of status on executions for each row
  when (old.held and new.held and (new.status in ('succeeded', 'failed', 'cancelled', 'timed_out')
    or (old.status = 'running' and new.status = 'waiting')))
  execute function engine.flow_left();

-- The rules in a workflow's settings. While it is paused nothing of it begins: what was about to waits with the rest.
create function engine.set_flow(p_workspace uuid, p_workflow uuid, p_settings jsonb) returns void language plpgsql as $$
declare
  v_rules jsonb := jsonb_strip_nulls(jsonb_build_object(
    'concurrency', coalesce(p_settings -> 'concurrency', case when p_settings ? 'max_concurrency'
      then jsonb_build_object('limit', p_settings -> 'max_concurrency', 'count', 'running', 'when_full', 'queue') end),
    'debounce', p_settings -> 'debounce', 'rate', p_settings -> 'rate', 'dedupe', p_settings -> 'dedupe'));
  v_paused timestamptz := (p_settings ->> 'paused_at')::timestamptz;
  v_old flow_rules;
begin
  select * into v_old from flow_rules where workspace_id = p_workspace and workflow_id = p_workflow for update;
  if v_rules = coalesce(v_old.rules, '{}') and v_paused is not distinct from v_old.paused_at then return; end if;
  if v_rules = '{}' and v_paused is null then
    delete from flow_rules where workspace_id = p_workspace and workflow_id = p_workflow;
  else
    insert into flow_rules (workspace_id, workflow_id, rules, paused_at) values (p_workspace, p_workflow, v_rules, v_paused)
      on conflict (workspace_id, workflow_id) do update set rules = excluded.rules, paused_at = excluded.paused_at;
  end if;
  if v_paused is not null and v_old.paused_at is null then
    delete from flow_marks m using executions e where e.workspace_id = p_workspace and e.workflow_id = p_workflow
      and e.status = 'waiting' and e.stage = 'rate' and m.workspace_id = p_workspace and m.execution_id = e.execution_id
      and m.n > 0 and m.at > now();
    update executions e set status = 'waiting', held = false, stage = 'arrive', gate = '00000000-0000-0000-0000-000000000000',
        due_at = null, place = coalesce(e.place, e.workflow_id), queue_at = coalesce(e.queue_at, e.created_at),
        waiting_for = engine.flow_wait('paused', null)
      where e.workspace_id = p_workspace and e.workflow_id = p_workflow and e.started_at is null
        and (e.status = 'queued' or (e.status = 'waiting' and e.stage = 'rate'))
        and not exists (select from inbox i where i.execution_id = e.execution_id and i.key = 'cancel');
    -- Those that are to start later come to the rules when their time has come.
    update executions e set held = false, stage = 'later', place = coalesce(e.place, e.workflow_id), queue_at = coalesce(e.queue_at, e.created_at)
      where e.workspace_id = p_workspace and e.workflow_id = p_workflow and e.status = 'waiting' and e.started_at is null
        and e.held is null and e.waiting_for @> '[{"kind": "timer", "reason": "start_at"}]';
  end if;
  insert into flow_dirty (workspace_id, workflow_id) values (p_workspace, p_workflow);
end $$;

create function note_flow() returns trigger language plpgsql security definer set search_path = public, pg_temp as $$
begin
  if tg_op = 'DELETE' then
    delete from flow_rules where workspace_id = old.workspace_id and workflow_id = old.workflow_id;
  else
    perform engine.set_flow(new.workspace_id, new.workflow_id, case when new.deleted_at is null then new.settings else '{}' end);
  end if;
  return null;
end $$;
revoke execute on function note_flow() from public;
create trigger note_flow_added after insert on workflows for each row
  when (new.settings ?| array['max_concurrency', 'concurrency', 'debounce', 'rate', 'dedupe']) execute function note_flow();
create trigger note_flow_changed after update of settings, deleted_at on workflows for each row
  when (old.settings is distinct from new.settings or old.deleted_at is distinct from new.deleted_at) execute function note_flow();
create trigger note_flow_gone after delete on workflows for each row execute function note_flow();

-- The same for what is there: workflows with a limit, and their executions under way.
insert into flow_rules (workspace_id, workflow_id, rules)
  select workspace_id, workflow_id, jsonb_build_object('concurrency',
    jsonb_build_object('limit', settings -> 'max_concurrency', 'count', 'running', 'when_full', 'queue'))
  from workflows where settings ? 'max_concurrency' and deleted_at is null;
update executions set place = workflow_id, queue_at = created_at, held = true
  where max_concurrency is not null and workflow_id is not null and status = 'running';
update executions set place = workflow_id, queue_at = created_at, held = false
  where max_concurrency is not null and workflow_id is not null and status = 'queued';
update executions set place = workflow_id, queue_at = created_at, held = false,
    stage = case when waiting_for @> '[{"kind": "slot"}]' and crashes < 5 then 'place' end,
    gate = case when waiting_for @> '[{"kind": "slot"}]' and crashes < 5 then workflow_id end
  where max_concurrency is not null and workflow_id is not null and status = 'waiting';
insert into flow_dirty (workspace_id, workflow_id) select workspace_id, workflow_id from flow_rules;

-- Ends one that a rule sends away, as a person would end it; the reason comes along. The execution that took its place is named.
create function engine.flow_cancel(p_workspace uuid, p_execution uuid, p_code text, p_message text, p_other uuid) returns void
language sql as $$
  select engine.signal(p_workspace, p_execution, 'cancel', json_build_object('type', 'cancel', 'by', null, 'reason', p_message,
    'rule', json_build_object('code', p_code, 'message', p_message, 'other', p_other)))
$$;

-- When the next start of this group is permitted: no p_per_s seconds hold more than p_limit permits. Takes the permit.
create function engine.flow_permit(p_workspace uuid, p_mark uuid, p_limit integer, p_per_s double precision, p_execution uuid)
returns timestamptz language plpgsql as $$
declare
  v_last flow_marks;
  v_before timestamptz;
  v_at timestamptz;
begin
  select * into v_last from flow_marks where workspace_id = p_workspace and mark = p_mark order by n desc limit 1;
  select at into v_before from flow_marks where workspace_id = p_workspace and mark = p_mark and n = v_last.n + 1 - p_limit and n > 0;
  v_at := greatest(now(), v_last.at, v_before + make_interval(secs => p_per_s));
  insert into flow_marks (workspace_id, mark, n, at, until, execution_id)
    values (p_workspace, p_mark, coalesce(v_last.n, 0) + 1, v_at, v_at + make_interval(secs => p_per_s), p_execution);
  return v_at;
end $$;

-- One that has come to the place: full, it may be sent away or send others away. One that has begun never is.
create function engine.flow_when_full(p_workspace uuid, p_workflow uuid, p_execution uuid, p_place uuid, p_rule jsonb)
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
        and e.status = 'waiting' and e.held = false and e.stage = 'place' and e.gate = p_place and e.execution_id <> p_execution) o
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

-- Gives the free places of one group to those that have waited longest; says how many of p_most it gave.
create function engine.flow_grant(p_workspace uuid, p_workflow uuid, p_place uuid, p_rules jsonb, p_most integer,
  out granted integer, out queued integer)
language plpgsql as $$
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
      status = case when c.permit > now() then 'waiting' else 'queued' end,
      stage = case when c.permit > now() then 'rate' end,
      due_at = case when c.permit > now() then c.permit else now() - coalesce(e.priority, 0) * interval '1 hour' end,
      waiting_for = case when c.permit > now() then engine.flow_wait('rate', c.permit) else '[]' end
    from unnest(v_ids, v_permits) as c (execution_id, permit)
    where e.workspace_id = p_workspace and e.execution_id = c.execution_id and e.status = 'waiting';
  select count(*) into queued from unnest(v_permits) as p (permit) where p.permit is null or p.permit <= now();
end $$;

-- Decides what there is to be decided for one workflow: some of it, then it is called again (`more`). One caller at a time, so every
-- limit is exact however many workers there are; whoever comes meanwhile is told that it is `busy`.
create function engine.flow_decide(p_workspace uuid, p_workflow uuid, p_most integer,
  out busy boolean, out more boolean, out queued integer, out cancelled uuid[])
language plpgsql as $$
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
    with came as (
      select e.execution_id from executions e
      where e.workspace_id = p_workspace and e.workflow_id = p_workflow and e.status = 'waiting' and e.held = false
        and e.stage in ('enter', 'arrive') and e.gate = c_nowhere
      order by e.queue_at, e.execution_id limit p_most for no key update),
    moved as (
      update executions e set stage = 'place', gate = e.place, waiting_for = engine.flow_wait('concurrency', null)
      from came c where e.workspace_id = p_workspace and e.execution_id = c.execution_id and e.status = 'waiting'
      returning e.place)
    select array(select distinct m.place from moved m union select unnest(v_places)), (select count(*) from moved) >= p_most
      into v_places, more;
    if more then
      insert into flow_dirty (workspace_id, workflow_id, place) values (p_workspace, p_workflow, c_nowhere);
    end if;
  end if;
  for v_one in
    select e.execution_id, e.stage, e.place, e.flow, e.started_at from executions e
    where e.workspace_id = p_workspace and e.workflow_id = p_workflow and e.status = 'waiting' and e.held = false
      and e.stage in ('enter', 'arrive') and e.gate = c_nowhere and not more
    order by e.queue_at, e.execution_id limit p_most for no key update
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

-- Starts an execution in the caller's own transaction; a worker claims it, once the rules of its workflow let it. Starting an id twice
-- is one execution.
create or replace function engine.start(p_workspace uuid, p_execution uuid, p_input json, p_start json, p_queue_limit integer default 100000)
returns text language plpgsql security definer set search_path = public, pg_temp as $$
declare
  v_queued integer;
  v_gated boolean := p_start ->> 'stage' is not null;
  v_due timestamptz := coalesce(to_timestamp((p_start ->> 'start_at')::double precision / 1000),
    now() + (p_start ->> 'start_in')::double precision * interval '1 second');
begin
  if v_due <= now() then v_due := null; end if;
  if not engine.may_touch(p_workspace) then return 'unknown'; end if;
  if exists (select from gone_workspaces where workspace_id = p_workspace) then return 'unknown'; end if;
  select count(*) into v_queued from (
    select from executions where workspace_id = p_workspace and status = 'queued' limit p_queue_limit) as queued;
  if v_queued >= p_queue_limit then return 'queue_full'; end if;
  if v_gated then
    select count(*) into v_queued from (
      select from executions where workspace_id = p_workspace and status = 'waiting' and held = false limit 2 * p_queue_limit) as gated;
    if v_queued >= 2 * p_queue_limit then return 'queue_full'; end if;
  end if;
  if p_start->>'key_hash' is not null then
    insert into start_keys (credential_hash, key_hash, body_sha256, workspace_id, execution_id)
      values (decode(p_start->>'credential_hash', 'hex'), decode(p_start->>'key_hash', 'hex'),
        decode(p_start->>'body_sha256', 'hex'), p_workspace, p_execution)
      on conflict (credential_hash, key_hash) do update set body_sha256 = excluded.body_sha256,
        workspace_id = excluded.workspace_id, execution_id = excluded.execution_id, created_at = now()
        where start_keys.created_at < now() - interval '24 hours';
    if not found then return 'duplicate'; end if;
  end if;
  insert into executions (execution_id, workspace_id, workflow_id, system_slug, version_id, definition_ref, status, input,
      trigger_kind, trigger_id, started_by, retry_of, parent_execution_id, parent_node, timeout_s, max_concurrency,
      snapshot, due_at, tell_end, depth, principal_id, initiated_by, waiting_for, held, place, stage, gate, queue_at, flow,
      priority, tags, metadata, scheduled_at, schedule_id)
    values (p_execution, p_workspace, (p_start->>'workflow_id')::uuid, p_start->>'system_slug',
      (p_start->>'version_id')::uuid, p_start->>'definition_ref',
      case when v_gated or v_due is not null then 'waiting' else 'queued' end, p_input,
      p_start->>'trigger_kind', p_start->>'trigger_id', (p_start->>'started_by')::uuid, (p_start->>'retry_of')::uuid,
      (p_start->>'parent_execution_id')::uuid, p_start->>'parent_node', (p_start->>'timeout_s')::double precision,
      (p_start->>'max_concurrency')::integer, nullif(p_start->>'snapshot', '')::json,
      case when v_due is not null then v_due when v_gated then null
        else now() - coalesce((p_start->>'priority')::integer, 0) * interval '1 hour' end,
      coalesce((p_start->>'tell_end')::boolean, false),
      coalesce((p_start->>'depth')::smallint, 0), (p_start->>'principal_id')::uuid, p_start->'initiated_by',
      case when v_due is not null then engine.start_wait(v_due) else coalesce((p_start->'waiting_for')::jsonb, '[]') end,
      case when v_gated then false end, (p_start->>'place')::uuid,
      case when v_gated and v_due is not null then 'later' else p_start->>'stage' end, (p_start->>'gate')::uuid,
      case when v_gated then now() - coalesce((p_start->>'priority')::integer, 0) * interval '1 hour' end, p_start->'flow',
      (p_start->>'priority')::smallint,
      case when p_start->>'tags' is not null then array(select json_array_elements_text(p_start->'tags')) end, p_start->'metadata',
      to_timestamp((p_start->>'scheduled_at')::double precision / 1000), (p_start->>'schedule_id')::uuid)
    on conflict do nothing;
  if not found then return 'duplicate'; end if;
  if v_gated and v_due is null then
    insert into flow_dirty (workspace_id, workflow_id, place)
      values (p_workspace, (p_start->>'workflow_id')::uuid, (p_start->>'place')::uuid);
  end if;
  return 'accepted';
end $$;

-- As engine.claim_more. One without a place that became due (its time came, it was answered) goes to the rules and is named as
-- `routed`; one that is to be cancelled needs no place.
create function engine.claim_placed(p_worker uuid, p_after uuid, p_total integer, p_per_workspace integer,
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
      select execution_id, workflow_id, crashes, max_concurrency, held, place, stage, started_at from executions
        where workspace_id = v_workspace and status = 'queued' and v_suspects + engine.suspicion(crashes) <= p_suspects
        order by due_at limit greatest(0, least(v_room, p_per_workspace, p_total - v_taken)) for no key update skip locked
    loop
      if (v_one.held = false or (v_one.held is null and v_one.max_concurrency is not null and v_one.workflow_id is not null))
          and not exists (select from inbox i where i.execution_id = v_one.execution_id and i.key = 'cancel') then
        update executions e set status = 'waiting', due_at = null, held = false,
            stage = case when v_one.stage = 'later' then 'enter' else 'arrive' end,
            gate = '00000000-0000-0000-0000-000000000000', place = coalesce(e.place, e.workflow_id),
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

revoke all on function engine.flow_wait(text, timestamptz), engine.start_wait(timestamptz), engine.shown_flow(uuid, uuid, text, boolean, jsonb), engine.flow_left(),
  engine.set_flow(uuid, uuid, jsonb), engine.flow_cancel(uuid, uuid, text, text, uuid),
  engine.flow_permit(uuid, uuid, integer, double precision, uuid), engine.flow_when_full(uuid, uuid, uuid, uuid, jsonb),
  engine.flow_grant(uuid, uuid, uuid, jsonb, integer), engine.flow_decide(uuid, uuid, integer),
  engine.claim_placed(uuid, uuid, integer, integer, integer, integer) from public;
grant execute on function engine.flow_wait(text, timestamptz), engine.start_wait(timestamptz), engine.set_flow(uuid, uuid, jsonb),
  engine.flow_cancel(uuid, uuid, text, text, uuid), engine.flow_permit(uuid, uuid, integer, double precision, uuid),
  engine.flow_when_full(uuid, uuid, uuid, uuid, jsonb), engine.flow_grant(uuid, uuid, uuid, jsonb, integer),
  engine.flow_decide(uuid, uuid, integer), engine.claim_placed(uuid, uuid, integer, integer, integer, integer) to heddle_engine;
grant execute on function engine.shown_flow(uuid, uuid, text, boolean, jsonb) to heddle_app, heddle_operator, heddle_engine;
