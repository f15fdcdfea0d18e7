-- Breaks nothing: new tables. Executions, their journal, inbox and map items, and the workers that own them.

create schema engine;
grant usage on schema engine to heddle_app, heddle_engine, heddle_operator;

-- A worker's row is what its writes are fenced by: each locks it for share, and whoever declares the worker dead needs it
-- for itself. Heartbeats stand in a table of their own, or each of them would wait for the writes.
create table workers (
  worker_id uuid primary key,
  dead boolean not null default false,
  host text not null,
  pid integer not null,
  started_at timestamptz not null default now()
) with (fillfactor = 10);
create table heartbeats (
  worker_id uuid primary key references workers on delete cascade,
  beat bigint not null default 0,
  seen_at timestamptz not null default now()
) with (fillfactor = 10);

create table executions (
  execution_id uuid not null,
  workspace_id uuid not null,
  workflow_id uuid,
  system_slug text,
  version_id uuid,
  definition_ref text not null,
  status text not null check (status in ('queued', 'running', 'waiting', 'succeeded', 'failed', 'cancelled', 'timed_out')),
  -- json, not jsonb: what a tenant stored comes back byte for byte, key order included, and nothing is parsed to store it.
  input json,
  results json,
  results_blob json,
  error json,
  waiting_for jsonb not null default '[]',
  trigger_kind text not null,
  trigger_id text,
  started_by uuid,
  retry_of uuid,
  parent_execution_id uuid,
  parent_node text,
  created_at timestamptz not null default now(),
  started_at timestamptz,
  finished_at timestamptz,
  timeout_s double precision,
  max_concurrency integer,
  -- Queued: since when. Waiting: when time alone wakes it.
  due_at timestamptz,
  worker_id uuid,
  epoch integer not null default 0,
  -- Messages sent to it, and how many of them its journal has taken in. Parking requires the two to be equal.
  inbox integer not null default 0,
  seen integer not null default 0,
  snapshot json,
  snapshot_seq integer not null default 0,
  crashes integer not null default 0,
  tell_end boolean not null default false,
  depth smallint not null default 0,
  primary key (workspace_id, execution_id),
  check ((status = 'running') = (worker_id is not null)),
  -- No foreign key to workers: the fence in the statement that starts or claims says the same without a look-up per row.
  check (status = 'waiting' or waiting_for = '[]')
) with (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.02);

-- Without the workspace: with it, a look-up by workspace and execution could go by this index instead of the key.
create index executions_by_workflow on executions (workflow_id, execution_id);
-- A job makes one for each record: without this, whoever wants the others reads through a hundred thousand of its.
create index executions_not_of_jobs on executions (workflow_id, execution_id) where trigger_kind <> 'job';
create index executions_by_system on executions (workspace_id, system_slug, started_by, execution_id) where system_slug is not null;
-- Only those that a person started, and those that went wrong: the search finds them, and a webhook's success pays for neither.
create index executions_by_starter on executions (workspace_id, started_by, execution_id)
  where started_by is not null and trigger_kind <> 'job';
create index executions_by_requester on executions (workspace_id, started_by, execution_id)
  where started_by is not null and trigger_kind = 'job';
create index executions_gone_wrong on executions (workflow_id, status, execution_id)
  where status in ('failed', 'cancelled', 'timed_out');
create index executions_queued on executions (workspace_id, due_at) where status = 'queued';
create index executions_running on executions (workspace_id, workflow_id) where status = 'running';
create index executions_waiting on executions (workspace_id, workflow_id, execution_id) where status = 'waiting';
create index executions_due on executions (due_at) where status = 'waiting' and due_at is not null;
create index executions_slot on executions (workspace_id, workflow_id, execution_id)
  where status = 'waiting' and waiting_for @> '[{"kind": "slot"}]';
create index executions_to_tell on executions (finished_at) where tell_end and finished_at is not null;
create index executions_by_parent on executions (workspace_id, parent_execution_id) where parent_execution_id is not null;
create index executions_by_trigger on executions (workspace_id, trigger_kind, trigger_id, execution_id)
  where trigger_kind in ('webhook', 'embed', 'job');

create table events (
  execution_id uuid not null,
  seq integer not null,
  workspace_id uuid not null,
  at timestamptz not null,
  type text not null,
  data json not null,
  primary key (execution_id, seq)
) partition by range (execution_id);
create table events_default partition of events default;

