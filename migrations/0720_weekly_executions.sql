-- Breaks retention in processes of 0.1.0, which leave it to newer ones: executions are partitioned by week. Nothing else of theirs.

-- The table as it is becomes the partition of everything so far (executions_before), so no row is copied. What an installation
-- starts from now on goes to the partition of its week. docs/decisions/weekly-executions.md says why it is done this way.

lock table executions, inbox in access exclusive mode;

-- A message names an execution whose row its sender has locked: the key added nothing, and a partition that others refer to
-- cannot be dropped without reading them. What removes executions removes their messages.
alter table inbox drop constraint inbox_workspace_id_execution_id_fkey;

do $$
declare
  v_one record;
  v_newest uuid;
  v_end timestamptz;
  v_create text[] := '{}';
  v_bound text[];
  v_statement text;
begin
  -- Views, and functions with a parsed body, are bound to the table itself and not to its name.
  v_bound := array(select distinct format('create or replace view %s%s as %s', c.oid::regclass,
      ' with (' || array_to_string(c.reloptions, ', ') || ')', pg_get_viewdef(c.oid))
    from pg_depend d join pg_rewrite r on d.classid = 'pg_rewrite'::regclass and r.oid = d.objid join pg_class c on c.oid = r.ev_class
    where d.refclassid = 'pg_class'::regclass and d.refobjid = 'executions'::regclass and c.relkind = 'v')
  || array(select distinct pg_get_functiondef(p.oid)
    from pg_depend d join pg_proc p on d.classid = 'pg_proc'::regclass and p.oid = d.objid
    where d.refclassid = 'pg_class'::regclass and d.refobjid = 'executions'::regclass);
  drop function engine.claim(uuid, uuid, integer, integer, integer, integer);
  for v_one in select tgname, pg_get_triggerdef(oid) as definition from pg_trigger
    where tgrelid = 'executions'::regclass and not tgisinternal
  loop
    v_create := v_create || v_one.definition;
    execute format('drop trigger %I on executions', v_one.tgname);
  end loop;
  for v_one in select * from pg_policies where schemaname = 'public' and tablename = 'executions' loop
    v_create := v_create || format('create policy %I on executions for %s to %s %s %s', v_one.policyname, v_one.cmd,
      (select string_agg(quote_ident(one), ', ') from unnest(v_one.roles) as one),
      'using (' || v_one.qual || ')', 'with check (' || v_one.with_check || ')');
    -- The owner itself sees no row without its policy.
    if v_one.policyname <> 'owner_all' then execute format('drop policy %I on executions', v_one.policyname); end if;
  end loop;
  for v_one in select grantee::regrole as grantee, string_agg(privilege_type, ', ') as privileges
    from pg_class, aclexplode(relacl) where oid = 'executions'::regclass and grantee <> relowner group by grantee
  loop
    v_create := v_create || format('grant %s on executions to %s', v_one.privileges, v_one.grantee);
    execute format('revoke all on executions from %s', v_one.grantee);
  end loop;
  for v_one in select c.relname, pg_get_indexdef(c.oid) as definition, i.indisprimary
    from pg_index i join pg_class c on c.oid = i.indexrelid where i.indrelid = 'executions'::regclass
  loop
    if not v_one.indisprimary then v_create := v_one.definition || v_create; end if;
    execute format('alter index %I rename to %I', v_one.relname, replace(v_one.relname, 'executions_', 'executions_before_'));
  end loop;
  alter table executions rename to executions_before;
  execute 'create table executions (like executions_before including defaults including constraints) partition by range (execution_id)';
  alter table executions add primary key (workspace_id, execution_id);
  foreach v_statement in array v_create loop
    execute v_statement;
  end loop;
  alter table executions enable row level security;
  alter table executions force row level security;

  create table executions_default partition of executions default
    with (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.02);
  perform engine.close_partition('executions_default');

  foreach v_statement in array v_bound loop
    execute v_statement;
  end loop;
  if exists (select from pg_depend where refclassid = 'pg_class'::regclass and refobjid = 'executions_before'::regclass
      and classid in ('pg_proc'::regclass, 'pg_rewrite'::regclass)) then
    raise exception 'something is still bound to the table as it was';
  end if;

  -- By its size: a table that holds anything is never dropped, whoever may see what.
  if pg_relation_size('executions_before') = 0 then
    drop table executions_before;
  else
    -- Through this week, and through the last in which one began, whatever clock its id was made by.
    select execution_id into v_newest from executions_before order by execution_id desc limit 1;
    v_end := greatest(now(), to_timestamp(('x' || left(replace(v_newest::text, '-', ''), 12))::bit(48)::bigint / 1000.0));
    v_end := date_trunc('week', v_end at time zone 'utc') at time zone 'utc' + interval '7 days';
    execute format('alter table executions attach partition executions_before for values from (minvalue) to (%L)',
      engine.first_id(v_end));
  end if;
