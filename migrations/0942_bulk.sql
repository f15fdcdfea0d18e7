-- Breaks nothing: a new table. Cancelling or retrying many executions at once.

create table execution_bulks (
  workspace_id uuid not null references workspaces on delete cascade,
  bulk_id uuid not null,
  action text not null check (action in ('cancel', 'retry')),
  filter jsonb not null,
  options jsonb not null default '{}',
  status text not null default 'running' check (status in ('running', 'done')),
  -- Everything from here on was looked at; ids only fall.
  reached uuid not null default 'ffffffff-ffff-ffff-ffff-ffffffffffff',
  total integer not null,
  done integer not null default 0,
  refused integer not null default 0,
  last_error text,
  created_by uuid not null references users on delete cascade,
  created_at timestamptz not null default now(),
  finished_at timestamptz,
  primary key (workspace_id, bulk_id)
);
create index execution_bulks_running on execution_bulks (created_at) where status = 'running';
create index execution_bulks_by_person on execution_bulks (workspace_id, created_by, bulk_id desc);
alter table execution_bulks enable row level security;
alter table execution_bulks force row level security;
create policy owner_all on execution_bulks to heddle_owner using (true) with check (true);
create policy own on execution_bulks to heddle_app using (workspace_id = app_workspace());
grant select, insert, update, delete on execution_bulks to heddle_app;

-- Those under way in all workspaces; the caller then works in each one's own scope.
create function bulks_under_way(most integer) returns table (workspace_id uuid, bulk_id uuid)
language sql stable security definer set search_path = public, pg_temp
begin atomic
  select b.workspace_id, b.bulk_id from execution_bulks b where b.status = 'running' order by b.created_at limit most;
end;
revoke execute on function bulks_under_way(integer) from public;
grant execute on function bulks_under_way(integer) to heddle_app;
