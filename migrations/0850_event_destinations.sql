-- Breaks nothing: new tables and functions. Events that leave: where to, the outbox, and the deliveries. A process of an older
-- release writes no execution events into the outbox until it is replaced.

create table event_destinations (
  workspace_id uuid not null references workspaces on delete cascade,
  destination_id uuid not null,
  url text not null,
  event_types text[] not null check (cardinality(event_types) > 0),
  -- Only events of this workflow's executions.
  workflow_id uuid,
  -- Not a foreign key: a credential that was removed makes deliveries fail and say so; they never go out without it.
  credential_id uuid,
  -- In whose name it acts: it is sent what this person may see.
  owner_id uuid references users on delete set null,
  enabled boolean not null default true,
  off_reason text check (off_reason in ('manual', 'owner_left', 'no_access', 'failing', 'gone', 'too_many')),
  off_at timestamptz,
  -- Whether people were told that it was switched off.
  told boolean not null default true,
  -- Sealed. For a day after a rotation the previous one signs as well.
  secret bytea not null,
  previous_secret bytea,
  previous_secret_until timestamptz,
  -- Deliveries that are not over. Kept exact: both who adds one and who ends one hold this row.
  pending integer not null default 0,
  -- Failures in a row; after a few of them nothing is sent before blocked_until.
  failures integer not null default 0,
  blocked_until timestamptz,
  last_success_at timestamptz,
  last_failure_at timestamptz,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (workspace_id, destination_id),
  unique (destination_id),
  foreign key (workspace_id, workflow_id) references workflows (workspace_id, workflow_id) on delete cascade,
  check (enabled = (off_reason is null)),
  check ((previous_secret is null) = (previous_secret_until is null))
);
create index event_destinations_untold on event_destinations (destination_id) where not told;

-- The workspaces that ever had a destination; `journal`: one that wants events of executions. Never taken off the list: a
-- workspace whose destinations are gone costs a row of the outbox for each event, which is removed unsent.
create table event_workspaces (
  workspace_id uuid primary key references workspaces on delete cascade,
  journal boolean not null,
  generation bigint not null
);
-- Grows with each change of that list, under a lock of this row, so that numbers become visible in their order. Engine workers
-- keep the list in memory and name the number they know with each commit; a commit that names an old one writes nothing.
create table event_generation (
  single boolean primary key default true check (single),
  generation bigint not null
) with (fillfactor = 10);
insert into event_generation (generation) values (1);

-- Written in the transaction of what happened. No foreign keys: rows of workspaces that are gone are removed unsent.
create table event_outbox (
  workspace_id uuid not null,
  n bigint generated always as identity,
  type text not null,
  at timestamptz not null default now(),
  -- An event of a journal, whose data stand there.
  execution_id uuid,
  seq integer,
  -- Any other event: what it is about, and its data. Those with the same subject are sent in the order of their seq.
  subject_id uuid,
  data json,
  primary key (workspace_id, n),
  check ((execution_id is null) = (data is not null))
) with (autovacuum_vacuum_scale_factor = 0.02);

create table event_deliveries (
  workspace_id uuid not null,
  delivery_id uuid not null,
  destination_id uuid not null,
  type text not null,
  event_at timestamptz not null,
  execution_id uuid,
  seq integer,
  subject_id uuid,
  data json,
  status text not null default 'pending' check (status in ('pending', 'delivered', 'failed')),
  -- The first of its execution or subject that is pending: the only one of them that may be sent.
  head boolean not null,
  attempts integer not null default 0,
  -- When it may be sent. Whoever takes it puts this ahead, so that it is taken up again where that process dies.
  next_at timestamptz not null default now(),
  first_attempt_at timestamptz,
  last_attempt_at timestamptz,
  answer_status integer,
  answer_text text,
  problem text,
  duration_ms integer,
  created_at timestamptz not null default now(),
  primary key (workspace_id, delivery_id),
  foreign key (workspace_id, destination_id) references event_destinations (workspace_id, destination_id) on delete cascade
) with (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.02);
create index event_deliveries_due on event_deliveries (destination_id, next_at) where status = 'pending' and head;
create index event_deliveries_in_order on event_deliveries (destination_id, coalesce(execution_id, subject_id), seq) where status = 'pending';
create index event_deliveries_by_destination on event_deliveries (workspace_id, destination_id, delivery_id desc);
create index event_deliveries_ended on event_deliveries (last_attempt_at) where status <> 'pending';

