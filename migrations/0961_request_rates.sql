-- Breaks nothing: a new table. When the next request of a node with a rate may leave, over all workers.

create table request_rates (
  workspace_id uuid not null references workspaces on delete cascade,
  key text not null,
  free_at timestamptz not null,
  primary key (workspace_id, key)
);
alter table request_rates enable row level security;
alter table request_rates force row level security;
create policy owner_all on request_rates to heddle_owner using (true) with check (true);
create policy own on request_rates to heddle_app using (workspace_id = app_workspace());
grant select, insert, update, delete on request_rates to heddle_app;
