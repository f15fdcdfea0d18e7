-- Breaks nothing: new tables. Enrichment jobs, suites, and the ledger both write: runs, their records, results.

-- What a standalone job executes. Never changed: a job that gets another definition points at another row, and an
-- execution that is under way still finds its own.
create table job_definitions (
  workspace_id uuid not null references workspaces on delete cascade,
  definition_id uuid not null,
  -- Whose it is; without a foreign key, since it outlives its job until nothing executes it.
  job_id uuid not null,
  -- The same as executions name it.
  trigger_id text not null,
  definition json not null,
  sha256 text not null,
  created_at timestamptz not null default now(),
  primary key (workspace_id, definition_id)
);

create table enrichment_jobs (
  workspace_id uuid not null references workspaces on delete cascade,
  job_id uuid not null,
  name text not null,
  owner_id uuid not null references users,
  -- Pinned to a workflow, or standalone with a definition of its own.
  workflow_id uuid,
  definition_id uuid,
  dataset_id uuid,
  source_id uuid,
  mapping json,
  only_if text,
  -- `new`: the dataset that the first run makes; its id stands beside it from then on.
  output_name text,
  output_dataset_id uuid,
  -- Into a dataset that was named: once that is deleted the job has an output without one, and does not run.
  output_bound boolean not null default false,
  cron text,
  timezone text,
  concurrency integer not null,
  stop_on_error_rate double precision,
  -- A job that is idle or failed and whose due_at has passed is due.
  status text not null default 'idle' check (status in ('idle', 'running', 'paused', 'failed')),
  paused_reason text,
  due_at timestamptz,
  due_full boolean not null default false,
  due_by uuid references users on delete set null,
  last_run_id uuid,
  event_seq integer not null default 0,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (workspace_id, job_id),
  unique (job_id),
  foreign key (workspace_id, workflow_id) references workflows (workspace_id, workflow_id),
  foreign key (workspace_id, definition_id) references job_definitions (workspace_id, definition_id),
  foreign key (workspace_id, dataset_id) references datasets (workspace_id, dataset_id) on delete set null (dataset_id),
  foreign key (workspace_id, source_id) references sources (workspace_id, source_id) on delete set null (source_id),
  foreign key (workspace_id, output_dataset_id) references datasets (workspace_id, dataset_id) on delete set null (output_dataset_id),
  check ((workflow_id is null) <> (definition_id is null)),
  check (dataset_id is null or source_id is null),
  check ((cron is null) = (timezone is null)),
  check ((status = 'paused') = (paused_reason is not null))
);
create index enrichment_jobs_due on enrichment_jobs (due_at) where status in ('idle', 'failed') and due_at is not null;
create index enrichment_jobs_by_workflow on enrichment_jobs (workspace_id, workflow_id, job_id) where workflow_id is not null;
create index enrichment_jobs_by_dataset on enrichment_jobs (workspace_id, dataset_id) where dataset_id is not null;
create index enrichment_jobs_by_output on enrichment_jobs (workspace_id, output_dataset_id) where output_dataset_id is not null;
create index enrichment_jobs_by_source on enrichment_jobs (workspace_id, source_id) where source_id is not null;

create table job_members (
  workspace_id uuid not null,
  job_id uuid not null,
  user_id uuid not null,
  role text not null check (role in ('owner', 'member', 'viewer')),
  added_at timestamptz not null default now(),
  primary key (workspace_id, job_id, user_id),
  foreign key (workspace_id, job_id) references enrichment_jobs (workspace_id, job_id) on delete cascade,
  foreign key (workspace_id, user_id) references memberships (workspace_id, user_id) on delete cascade
);
create index job_members_by_user on job_members (workspace_id, user_id, job_id);

