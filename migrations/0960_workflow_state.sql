-- Breaks nothing: new tables. What workflows remember from one run to the next, by key.

create table workflow_state (
  workspace_id uuid not null,
  workflow_id uuid not null,
  key text not null check (key ~ '^[A-Za-z0-9_.:@-]{1,128}$'),
  value jsonb not null,
  bytes integer not null,
  -- Counted for all keys of the workspace: a key that was deleted and set again never has a version that it had before.
  version bigint not null,
  -- The last writes, so that a write that is repeated after a crash happens once.
  effects text[] not null default '{}',
  execution_id uuid,
  updated_at timestamptz not null default now(),
  primary key (workspace_id, workflow_id, key),
  foreign key (workspace_id, workflow_id) references workflows (workspace_id, workflow_id) on delete cascade
);
alter table workflow_state enable row level security;
alter table workflow_state force row level security;
create policy owner_all on workflow_state to heddle_owner using (true) with check (true);
create policy own on workflow_state to heddle_app using (workspace_id = app_workspace());
grant select, insert, update, delete on workflow_state to heddle_app;

-- What all keys of a workspace hold together. Its row is locked by whoever writes: two writes never both find room.
create table workflow_state_totals (
  workspace_id uuid primary key references workspaces on delete cascade,
  bytes bigint not null default 0,
  last_version bigint not null default 0
);
alter table workflow_state_totals enable row level security;
alter table workflow_state_totals force row level security;
create policy owner_all on workflow_state_totals to heddle_owner using (true) with check (true);
create policy own on workflow_state_totals to heddle_app using (workspace_id = app_workspace());
grant select, insert, update, delete on workflow_state_totals to heddle_app;
