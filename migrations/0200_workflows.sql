-- Breaks nothing: new tables. Workflows, their versions, members, tokens and schedules.

-- A deleted workflow keeps its rows: executions that are being cancelled still need their definition.
create table workflows (
  workspace_id uuid not null references workspaces on delete cascade,
  workflow_id uuid not null,
  owner_id uuid not null references users,
  name text not null,
  description text,
  settings jsonb not null default '{}',
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  deleted_at timestamptz,
  primary key (workspace_id, workflow_id),
  unique (workflow_id)
);
create index workflows_by_owner on workflows (workspace_id, owner_id, workflow_id desc) where deleted_at is null;

create table workflow_members (
  workspace_id uuid not null,
  workflow_id uuid not null,
  user_id uuid not null,
  role text not null check (role in ('member', 'viewer')),
  primary key (workspace_id, workflow_id, user_id),
  foreign key (workspace_id, workflow_id) references workflows on delete cascade,
  foreign key (workspace_id, user_id) references memberships (workspace_id, user_id) on delete cascade
);
create index workflow_members_by_user on workflow_members (workspace_id, user_id, workflow_id);

create table workflow_versions (
  workspace_id uuid not null,
  version_id uuid not null,
  workflow_id uuid not null,
  number integer not null,
  active boolean not null default false,
  definition json not null,
  sha256 text not null,
  note text,
  created_by uuid references users on delete set null,
  created_at timestamptz not null default now(),
  primary key (workspace_id, version_id),
  unique (workspace_id, workflow_id, number),
  foreign key (workspace_id, workflow_id) references workflows on delete cascade
);
create unique index workflow_versions_one_active on workflow_versions (workspace_id, workflow_id) where active;

create table webhook_tokens (
  workspace_id uuid not null,
  token_id uuid not null,
  workflow_id uuid not null,
  name text,
  prefix text not null,
  token_hash bytea not null unique,
  enabled boolean not null default true,
  expires_at timestamptz,
  last_used_at timestamptz,
  created_by uuid references users on delete set null,
  created_at timestamptz not null default now(),
  primary key (workspace_id, token_id),
  foreign key (workspace_id, workflow_id) references workflows on delete cascade
);
create index webhook_tokens_by_workflow on webhook_tokens (workspace_id, workflow_id, token_id desc);

-- For a workflow or for a chat template, never both.
create table embed_tokens (
  workspace_id uuid not null references workspaces on delete cascade,
  token_id uuid not null,
  workflow_id uuid,
  template_id uuid,
  name text,
  prefix text not null,
  token_hash bytea not null unique,
  allowed_origins text[] not null default '{}',
  require_origin boolean not null default false,
  enabled boolean not null default true,
  last_used_at timestamptz,
  created_by uuid references users on delete set null,
  created_at timestamptz not null default now(),
  primary key (workspace_id, token_id),
  foreign key (workspace_id, workflow_id) references workflows on delete cascade,
  check ((workflow_id is null) <> (template_id is null))
);
create index embed_tokens_by_workflow on embed_tokens (workspace_id, workflow_id, token_id desc);
create index embed_tokens_by_template on embed_tokens (workspace_id, template_id, token_id desc);

create table schedules (
  workspace_id uuid not null,
  workflow_id uuid not null,
  cron text not null,
  timezone text not null,
  input json,
  next_run_at timestamptz,
  last_run_at timestamptz,
  last_execution_id uuid,
  last_error text,
  created_by uuid references users on delete set null,
  updated_at timestamptz not null default now(),
  primary key (workspace_id, workflow_id),
  foreign key (workspace_id, workflow_id) references workflows on delete cascade
);
create index schedules_due on schedules (next_run_at) where next_run_at is not null;

