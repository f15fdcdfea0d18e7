-- Breaks nothing: new tables and functions. Files that runs take and make; their bytes are in the blob store.

create table files (
  workspace_id uuid not null references workspaces on delete cascade,
  file_id uuid not null,
  name text not null,
  media_type text not null,
  -- 0 and empty until all bytes have come.
  bytes bigint not null default 0,
  sha256 text not null default '',
  stored boolean not null default false,
  -- The person who uploaded it; null where a run or a caller without an account made it.
  created_by uuid references users on delete set null,
  created_at timestamptz not null default now(),
  primary key (workspace_id, file_id)
);
create index files_by_age on files (created_at);

-- The runs that took or made a file: it is kept for as long as one of them is.
create table file_uses (
  workspace_id uuid not null,
  file_id uuid not null,
  execution_id uuid not null,
  primary key (workspace_id, file_id, execution_id),
  foreign key (workspace_id, file_id) references files on delete cascade
);
create index file_uses_by_execution on file_uses (workspace_id, execution_id);

-- Blobs whose rows are gone, to be removed from the store.
create table files_to_remove (
  workspace_id uuid not null,
  file_id uuid not null,
  primary key (workspace_id, file_id)
);
create function note_removed_file() returns trigger language plpgsql security definer set search_path = public, pg_temp as $$
begin
  insert into files_to_remove values (old.workspace_id, old.file_id) on conflict do nothing;
  return old;
end $$;
create trigger note_removed_file after delete on files for each row execute function note_removed_file();

do $$
declare one_table text;
begin
  foreach one_table in array array['files', 'file_uses', 'files_to_remove'] loop
    execute format('alter table %I enable row level security', one_table);
    execute format('alter table %I force row level security', one_table);
    execute format('create policy owner_all on %I to heddle_owner using (true) with check (true)', one_table);
    execute format('create policy own on %I to heddle_app using (workspace_id = app_workspace())', one_table);
  end loop;
end $$;
grant select, insert, update, delete on files, file_uses to heddle_app;
grant select, delete on files_to_remove to heddle_app;

-- Bytes are counted where they change, and held against the plan in the same transaction, as those of datasets are.
create function count_file() returns trigger language plpgsql security definer set search_path = public, pg_temp as $$
declare
  workspace uuid := coalesce(new.workspace_id, old.workspace_id);
  more bigint := coalesce(new.bytes, 0) - coalesce(old.bytes, 0);
  most bigint;
begin
  if more = 0 then return null; end if;
  perform add_usage(array[workspace], array['storage_bytes'], array[''], array[more]);
  if more <= 0 then return null; end if;
  select (p.quotas ->> 'storage_bytes')::bigint into most from workspaces w
    left join lateral (select plan_id from billing_subscriptions s where s.workspace_id = w.workspace_id and s.status <> 'cancelled'
      order by s.subscription_id desc limit 1) s on true
    join lateral (select plan.quotas from plans plan where plan.plan_id = s.plan_id
      or (s.plan_id is null and plan.org_id = w.org_id and plan.amount = 0 and plan.archived_at is null)
      order by plan.plan_id limit 1) p on true
    where w.workspace_id = workspace;
  if exists (select from usage_counters u where u.workspace_id = workspace and u.period = '' and u.quota = 'storage_bytes' and u.used > most) then
    raise exception using errcode = 'HQ001',
      message = format('The quota storage_bytes is used up: the plan allows %s. Remove something, or change the plan.', most);
  end if;
  return null;
end $$;
create trigger count_file after insert or update of bytes or delete on files for each row execute function count_file();

-- Files that no run holds any more, a day after they came, and those whose bytes never came; then the blobs to remove.
create function files_left_over(most integer) returns table (workspace_id uuid, file_id uuid)
language sql security definer set search_path = public, pg_temp
begin atomic
  delete from files f where (f.workspace_id, f.file_id) in (
    select o.workspace_id, o.file_id from files o where o.created_at < now() - interval '1 day' and (not o.stored or not exists (
      select from file_uses u join executions e on e.workspace_id = u.workspace_id and e.execution_id = u.execution_id
        where u.workspace_id = o.workspace_id and u.file_id = o.file_id))
    order by o.created_at limit most);
  select r.workspace_id, r.file_id from files_to_remove r limit most;
end;

-- Whether a run may read a file: it took or made it, or a run that led to it or that it started did.
create function file_reaches(p_workspace uuid, p_file uuid, p_execution uuid) returns boolean
language sql stable security invoker set search_path = public, pg_temp
begin atomic
  with recursive line (execution_id, depth) as (
    select p_execution, 0
    union
    select up.execution_id, l.depth + 1 from line l
      join executions e on e.workspace_id = p_workspace and e.execution_id = l.execution_id
      cross join lateral (values (e.parent_execution_id), (e.retry_of)) up (execution_id)
      where up.execution_id is not null and l.depth < 20
  )
  select exists (
    select from file_uses u where u.workspace_id = p_workspace and u.file_id = p_file and (
      u.execution_id in (select l.execution_id from line l)
      or exists (select from executions c where c.workspace_id = p_workspace and c.execution_id = u.execution_id
        and c.parent_execution_id = p_execution)));
end;

revoke execute on function note_removed_file(), count_file(), files_left_over(integer), file_reaches(uuid, uuid, uuid) from public;
grant execute on function files_left_over(integer), file_reaches(uuid, uuid, uuid) to heddle_app;

alter table mail_outbox add column attachments jsonb not null default '[]';
