-- Breaks nothing: new tables, and a foreign key on embed_tokens.template_id, which nothing has written so far.

-- What a conversation is made from: a greeting, instructions, and the workflows it may start.
create table templates (
  workspace_id uuid not null references workspaces on delete cascade,
  template_id uuid not null,
  owner_id uuid not null references users,
  name text not null,
  greeting text,
  instructions text,
  model text,
  voice text,
  theme jsonb not null default '{}',
  features jsonb not null default '{}',
  allowed_origins text[] not null default '{}',
  -- How long its conversations with people outside are kept after their last word; null: as long as the installation says.
  retention_days integer check (retention_days > 0),
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (workspace_id, template_id),
  unique (template_id)
);

-- `added_by` lends the template their right to start the workflow: once they have lost it, the template offers it no more.
create table template_workflows (
  workspace_id uuid not null,
  template_id uuid not null,
  workflow_id uuid not null,
  position integer not null,
  added_by uuid references users on delete set null,
  primary key (workspace_id, template_id, workflow_id),
  foreign key (workspace_id, template_id) references templates on delete cascade,
  foreign key (workspace_id, workflow_id) references workflows on delete cascade
);
create index template_workflows_by_workflow on template_workflows (workspace_id, workflow_id);

alter table embed_tokens add foreign key (workspace_id, template_id) references templates on delete cascade;

-- One conversation. `thread`: people of the workspace. `embed`: a visitor of a widget. `channel`: somebody outside, through
-- a gateway channel. `gather`: a visitor of a workflow's widget. Whoever writes to it locks this row: turns are serialised.
create table threads (
  workspace_id uuid not null references workspaces on delete cascade,
  thread_id uuid not null,
  kind text not null check (kind in ('thread', 'embed', 'channel', 'gather')),
  title text,
  template_id uuid,
  workflow_id uuid,
  visitor_id uuid,
  -- A conversation of a gateway channel: its config, and what the vendor calls the conversation.
  config_id uuid,
  external_id text,
  created_by uuid references users on delete set null,
  -- A colleague talks to the visitor, and the assistant is silent: until then, or until they are no longer in the workspace.
  taken_over_by uuid,
  taken_over_until timestamptz,
  state json not null default '{}',
  turn integer not null default 0,
  last_seq integer not null default 0,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (workspace_id, thread_id),
  unique (thread_id),
  foreign key (workspace_id, template_id) references templates on delete set null (template_id),
  foreign key (workspace_id, workflow_id) references workflows on delete cascade,
  foreign key (workspace_id, taken_over_by) references memberships (workspace_id, user_id) on delete set null (taken_over_by),
  check (taken_over_by is null or kind in ('embed', 'channel')),
  check ((kind in ('embed', 'gather')) = (visitor_id is not null)),
  check ((kind = 'channel') = (config_id is not null and external_id is not null)),
  check ((kind = 'gather') = (workflow_id is not null))
);
create index threads_by_visitor on threads (workspace_id, visitor_id, thread_id) where visitor_id is not null;
create index threads_by_template on threads (workspace_id, template_id) where template_id is not null;
create index threads_taken_over on threads (workspace_id, taken_over_by) where taken_over_by is not null;
create index threads_by_workflow on threads (workspace_id, workflow_id) where workflow_id is not null;
create unique index threads_of_channel on threads (workspace_id, config_id, external_id) where kind = 'channel';

create table thread_members (
  workspace_id uuid not null,
  thread_id uuid not null,
  user_id uuid not null,
  role text not null check (role in ('owner', 'member', 'viewer')),
  created_at timestamptz not null default now(),
  primary key (workspace_id, thread_id, user_id),
  foreign key (workspace_id, thread_id) references threads on delete cascade,
  foreign key (workspace_id, user_id) references memberships (workspace_id, user_id) on delete cascade
);
create index thread_members_by_user on thread_members (workspace_id, user_id, thread_id);

-- `turn` groups what somebody said with what was answered. `about` names the one event a message tells of (the question,
-- gate or end of an execution), so that it is told once. `request_key`: the delivery or idempotency key it came with.
create table messages (
  workspace_id uuid not null,
  message_id uuid not null,
  thread_id uuid not null,
  seq integer not null,
  turn integer not null,
  role text not null check (role in ('assistant', 'visitor', 'user', 'system')),
  author_id uuid references users on delete set null,
  author_name text,
  external_author text,
  text text not null,
  audio_id uuid,
  execution_id uuid,
  about text,
  request_key bytea,
  created_at timestamptz not null default date_trunc('milliseconds', clock_timestamp()),
  primary key (workspace_id, message_id),
  unique (workspace_id, thread_id, seq),
  foreign key (workspace_id, thread_id) references threads on delete cascade
);
create unique index messages_told_once on messages (workspace_id, thread_id, execution_id, about) where about is not null;
create unique index messages_by_request on messages (workspace_id, request_key) where request_key is not null;
create index messages_by_author on messages (author_id) where author_id is not null;

