-- Breaks nothing: a column and a key with it; an older release does not say it, and its rows count as those of other runs.
-- Steps of runs for records of jobs are added up apart: they would crowd out all others.

alter table step_days add column of_jobs boolean not null default false;
alter table step_days drop constraint step_days_pkey;
alter table step_days add constraint step_days_pkey primary key (workspace_id, at, workflow_id, node_id, type, of_jobs);

create or replace function add_run_figures(counts json, times json, steps json) returns void
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

  insert into step_days as f (workspace_id, at, workflow_id, node_id, type, of_jobs, runs, failed, duration_ms, max_ms)
  select r.workspace_id, to_timestamp(r.at / 1000), r.workflow_id, r.node_id, r.type, coalesce(r.of_jobs, false), r.runs, r.failed,
    r.duration_ms, r.max_ms
  from json_to_recordset(steps) as r (workspace_id uuid, at double precision, workflow_id uuid, node_id text, type text,
    of_jobs boolean, runs bigint, failed bigint, duration_ms bigint, max_ms bigint)
  where exists (select from workspaces w where w.workspace_id = r.workspace_id)
  order by 1, 2, 3, 4, 5, 6
  on conflict (workspace_id, at, workflow_id, node_id, type, of_jobs) do update set runs = f.runs + excluded.runs,
    failed = f.failed + excluded.failed, duration_ms = f.duration_ms + excluded.duration_ms,
    max_ms = greatest(f.max_ms, excluded.max_ms);
end $$;