end $$;

-- Weeks that are gone except for executions that are kept (live, or ended lately). Those stand in the default partition, and
-- the blobs of their week are there until the last of them goes.
create table kept_weeks (start_at timestamptz primary key);
alter table kept_weeks enable row level security;
alter table kept_weeks force row level security;
create policy owner_all on kept_weeks to heddle_owner using (true) with check (true);
create policy engine_all on kept_weeks to heddle_engine using (true) with check (true);
grant select, delete on kept_weeks to heddle_engine;

-- As before. Updates name the status as well: partitions in which everything has ended are then left out of the plan.
create function engine.claim(p_worker uuid, p_after uuid, p_total integer, p_per_workspace integer,
  p_workspace_limit integer, p_suspects integer)
returns setof executions language plpgsql as $$
declare
  v_workspace uuid := p_after;
  v_wrapped boolean := false;
  v_row executions;
  v_taken integer := 0;
  v_room integer;
  v_suspects integer := 0;
  v_claimed text[] := '{}';
begin
  perform set_config('engine.claimed', '', false);
  perform from workers where worker_id = p_worker and not dead for share;
  if not found then return; end if;
  -- A claim that is lost with the database is made again. Whatever the worker then writes is flushed together with it.
  perform set_config('synchronous_commit', 'off', true);
  loop
    select workspace_id into v_workspace from executions
      where status = 'queued' and workspace_id > v_workspace order by workspace_id limit 1;
    if not found then
      exit when v_wrapped or p_after = '00000000-0000-0000-0000-000000000000';
      v_wrapped := true;
      v_workspace := '00000000-0000-0000-0000-000000000000';
      continue;
    end if;
    exit when v_wrapped and v_workspace > p_after;
    select p_workspace_limit - count(*) into v_room from (
      select from executions where workspace_id = v_workspace and status = 'running' limit p_workspace_limit) as running;
    for v_row in
      select * from executions where workspace_id = v_workspace and status = 'queued'
        order by due_at limit greatest(0, least(v_room, p_per_workspace, p_total - v_taken)) for no key update skip locked
    loop
      -- One that may have killed its workers runs with no other of that kind beside it, so that only it is blamed.
      if v_row.crashes >= 2 then
        if v_suspects >= p_suspects then continue; end if;
        v_suspects := v_suspects + 1;
      end if;
      if v_row.max_concurrency is not null and v_row.workflow_id is not null then
        perform pg_advisory_xact_lock(hashtextextended(v_row.workflow_id::text, 7100));
        if (select count(*) from executions where workspace_id = v_workspace and workflow_id = v_row.workflow_id
              and status = 'running') >= v_row.max_concurrency then
          update executions set status = 'waiting', due_at = null,
              waiting_for = jsonb_build_array(jsonb_build_object('kind', 'slot', 'since', now()))
            where workspace_id = v_workspace and execution_id = v_row.execution_id and status = 'queued';
          continue;
        end if;
      end if;
      update executions set status = 'running', worker_id = p_worker, due_at = null,
          started_at = coalesce(started_at, now())
        where workspace_id = v_workspace and execution_id = v_row.execution_id and status = 'queued' returning * into v_row;
      v_taken := v_taken + 1;
      v_claimed := v_claimed || format('%s %s %s', v_row.execution_id, v_row.snapshot_seq, v_row.seen);
      return next v_row;
    end loop;
    exit when v_taken >= p_total;
  end loop;
  perform set_config('engine.claimed', array_to_string(v_claimed, ','), false);
