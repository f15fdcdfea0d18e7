-- Breaks setting the schedule of a workflow in processes of an older release: a workflow has several schedules.

alter table schedules
  add column schedule_id uuid not null default gen_random_uuid(),
  add column every_s double precision,
  add column at timestamptz,
  add column overlap text not null default 'allow' check (overlap in ('allow', 'skip', 'queue', 'cancel')),
  add column catch_up text not null default 'last' check (catch_up in ('none', 'last', 'all')),
  add column enabled boolean not null default true,
  -- The time it is due for. `next_run_at` is when it is looked at: later, where it has to wait.
  add column planned_at timestamptz,
  add column created_at timestamptz not null default now();
update schedules set planned_at = next_run_at;
alter table schedules alter column cron drop not null;
alter table schedules drop constraint schedules_pkey;
alter table schedules add primary key (workspace_id, schedule_id);
alter table schedules add check (num_nonnulls(cron, every_s, at) = 1);
create index schedules_by_workflow on schedules (workspace_id, workflow_id, created_at, schedule_id);

create index executions_of_schedules on executions (workspace_id, schedule_id)
  where schedule_id is not null and status in ('queued', 'running', 'waiting');

-- Due schedules of all workspaces; the caller then works in each one's own scope.
create function schedules_due_now(most integer) returns table (workspace_id uuid, schedule_id uuid)
language sql stable security definer set search_path = public, pg_temp
begin atomic
  select s.workspace_id, s.schedule_id from schedules s where s.next_run_at <= now() order by s.next_run_at limit most;
end;
-- Times that lie ahead, of all workspaces, page by page.
create function schedules_ahead(after_workspace uuid, after_id uuid, most integer)
returns table (workspace_id uuid, id uuid, cron text, every_s double precision, at timestamptz, timezone text, anchor timestamptz,
  next timestamptz, now timestamptz)
language sql stable security definer set search_path = public, pg_temp
begin atomic
  select s.workspace_id, s.schedule_id, s.cron, s.every_s, s.at, s.timezone, s.created_at, s.next_run_at, now() from schedules s
  where (s.workspace_id, s.schedule_id) > (after_workspace, after_id) and s.next_run_at > now()
  order by s.workspace_id, s.schedule_id limit most;
end;
revoke execute on function schedules_due_now(integer), schedules_ahead(uuid, uuid, integer) from public;
grant execute on function schedules_due_now(integer), schedules_ahead(uuid, uuid, integer) to heddle_app;
