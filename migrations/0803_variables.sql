-- Breaks nothing: a new table. Values of a workspace that its workflows read as `vars.NAME`.

create table variables (
  workspace_id uuid not null references workspaces on delete cascade,
  name text not null check (name ~ '^[A-Za-z_][A-Za-z0-9_]{0,63}$'),
  value jsonb not null,
  description text,
  -- Who may change it, besides the owners of the workspace.
  created_by uuid references users on delete set null,
  updated_by uuid references users on delete set null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (workspace_id, name)
);
alter table variables enable row level security;
alter table variables force row level security;
create policy owner_all on variables to heddle_owner using (true) with check (true);
create policy own on variables to heddle_app using (workspace_id = app_workspace());
grant select, insert, update, delete on variables to heddle_app;