do $$
declare
  one_table text;
begin
  foreach one_table in array array['event_destinations', 'event_workspaces', 'event_outbox', 'event_deliveries'] loop
    execute format('alter table %I enable row level security', one_table);
    execute format('alter table %I force row level security', one_table);
    execute format('create policy owner_all on %I to heddle_owner using (true) with check (true)', one_table);
  end loop;
  foreach one_table in array array['event_destinations', 'event_deliveries'] loop
    execute format('create policy own on %I to heddle_app using (workspace_id = app_workspace())', one_table);
  end loop;
end $$;
-- As wide as the audit log: an entry may be about a workspace that the caller is only a member of.
create policy own on event_workspaces for select to heddle_app using (workspace_id = app_workspace() or is_member(workspace_id));
create policy written on event_outbox for insert to heddle_app
  with check (workspace_id = app_workspace() or is_member(workspace_id));
create policy everything on event_workspaces for select to heddle_engine, heddle_operator using (true);
create policy written_by_others on event_outbox for insert to heddle_engine, heddle_operator with check (true);

grant select, insert, update, delete on event_destinations, event_deliveries to heddle_app;
grant select on event_workspaces to heddle_app, heddle_engine, heddle_operator;
grant select on event_generation to heddle_engine;
grant insert on event_outbox to heddle_app, heddle_engine, heddle_operator;

-- Puts a workspace on the list, in the transaction that makes or switches on a destination.
create function watch_workspace(wanted uuid, wants_journal boolean) returns void
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  v_generation bigint;
begin
  if wanted is distinct from app_workspace() then raise exception 'not the workspace of the caller'; end if;
  if exists (select from event_workspaces w where w.workspace_id = wanted and (w.journal or not wants_journal)) then return; end if;
  update event_generation set generation = generation + 1 returning generation into v_generation;
  insert into event_workspaces (workspace_id, journal, generation) values (wanted, wants_journal, v_generation)
  on conflict (workspace_id) do update set journal = event_workspaces.journal or excluded.journal, generation = excluded.generation;
end $$;

-- Whether this person may see the event now.
create function event_visible(workspace uuid, person uuid, kind text, execution uuid, subject uuid) returns boolean
language sql stable security definer set search_path = public
begin atomic
  select exists (select from memberships m where m.workspace_id = workspace and m.user_id = person and m.role <> 'guest'
    and case
      when execution is not null then
        coalesce((select w.allowed from watchable_executions(array[person], array[workspace], array[execution]) w), false)
      when kind like 'job.%' then
        exists (select from roles_in_jobs(array[person], array[workspace], array[subject]) r where r.role <> '')
      when kind like 'credential.%' then m.role = 'owner' or exists (select from credentials c
        where c.workspace_id = workspace and c.credential_id = subject and c.owner_id = person)
      when kind = 'destination.test' then true
      -- The audit log, and what concerns the workspace as a whole.
      else m.role = 'owner'
    end);
end;

-- Executions of suites and trials leave no events.
create function execution_is_quiet(e executions) returns boolean language sql immutable
  return coalesce(e.trigger_id, '') like 'suite\_%' or coalesce(e.initiated_by::jsonb @> '[{"kind": "suite"}]', false);

-- Sorted by time, as the ids that the program makes are.
create function new_delivery_id() returns uuid language sql volatile
  return overlay(overlay(replace(gen_random_uuid()::text, '-', '')
      placing lpad(to_hex((extract(epoch from clock_timestamp()) * 1000)::bigint), 12, '0') from 1 for 12)
    placing '7' from 13 for 1)::uuid;

