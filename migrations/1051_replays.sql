-- Breaks nothing: new tables and functions. Versions held against past runs: the replay, and what came of each run.

create table replays (
  workspace_id uuid not null references workspaces on delete cascade,
  replay_id uuid not null,
  workflow_id uuid not null,
  version_id uuid not null,
  filter json,
  wanted integer not null,
  -- Chosen when it was asked for, newest first. Those below `done` have a result.
  execution_ids uuid[] not null,
  done integer not null default 0,
  same integer not null default 0,
  different integer not null default 0,
  unreplayable integer not null default 0,
  mocked integer not null default 0,
  usage json,
  candidate_usage json,
  duration_ms bigint not null default 0,
  candidate_duration_ms bigint not null default 0,
  status text not null default 'queued' check (status in ('queued', 'running', 'succeeded', 'failed', 'cancelled')),
  error json,
  requested_by uuid references users on delete set null,
  created_at timestamptz not null default now(),
  started_at timestamptz,
  finished_at timestamptz,
  -- Whoever holds the lease drives it; a slice is written only under the epoch it was claimed with.
  epoch integer not null default 0,
  lease_until timestamptz not null default now(),
  served_at timestamptz not null default '-infinity',
  primary key (workspace_id, replay_id),
  foreign key (workspace_id, workflow_id) references workflows (workspace_id, workflow_id) on delete cascade,
  check ((finished_at is null) = (status in ('queued', 'running')))
);
create index replays_by_workflow on replays (workspace_id, workflow_id, replay_id desc);
create index replays_live on replays (workspace_id, served_at) where finished_at is null;
create index replays_by_age on replays (finished_at) where finished_at is not null;

create table replay_results (
  workspace_id uuid not null,
  replay_id uuid not null,
  position integer not null,
  execution_id uuid not null,
  outcome text not null check (outcome in ('same', 'different', 'unreplayable')),
  reason json,
  difference json,
  mocked json not null,
  primary key (workspace_id, replay_id, position),
  foreign key (workspace_id, replay_id) references replays on delete cascade
);

do $$
declare one_table text;
begin
  foreach one_table in array array['replays', 'replay_results'] loop
    execute format('alter table %I enable row level security', one_table);
    execute format('alter table %I force row level security', one_table);
    execute format('create policy owner_all on %I to heddle_owner using (true) with check (true)', one_table);
    execute format('create policy own on %I to heddle_app using (workspace_id = app_workspace())', one_table);
  end loop;
end $$;
grant select, insert, update, delete on replays, replay_results to heddle_app;

-- The next slice of work: of the workspace that was served least recently, so that one with many replays keeps nobody waiting.
create function claim_replay(lease_s integer) returns table (workspace_id uuid, replay_id uuid, epoch integer)
language sql security definer set search_path = public, pg_temp
begin atomic
  update replays r set epoch = r.epoch + 1, lease_until = now() + make_interval(secs => lease_s), served_at = clock_timestamp(),
    status = 'running', started_at = coalesce(r.started_at, now())
  where (r.workspace_id, r.replay_id) = (
    select c.workspace_id, c.replay_id from replays c where c.finished_at is null and c.lease_until <= now()
    order by (select max(s.served_at) from replays s where s.workspace_id = c.workspace_id and s.finished_at is null), c.replay_id
    limit 1 for update skip locked)
  returning r.workspace_id, r.replay_id, r.epoch;
end;

create function forget_replays(kept_days integer, most integer) returns integer
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  forgotten integer;
begin
  delete from replays r where (r.workspace_id, r.replay_id) in (
    select o.workspace_id, o.replay_id from replays o where o.finished_at < now() - make_interval(days => kept_days)
    order by o.finished_at limit most);
  get diagnostics forgotten = row_count;
  return forgotten;
end $$;
revoke execute on function claim_replay(integer), forget_replays(integer, integer) from public;
grant execute on function claim_replay(integer), forget_replays(integer, integer) to heddle_app;
