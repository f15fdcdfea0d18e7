-- Breaks nothing: the function returns what it returned.

-- The position in the queue of an execution that is woken: one that has not started yet goes by its priority, each step of which counts as one hour
-- of waiting, like a start that is queued at once.
create function engine.queue_time(p_started timestamptz, p_priority smallint) returns timestamptz language sql stable
return now() - case when p_started is null then coalesce(p_priority, 0) else 0 end * interval '1 hour';
revoke all on function engine.queue_time(timestamptz, smallint) from public;
grant execute on function engine.queue_time(timestamptz, smallint) to heddle_engine;

-- As before (1511), but a start whose time has come is queued with its priority. Before, it came after all that were queued earlier.
create or replace function engine.wake_some(p_after uuid, p_limit integer, p_of_one integer, out woken integer, out last uuid)
language plpgsql as $$
begin
  perform set_config('synchronous_commit', 'off', true);
  if (select count(*) from (select from executions where status = 'waiting' and due_at <= now() limit p_limit + 1) f) <= p_limit then
    with due as materialized (
      select e.workspace_id, e.execution_id from executions e where e.status = 'waiting' and e.due_at <= now()
      order by e.due_at limit p_limit for no key update skip locked
    ),
    changed as (
      update executions e set status = 'queued', waiting_for = '[]', due_at = engine.queue_time(e.started_at, e.priority)
      from due d where e.workspace_id = d.workspace_id and e.execution_id = d.execution_id
      returning e.workspace_id
    )
    select count(*)::integer, (array_agg(workspace_id))[1] from changed into woken, last;
    return;
  end if;
  with recursive behind as (
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
    select d.*, row_number() over () as n from (select * from behind union all select * from before) s
      cross join lateral (
        select e.workspace_id, e.execution_id from executions e
        where e.workspace_id = s.workspace_id and e.status = 'waiting' and e.due_at <= now()
        order by e.due_at limit p_of_one for no key update skip locked) d
    limit p_limit
  ),
  changed as (
    update executions e set status = 'queued', waiting_for = '[]', due_at = engine.queue_time(e.started_at, e.priority)
    from due d where e.workspace_id = d.workspace_id and e.execution_id = d.execution_id
    returning 1
  )
  select (select count(*)::integer from changed), (select workspace_id from due order by n desc limit 1) into woken, last;
end $$;
