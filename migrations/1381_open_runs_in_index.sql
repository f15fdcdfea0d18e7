-- Breaks nothing: a new column with a default. Runs that are still at work after a minute stand in the index of words with what they were given, and again
-- with what they gave when they have ended.

alter table run_index_open add column indexed boolean not null default false;
create index run_index_open_missing on run_index_open (workspace_id, execution_id) where not indexed;

create function open_runs_to_index(most integer) returns table (workspace_id uuid, execution_id uuid)
language sql stable security definer set search_path = public, pg_temp
begin atomic
  select o.workspace_id, o.execution_id from run_index_open o where not o.indexed order by 1, 2 limit most;
end;
revoke execute on function open_runs_to_index(integer) from public;
grant execute on function open_runs_to_index(integer) to heddle_app;
