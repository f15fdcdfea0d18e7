-- Breaks nothing: a new function. A week that was sealed is opened again for an execution whose id is of that week.

create function engine.open_week(p_partition text) returns void
language plpgsql security definer set search_path = public, pg_temp set lock_timeout = '100ms' as $$
begin
  if p_partition !~ '^executions_[0-9]{8}$' then return; end if;
  execute format('alter table if exists %I drop constraint if exists all_ended', p_partition);
end $$;
revoke all on function engine.open_week(text) from public;
grant execute on function engine.open_week(text) to heddle_engine;
