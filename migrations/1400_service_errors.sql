-- Breaks nothing: a new table and functions. The last failures of actions of services, for the page of a service.

-- A step has one row: what fails in every item of a map, or at every attempt, is counted. The newest of each workflow and service are kept.
create table service_errors (
  workspace_id uuid not null references workspaces on delete cascade,
  execution_id uuid not null,
  -- The path of the node without the positions in maps and loops.
  step text not null,
  error_id uuid not null,
  workflow_id uuid,
  service text not null,
  action text not null,
  node_id text not null,
  code text not null,
  message text not null,
  failures bigint not null,
  failed_at timestamptz not null,
  primary key (workspace_id, execution_id, step)
);
create index service_errors_newest on service_errors (workspace_id, service, error_id desc);
create index service_errors_of_workflow on service_errors
  (workspace_id, service, coalesce(workflow_id, '00000000-0000-0000-0000-000000000000'::uuid), error_id desc);
create index service_errors_by_age on service_errors (execution_id);
alter table service_errors enable row level security;
alter table service_errors force row level security;
create policy owner_all on service_errors to heddle_owner using (true) with check (true);
create policy own on service_errors for select to heddle_app using (workspace_id = app_workspace());
grant select on service_errors to heddle_app;

-- What a process has noted since it last wrote, many workspaces at once. In the order of the keys, so that two processes do not wait for each other.
create function add_service_errors(errors json, kept integer) returns void
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  insert into service_errors as f (workspace_id, execution_id, step, error_id, workflow_id, service, action, node_id, code, message, failures, failed_at)
  select r.workspace_id, r.execution_id, r.step, r.error_id, r.workflow_id, r.service, r.action, r.node_id, r.code, r.message, r.failures,
    to_timestamp(r.failed_at / 1000)
  from json_to_recordset(errors) as r (workspace_id uuid, execution_id uuid, step text, error_id uuid, workflow_id uuid, service text,
    action text, node_id text, code text, message text, failures bigint, failed_at double precision)
  where exists (select from workspaces w where w.workspace_id = r.workspace_id)
  order by 1, 2, 3
  on conflict (workspace_id, execution_id, step) do update set error_id = excluded.error_id, node_id = excluded.node_id,
    code = excluded.code, message = excluded.message, failures = f.failures + excluded.failures, failed_at = excluded.failed_at;

  -- Rows that another process removes at this moment are left to it.
  delete from service_errors where ctid = any(array(
    select e.ctid from service_errors e join (
      select g.workspace_id, g.service, g.workflow_id, (
        select n.error_id from service_errors n where n.workspace_id = g.workspace_id and n.service = g.service
          and coalesce(n.workflow_id, '00000000-0000-0000-0000-000000000000') = g.workflow_id
        order by n.error_id desc offset kept limit 1) as last_id
      from (select distinct r.workspace_id, r.service, coalesce(r.workflow_id, '00000000-0000-0000-0000-000000000000') as workflow_id
        from json_to_recordset(errors) as r (workspace_id uuid, service text, workflow_id uuid)) g) old
      on e.workspace_id = old.workspace_id and e.service = old.service
        and coalesce(e.workflow_id, '00000000-0000-0000-0000-000000000000') = old.workflow_id and e.error_id <= old.last_id
    for update of e skip locked));
end $$;
revoke execute on function add_service_errors(json, integer) from public;
grant execute on function add_service_errors(json, integer) to heddle_app;

create function forget_service_errors(before uuid, most integer) returns integer
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  forgotten integer;
begin
  delete from service_errors where ctid = any(array(select ctid from service_errors where execution_id < before order by execution_id limit most));
  get diagnostics forgotten = row_count;
  return forgotten;
end $$;
revoke execute on function forget_service_errors(uuid, integer) from public;
grant execute on function forget_service_errors(uuid, integer) to heddle_app;

-- A run that is deleted takes its log and its errors along.
create or replace function forget_log_of_run() returns trigger language plpgsql security definer set search_path = public, pg_temp as $$
begin
  delete from run_logs where workspace_id = old.workspace_id and execution_id = old.execution_id;
  delete from service_errors where workspace_id = old.workspace_id and execution_id = old.execution_id;
  return null;
end $$;
