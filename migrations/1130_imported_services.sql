-- Breaks nothing: new tables. Services that a workspace imported, such as an OpenAPI document, with an action for each operation.

create table imported_services (
  workspace_id uuid not null references workspaces on delete cascade,
  service_id uuid not null,
  -- As definitions name it: `custom.` and a name of the workspace's choice.
  service text not null,
  kind text not null check (kind in ('openapi', 'mcp')),
  title text not null,
  description text not null,
  version text not null,
  base_url text not null,
  reference text,
  -- Where the document came from; null where it was uploaded.
  source_url text,
  sha256 text not null,
  auth jsonb not null default '[]',
  credential_required boolean not null,
  action_count integer not null,
  created_by uuid references users on delete set null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (workspace_id, service_id),
  unique (workspace_id, service)
);

create table imported_actions (
  workspace_id uuid not null,
  service_id uuid not null,
  name text not null,
  title text not null,
  description text not null,
  effect text not null check (effect in ('read', 'idempotent', 'write')),
  method text not null,
  path text not null,
  -- The rest of the action: the schema of its arguments, and how they become a request.
  action jsonb not null,
  primary key (workspace_id, service_id, name),
  foreign key (workspace_id, service_id) references imported_services on delete cascade
);

do $$
declare one_table text;
begin
  foreach one_table in array array['imported_services', 'imported_actions'] loop
    execute format('alter table %I enable row level security', one_table);
    execute format('alter table %I force row level security', one_table);
    execute format('create policy owner_all on %I to heddle_owner using (true) with check (true)', one_table);
    execute format('create policy own on %I to heddle_app using (workspace_id = app_workspace())', one_table);
  end loop;
end $$;
grant select, insert, update, delete on imported_services, imported_actions to heddle_app;