end $$;

create function engine.week_name(p_table text, p_start timestamptz) returns text language sql immutable
  return p_table || '_' || to_char(p_start at time zone 'utc', 'YYYYMMDD');

-- The end of what executions_before holds; null where there is no such partition.
create function engine.before_end() returns uuid language sql stable security definer set search_path = public, pg_temp
  return (select substring(pg_get_expr(c.relpartbound, c.oid) from 'TO \(''([0-9a-f-]{36})''\)')::uuid
    from pg_class c where c.oid = to_regclass('public.executions_before') and c.relispartition);

-- The partition of one week. Made beside the parent and then attached: the parent is locked against nobody who reads or writes,
-- and the default partition, which is looked through, is nearly empty. Whoever needs longer than a tenth of a second for a lock
-- gives up, because all others wait behind it; the caller comes again.
create function engine.add_week(p_table text, p_start timestamptz, p_options text) returns void
language plpgsql security definer set search_path = public, pg_temp set lock_timeout = '100ms' as $$
declare
  v_name text := engine.week_name(p_table, p_start);
  v_from uuid := engine.first_id(p_start);
  v_to uuid := engine.first_id(p_start + interval '7 days');
  v_in_default boolean;
begin
  if to_regclass(v_name) is not null then return; end if;
  if p_table = 'executions' and v_from < engine.before_end() then return; end if;
  -- An id from that week came before its partition, which can then not be attached: the week stays in the default one.
  execute format('select exists (select from %I where execution_id >= %L and execution_id < %L)',
    p_table || '_default', v_from, v_to) into v_in_default;
  if v_in_default then return; end if;
  execute format('create table %I (like %I including defaults including constraints) %s', v_name, p_table, p_options);
  perform engine.close_partition(v_name);
  execute format('alter table %I attach partition %I for values from (%L) to (%L)', p_table, v_name, v_from, v_to);
end $$;

create or replace function engine.ensure_week(p_start timestamptz) returns void
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  perform engine.add_week('executions', p_start, 'with (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.02)');
  perform engine.add_week('events', p_start, '');
end $$;

-- Weeks of which there is a partition, whole or left over from a drop that was interrupted.
create or replace function engine.weeks() returns table (start_at timestamptz)
language sql stable security definer set search_path = public, pg_temp
begin atomic
  select distinct to_date(right(c.relname, 8), 'YYYYMMDD')::timestamp at time zone 'utc'
  from pg_class c
  where c.relnamespace = 'public'::regnamespace and c.relkind = 'r' and c.relname ~ '^(executions|events)_[0-9]{8}$'
  order by 1;
end;

-- A week that is over for two weeks, and in which everything has ended and was told: a constraint says so, and statements that look
-- for live executions by status leave the partition out when they are planned. Without it each of them would open 60 partitions.
-- The constraint itself is checked without a lock that anybody feels.
create function engine.seal_week(p_start timestamptz) returns boolean
language plpgsql security definer set search_path = public, pg_temp set lock_timeout = '100ms' as $$
declare
  v_name text := engine.week_name('executions', p_start);
  v_live boolean;
begin
  if p_start > now() - interval '21 days' or not exists (select from pg_class where oid = to_regclass(v_name) and relispartition) then
    return false;
  end if;
  if exists (select from pg_constraint where conrelid = to_regclass(v_name) and conname = 'all_ended' and convalidated) then
    return false;
  end if;
  execute format('select exists (select from %1$I where status = ''queued'') or exists (select from %1$I where status = ''running'')
    or exists (select from %1$I where status = ''waiting'') or exists (select from %1$I where tell_end and finished_at is not null)',
    v_name) into v_live;
  if v_live then return false; end if;
  if not exists (select from pg_constraint where conrelid = to_regclass(v_name) and conname = 'all_ended') then
    execute format('alter table %I add constraint all_ended check (status in (''succeeded'', ''failed'', ''cancelled'', ''timed_out'')
      and not tell_end) not valid', v_name);
  end if;
  return true;
