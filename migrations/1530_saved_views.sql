-- Breaks nothing: a table. A process of an earlier release does not read it. The filters of lists that people have named.

-- One row for a person in a workspace: all of them are read and written together.
create table saved_views (
  workspace_id uuid not null,
  user_id uuid not null,
  views jsonb not null,
  primary key (workspace_id, user_id),
  foreign key (workspace_id, user_id) references memberships (workspace_id, user_id) on delete cascade
);
alter table saved_views enable row level security;
alter table saved_views force row level security;
create policy owner_all on saved_views to heddle_owner using (true) with check (true);
create policy own on saved_views to heddle_app using (workspace_id = app_workspace());
grant select, insert, update, delete on saved_views to heddle_app;
