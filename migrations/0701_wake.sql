-- Breaks nothing: an index and a function. Executions whose time has come are woken from workspace to workspace.

create index executions_due_by_workspace on executions (workspace_id, due_at) where status = 'waiting' and due_at is not null;

-- A portion of the executions whose time has come, by the database's clock alone: of each workspace some, beginning after
-- p_after, so that one with a hundred thousand timers for one instant keeps nobody else waiting. Workspaces are found by index
-- alone. Says how many it woke, and of which workspace the last. One statement: row by row, 500 took longer than 8,000 do.
create function engine.wake_some(p_after uuid, p_limit integer, p_of_one integer, out woken integer, out last uuid)
language sql as $$
  with recursive quick as materialized (select set_config('synchronous_commit', 'off', true)),
  behind as (
    (select workspace_id from executions where status = 'waiting' and due_at is not null and workspace_id > p_after
      order by workspace_id limit 1)
    union all
    select (select e.workspace_id from executions e
        where e.status = 'waiting' and e.due_at is not null and e.workspace_id > s.workspace_id order by e.workspace_id limit 1)
      from behind s where s.workspace_id is not null
  ),
  before as (
    (select workspace_id from executions where status = 'waiting' and due_at is not null and workspace_id <= p_after
      order by workspace_id limit 1)
    union all
    select (select e.workspace_id from executions e where e.status = 'waiting' and e.due_at is not null
        and e.workspace_id > s.workspace_id and e.workspace_id <= p_after order by e.workspace_id limit 1)
      from before s where s.workspace_id is not null
  ),
  due as materialized (
    select d.*, row_number() over () as n from quick, (select * from behind union all select * from before) s
      cross join lateral (
        select e.workspace_id, e.execution_id from executions e
        where e.workspace_id = s.workspace_id and e.status = 'waiting' and e.due_at <= now()
        order by e.due_at limit p_of_one for no key update skip locked) d
    limit p_limit
  ),
  woken as (
    update executions e set status = 'queued', waiting_for = '[]', due_at = now()
    from due d where e.workspace_id = d.workspace_id and e.execution_id = d.execution_id
    returning 1
  )
  select (select count(*)::integer from woken), (select workspace_id from due order by n desc limit 1)
$$;
revoke all on function engine.wake_some(uuid, integer, integer) from public;
grant execute on function engine.wake_some(uuid, integer, integer) to heddle_engine;