do $$
declare one_table text;
begin
  foreach one_table in array array['workflows', 'workflow_members', 'workflow_versions', 'webhook_tokens', 'embed_tokens', 'schedules'] loop
    execute format('alter table %I enable row level security', one_table);
    execute format('alter table %I force row level security', one_table);
    execute format('create policy owner_all on %I to heddle_owner using (true) with check (true)', one_table);
    execute format('create policy own on %I to heddle_app using (workspace_id = nullif(current_setting(''app.ws'', true), '''')::uuid)', one_table);
    execute format('grant select, insert, update, delete on %I to heddle_app', one_table);
  end loop;
end $$;

-- What a webhook call needs, in one look-up by the hash of its token.
create function identify_webhook_token(token bytea)
returns table (token_id uuid, org_id uuid, workspace_id uuid, workflow_id uuid, enabled boolean, expired boolean, version_id uuid,
  inputs json, settings jsonb)
language sql stable security definer set search_path = public
begin atomic
  select t.token_id, s.org_id, t.workspace_id, t.workflow_id, t.enabled, coalesce(t.expires_at <= now(), false), v.version_id,
    v.definition -> 'inputs', w.settings
  from webhook_tokens t
  join workspaces s on s.workspace_id = t.workspace_id
  join workflows w on w.workspace_id = t.workspace_id and w.workflow_id = t.workflow_id and w.deleted_at is null
  left join workflow_versions v on v.workspace_id = t.workspace_id and v.workflow_id = t.workflow_id and v.active
  where t.token_hash = token;
end;

create function identify_embed_token(token bytea)
returns table (token_id uuid, org_id uuid, workspace_id uuid, workflow_id uuid, template_id uuid, enabled boolean, allowed_origins text[],
  require_origin boolean)
language sql stable security definer set search_path = public
begin atomic
  select t.token_id, s.org_id, t.workspace_id, t.workflow_id, t.template_id, t.enabled, t.allowed_origins, t.require_origin
  from embed_tokens t
  join workspaces s on s.workspace_id = t.workspace_id
  left join workflows w on w.workspace_id = t.workspace_id and w.workflow_id = t.workflow_id
  where t.token_hash = token and (t.workflow_id is null or w.deleted_at is null);
end;

-- Uses of tokens are noted in batches, never once per call.
create function touch_tokens(webhook uuid[], embed uuid[]) returns void language sql security definer set search_path = public
begin atomic
  update webhook_tokens set last_used_at = now() where token_id = any (webhook);
  update embed_tokens set last_used_at = now() where token_id = any (embed);
end;

-- Due schedules of all workspaces; the caller then works in each one's own scope.
create function due_schedules(most integer) returns table (workspace_id uuid, workflow_id uuid)
language sql stable security definer set search_path = public
begin atomic
  select s.workspace_id, s.workflow_id from schedules s where s.next_run_at <= now() order by s.next_run_at limit most;
end;
create function next_schedule_at() returns timestamptz language sql stable security definer set search_path = public
  return (select min(next_run_at) from schedules where next_run_at is not null);

-- The definition of a version, for the engine.
create function definition_of_version(workspace uuid, version uuid) returns json
language sql stable security definer set search_path = public
  return (select definition from workflow_versions where workspace_id = workspace and version_id = version);

revoke execute on function identify_webhook_token(bytea), identify_embed_token(bytea), touch_tokens(uuid[], uuid[]),
  due_schedules(integer), next_schedule_at(), definition_of_version(uuid, uuid) from public;
grant execute on function identify_webhook_token(bytea), identify_embed_token(bytea), touch_tokens(uuid[], uuid[]),
  due_schedules(integer), next_schedule_at() to heddle_app;
grant execute on function definition_of_version(uuid, uuid) to heddle_engine, heddle_app;

-- Failures whose owners were told and whose error workflow was started: once each, although the engine tells at least once.
create table told_failures (
  workspace_id uuid not null references workspaces on delete cascade,
  execution_id uuid not null,
  told_at timestamptz not null default now(),
  primary key (workspace_id, execution_id)
);
alter table told_failures enable row level security;
alter table told_failures force row level security;
create policy owner_all on told_failures to heddle_owner using (true) with check (true);
create policy own on told_failures to heddle_app using (workspace_id = nullif(current_setting('app.ws', true), '')::uuid);
grant select, insert on told_failures to heddle_app;

-- The owner was told of this workflow within the last hour? Notifications show only one's own, so this looks for them.
create function told_recently(recipient uuid, event_kind text, workflow text) returns boolean
language sql stable security definer set search_path = public
  return exists (select from notifications where user_id = recipient and kind = event_kind
    and created_at > now() - interval '1 hour' and data ->> 'workflow_id' = workflow);
grant execute on function told_recently(uuid, text, text) to heddle_app;

-- For sockets: which of these people may watch which execution, in the order asked. Members of the workflow and whoever
-- started it; null where the execution is gone.
create function watchable_executions(people uuid[], spaces uuid[], watched uuid[]) returns table (allowed boolean)
language sql stable security definer set search_path = public
begin atomic
  select case when e.execution_id is null then null
    else e.started_by = w.person or exists (select from workflows f where f.workspace_id = e.workspace_id and f.workflow_id = e.workflow_id
        and f.deleted_at is null and (f.owner_id = w.person or exists (select from workflow_members m
          where m.workspace_id = f.workspace_id and m.workflow_id = f.workflow_id and m.user_id = w.person))) end
  from unnest(people, spaces, watched) with ordinality as w (person, space, execution, n)
  left join executions e on e.workspace_id = w.space and e.execution_id = w.execution
  order by w.n;
end;

-- What follows `after` in the journal of each execution; who may see it was checked when the socket opened, and is checked
-- again while it is open.
create function read_execution_feeds(watched uuid[], after integer[], most integer)
returns table (request bigint, seq integer, type text, at timestamptz, data json)
language sql stable security definer set search_path = public
begin atomic
  select w.n, e.seq, e.type, e.at, e.data from unnest(watched, after) with ordinality as w (execution, after, n),
    lateral (select * from events where execution_id = w.execution and events.seq > w.after order by events.seq limit most) e
  order by w.n, e.seq;
end;
revoke execute on function watchable_executions(uuid[], uuid[], uuid[]), read_execution_feeds(uuid[], integer[], integer) from public;
grant execute on function watchable_executions(uuid[], uuid[], uuid[]), read_execution_feeds(uuid[], integer[], integer) to heddle_app;

-- What `notify` nodes have sent: an attempt that is repeated after a crash sends nothing twice.
create table notify_receipts (
  workspace_id uuid not null references workspaces on delete cascade,
  key text not null,
  user_ids uuid[] not null,
  at timestamptz not null default now(),
  primary key (workspace_id, key)
);
alter table notify_receipts enable row level security;
alter table notify_receipts force row level security;
create policy owner_all on notify_receipts to heddle_owner using (true) with check (true);
create policy own on notify_receipts to heddle_app using (workspace_id = nullif(current_setting('app.ws', true), '')::uuid);
grant select, insert on notify_receipts to heddle_app;

-- What is only needed for a while: receipts against repetition, sessions and invitations that have run out.
create function forget_old() returns void language sql security definer set search_path = public
begin atomic
  delete from told_failures where told_at < now() - interval '30 days';
  delete from notify_receipts where at < now() - interval '30 days';
  delete from sessions where expires_at < now();
  delete from invitations where expires_at < now() - interval '30 days';
  delete from presence where expires_at < now() - interval '1 day';
  delete from mail_outbox where created_at < now() - interval '30 days';
end;
revoke execute on function forget_old() from public;
grant execute on function forget_old() to heddle_app;

-- Notifications that were read and entries of the audit log that are older than that, some of each; says how many of
-- that of which there were more. By their keys: the id says when something was written.
create function forget_history(kept_days integer, most integer) returns integer
language sql security definer set search_path = public
begin atomic
  with old_read as (delete from notifications where notification_id in (
      select n.notification_id from notifications n
      where n.notification_id < engine.first_id(now() - make_interval(days => kept_days)) and n.read_at is not null
      limit most) returning 1),
  old_entries as (delete from audit_log where entry_id in (
      select a.entry_id from audit_log a where a.entry_id < engine.first_id(now() - make_interval(days => kept_days))
      limit most) returning 1)
  select greatest((select count(*) from old_read), (select count(*) from old_entries))::integer;
end;
revoke execute on function forget_history(integer, integer) from public;
grant execute on function forget_history(integer, integer) to heddle_app;