end $$;
create function engine.confirm_seal(p_start timestamptz) returns void
language plpgsql security definer set search_path = public, pg_temp set lock_timeout = '100ms' as $$
begin
  execute format('alter table %I validate constraint all_ended', engine.week_name('executions', p_start));
end $$;

-- Removes some executions of one partition that ended longer ago than p_days, with messages and items of maps, and their journal
-- where it does not go with its week. What people said goes with them (trigger forget_said).
create function engine.forget_some(p_partition text, p_days integer, p_journal boolean, p_limit integer)
returns table (workspace_id uuid, execution_id uuid) language plpgsql security definer set search_path = public, pg_temp as $$
declare v_spaces uuid[]; v_ids uuid[];
begin
  if to_regclass(p_partition) is null or p_partition !~ '^executions_[a-z0-9]+$' then return; end if;
  execute format('select array_agg(workspace_id), array_agg(execution_id) from (select workspace_id, execution_id from %I
    where finished_at < now() - $1 * interval ''1 day'' and not tell_end limit $2) as portion', p_partition)
    into v_spaces, v_ids using p_days, p_limit;
  if v_ids is null then return; end if;
  if p_journal then delete from events e where e.execution_id = any (v_ids); end if;
  delete from map_items m where m.execution_id = any (v_ids);
  delete from inbox i where i.execution_id = any (v_ids);
  delete from executions e using unnest(v_spaces, v_ids) as x (w, id) where e.workspace_id = x.w and e.execution_id = x.id;
  return query select * from unnest(v_spaces, v_ids);
end $$;

-- What else belongs to executions of a week that are about to go with it. Not part of the swap: it may take a second, and no
-- request waits for it.
create function engine.clear_week(p_start timestamptz, p_days integer) returns void
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  v_name text := engine.week_name('executions', p_start);
  v_table text;
begin
  if to_regclass(v_name) is null then return; end if;
  foreach v_table in array array['approval_requests', 'questions', 'map_items', 'inbox'] loop
    execute format('delete from %I t using %I x where t.workspace_id = x.workspace_id and t.execution_id = x.execution_id
      and t.execution_id >= %L and t.execution_id < %L and x.finished_at < now() - $1 * interval ''1 day'' and not x.tell_end',
      v_table, v_name, engine.first_id(p_start), engine.first_id(p_start + interval '7 days')) using p_days;
  end loop;
end $$;

-- Takes a week out of both tables: executions that ended longer ago than p_days and everything in their journal. Those that
-- are kept are copied into the default partitions. Null where too many are kept to be copied while everybody waits; then
-- the caller removes the others in portions. Who holds a lock for longer than a tenth of a second makes it fail, and it is tried again.
-- The tables are dropped by remove_week, after this is committed.
create function engine.detach_week(p_start timestamptz, p_days integer, p_most integer) returns integer
language plpgsql security definer set search_path = public, pg_temp set lock_timeout = '100ms' as $$
declare
  v_executions text := engine.week_name('executions', p_start);
  v_events text := engine.week_name('events', p_start);
  v_from uuid := engine.first_id(p_start);
  v_to uuid := engine.first_id(p_start + interval '7 days');
  v_whole boolean := exists (select from pg_class where oid = to_regclass(v_executions) and relispartition);
  v_spaces uuid[];
  v_ids uuid[];
begin
  perform pg_advisory_xact_lock(7101);
  -- An ended execution stays ended: who need not be kept now need not be kept when the tables are locked.
  execute format('select coalesce(array_agg(workspace_id), ''{}''), coalesce(array_agg(execution_id), ''{}'') from (
      select workspace_id, execution_id from %I where execution_id >= %L and execution_id < %L
        and (finished_at is null or finished_at >= now() - $1 * interval ''1 day'' or tell_end) limit $2 + 1) as kept',
    case when v_whole then v_executions else 'executions' end, v_from, v_to) into v_spaces, v_ids using p_days, p_most;
  if cardinality(v_ids) > p_most then return null; end if;
  lock table executions, events in access exclusive mode;
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

