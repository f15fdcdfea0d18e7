-- Breaks nothing: two tables, an index, and functions that also look at them. Executions that wait for events from outside.

-- A node that waits. `callback_hash` is the part of its callback address that names the node.
create table event_waits (
  workspace_id uuid not null references workspaces on delete cascade,
  wait_id uuid not null,
  execution_id uuid not null,
  workflow_id uuid,
  node_path text not null,
  node_id text not null,
  key text,
  callback_hash bytea not null,
  schema json not null,
  status text not null default 'open' check (status in ('open', 'received', 'expired', 'cancelled')),
  on_due text not null default 'fail' check (on_due in ('fail', 'continue')),
  event_id uuid,
  output json,
  awaited_at timestamptz not null default now(),
  due_at timestamptz,
  ended_at timestamptz,
  primary key (workspace_id, wait_id)
);
create unique index event_waits_one_open on event_waits (workspace_id, execution_id, node_path) where status = 'open';
create index event_waits_by_execution on event_waits (workspace_id, execution_id, wait_id);
create index event_waits_by_key on event_waits (workspace_id, key, wait_id) where status = 'open' and key is not null;
create index event_waits_ended on event_waits (ended_at) where status <> 'open';

-- What came in: kept for executions that come to their wait later (`keep_until`), and known by the sender's own id (`id_hash`) so that a
-- repetition gets the same answer. A call of a callback address before its node waits has `callback_hash` and no key.
create table incoming_events (
  workspace_id uuid not null references workspaces on delete cascade,
  event_id uuid not null,
  id_hash bytea,
  key text,
  name text,
  execution_id uuid,
  callback_hash bytea,
  data json,
  answer json,
  keep_until timestamptz,
  received_at timestamptz not null default now(),
  primary key (workspace_id, event_id)
);
create unique index incoming_events_once on incoming_events (workspace_id, id_hash) where id_hash is not null;
create index incoming_events_kept on incoming_events (workspace_id, key, event_id) where keep_until is not null and key is not null;
create index incoming_events_of_execution on incoming_events (workspace_id, execution_id) where execution_id is not null;
create index incoming_events_by_age on incoming_events (received_at);

do $$
declare
  one_table text;
begin
  foreach one_table in array array['event_waits', 'incoming_events'] loop
    execute format('alter table %I enable row level security', one_table);
    execute format('alter table %I force row level security', one_table);
    execute format('create policy owner_all on %I to heddle_owner using (true) with check (true)', one_table);
    execute format('create policy own on %I to heddle_app using (workspace_id = app_workspace())', one_table);
    execute format('grant select, insert, update, delete on %I to heddle_app', one_table);
  end loop;
end $$;

-- Workflows that start when an event with one of these names comes.
create index workflows_on_event on workflows using gin ((settings -> 'on_event')) where settings ? 'on_event' and deleted_at is null;

create trigger note_opened after insert on event_waits for each row execute function engine.note_wait();
create trigger note_ended after update of status on event_waits for each row
  when (old.status is distinct from new.status) execute function engine.note_wait();

create or replace view engine.wait_faults as
  select e.workspace_id, e.execution_id, w ->> 'node_id' as node_path, false as is_left,
    'it waits for a gate that is not open' as why
  from executions e cross join jsonb_array_elements(e.waiting_for) w
  where e.status = 'waiting' and w ->> 'kind' = 'approval' and w ? 'request_id' and not exists (
    select from approval_requests g where g.workspace_id = e.workspace_id and g.execution_id = e.execution_id
      and g.node_path = w ->> 'node_id' and g.status = 'open')
  union all
  select e.workspace_id, e.execution_id, w ->> 'node_id', false, 'it waits for a question that is not open'
  from executions e cross join jsonb_array_elements(e.waiting_for) w
  where e.status = 'waiting' and w ->> 'kind' = 'clarification' and w ? 'clarification_id' and not exists (
    select from questions q where q.workspace_id = e.workspace_id and q.execution_id = e.execution_id
      and q.node_path = w ->> 'node_id' and q.status = 'open')
  union all
  select e.workspace_id, e.execution_id, w ->> 'node_id', false, 'it waits for an execution that has ended or is not there'
  from executions e cross join jsonb_array_elements(e.waiting_for) w
  where e.status = 'waiting' and w ->> 'kind' = 'execution' and w ? 'execution_id' and not exists (
    select from executions c where c.workspace_id = e.workspace_id and c.execution_id = uuid_of_typeid(w ->> 'execution_id')
      and (c.finished_at is null or c.finished_at > now() - interval '15 seconds'))
  union all
  select e.workspace_id, e.execution_id, g.node_path, true, 'it does not wait for a gate of its own that is open'
  from executions e join approval_requests g on g.workspace_id = e.workspace_id and g.execution_id = e.execution_id
  where e.status = 'waiting' and g.status = 'open' and e.waiting_for -> 0 ? 'node_id' and jsonb_array_length(e.waiting_for) < 1000
    and not e.waiting_for @> jsonb_build_array(jsonb_build_object('node_id', g.node_path))
  union all
  select e.workspace_id, e.execution_id, q.node_path, true, 'it does not wait for a question of its own that is open'
  from executions e join questions q on q.workspace_id = e.workspace_id and q.execution_id = e.execution_id
  where e.status = 'waiting' and q.status = 'open' and e.waiting_for -> 0 ? 'node_id' and jsonb_array_length(e.waiting_for) < 1000
    and not e.waiting_for @> jsonb_build_array(jsonb_build_object('node_id', q.node_path))
  union all
  select e.workspace_id, e.execution_id, w ->> 'node_id', false, 'it waits for an event that is not awaited'
  from executions e cross join jsonb_array_elements(e.waiting_for) w
  where e.status = 'waiting' and w ->> 'kind' = 'event' and w ? 'wait_id' and not exists (
    select from event_waits v where v.workspace_id = e.workspace_id and v.execution_id = e.execution_id
      and v.node_path = w ->> 'node_id' and v.status = 'open')
  union all
  select e.workspace_id, e.execution_id, v.node_path, true, 'it does not wait for an event that is awaited for it'
  from executions e join event_waits v on v.workspace_id = e.workspace_id and v.execution_id = e.execution_id
  where e.status = 'waiting' and v.status = 'open' and e.waiting_for -> 0 ? 'node_id' and jsonb_array_length(e.waiting_for) < 1000
    and not e.waiting_for @> jsonb_build_array(jsonb_build_object('node_id', v.node_path));