-- A form asks for the inputs of a workflow, or for the answer to a question of an execution. It is used once.
create table forms (
  workspace_id uuid not null,
  form_id uuid not null,
  thread_id uuid not null,
  kind text not null check (kind in ('parameters', 'question')),
  clarification_id uuid,
  title text not null,
  schema json not null,
  "values" json not null default '{}',
  status text not null default 'open' check (status in ('open', 'submitted', 'cancelled', 'replaced')),
  turn integer not null,
  created_at timestamptz not null default now(),
  closed_at timestamptz,
  primary key (workspace_id, form_id),
  foreign key (workspace_id, thread_id) references threads on delete cascade
);
create unique index forms_one_open on forms (workspace_id, thread_id) where status = 'open';
create index forms_by_thread on forms (workspace_id, thread_id, form_id);

-- What a conversation started. Executions are kept and dropped by the engine; this only says whose they are.
create table thread_executions (
  workspace_id uuid not null,
  execution_id uuid not null,
  thread_id uuid not null,
  workflow_id uuid not null,
  title text not null,
  turn integer not null,
  created_at timestamptz not null default now(),
  primary key (workspace_id, execution_id),
  foreign key (workspace_id, thread_id) references threads on delete cascade
);
create index thread_executions_by_thread on thread_executions (workspace_id, thread_id, execution_id);

do $$
declare one_table text;
begin
  foreach one_table in array array['templates', 'template_workflows', 'threads', 'thread_members', 'messages', 'forms', 'thread_executions'] loop
    execute format('alter table %I enable row level security', one_table);
    execute format('alter table %I force row level security', one_table);
    execute format('create policy owner_all on %I to heddle_owner using (true) with check (true)', one_table);
    execute format('create policy own on %I to heddle_app using (workspace_id = nullif(current_setting(''app.ws'', true), '''')::uuid)', one_table);
    execute format('grant select, insert, update, delete on %I to heddle_app', one_table);
  end loop;
end $$;

-- For the preflight of a browser, which carries no token: the origins that the tokens of a template or workflow list, disabled
-- ones too, and the template's own. Being listed lets a page read an answer, such as that its token is not good any more;
-- whether a token may be used from there is asked of the token.
create function embed_origins(template uuid, workflow uuid) returns setof text
language sql stable security definer set search_path = public
begin atomic
  select unnest(t.allowed_origins) from embed_tokens t
  left join workflows w on w.workspace_id = t.workspace_id and w.workflow_id = t.workflow_id
  where (t.template_id = template or t.workflow_id = workflow) and (t.workflow_id is null or w.deleted_at is null)
  union select unnest(p.allowed_origins) from templates p where p.template_id = template;
end;
revoke execute on function embed_origins(uuid, uuid) from public;
grant execute on function embed_origins(uuid, uuid) to heddle_app;
create index embed_tokens_of_template on embed_tokens (template_id) where template_id is not null;
create index embed_tokens_of_workflow on embed_tokens (workflow_id) where workflow_id is not null;

-- Conversations with people outside whose last word is too old, some at a time; not while something that they started goes on.
-- Those of a workflow's widget last as long as its executions.
create function forget_conversations(usual_days integer, most integer) returns integer
language sql security definer set search_path = public
begin atomic
  with old as (
    select t.workspace_id, t.thread_id from threads t
    left join templates p on p.workspace_id = t.workspace_id and p.template_id = t.template_id
    left join workflows w on w.workspace_id = t.workspace_id and w.workflow_id = t.workflow_id
    where t.kind <> 'thread' and coalesce(json_array_length(t.state -> 'running'), 0) = 0
      and t.updated_at < now() - make_interval(days => coalesce(p.retention_days, (w.settings ->> 'retention_days')::integer, usual_days))
    limit most for update of t skip locked),
  forgotten as (delete from threads t using old where t.workspace_id = old.workspace_id and t.thread_id = old.thread_id returning 1)
  select count(*)::integer from forgotten;
end;
revoke execute on function forget_conversations(integer, integer) from public;
grant execute on function forget_conversations(integer, integer) to heddle_app;