-- What a socket shows; numbered by the job's own counter, so that a higher number is never visible before a lower one.
create table job_events (
  workspace_id uuid not null,
  job_id uuid not null,
  seq integer not null,
  type text not null,
  at timestamptz not null default now(),
  data json not null,
  primary key (workspace_id, job_id, seq),
  foreign key (workspace_id, job_id) references enrichment_jobs (workspace_id, job_id) on delete cascade
);

create table suites (
  workspace_id uuid not null references workspaces on delete cascade,
  suite_id uuid not null,
  workflow_id uuid not null,
  name text not null,
  dataset_id uuid,
  mapping json,
  checks json not null,
  created_by uuid references users on delete set null,
  last_run_id uuid,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (workspace_id, suite_id),
  unique (suite_id),
  foreign key (workspace_id, workflow_id) references workflows (workspace_id, workflow_id),
  foreign key (workspace_id, dataset_id) references datasets (workspace_id, dataset_id) on delete set null (dataset_id)
);
create index suites_by_workflow on suites (workspace_id, workflow_id, suite_id desc);
create index suites_by_dataset on suites (workspace_id, dataset_id) where dataset_id is not null;

-- One run of a job or a suite over its records. Whoever holds the lease drives it; every write of theirs names runner and
-- epoch, so that one who lost it writes nothing.
create table ledger_runs (
  workspace_id uuid not null references workspaces on delete cascade,
  run_id uuid not null,
  job_id uuid,
  suite_id uuid,
  status text not null check (status in ('starting', 'running', 'writing', 'succeeded', 'failed', 'cancelled')),
  is_full boolean not null default false,
  -- What is done to each record, as it was when the run began.
  recipe_sha256 bytea not null,
  mapping json,
  only_if text,
  definition_ref text not null,
  workflow_id uuid,
  version_id uuid,
  concurrency integer not null,
  max_attempts smallint not null,
  stop_on_error_rate double precision,
  dataset_id uuid,
  source_id uuid,
  -- A source's rows as they were read for this run.
  captured_version_id uuid,
  dataset_sha256 text,
  total integer not null default 0,
  -- Positions below `planned` have their ledger row; those below `claimed` have been begun.
  planned integer not null default 0,
  claimed integer not null default 0,
  running integer not null default 0,
  succeeded integer not null default 0,
  failed integer not null default 0,
  skipped integer not null default 0,
  cancelling boolean not null default false,
  error json,
  requested_by uuid references users on delete set null,
  output_dataset_id uuid,
  runner_id uuid,
  epoch integer not null default 0,
  lease_until timestamptz,
  started_at timestamptz not null default now(),
  finished_at timestamptz,
  primary key (workspace_id, run_id),
  foreign key (workspace_id, job_id) references enrichment_jobs (workspace_id, job_id) on delete cascade,
  foreign key (workspace_id, suite_id) references suites (workspace_id, suite_id) on delete cascade,
  check ((job_id is null) <> (suite_id is null)),
  check ((finished_at is null) = (status in ('starting', 'running', 'writing')))
) with (fillfactor = 50);
create unique index ledger_runs_one_live on ledger_runs (workspace_id, job_id) where finished_at is null and job_id is not null;
create index ledger_runs_by_job on ledger_runs (workspace_id, job_id, run_id desc) where job_id is not null;
create index ledger_runs_by_suite on ledger_runs (workspace_id, suite_id, run_id desc) where suite_id is not null;
create index ledger_runs_free on ledger_runs (lease_until) where finished_at is null;

-- The ledger: one row per record and run. No index names `status`: nearly every update stays on its page (HOT).
-- No foreign key: deleting a job must not walk a million rows; the sweep does, in portions.
create table ledger_records (
  workspace_id uuid not null,
  run_id uuid not null,
  position integer not null,
  record_sha256 bytea not null,
  status text not null check (status in ('pending', 'running', 'succeeded', 'failed', 'skipped')),
  attempt smallint not null default 0,
  -- Pending again after a failure: not before this.
  due_at timestamptz,
  execution_id uuid,
  error json,
  duration_ms integer,
  usage json,
  finished_at timestamptz,
  primary key (workspace_id, run_id, position)
) with (fillfactor = 70);
create index ledger_records_again on ledger_records (workspace_id, run_id, due_at) where due_at is not null;
create index ledger_records_wrong on ledger_records (workspace_id, run_id, position) where error is not null;