create or replace function engine.unaccounted() returns table (execution_id uuid, workspace_id uuid, status text, why text)
language sql stable security definer set search_path = public, pg_temp
begin atomic
  select e.execution_id, e.workspace_id, e.status, 'its worker is dead' from executions e
    where e.status = 'running'
      and not exists (select from workers w where w.worker_id = e.worker_id and not w.dead)
  union all
  select e.execution_id, e.workspace_id, e.status, 'it waits for nothing' from executions e
    where e.status = 'waiting' and (e.waiting_for = '[]' or (e.due_at is null and e.waiting_for @> '[{"kind": "timer"}]'))
  union all
  select e.execution_id, e.workspace_id, e.status, 'its time has passed' from executions e
    where e.status = 'waiting' and e.due_at < now() - interval '30 seconds'
  union all
  -- What no node of its own keeps waiting (it did not load, there was no slot) reads its messages once it is taken up again.
  select e.execution_id, e.workspace_id, e.status, 'a message to it was not read' from executions e
    where e.status = 'waiting' and e.inbox > e.seen and e.waiting_for->0 ? 'node_id'
  union all
  select f.execution_id, f.workspace_id, 'waiting', f.why from engine.wait_faults f
  union all
  select e.execution_id, e.workspace_id, e.status, 'it has ended, and a gate of its own is open'
    from approval_requests g join executions e on e.workspace_id = g.workspace_id and e.execution_id = g.execution_id
    where g.status = 'open' and e.finished_at < now() - interval '30 seconds'
  union all
  select e.execution_id, e.workspace_id, e.status, 'it has ended, and a question of its own is open'
    from questions q join executions e on e.workspace_id = q.workspace_id and e.execution_id = q.execution_id
    where q.status = 'open' and e.finished_at < now() - interval '30 seconds'
  union all
  select e.execution_id, e.workspace_id, e.status, 'it has ended, and an event is awaited for it'
    from event_waits v join executions e on e.workspace_id = v.workspace_id and e.execution_id = v.execution_id
    where v.status = 'open' and e.finished_at < now() - interval '30 seconds';
end;

create or replace function engine.check_waits(p_limit integer)
returns table (workspace_id uuid, execution_id uuid, status text, is_told boolean, faults json)
language sql security definer set search_path = public, pg_temp as $$
  with due as (
    select c.workspace_id, c.execution_id from wait_checks c where c.check_at <= now() order by c.check_at limit p_limit
      for update skip locked
  ),
  later as (
    update wait_checks c set check_at = now() + least(greatest(now() - c.noted_at, interval '30 seconds'), interval '5 minutes')
    from due d where c.workspace_id = d.workspace_id and c.execution_id = d.execution_id
    returning c.workspace_id, c.execution_id
  )
  select l.workspace_id, l.execution_id, e.status, not e.tell_end, coalesce(
    case when e.status = 'waiting' then (
      select json_agg(f) from engine.wait_faults f where f.workspace_id = l.workspace_id and f.execution_id = l.execution_id)
    when e.finished_at is not null then (
      select json_agg(o) from (
        select node_path, true as is_left, 'it has ended, and a gate of its own is open' as why from approval_requests g
          where g.workspace_id = l.workspace_id and g.execution_id = l.execution_id and g.status = 'open'
        union all
        select node_path, true, 'it has ended, and a question of its own is open' from questions q
          where q.workspace_id = l.workspace_id and q.execution_id = l.execution_id and q.status = 'open'
        union all
        select node_path, true, 'it has ended, and an event is awaited for it' from event_waits v
          where v.workspace_id = l.workspace_id and v.execution_id = l.execution_id and v.status = 'open') o)
    end, '[]')
  from later l left join executions e on e.workspace_id = l.workspace_id and e.execution_id = l.execution_id
$$;

-- Events are remembered for a day; an ended wait for as long as its execution is under way, and a day at least.
create function forget_events(most integer) returns integer language plpgsql security definer set search_path = public, pg_temp as $$
declare
  v_events integer;
  v_waits integer;
begin
  delete from incoming_events where (workspace_id, event_id) in (
    select workspace_id, event_id from incoming_events where received_at < now() - interval '1 day' order by received_at limit most);
  get diagnostics v_events = row_count;
  delete from event_waits where (workspace_id, wait_id) in (
    select v.workspace_id, v.wait_id from event_waits v where v.status <> 'open' and v.ended_at < now() - interval '1 day'
      and not exists (select from executions e where e.workspace_id = v.workspace_id and e.execution_id = v.execution_id
        and e.finished_at is null) order by v.ended_at limit most);
  get diagnostics v_waits = row_count;
  return greatest(v_events, v_waits);
end $$;
revoke execute on function forget_events(integer) from public;
grant execute on function forget_events(integer) to heddle_app;