-- Turns a portion of the outbox into deliveries: of each workspace some, so that one with a hundred thousand events keeps nobody
-- else waiting. One process at a time, or a later event of an execution could overtake an earlier one. Answers how many events it
-- took; -1: another process does it.
create function fan_out_events(p_of_one integer, p_limit integer, p_most_pending integer) returns integer
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  v_events event_outbox[];
begin
  if not pg_try_advisory_xact_lock(850, 1) then return -1; end if;
  with recursive spaces as (
    (select o.workspace_id from event_outbox o order by o.workspace_id limit 1)
    union all
    select (select o.workspace_id from event_outbox o where o.workspace_id > s.workspace_id order by o.workspace_id limit 1)
    from spaces s where s.workspace_id is not null
  ),
  taken as (
    delete from event_outbox o using (
      select t.workspace_id, t.n from spaces s cross join lateral (
        select x.workspace_id, x.n from event_outbox x where x.workspace_id = s.workspace_id order by x.n limit p_of_one) t
      limit p_limit) chosen
    where o.workspace_id = chosen.workspace_id and o.n = chosen.n
    returning o
  )
  select array_agg(taken.o order by (taken.o).n) into v_events from taken;
  if v_events is null then return 0; end if;

  perform from event_destinations d where d.enabled and d.workspace_id in (select o.workspace_id from unnest(v_events) o)
    order by d.destination_id for no key update;
  with wanted as (
    select d.destination_id, o.*, coalesce(o.execution_id, o.subject_id) as about
    from unnest(v_events) o
    join event_destinations d on d.workspace_id = o.workspace_id and d.enabled
      and (o.type = any (d.event_types) or split_part(o.type, '.', 1) || '.*' = any (d.event_types))
    left join executions e on e.workspace_id = o.workspace_id and e.execution_id = o.execution_id
    where (o.execution_id is null or (e.execution_id is not null and not execution_is_quiet(e)))
      and (d.workflow_id is null or e.workflow_id = d.workflow_id)
      and event_visible(o.workspace_id, d.owner_id, o.type, o.execution_id, o.subject_id)
  ),
  made as (
    insert into event_deliveries (workspace_id, delivery_id, destination_id, type, event_at, execution_id, seq, subject_id, data, head)
    select w.workspace_id, new_delivery_id(), w.destination_id, w.type, w.at, w.execution_id, w.seq, w.subject_id, w.data,
      w.seq is null or (row_number() over (partition by w.destination_id, w.about order by w.seq) = 1
        and not exists (select from event_deliveries p where p.destination_id = w.destination_id
          and coalesce(p.execution_id, p.subject_id) = w.about and p.status = 'pending'))
    from wanted w order by w.n
    returning destination_id
  )
  update event_destinations d set pending = d.pending + m.count,
    enabled = d.pending + m.count <= p_most_pending,
    off_reason = case when d.pending + m.count > p_most_pending then 'too_many' end,
    off_at = case when d.pending + m.count > p_most_pending then now() end,
    told = d.pending + m.count <= p_most_pending
  from (select destination_id, count(*)::integer as count from made group by destination_id) m
  where d.destination_id = m.destination_id;
  return cardinality(v_events);
end $$;

-- Deliveries that are due, some of each destination, beginning after p_after. Whoever takes one has it for p_lease_s seconds.
create function claim_deliveries(p_after uuid, p_limit integer, p_of_one integer, p_lease_s integer, p_full_destinations uuid[],
  p_full_workspaces uuid[])
