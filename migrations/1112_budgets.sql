-- Breaks nothing: a new table. What a workspace, a workflow, a person or a credential may spend on language models.

create table budgets (
  workspace_id uuid not null references workspaces on delete cascade,
  scope_kind text not null check (scope_kind in ('workspace', 'workflow', 'person', 'credential')),
  scope_id uuid check ((scope_id is null) = (scope_kind = 'workspace')),
  per text not null check (per in ('day', 'month')),
  amount numeric not null check (amount >= 0),
  hard boolean not null,
  -- The beginning of the period in which owners were last told, so that they are told once in each.
  warned_on date,
  exceeded_on date,
  updated_at timestamptz not null default now(),
  unique nulls not distinct (workspace_id, scope_kind, scope_id, per)
);
alter table budgets enable row level security;
alter table budgets force row level security;
create policy owner_all on budgets to heddle_owner using (true) with check (true);
create policy own on budgets to heddle_app using (workspace_id = app_workspace());
grant select, insert, update, delete on budgets to heddle_app;