-- Drops what was detached. The file of a large table takes a while to remove, and nobody waits for this.
create function engine.remove_week(p_start timestamptz, out gone integer)
language plpgsql security definer set search_path = public, pg_temp as $$
declare v_table text;
begin
  gone := 0;
  foreach v_table in array array[engine.week_name('executions', p_start), engine.week_name('events', p_start)] loop
    continue when not exists (select from pg_class where oid = to_regclass(v_table) and not relispartition);
    if v_table like 'executions%' then
      execute format('select count(*) from %I', v_table) into gone;
    end if;
    execute format('drop table %I', v_table);
  end loop;
end $$;

-- Once nothing of before is left, neither is its partition.
create function engine.remove_before() returns void
language plpgsql security definer set search_path = public, pg_temp set lock_timeout = '100ms' as $$
declare v_left boolean;
begin
  if engine.before_end() is null or engine.before_end() > engine.first_id(now()) then return; end if;
  select exists (select from executions_before) into v_left;
  if not v_left then drop table executions_before; end if;
end $$;

-- Of an older release: it leaves retention to processes of this one.
create or replace function engine.drop_week(p_start timestamptz, p_days integer, out gone integer, out kept boolean)
language sql security definer set search_path = public, pg_temp
return (0, true);

create or replace function engine.forget_ended(p_workspace uuid, p_workflow uuid, p_days integer, p_limit integer)
returns table (execution_id uuid, left_blobs boolean) language plpgsql as $$
declare
  v_before timestamptz := now() - p_days * interval '1 day';
  v_ids uuid[];
begin
  v_ids := array(select e.execution_id from executions e
    where e.workspace_id = p_workspace and e.workflow_id = p_workflow and e.execution_id < engine.first_id(v_before)
      and e.finished_at < v_before and not e.tell_end
    order by e.execution_id limit p_limit for no key update skip locked);
  return query select e.execution_id, e.results_blob is not null or exists (
      select from events v where v.execution_id = e.execution_id and v.data -> 'blob' is not null)
    from executions e where e.workspace_id = p_workspace and e.execution_id = any (v_ids);
  delete from events v where v.execution_id = any (v_ids);
  delete from map_items m where m.execution_id = any (v_ids);
  delete from inbox i where i.execution_id = any (v_ids);
  delete from executions e where e.workspace_id = p_workspace and e.execution_id = any (v_ids);
end $$;

create or replace function engine.sweep_workspace(p_workspace uuid, p_limit integer) returns integer
language plpgsql security definer set search_path = public, pg_temp as $$
declare v_ids uuid[];
begin
  if exists (select from workspaces where workspace_id = p_workspace) then return 0; end if;
  v_ids := array(select execution_id from executions
    where workspace_id = p_workspace and status not in ('queued', 'running', 'waiting') limit p_limit);
  delete from events where execution_id = any (v_ids);
  delete from map_items where execution_id = any (v_ids);
  delete from inbox where execution_id = any (v_ids);
  delete from executions where workspace_id = p_workspace and execution_id = any (v_ids);
  return cardinality(v_ids);
end $$;

select engine.ensure_partitions();

revoke all on function engine.claim(uuid, uuid, integer, integer, integer, integer), engine.week_name(text, timestamptz),
  engine.before_end(), engine.add_week(text, timestamptz, text), engine.seal_week(timestamptz), engine.confirm_seal(timestamptz),
  engine.forget_some(text, integer, boolean, integer), engine.clear_week(timestamptz, integer),
  engine.detach_week(timestamptz, integer, integer), engine.remove_week(timestamptz), engine.remove_before() from public;
grant execute on function engine.claim(uuid, uuid, integer, integer, integer, integer), engine.seal_week(timestamptz),
  engine.confirm_seal(timestamptz), engine.forget_some(text, integer, boolean, integer), engine.clear_week(timestamptz, integer),
  engine.detach_week(timestamptz, integer, integer), engine.remove_week(timestamptz), engine.remove_before() to heddle_engine;