returns table (workspace_id uuid, destination_id uuid, delivery_id uuid)
language sql security definer set search_path = public, pg_temp as $$
  with recursive places as (
    (select d.destination_id from event_deliveries d where d.status = 'pending' and d.head order by d.destination_id limit 1)
    union all
    select (select d.destination_id from event_deliveries d where d.status = 'pending' and d.head
        and d.destination_id > p.destination_id order by d.destination_id limit 1)
    from places p where p.destination_id is not null
  ),
  due as materialized (
    select t.workspace_id, t.delivery_id from places p
    join event_destinations e on e.destination_id = p.destination_id and e.enabled
      and coalesce(e.blocked_until <= now(), true) and e.destination_id <> all (p_full_destinations)
      and e.workspace_id <> all (p_full_workspaces)
    cross join lateral (
      select d.workspace_id, d.delivery_id from event_deliveries d
      where d.destination_id = p.destination_id and d.status = 'pending' and d.head and d.next_at <= now()
      order by d.next_at limit p_of_one for no key update skip locked) t
    order by p.destination_id > p_after desc, p.destination_id
    limit p_limit
  )
  update event_deliveries d set next_at = now() + make_interval(secs => p_lease_s)
  from due where d.workspace_id = due.workspace_id and d.delivery_id = due.delivery_id
  returning d.workspace_id, d.destination_id, d.delivery_id
$$;

-- Switches off what acts for somebody who has left the workspace or no longer sees the workflow, and answers with all that people
-- have not been told of yet.
create function stop_destinations() returns table (workspace_id uuid, destination_id uuid)
language sql security definer set search_path = public, pg_temp as $$
  with stopped as (
    update event_destinations d set enabled = false, off_at = now(), told = false, updated_at = now(),
      off_reason = case when m.user_id is null then 'owner_left' else 'no_access' end
    from event_destinations x
    left join memberships m on m.workspace_id = x.workspace_id and m.user_id = x.owner_id and m.role <> 'guest'
    where d.destination_id = x.destination_id and d.enabled and (m.user_id is null
      or (x.workflow_id is not null and not exists (select from workflows w where w.workspace_id = x.workspace_id
        and w.workflow_id = x.workflow_id and w.deleted_at is null and (w.owner_id = x.owner_id or exists (
          select from workflow_members f where f.workspace_id = w.workspace_id and f.workflow_id = w.workflow_id
            and f.user_id = x.owner_id)))))
    returning d.workspace_id, d.destination_id
  )
  select * from stopped
  union select d.workspace_id, d.destination_id from event_destinations d where not d.told
$$;

-- Deliveries that ended long ago, and those that wait for a destination that has been off for as long.
create function forget_deliveries(p_kept_days integer, p_limit integer) returns integer
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  v_ended integer;
  v_left integer;
begin
  delete from event_deliveries where (workspace_id, delivery_id) in (
    select d.workspace_id, d.delivery_id from event_deliveries d
    where d.status <> 'pending' and d.last_attempt_at < now() - make_interval(days => p_kept_days) limit p_limit);
  get diagnostics v_ended = row_count;
  with gone as (
    delete from event_deliveries where (workspace_id, delivery_id) in (
      select d.workspace_id, d.delivery_id from event_destinations e
      join event_deliveries d on d.workspace_id = e.workspace_id and d.destination_id = e.destination_id and d.status = 'pending'
      where not e.enabled and e.off_at < now() - make_interval(days => p_kept_days) limit p_limit)
    returning destination_id)
  update event_destinations e set pending = e.pending - g.count
  from (select destination_id, count(*)::integer as count from gone group by destination_id) g
  where e.destination_id = g.destination_id;
  get diagnostics v_left = row_count;
  return v_ended + v_left;
end $$;

revoke execute on function watch_workspace(uuid, boolean), event_visible(uuid, uuid, text, uuid, uuid), new_delivery_id(),
  execution_is_quiet(executions), fan_out_events(integer, integer, integer),
  claim_deliveries(uuid, integer, integer, integer, uuid[], uuid[]), stop_destinations(), forget_deliveries(integer, integer) from public;
grant execute on function watch_workspace(uuid, boolean), event_visible(uuid, uuid, text, uuid, uuid), fan_out_events(integer, integer, integer),
  claim_deliveries(uuid, integer, integer, integer, uuid[], uuid[]), stop_destinations(), forget_deliveries(integer, integer) to heddle_app;