create table inbox (
  workspace_id uuid not null,
  execution_id uuid not null,
  n integer not null,
  key text not null,
  payload json not null,
  at timestamptz not null default now(),
  primary key (execution_id, n),
  unique (execution_id, key),
  foreign key (workspace_id, execution_id) references executions on delete cascade
);

create table map_items (
  workspace_id uuid not null,
  execution_id uuid not null,
  path text not null,
  index integer not null,
  status text not null check (status in ('running', 'waiting', 'succeeded', 'failed')),
  state json,
  output json,
  error json,
  due_at timestamptz,
  -- What models counted for the nodes of the item: they write no events of their own.
  usage json,
  -- No foreign key: the fenced statement that writes an item names an execution that its worker owns.
  primary key (execution_id, path, index)
);

create table start_keys (
  credential_hash bytea not null,
  key_hash bytea not null,
  body_sha256 bytea not null,
  workspace_id uuid not null,
  execution_id uuid not null,
  created_at timestamptz not null default now(),
  primary key (credential_hash, key_hash)
);
create index start_keys_by_age on start_keys (created_at);

do $$
declare one_table text;
begin
  foreach one_table in array array['executions', 'events', 'inbox', 'map_items', 'start_keys'] loop
    execute format('alter table %I enable row level security', one_table);
    execute format('alter table %I force row level security', one_table);
    execute format('create policy owner_all on %I to heddle_owner using (true) with check (true)', one_table);
    execute format('create policy engine_all on %I to heddle_engine using (true) with check (true)', one_table);
    execute format('create policy own on %I for select to heddle_app
      using (workspace_id = nullif(current_setting(''app.ws'', true), '''')::uuid)', one_table);
  end loop;
end $$;
create policy everything on executions for select to heddle_operator using (true);
create policy everything on events for select to heddle_operator using (true);

grant select, insert, update, delete on workers, heartbeats, executions, events, inbox, map_items, start_keys to heddle_engine;
grant select on executions, events to heddle_app, heddle_operator;
grant select (workspace_id, execution_id, usage) on map_items to heddle_app;
grant select on workers, heartbeats to heddle_operator;

-- May the caller touch this workspace? A request may touch its own; the engine any.
create function engine.may_touch(p_workspace uuid) returns boolean language sql stable
  return p_workspace = nullif(current_setting('app.ws', true), '')::uuid
    or pg_has_role(session_user, 'heddle_engine', 'member');

-- Tells an execution something, in the caller's own transaction, once per key. A waiting one becomes due.
create function engine.signal(p_workspace uuid, p_execution uuid, p_key text, p_payload json) returns text
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  v_status text;
  v_number integer;
begin
  if not engine.may_touch(p_workspace) then return 'unknown'; end if;
  select status, inbox + 1 into v_status, v_number from executions
    where workspace_id = p_workspace and execution_id = p_execution for no key update;
  if not found then return 'unknown'; end if;
  if v_status not in ('queued', 'running', 'waiting') then
    return case when exists (select from inbox where execution_id = p_execution and key = p_key) then 'duplicate' else 'ended' end;
  end if;
  insert into inbox (workspace_id, execution_id, n, key, payload)
    values (p_workspace, p_execution, v_number, p_key, p_payload) on conflict (execution_id, key) do nothing;
  if not found then return 'duplicate'; end if;
  if v_status = 'waiting' then
    update executions set inbox = v_number, status = 'queued', due_at = now(), waiting_for = '[]'
      where workspace_id = p_workspace and execution_id = p_execution;
  else
    update executions set inbox = v_number where workspace_id = p_workspace and execution_id = p_execution;
  end if;
  return 'accepted';
end $$;

create function engine.cancel(p_workspace uuid, p_execution uuid, p_by text) returns text
language sql security definer set search_path = public, pg_temp
  return engine.signal(p_workspace, p_execution, 'cancel', json_build_object('type', 'cancel', 'by', p_by));

-- Lets a poison execution run again. It stays suspect: ending its worker once more makes it poison again.
create function engine.release(p_workspace uuid, p_execution uuid) returns text
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  if not engine.may_touch(p_workspace) then return 'unknown'; end if;
  update executions set status = 'queued', due_at = now(), waiting_for = '[]', crashes = 4
    where workspace_id = p_workspace and execution_id = p_execution and status = 'waiting'
      and waiting_for @> '[{"kind": "slot", "reason": "poison"}]';
  if found then return 'accepted'; end if;
  return case when exists (select from executions where workspace_id = p_workspace and execution_id = p_execution)
    then 'not_poison' else 'unknown' end;
end $$;

-- Starts an execution in the caller's own transaction; a worker claims it. Starting an id twice is one execution.
create function engine.start(p_workspace uuid, p_execution uuid, p_input json, p_start json, p_queue_limit integer default 100000)
returns text language plpgsql security definer set search_path = public, pg_temp as $$
declare v_queued integer;
begin
  if not engine.may_touch(p_workspace) then return 'unknown'; end if;
  if exists (select from gone_workspaces where workspace_id = p_workspace) then return 'unknown'; end if;
  select count(*) into v_queued from (
    select from executions where workspace_id = p_workspace and status = 'queued' limit p_queue_limit) as queued;
  if v_queued >= p_queue_limit then return 'queue_full'; end if;
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
      snapshot, due_at, tell_end, depth)
    values (p_execution, p_workspace, (p_start->>'workflow_id')::uuid, p_start->>'system_slug',
      (p_start->>'version_id')::uuid, p_start->>'definition_ref', 'queued', p_input,
      p_start->>'trigger_kind', p_start->>'trigger_id', (p_start->>'started_by')::uuid, (p_start->>'retry_of')::uuid,
      (p_start->>'parent_execution_id')::uuid, p_start->>'parent_node', (p_start->>'timeout_s')::double precision,
      (p_start->>'max_concurrency')::integer, nullif(p_start->>'snapshot', '')::json, now(), coalesce((p_start->>'tell_end')::boolean, false),
      coalesce((p_start->>'depth')::smallint, 0))
    on conflict do nothing;
  if not found then return 'duplicate'; end if;
  return 'accepted';
end $$;

-- Takes queued executions, fairly: from workspace to workspace by index alone (105,000 queued in 1,000 workspaces: 3 ms;
-- with window functions 400), a few of each, beginning after p_after. A workflow at its own limit sends its next
-- execution to wait for a slot; such claims are serialised per workflow, so the limit is exact.
create function engine.claim(p_worker uuid, p_after uuid, p_total integer, p_per_workspace integer,
  p_workspace_limit integer, p_suspects integer)
returns setof executions language plpgsql as $$
declare
  v_workspace uuid := p_after;
  v_wrapped boolean := false;
  v_row executions;
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
    for v_row in
      select * from executions where workspace_id = v_workspace and status = 'queued'
        order by due_at limit greatest(0, least(v_room, p_per_workspace, p_total - v_taken)) for no key update skip locked
    loop
      -- One that may have killed its workers runs with no other of that kind beside it, so that only it is blamed.
      if v_row.crashes >= 2 then
        if v_suspects >= p_suspects then continue; end if;
        v_suspects := v_suspects + 1;
      end if;
      if v_row.max_concurrency is not null and v_row.workflow_id is not null then
        perform pg_advisory_xact_lock(hashtextextended(v_row.workflow_id::text, 7100));
        if (select count(*) from executions where workspace_id = v_workspace and workflow_id = v_row.workflow_id
              and status = 'running') >= v_row.max_concurrency then
          update executions set status = 'waiting', due_at = null,
              waiting_for = jsonb_build_array(jsonb_build_object('kind', 'slot', 'since', now()))
            where workspace_id = v_workspace and execution_id = v_row.execution_id;
          continue;
        end if;
      end if;
      update executions set status = 'running', worker_id = p_worker, due_at = null,
          started_at = coalesce(started_at, now())
        where workspace_id = v_workspace and execution_id = v_row.execution_id returning * into v_row;
      v_taken := v_taken + 1;
      v_claimed := v_claimed || format('%s %s %s', v_row.execution_id, v_row.snapshot_seq, v_row.seen);
      return next v_row;
    end loop;
    exit when v_taken >= p_total;
  end loop;
  perform set_config('engine.claimed', array_to_string(v_claimed, ','), false);
end $$;

-- What the last claim on this connection took: whoever asks right behind it need not wait to be told first.
create function engine.claimed() returns table (execution_id uuid, snapshot_seq integer, seen integer)
language sql stable rows 16 as $$
  select split_part(one, ' ', 1)::uuid, split_part(one, ' ', 2)::integer, split_part(one, ' ', 3)::integer
  from string_to_table(current_setting('engine.claimed', true), ',') as one
  where one <> ''
$$;

-- Executions that waited for a slot of their workflow, and there is one.
create function engine.grant_slots(p_limit integer) returns integer language plpgsql as $$
declare
  v_group record;
  v_free integer;
  v_granted integer := 0;
  v_chosen uuid;
begin
  for v_group in
    select workspace_id, workflow_id, min(max_concurrency) as most from (
      select workspace_id, workflow_id, max_concurrency from executions
        where status = 'waiting' and waiting_for @> '[{"kind": "slot"}]' and max_concurrency is not null
        order by workspace_id, workflow_id, execution_id limit p_limit) as waiting
    group by workspace_id, workflow_id
  loop
    select v_group.most - count(*) into v_free from executions
      where workspace_id = v_group.workspace_id and workflow_id = v_group.workflow_id and status = 'running';
    for v_chosen in
      select execution_id from executions
        where status = 'waiting' and waiting_for @> '[{"kind": "slot"}]' and workspace_id = v_group.workspace_id
          and workflow_id = v_group.workflow_id and max_concurrency is not null and crashes < 5
        order by execution_id limit greatest(v_free, 0) for no key update skip locked
    loop
      update executions set status = 'queued', due_at = now(), waiting_for = '[]'
        where workspace_id = v_group.workspace_id and execution_id = v_chosen;
      v_granted := v_granted + 1;
    end loop;
  end loop;
  return v_granted;
end $$;

-- Declares a worker dead and releases what it owned, in one transaction: whatever it writes later meets the fence. The
-- row lock waits for statements of its that are still under way, so what is read afterwards is all there will ever be.
create function engine.bury(p_worker uuid, p_crashed boolean default true) returns integer language plpgsql as $$
declare v_released integer;
begin
  perform from workers where worker_id = p_worker and not dead for update;
  if not found then return 0; end if;
  update workers set dead = true where worker_id = p_worker;
  update executions set worker_id = null, epoch = epoch + 1,
      crashes = crashes + p_crashed::integer,
      status = case when crashes + p_crashed::integer >= 5 then 'waiting' else 'queued' end,
      -- Before whatever has not begun yet: what was under way goes on first.
      due_at = case when crashes + p_crashed::integer >= 5 then null else coalesce(started_at, created_at) end,
      waiting_for = case when crashes + p_crashed::integer >= 5
        then jsonb_build_array(jsonb_build_object('kind', 'slot', 'reason', 'poison', 'since', now(),
          'crashes', crashes + 1)) else '[]' end
    where status = 'running' and worker_id = p_worker;
  get diagnostics v_released = row_count;
  return v_released;
end $$;

-- Waiting executions whose time has come, by the database's clock alone.
create function engine.wake_due(p_limit integer) returns integer language plpgsql as $$
declare
  v_due record;
  v_woken integer := 0;
begin
  for v_due in
    select workspace_id, execution_id from executions
      where status = 'waiting' and due_at <= now() order by due_at limit p_limit for no key update skip locked
  loop
    update executions set status = 'queued', waiting_for = '[]', due_at = now()
      where workspace_id = v_due.workspace_id and execution_id = v_due.execution_id;
    v_woken := v_woken + 1;
  end loop;
  return v_woken;
end $$;

-- The smallest UUIDv7 of a moment: where a partition by time begins.
create function engine.first_id(p_at timestamptz) returns uuid language sql immutable
  return (lpad(to_hex((extract(epoch from p_at) * 1000)::bigint), 12, '0') || '00000000000000000000')::uuid;

-- A partition is reached through its parent's policies; on its own it shows nobody but the owner anything.
create function engine.close_partition(p_name text) returns void
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  execute format('alter table %I enable row level security', p_name);
  execute format('alter table %I force row level security', p_name);
  execute format('create policy owner_all on %I to heddle_owner using (true) with check (true)', p_name);
end $$;
select engine.close_partition('events_default');

-- One partition a week, a few weeks ahead.
create function engine.ensure_week(p_start timestamptz) returns void
language plpgsql security definer set search_path = public, pg_temp as $$
declare v_name text := 'events_' || to_char(p_start at time zone 'utc', 'YYYYMMDD');
begin
  if to_regclass(v_name) is not null then return; end if;
  execute format('create table %I partition of events for values from (%L) to (%L)',
    v_name, engine.first_id(p_start), engine.first_id(p_start + interval '7 days'));
  perform engine.close_partition(v_name);
end $$;

create function engine.ensure_partitions(p_weeks integer default 4) returns void
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  perform pg_advisory_xact_lock(7101);
  for v_week in 0..p_weeks loop
    perform engine.ensure_week(date_trunc('week', now() at time zone 'utc') at time zone 'utc' + v_week * interval '7 days');
  end loop;
end $$;
select engine.ensure_partitions();

-- Forgets the week that begins at p_start: executions of that week that ended longer ago than p_days, and everything that
-- belongs to them. The journal of the others (live, ended since, or with an end that is still to be told) is copied into a
-- new partition that takes the old one's place.
create function engine.drop_week(p_start timestamptz, p_days integer, out gone integer, out kept boolean)
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  v_name text := 'events_' || to_char(p_start at time zone 'utc', 'YYYYMMDD');
  v_from uuid := engine.first_id(p_start);
  v_to uuid := engine.first_id(p_start + interval '7 days');
begin
  perform pg_advisory_xact_lock(7101);
  if to_regclass(v_name) is not null then
    execute format('lock table %I in access exclusive mode', v_name);
  end if;
  delete from executions where execution_id >= v_from and execution_id < v_to
    and finished_at < now() - p_days * interval '1 day' and not tell_end;
  get diagnostics gone = row_count;
  kept := exists (select from executions where execution_id >= v_from and execution_id < v_to);
  delete from map_items where execution_id >= v_from and execution_id < v_to and not exists (
    select from executions x where x.workspace_id = map_items.workspace_id and x.execution_id = map_items.execution_id);
  if to_regclass(v_name) is not null then
    execute 'create table events_kept (like events including all)';
    execute format('insert into events_kept select e.* from %I e join executions x
      on x.workspace_id = e.workspace_id and x.execution_id = e.execution_id', v_name);
    execute format('alter table events detach partition %I', v_name);
    execute format('drop table %I', v_name);
    if kept then
      execute format('alter table events_kept rename to %I', v_name);
      perform engine.close_partition(v_name);
      execute format('alter table events attach partition %I for values from (%L) to (%L)', v_name, v_from, v_to);
    else
      drop table events_kept;
    end if;
  end if;
end $$;

-- Weeks whose journal is kept.
create function engine.weeks() returns table (start_at timestamptz)
language sql stable security definer set search_path = public, pg_temp
begin atomic
  select to_date(right(c.relname, 8), 'YYYYMMDD')::timestamp at time zone 'utc'
  from pg_inherits i join pg_class c on c.oid = i.inhrelid
  where i.inhparent = 'public.events'::regclass and c.relname ~ '^events_[0-9]{8}$'
  order by 1;
end;

-- Every live execution has a living worker or exactly one thing it waits for; these have not.
create function engine.unaccounted() returns table (execution_id uuid, workspace_id uuid, status text, why text)
language sql stable
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
    where e.status = 'waiting' and e.inbox > e.seen and e.waiting_for->0 ? 'node_id';
end;

revoke all on all functions in schema engine from public;
grant execute on function engine.may_touch(uuid), engine.signal(uuid, uuid, text, json), engine.cancel(uuid, uuid, text),
  engine.release(uuid, uuid), engine.start(uuid, uuid, json, json, integer) to heddle_app, heddle_engine;
grant execute on function engine.claim(uuid, uuid, integer, integer, integer, integer), engine.claimed(), engine.grant_slots(integer),
  engine.bury(uuid, boolean), engine.wake_due(integer), engine.ensure_partitions(integer), engine.drop_week(timestamptz, integer),
  engine.weeks(), engine.first_id(timestamptz) to heddle_engine;
grant execute on function engine.unaccounted() to heddle_engine, heddle_operator;