-- What came of a record under a recipe, for the runs that follow. `subject_id` is the job or the suite.
create table ledger_results (
  workspace_id uuid not null,
  subject_id uuid not null,
  recipe_sha256 bytea not null,
  record_sha256 bytea not null,
  run_id uuid not null,
  result json,
  result_blob json,
  finished_at timestamptz not null default now(),
  primary key (workspace_id, subject_id, recipe_sha256, record_sha256)
);

-- What a suite found for each record of a run.
create table suite_outcomes (
  workspace_id uuid not null,
  run_id uuid not null,
  position integer not null,
  outcome text not null check (outcome in ('passed', 'failed', 'error', 'unjudged')),
  actual json,
  checks json not null,
  primary key (workspace_id, run_id, position),
  foreign key (workspace_id, run_id) references ledger_runs (workspace_id, run_id) on delete cascade
);

-- Runs, jobs and suites that are gone, whose rows of the ledger are still there.
create table ledger_garbage (
  workspace_id uuid not null,
  gone_id uuid not null,
  primary key (workspace_id, gone_id)
);

do $$
declare one_table text;
begin
  foreach one_table in array array['job_definitions', 'enrichment_jobs', 'job_members', 'job_events', 'suites',
    'ledger_runs', 'ledger_records', 'ledger_results', 'suite_outcomes', 'ledger_garbage'] loop
    execute format('alter table %I enable row level security', one_table);
    execute format('alter table %I force row level security', one_table);
    execute format('create policy owner_all on %I to heddle_owner using (true) with check (true)', one_table);
    execute format('create policy own on %I to heddle_app using (workspace_id = nullif(current_setting(''app.ws'', true), '''')::uuid)', one_table);
    execute format('grant select, insert, update, delete on %I to heddle_app', one_table);
  end loop;
end $$;

create function note_ledger_garbage() returns trigger language plpgsql security definer set search_path = public as $$
begin
  insert into ledger_garbage (workspace_id, gone_id) values (old.workspace_id,
    case tg_table_name when 'ledger_runs' then (to_jsonb(old) ->> 'run_id')::uuid
      when 'suites' then (to_jsonb(old) ->> 'suite_id')::uuid else (to_jsonb(old) ->> 'job_id')::uuid end)
  on conflict do nothing;
  return null;
end $$;
create trigger garbage after delete on ledger_runs for each row execute function note_ledger_garbage();
create trigger garbage after delete on enrichment_jobs for each row execute function note_ledger_garbage();
create trigger garbage after delete on suites for each row execute function note_ledger_garbage();

-- What models counted for an execution, inside its maps too, and for the workflows that it called, by name.
create function usage_of_execution(space uuid, execution uuid) returns json language sql stable set search_path = public
begin atomic
  with recursive its (execution_id) as (
    select execution
    union all
    select e.execution_id from its, executions e where e.workspace_id = space and e.parent_execution_id = its.execution_id)
  select json_object_agg(u.key, u.total) from (
    select x.key, sum(x.value::numeric) as total
    from its, lateral (select case v.type when 'node.succeeded' then v.data -> 'usage' else v.data #> '{error,details,usage}' end as usage
        from events v where v.execution_id = its.execution_id and v.type in ('node.succeeded', 'node.failed', 'node.retrying')
      union all
      select i.usage from map_items i where i.execution_id = its.execution_id and i.usage is not null) v,
      lateral json_each_text(case when json_typeof(v.usage) = 'object' then v.usage else '{}' end) x
    where x.value ~ '^[0-9]+(\.[0-9]+)?$' group by x.key) u;
end;
create function sum_of_usage(one json, other json) returns json language sql immutable
  return (select json_object_agg(u.key, u.total) from (
    select x.key, sum(x.value::numeric) as total
    from (select * from json_each_text(coalesce(one, '{}')) union all select * from json_each_text(coalesce(other, '{}'))) x
    group by x.key) u);

-- Removes a portion of what belongs to gone runs, jobs and suites, and of runs that are history: the newest ten of each
-- job or suite are kept, and everything younger than 30 days. True where there is more to do.
create function sweep_ledger(most integer default 10000) returns boolean
language plpgsql security definer set search_path = public as $$
declare
  one ledger_garbage;
  removed integer;
begin
  if not pg_try_advisory_xact_lock(hashtext('sweep_ledger')) then return false; end if;
  delete from ledger_runs r where r.finished_at < now() - interval '30 days' and (
    select count(*) from (select from ledger_runs n where n.workspace_id = r.workspace_id
      and coalesce(n.job_id, n.suite_id) = coalesce(r.job_id, r.suite_id) and n.run_id > r.run_id limit 10) newer) >= 10;
  -- Results under a recipe that no kept run used.
  delete from ledger_results x where ctid = any (array(
    select x.ctid from ledger_results x where x.finished_at < now() - interval '30 days' and not exists (
      select from ledger_runs r where r.workspace_id = x.workspace_id and coalesce(r.job_id, r.suite_id) = x.subject_id
        and r.recipe_sha256 = x.recipe_sha256) limit most));
  -- Definitions that no job points at, no kept run used, and no execution that is kept was made of.
  delete from job_definitions d where d.created_at < now() - interval '1 day'
    and not exists (select from enrichment_jobs j where j.workspace_id = d.workspace_id and j.definition_id = d.definition_id)
    and not exists (select from ledger_runs r where r.workspace_id = d.workspace_id and r.job_id = d.job_id
      and r.definition_ref = 'adhoc:' || d.definition_id)
    and not exists (select from ledger_garbage g where g.workspace_id = d.workspace_id and g.gone_id = d.job_id)
    and not exists (select from executions e where e.workspace_id = d.workspace_id and e.trigger_kind = 'job'
      and e.trigger_id = d.trigger_id and e.definition_ref = 'adhoc:' || d.definition_id);
  select * into one from ledger_garbage limit 1;
  if not found then return false; end if;
  delete from ledger_records where ctid = any (array(select ctid from ledger_records
    where workspace_id = one.workspace_id and run_id = one.gone_id limit most));
  get diagnostics removed = row_count;
  if removed < most then
    delete from ledger_results where ctid = any (array(select ctid from ledger_results
      where workspace_id = one.workspace_id and subject_id = one.gone_id limit most));
    get diagnostics removed = row_count;
    if removed < most then
      delete from ledger_garbage where workspace_id = one.workspace_id and gone_id = one.gone_id;
    end if;
  end if;
  return true;
end $$;

-- Over all workspaces; the caller then works in each one's own scope.
-- The workspaces take turns, so that one with very many leaves room for the others; `full` are left out altogether.
create function due_jobs(most integer, "full" uuid[]) returns table (workspace_id uuid, job_id uuid)
language sql stable security definer set search_path = public
begin atomic
  select j.workspace_id, j.job_id from enrichment_jobs j
  where j.status in ('idle', 'failed') and j.due_at <= now() and j.workspace_id <> all ("full")
  order by row_number() over (partition by j.workspace_id order by j.due_at), j.due_at limit most;
end;
create function free_runs(most integer, "full" uuid[]) returns table (workspace_id uuid, run_id uuid)
language sql stable security definer set search_path = public
begin atomic
  select r.workspace_id, r.run_id from ledger_runs r
  where r.finished_at is null and r.lease_until <= now() and r.workspace_id <> all ("full")
  order by row_number() over (partition by r.workspace_id order by r.lease_until), r.lease_until limit most;
end;
-- When there will be something to take up; null where nothing is planned.
create function next_ledger_work_at() returns timestamptz language sql stable security definer set search_path = public
  return least((select min(due_at) from enrichment_jobs where status in ('idle', 'failed') and due_at is not null),
    (select min(lease_until) from ledger_runs where finished_at is null));

-- The role of each person in each job, in the order asked: of a pinned job that of its workflow, while there is one; else
-- that of the job itself. Null where the job is gone, empty where the person may not know of it.
create function roles_in_jobs(people uuid[], spaces uuid[], jobs uuid[]) returns table (role text)
language sql stable security definer set search_path = public
begin atomic
  select case
    when j.job_id is null then null
    when f.workflow_id is not null then case when f.owner_id = w.person then 'owner' else coalesce((select m.role from workflow_members m
      where m.workspace_id = f.workspace_id and m.workflow_id = f.workflow_id and m.user_id = w.person), '') end
    else coalesce((select m.role from job_members m
      where m.workspace_id = j.workspace_id and m.job_id = j.job_id and m.user_id = w.person), '') end
  from unnest(people, spaces, jobs) with ordinality as w (person, space, job, n)
  left join enrichment_jobs j on j.workspace_id = w.space and j.job_id = w.job
  left join workflows f on f.workspace_id = j.workspace_id and f.workflow_id = j.workflow_id and f.deleted_at is null
  order by w.n;
end;

-- What follows `after` in the feed of each job, with the highest number given so far.
create function read_job_feeds(watched uuid[], after integer[], most integer)
returns table (request bigint, last_seq integer, seq integer, type text, at timestamptz, data json)
language sql stable security definer set search_path = public
begin atomic
  select w.n, j.event_seq, e.seq, e.type, e.at, e.data
  from unnest(watched, after) with ordinality as w (job, after, n)
  join enrichment_jobs j on j.job_id = w.job
  left join lateral (select * from job_events x where x.workspace_id = j.workspace_id and x.job_id = j.job_id and x.seq > w.after
    order by x.seq limit most) e on true
  order by w.n, e.seq;
end;

-- The same as before, and the members of a standalone job for what it executes.
create or replace function watchable_executions(people uuid[], spaces uuid[], watched uuid[]) returns table (allowed boolean)
language sql stable security definer set search_path = public
begin atomic
  select case when e.execution_id is null then null
    else e.started_by is not distinct from w.person or exists (select from workflows f where f.workspace_id = e.workspace_id and f.workflow_id = e.workflow_id
        and f.deleted_at is null and (f.owner_id = w.person or exists (select from workflow_members m
          where m.workspace_id = f.workspace_id and m.workflow_id = f.workflow_id and m.user_id = w.person)))
      or (e.definition_ref like 'adhoc:%' and exists (select from job_definitions d, roles_in_jobs(array[w.person], array[d.workspace_id], array[d.job_id]) r
        where d.workspace_id = e.workspace_id and d.definition_id = substr(e.definition_ref, 7)::uuid and r.role <> '')) end
  from unnest(people, spaces, watched) with ordinality as w (person, space, execution, n)
  left join executions e on e.workspace_id = w.space and e.execution_id = w.execution
  order by w.n;
end;

revoke execute on function note_ledger_garbage(), sweep_ledger(integer), due_jobs(integer, uuid[]), free_runs(integer, uuid[]),
  next_ledger_work_at(), roles_in_jobs(uuid[], uuid[], uuid[]), read_job_feeds(uuid[], integer[], integer) from public;
grant execute on function usage_of_execution(uuid, uuid), sum_of_usage(json, json), sweep_ledger(integer), due_jobs(integer, uuid[]), free_runs(integer, uuid[]), next_ledger_work_at(),
  roles_in_jobs(uuid[], uuid[], uuid[]), read_job_feeds(uuid[], integer[], integer) to heddle_app;
