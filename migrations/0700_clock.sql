-- Breaks nothing: a new table and functions. Finds out that the database's clock was put back, so that schedules are computed anew.

-- The latest time that was seen by each of those that plan ahead. A clock that shows less was put back.
create table clock_marks (
  name text primary key,
  latest timestamptz not null
);
alter table clock_marks enable row level security;
alter table clock_marks force row level security;
create policy owner_all on clock_marks to heddle_owner using (true) with check (true);

-- Written every ten seconds at most. Two transactions may begin in one order and get here in the other, hence the two seconds.
create function clock_was_put_back(planner text) returns boolean language plpgsql security definer set search_path = public, pg_temp as $$
declare seen timestamptz;
begin
  select latest into seen from clock_marks where name = planner;
  if seen > now() + interval '2 seconds' then return true; end if;
  if seen is null or seen < now() - interval '10 seconds' then
    insert into clock_marks (name, latest) values (planner, now())
      on conflict (name) do update set latest = excluded.latest where clock_marks.latest < excluded.latest;
  end if;
  return false;
end $$;

-- Everything was planned anew by the clock as it is.
create function accept_clock(planner text) returns void language sql security definer set search_path = public, pg_temp
begin atomic
  update clock_marks set latest = now() where name = planner;
end;

-- Times that lie ahead, of all workspaces, page by page; the caller then works in each one's own scope.
create function planned_schedules(after_workspace uuid, after_id uuid, most integer)
returns table (workspace_id uuid, id uuid, cron text, timezone text, next timestamptz, now timestamptz)
language sql stable security definer set search_path = public, pg_temp
begin atomic
  select s.workspace_id, s.workflow_id, s.cron, s.timezone, s.next_run_at, now() from schedules s
  where (s.workspace_id, s.workflow_id) > (after_workspace, after_id) and s.next_run_at > now()
  order by s.workspace_id, s.workflow_id limit most;
end;
create function planned_jobs(after_workspace uuid, after_id uuid, most integer)
returns table (workspace_id uuid, id uuid, cron text, timezone text, next timestamptz, now timestamptz)
language sql stable security definer set search_path = public, pg_temp
begin atomic
  select j.workspace_id, j.job_id, j.cron, j.timezone, j.due_at, now() from enrichment_jobs j
  where (j.workspace_id, j.job_id) > (after_workspace, after_id) and j.cron is not null and j.due_at > now()
  order by j.workspace_id, j.job_id limit most;
end;

revoke execute on function clock_was_put_back(text), accept_clock(text), planned_schedules(uuid, uuid, integer),
  planned_jobs(uuid, uuid, integer) from public;
grant execute on function clock_was_put_back(text), accept_clock(text), planned_schedules(uuid, uuid, integer),
  planned_jobs(uuid, uuid, integer) to heddle_app;
