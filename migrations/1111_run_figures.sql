-- Breaks nothing: new tables and functions. Figures of runs, added up as they end: how many ended how, how long they took, how long
-- they waited for people, and how long their steps took. Five minutes are kept for two days, hours for some weeks,
-- days for years.

-- `span` is 'm' (five minutes), 'h' (an hour) or 'd' (a day), `at` its beginning in UTC.
create table run_counts (
  workspace_id uuid not null references workspaces on delete cascade,
  span "char" not null check (span in ('m', 'h', 'd')),
  at timestamptz not null,
  workflow_id uuid,
  trigger_kind text not null,
  status text not null,
  error_code text,
  runs bigint not null,
  duration_ms bigint not null,
  unique nulls not distinct (workspace_id, span, at, workflow_id, trigger_kind, status, error_code)
);

-- Histograms. Each bucket ends 2^(1/4) times later than the one before (server/areas/insights/buckets.ts).
create table run_times (
  workspace_id uuid not null references workspaces on delete cascade,
  span "char" not null check (span in ('m', 'h', 'd')),
  at timestamptz not null,
  workflow_id uuid,
  measure text not null check (measure in ('duration', 'people')),
  bucket smallint not null,
  runs bigint not null,
  unique nulls not distinct (workspace_id, span, at, workflow_id, measure, bucket)
);

create table step_days (
  workspace_id uuid not null references workspaces on delete cascade,
  at timestamptz not null,
  workflow_id uuid not null,
  node_id text not null,
  type text not null,
  runs bigint not null,
  failed bigint not null,
  duration_ms bigint not null,
  max_ms bigint not null,
  primary key (workspace_id, at, workflow_id, node_id, type)
);

do $$
declare one_table text;
begin
  foreach one_table in array array['run_counts', 'run_times', 'step_days'] loop
    execute format('alter table %I enable row level security', one_table);
    execute format('alter table %I force row level security', one_table);
    execute format('create policy owner_all on %I to heddle_owner using (true) with check (true)', one_table);
    execute format('create policy own on %I for select to heddle_app using (workspace_id = app_workspace())', one_table);
    execute format('create index %I on %I (at)', one_table || '_by_age', one_table);
  end loop;
end $$;
grant select on run_counts, run_times, step_days to heddle_app;

-- What a process has added up since it last wrote, many workspaces at once. In the order of the keys, so that two processes
-- do not wait for each other.
create function add_run_figures(counts json, times json, steps json) returns void
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  insert into run_counts as f (workspace_id, span, at, workflow_id, trigger_kind, status, error_code, runs, duration_ms)
  select r.workspace_id, r.span, to_timestamp(r.at / 1000), r.workflow_id, r.trigger_kind, r.status, r.error_code, r.runs, r.duration_ms
  from json_to_recordset(counts) as r (workspace_id uuid, span text, at double precision, workflow_id uuid, trigger_kind text,
    status text, error_code text, runs bigint, duration_ms bigint)
  where exists (select from workspaces w where w.workspace_id = r.workspace_id)
  order by 1, 2, 3, 4, 5, 6, 7
  on conflict (workspace_id, span, at, workflow_id, trigger_kind, status, error_code)
    do update set runs = f.runs + excluded.runs, duration_ms = f.duration_ms + excluded.duration_ms;

  insert into run_times as f (workspace_id, span, at, workflow_id, measure, bucket, runs)
  select r.workspace_id, r.span, to_timestamp(r.at / 1000), r.workflow_id, r.measure, r.bucket, r.runs
  from json_to_recordset(times) as r (workspace_id uuid, span text, at double precision, workflow_id uuid, measure text,
    bucket smallint, runs bigint)
  where exists (select from workspaces w where w.workspace_id = r.workspace_id)
  order by 1, 2, 3, 4, 5, 6
  on conflict (workspace_id, span, at, workflow_id, measure, bucket) do update set runs = f.runs + excluded.runs;

  insert into step_days as f (workspace_id, at, workflow_id, node_id, type, runs, failed, duration_ms, max_ms)
  select r.workspace_id, to_timestamp(r.at / 1000), r.workflow_id, r.node_id, r.type, r.runs, r.failed, r.duration_ms, r.max_ms
  from json_to_recordset(steps) as r (workspace_id uuid, at double precision, workflow_id uuid, node_id text, type text,
    runs bigint, failed bigint, duration_ms bigint, max_ms bigint)
  where exists (select from workspaces w where w.workspace_id = r.workspace_id)
  order by 1, 2, 3, 4, 5
  on conflict (workspace_id, at, workflow_id, node_id, type) do update set runs = f.runs + excluded.runs,
    failed = f.failed + excluded.failed, duration_ms = f.duration_ms + excluded.duration_ms,
    max_ms = greatest(f.max_ms, excluded.max_ms);
end $$;

create function forget_run_figures(kept_hours_days integer, kept_days integer, most integer) returns integer
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  forgotten integer := 0;
  removed integer;
begin
  delete from run_counts where ctid = any(array(select ctid from run_counts
    where at < now() - make_interval(days => case span when 'm' then 2 when 'h' then kept_hours_days else kept_days end) limit most));
  get diagnostics removed = row_count;
  forgotten := greatest(forgotten, removed);
  delete from run_times where ctid = any(array(select ctid from run_times
    where at < now() - make_interval(days => case span when 'm' then 2 when 'h' then kept_hours_days else kept_days end) limit most));
  get diagnostics removed = row_count;
  forgotten := greatest(forgotten, removed);
  delete from step_days where ctid = any(array(select ctid from step_days where at < now() - make_interval(days => kept_days) limit most));
  get diagnostics removed = row_count;
  return greatest(forgotten, removed);
end $$;

revoke execute on function add_run_figures(json, json, json), forget_run_figures(integer, integer, integer) from public;
grant execute on function add_run_figures(json, json, json), forget_run_figures(integer, integer, integer) to heddle_app;
