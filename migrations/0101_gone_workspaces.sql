-- Breaks nothing: a new table and a trigger. What the engine holds of a workspace ends with it and is removed afterwards.

-- The engine's tables have no foreign key to workspaces. This list says whose rows and blobs are still to be removed.
create table gone_workspaces (
  workspace_id uuid primary key,
  at timestamptz not null default now()
);
alter table gone_workspaces enable row level security;
alter table gone_workspaces force row level security;
create policy owner_all on gone_workspaces to heddle_owner using (true) with check (true);
create policy engine_all on gone_workspaces to heddle_engine using (true) with check (true);
grant select, delete on gone_workspaces to heddle_engine;

-- Ends what is live in a workspace that is no more. What a worker owns is told to stop; what only waits ends here: its
-- definition went with the workspace, so no worker could take it up again. Each row is locked before it is looked at.
create function engine.end_workspace(p_workspace uuid) returns integer
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  v_live record;
  v_ended integer := 0;
begin
  for v_live in
    select execution_id, status, inbox from executions
      where workspace_id = p_workspace and status in ('queued', 'running', 'waiting') order by execution_id for no key update
  loop
    if v_live.status <> 'running' then
      update executions set status = 'cancelled', finished_at = now(), due_at = null, waiting_for = '[]', snapshot = null,
          snapshot_seq = 0, tell_end = false, epoch = epoch + 1
        where workspace_id = p_workspace and execution_id = v_live.execution_id;
      v_ended := v_ended + 1;
    elsif not exists (select from inbox where execution_id = v_live.execution_id and key = 'cancel') then
      insert into inbox (workspace_id, execution_id, n, key, payload) values (p_workspace, v_live.execution_id,
        v_live.inbox + 1, 'cancel', json_build_object('type', 'cancel', 'by', null, 'reason', 'the workspace was deleted'));
      update executions set inbox = v_live.inbox + 1
        where workspace_id = p_workspace and execution_id = v_live.execution_id;
    end if;
  end loop;
  return v_ended;
end $$;

create function engine.workspace_gone() returns trigger
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  insert into gone_workspaces (workspace_id) values (old.workspace_id) on conflict do nothing;
  perform engine.end_workspace(old.workspace_id);
  return null;
end $$;
create trigger workspace_gone after delete on workspaces for each row execute function engine.workspace_gone();

-- Removes some of what has ended in a workspace that is no more; says how much it removed.
create function engine.sweep_workspace(p_workspace uuid, p_limit integer) returns integer
language plpgsql security definer set search_path = public, pg_temp as $$
declare v_ids uuid[];
begin
  if exists (select from workspaces where workspace_id = p_workspace) then return 0; end if;
  v_ids := array(select execution_id from executions
    where workspace_id = p_workspace and status not in ('queued', 'running', 'waiting') limit p_limit);
  delete from events where execution_id = any (v_ids);
  delete from map_items where execution_id = any (v_ids);
  delete from executions where workspace_id = p_workspace and execution_id = any (v_ids);
  return cardinality(v_ids);
end $$;

revoke all on function engine.end_workspace(uuid), engine.workspace_gone(), engine.sweep_workspace(uuid, integer) from public;
grant execute on function engine.end_workspace(uuid), engine.sweep_workspace(uuid, integer) to heddle_engine;
