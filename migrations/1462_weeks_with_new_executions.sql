-- Breaks nothing: the function answers as before. What was started in an old week between the look at who is kept and the lock was dropped with it.

create or replace function engine.detach_week(p_start timestamptz, p_days integer, p_most integer) returns integer
language plpgsql security definer set search_path = public, pg_temp set lock_timeout = '100ms' as $$
declare
  v_executions text := engine.week_name('executions', p_start);
  v_events text := engine.week_name('events', p_start);
  v_from uuid := engine.first_id(p_start);
  v_to uuid := engine.first_id(p_start + interval '7 days');
  v_whole boolean := exists (select from pg_class where oid = to_regclass(v_executions) and relispartition);
  v_spaces uuid[];
  v_ids uuid[];
  v_table text := case when v_whole then v_executions else 'executions' end;
  v_started boolean;
begin
  perform pg_advisory_xact_lock(7101);
  -- An ended execution stays ended: who need not be kept now need not be kept when the tables are locked.
  execute format('select coalesce(array_agg(workspace_id), ''{}''), coalesce(array_agg(execution_id), ''{}'') from (
      select workspace_id, execution_id from %I where execution_id >= %L and execution_id < %L
        and (finished_at is null or finished_at >= now() - $1 * interval ''1 day'' or tell_end) limit $2 + 1) as kept',
    v_table, v_from, v_to) into v_spaces, v_ids using p_days, p_most;
  if cardinality(v_ids) > p_most then return null; end if;
  lock table executions, events in access exclusive mode;
  -- Started since: a job that was paused for long goes on with ids of the time of its run. The week then stays, and its ended executions go one by one.
  execute format('select exists (select from %1$I where execution_id >= %2$L and execution_id < %3$L and status = ''queued'' and execution_id <> all ($1))
    or exists (select from %1$I where execution_id >= %2$L and execution_id < %3$L and status = ''running'' and execution_id <> all ($1))
    or exists (select from %1$I where execution_id >= %2$L and execution_id < %3$L and status = ''waiting'' and execution_id <> all ($1))',
    v_table, v_from, v_to) into v_started using v_ids;
  if v_started then return null; end if;
  if v_whole then
    execute format('alter table executions detach partition %I', v_executions);
    execute format('insert into executions select x.* from unnest($1, $2) as k (w, id)
      join %I x on x.workspace_id = k.w and x.execution_id = k.id', v_executions) using v_spaces, v_ids;
  end if;
  if exists (select from pg_class where oid = to_regclass(v_events) and relispartition) then
    execute format('alter table events detach partition %I', v_events);
    execute format('insert into events select e.* from unnest($1) as k (id) join %I e on e.execution_id = k.id', v_events) using v_ids;
  end if;
  if cardinality(v_ids) > 0 then insert into kept_weeks values (p_start) on conflict do nothing; end if;
  return cardinality(v_ids);
end $$;
