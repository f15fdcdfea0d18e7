-- Breaks nothing: new tables. Connections to data warehouses, their sealed credentials, and the sources attached to them.

-- Which kinds an org offers; an org without rows offers all of them.
create table org_connection_kinds (
  org_id uuid not null references orgs on delete cascade,
  kind text not null,
  primary key (org_id, kind)
);

create table connections (
  workspace_id uuid not null references workspaces on delete cascade,
  connection_id uuid not null,
  name text not null,
  kind text not null check (kind in ('postgres', 'redshift', 'snowflake', 'bigquery', 'databricks', 'clickhouse', 'duckdb')),
  config jsonb not null,
  status text not null check (status in ('active', 'failing', 'revoked')),
  -- {"step": …, "message": …} of the last probe that failed.
  problem jsonb,
  -- Sealed; null once revoked. It opens only for this row and for the destination it was stored for.
  secrets bytea,
  owner_id uuid references users on delete set null,
  checked_at timestamptz not null default now(),
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (workspace_id, connection_id),
  unique (connection_id),
  check ((status = 'revoked') = (secrets is null))
);

create table sources (
  workspace_id uuid not null,
  source_id uuid not null,
  connection_id uuid not null,
  name text not null,
  "table" text,
  query text,
  created_by uuid references users on delete set null,
  created_at timestamptz not null default now(),
  primary key (workspace_id, source_id),
  unique (source_id),
  foreign key (workspace_id, connection_id) references connections (workspace_id, connection_id) on delete cascade,
  check (num_nonnulls("table", query) = 1)
);
create index sources_by_connection on sources (workspace_id, connection_id, source_id);

do $$
declare
  one_table text;
begin
  foreach one_table in array array['connections', 'sources'] loop
    execute format('alter table %I enable row level security', one_table);
    execute format('alter table %I force row level security', one_table);
    execute format('create policy owner_all on %I to heddle_owner using (true) with check (true)', one_table);
    execute format('create policy own on %I to heddle_app using (workspace_id = nullif(current_setting(''app.ws'', true), '''')::uuid)', one_table);
  end loop;
end $$;

grant select, insert, update, delete on connections, sources to heddle_app;
grant select on org_connection_kinds to heddle_app;

-- Which of these workspaces there are: what stands on disk for others can go.
create function workspaces_among(wanted uuid[]) returns setof uuid language sql stable security definer set search_path = public
begin atomic
  select workspace_id from workspaces where workspace_id = any (wanted);
end;
revoke execute on function workspaces_among(uuid[]) from public;
grant execute on function workspaces_among(uuid[]) to heddle_app;
