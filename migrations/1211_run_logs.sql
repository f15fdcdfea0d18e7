-- Breaks nothing: a new table, a trigger and functions. What the nodes of a run wrote to its log: `log(...)` in code, and what agents said.

create table run_logs (
  workspace_id uuid not null references workspaces on delete cascade,
  execution_id uuid not null,
  node_path text not null,
  -- `run:2` is the second attempt of code, `turn:3` a turn of an agent on every attempt: what is done again is not written again.
  key text not null,
  n integer not null,
  -- In the order in which they were written, with `n`.
  batch_id uuid not null,
  level text not null check (level in ('debug', 'info', 'warn', 'error')),
  message text not null,
  at timestamptz not null default now(),
  primary key (workspace_id, execution_id, node_path, key, n)
);
create index run_logs_in_order on run_logs (workspace_id, execution_id, batch_id, n);
create index run_logs_by_age on run_logs (execution_id);
alter table run_logs enable row level security;
alter table run_logs force row level security;
create policy owner_all on run_logs to heddle_owner using (true) with check (true);
create policy own on run_logs to heddle_app using (workspace_id = app_workspace());
grant select, insert on run_logs to heddle_app;

-- A run that its workflow keeps for less long takes its log along.
create function forget_log_of_run() returns trigger language plpgsql security definer set search_path = public, pg_temp as $$
begin
  delete from run_logs where workspace_id = old.workspace_id and execution_id = old.execution_id;
  return null;
end $$;
revoke execute on function forget_log_of_run() from public;
create trigger forget_log_of_run after delete on executions for each row execute function forget_log_of_run();

create function forget_run_logs(before uuid, most integer) returns integer
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  forgotten integer;
begin
  delete from run_logs where ctid = any(array(select ctid from run_logs where execution_id < before order by execution_id limit most));
  get diagnostics forgotten = row_count;
  return forgotten;
end $$;
revoke execute on function forget_run_logs(uuid, integer) from public;
grant execute on function forget_run_logs(uuid, integer) to heddle_app;
