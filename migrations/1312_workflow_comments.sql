-- Breaks nothing: a new table. What people say about a workflow and its nodes.

create table workflow_comments (
  workspace_id uuid not null,
  comment_id uuid not null,
  workflow_id uuid not null,
  -- null: about the workflow as a whole. A node may be gone; what was said about it stays.
  node_id text,
  body text not null,
  mentions uuid[] not null default '{}',
  author_id uuid references users on delete set null,
  resolved_at timestamptz,
  resolved_by uuid references users on delete set null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (workspace_id, comment_id),
  foreign key (workspace_id, workflow_id) references workflows (workspace_id, workflow_id) on delete cascade
);
create index workflow_comments_by_workflow on workflow_comments (workspace_id, workflow_id, comment_id desc);
create index workflow_comments_by_author on workflow_comments (author_id);
create index workflow_comments_by_resolver on workflow_comments (resolved_by);
alter table workflow_comments enable row level security;
alter table workflow_comments force row level security;
create policy owner_all on workflow_comments to heddle_owner using (true) with check (true);
create policy own on workflow_comments to heddle_app using (workspace_id = app_workspace());
grant select, insert, update, delete on workflow_comments to heddle_app;
