-- Breaks the index of words in processes that are newer than 0.1.0 and older than this: it becomes another one, which no release has used yet.
-- Blocks of runs with the hashes of what they hold, written in bulk and merged into larger ones: docs/decisions/index-of-runs.md says why.

drop function add_run_terms(json), find_run_terms(bigint[], uuid, uuid, boolean, integer), compact_run_terms(integer),
  forget_run_terms(uuid, integer);
drop table run_terms;

create table run_blocks (
  workspace_id uuid not null references workspaces on delete cascade,
  block_id uuid not null default gen_random_uuid(),
  first_id uuid not null,
  last_id uuid not null,
  runs integer not null check (runs between 1 and 65535),
  -- How many hashes of how many runs there are in it.
  pairs integer not null,
  -- 16 bytes for each run, in order, and every 256th of them again.
  ids bytea not null,
  samples bytea not null,
  -- Where each page of `data` begins (server/areas/executions/block.ts).
  dir bytea not null,
  data bytea not null,
  primary key (workspace_id, block_id)
);
-- Not compressed: a search reads a few pages of a block.
alter table run_blocks alter column ids set storage external, alter column data set storage external,
  alter column samples set storage external, alter column dir set storage external;
create index run_blocks_by_last on run_blocks (workspace_id, last_id);
create index run_blocks_by_age on run_blocks (last_id);

-- Runs that were still at work when the runs of their time were compared with the index. What ends takes itself out.
create table run_index_open (
  workspace_id uuid not null references workspaces on delete cascade,
  execution_id uuid not null,
  primary key (workspace_id, execution_id)
);

do $$
declare one_table text;
begin
  foreach one_table in array array['run_blocks', 'run_index_open'] loop
    execute format('alter table %I enable row level security', one_table);
    execute format('alter table %I force row level security', one_table);
    execute format('create policy owner_all on %I to heddle_owner using (true) with check (true)', one_table);
    execute format('create policy own on %I to heddle_app using (workspace_id = app_workspace())', one_table);
    execute format('grant select, insert, update, delete on %I to heddle_app', one_table);
  end loop;
end $$;

-- Every run from `covered_from` up to `covered_to` is in the index or in run_index_open. Both begin now: runs from before are
-- added from the newest to the oldest.
create table run_index_state (
  one boolean primary key default true check (one),
  covered_from uuid not null,
  covered_to uuid not null,
  leased_until timestamptz not null default '-infinity'
);
insert into run_index_state (covered_from, covered_to) values (engine.first_id(now()), engine.first_id(now()));
alter table run_index_state enable row level security;
alter table run_index_state force row level security;
create policy owner_all on run_index_state to heddle_owner using (true) with check (true);

create function covered_runs() returns table (covered_from uuid, covered_to uuid)
language sql stable security definer set search_path = public, pg_temp
begin atomic
  select s.covered_from, s.covered_to from run_index_state s;
end;

create function cover_runs(from_id uuid, to_id uuid) returns void
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  update run_index_state set covered_from = least(covered_from, from_id), covered_to = greatest(covered_to, to_id);
end $$;

-- Whether the caller may compare runs with the index for so long; 0 gives it back.
create function lease_run_sweep(seconds integer) returns boolean
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  update run_index_state set leased_until = now() + make_interval(secs => seconds) where seconds = 0 or leased_until < now();
  return found;
end $$;

create function add_run_blocks(workspaces_ uuid[], firsts uuid[], lasts uuid[], runs_ integer[], pairs_ integer[], ids_ bytea[],
  samples_ bytea[], dirs bytea[], datas bytea[]) returns void
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  insert into run_blocks (workspace_id, first_id, last_id, runs, pairs, ids, samples, dir, data)
  select b.* from unnest(workspaces_, firsts, lasts, runs_, pairs_, ids_, samples_, dirs, datas)
    as b (workspace_id, first_id, last_id, runs, pairs, ids, samples, dir, data)
  where exists (select from workspaces w where w.workspace_id = b.workspace_id);
end $$;

create function close_indexed_runs(workspaces_ uuid[], ids_ uuid[]) returns void
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  delete from run_index_open where (workspace_id, execution_id) in (select * from unnest(workspaces_, ids_));
end $$;

-- Runs of a range of ids, workspace by workspace.
create function runs_between(from_id uuid, to_id uuid, after_workspace uuid, after_id uuid, most integer)
returns table (workspace_id uuid, execution_id uuid, finished_at timestamptz)
language sql stable security definer set search_path = public, pg_temp
begin atomic
  select w.workspace_id, e.execution_id, e.finished_at from workspaces w cross join lateral (
      select x.execution_id, x.finished_at from executions x
      where x.workspace_id = w.workspace_id and x.execution_id >= from_id and x.execution_id < to_id
        and (w.workspace_id > after_workspace or x.execution_id > after_id)
      order by x.execution_id limit most) as e
  where w.workspace_id >= after_workspace
  order by w.workspace_id, e.execution_id limit most;
end;

-- The newest run before this one, of any workspace.
create function newest_run_before(id uuid) returns uuid
language sql stable security definer set search_path = public, pg_temp
begin atomic
  select x.execution_id from workspaces w cross join lateral (
    select e.execution_id from executions e where e.workspace_id = w.workspace_id and e.execution_id < id
    order by e.execution_id desc limit 1) as x order by x.execution_id desc limit 1;
end;

-- Runs that have ended since they were found at work, and whose process did not live to index them.
create function ended_open_runs(before timestamptz, most integer) returns table (workspace_id uuid, execution_id uuid)
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  delete from run_index_open o where not exists (
    select from executions e where e.workspace_id = o.workspace_id and e.execution_id = o.execution_id);
  return query select o.workspace_id, o.execution_id from run_index_open o
    join executions e on e.workspace_id = o.workspace_id and e.execution_id = o.execution_id
    where e.finished_at < before order by 1, 2 limit most;
end $$;

create function workspaces_with_small_blocks(at_least integer, most integer) returns setof uuid
language sql stable security definer set search_path = public, pg_temp
begin atomic
  select b.workspace_id from run_blocks b where b.runs < 4096 group by b.workspace_id having count(*) >= at_least limit most;
end;

create function forget_run_blocks(before uuid, most integer) returns integer
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  forgotten integer;
begin
  delete from run_blocks where ctid = any(array(select ctid from run_blocks where last_id < before order by last_id limit most));
  get diagnostics forgotten = row_count;
  return forgotten;
end $$;

do $$
declare one_function regprocedure;
begin
  foreach one_function in array array['covered_runs()', 'cover_runs(uuid, uuid)', 'lease_run_sweep(integer)', 'close_indexed_runs(uuid[], uuid[])',
    'add_run_blocks(uuid[], uuid[], uuid[], integer[], integer[], bytea[], bytea[], bytea[], bytea[])',
    'runs_between(uuid, uuid, uuid, uuid, integer)', 'newest_run_before(uuid)', 'ended_open_runs(timestamptz, integer)',
    'workspaces_with_small_blocks(integer, integer)', 'forget_run_blocks(uuid, integer)']::regprocedure[] loop
    execute format('revoke execute on function %s from public', one_function);
    execute format('grant execute on function %s to heddle_app', one_function);
  end loop;
end $$;
