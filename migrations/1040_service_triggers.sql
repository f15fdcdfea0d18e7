-- Breaks nothing: a new table. Triggers that start a workflow with what a service lists anew.

create table service_triggers (
  workspace_id uuid not null,
  trigger_id uuid not null,
  workflow_id uuid not null,
  service text not null,
  trigger text not null,
  args jsonb not null default '{}',
  credential_id uuid,
  every_s integer not null check (every_s between 60 and 86400),
  enabled boolean not null default true,
  -- What was listed already, by key; null before the first look, which starts nothing.
  seen jsonb,
  next_poll_at timestamptz not null default now(),
  -- Raised by whoever looks: a look that was overtaken writes nothing.
  epoch bigint not null default 0,
  last_polled_at timestamptz,
  last_execution_id uuid,
  last_error text,
  created_by uuid references users on delete set null,
  created_at timestamptz not null default now(),
  primary key (workspace_id, trigger_id),
  foreign key (workspace_id, workflow_id) references workflows (workspace_id, workflow_id) on delete cascade
);
create index service_triggers_by_workflow on service_triggers (workspace_id, workflow_id, trigger_id desc);
create index service_triggers_due on service_triggers (next_poll_at) where enabled;
alter table service_triggers enable row level security;
alter table service_triggers force row level security;
create policy owner_all on service_triggers to heddle_owner using (true) with check (true);
create policy own on service_triggers to heddle_app using (workspace_id = app_workspace());
grant select, insert, update, delete on service_triggers to heddle_app;

-- Due triggers of all workspaces; the caller then works in each one's own scope.
create function due_service_triggers(most integer) returns table (workspace_id uuid, trigger_id uuid)
language sql stable security definer set search_path = public
begin atomic
  select t.workspace_id, t.trigger_id from service_triggers t
  where t.enabled and t.next_poll_at <= now() order by t.next_poll_at limit most;
end;
revoke execute on function due_service_triggers(integer) from public;
grant execute on function due_service_triggers(integer) to heddle_app;
