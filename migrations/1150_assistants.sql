-- Breaks nothing: new columns with defaults, new tables and functions. Assistants that answer with a language model.

alter table templates
  add column mode text not null default 'menu' check (mode in ('menu', 'agent')),
  add column knowledge_ids uuid[] not null default '{}',
  add column tools jsonb not null default '[]';

-- Somebody asked for a person, or the assistant was not sure. A colleague who takes over clears it.
alter table threads
  add column handover_at timestamptz,
  add column handover_reason text;
create index threads_handed_over on threads (workspace_id, handover_at) where handover_at is not null;

-- The passages that an answer of the assistant is taken from.
alter table messages add column citations json;

-- One message that an assistant answers. `runner` works on it until its lease ends; its steps say how far it has come.
create table assistant_turns (
  workspace_id uuid not null,
  turn_id uuid not null,
  thread_id uuid not null,
  seq integer not null,
  turn integer not null,
  status text not null default 'open' check (status in ('open', 'done')),
  -- Who wrote, through which door, and what is known about the moment.
  asked json not null,
  runner uuid,
  lease_until timestamptz not null default now(),
  attempts integer not null default 0,
  created_at timestamptz not null default now(),
  done_at timestamptz,
  primary key (workspace_id, turn_id),
  unique (workspace_id, thread_id, seq),
  foreign key (workspace_id, thread_id) references threads on delete cascade
);
create index assistant_turns_open on assistant_turns (lease_until) where status = 'open';

-- What the model said and what a tool gave, each once. A process that takes a turn over goes on after the last step.
create table assistant_steps (
  workspace_id uuid not null,
  turn_id uuid not null,
  name text not null,
  result json not null,
  created_at timestamptz not null default now(),
  primary key (workspace_id, turn_id, name),
  foreign key (workspace_id, turn_id) references assistant_turns on delete cascade
);

-- What an assistant keeps about somebody between conversations. `subject`: a visitor, or a person behind a channel.
create table assistant_memories (
  workspace_id uuid not null,
  template_id uuid not null,
  subject text not null,
  summary text not null default '',
  -- Messages up to this moment are part of the summary, or were forgotten.
  covered_until timestamptz not null,
  updated_at timestamptz not null default now(),
  primary key (workspace_id, template_id, subject),
  foreign key (workspace_id, template_id) references templates on delete cascade
);
create index assistant_memories_by_age on assistant_memories (updated_at);

do $$
declare one_table text;
begin
  foreach one_table in array array['assistant_turns', 'assistant_steps', 'assistant_memories'] loop
    execute format('alter table %I enable row level security', one_table);
    execute format('alter table %I force row level security', one_table);
    execute format('create policy owner_all on %I to heddle_owner using (true) with check (true)', one_table);
    execute format('create policy own on %I to heddle_app using (workspace_id = nullif(current_setting(''app.ws'', true), '''')::uuid)', one_table);
    execute format('grant select, insert, update, delete on %I to heddle_app', one_table);
  end loop;
end $$;

-- Turns that nobody works on: their process was killed.
create function due_assistant_turns(most integer) returns table (workspace_id uuid, turn_id uuid)
language sql stable security definer set search_path = public
begin atomic
  select t.workspace_id, t.turn_id from assistant_turns t
  where t.status = 'open' and t.lease_until < now() and not exists (select from assistant_turns e
    where e.workspace_id = t.workspace_id and e.thread_id = t.thread_id and e.status = 'open' and e.seq < t.seq)
  order by t.lease_until limit most;
end;

-- What is remembered lasts as long as a conversation would.
create function forget_assistant_memories(usual_days integer, most integer) returns integer
language sql security definer set search_path = public
begin atomic
  with old as (
    select m.workspace_id, m.template_id, m.subject from assistant_memories m
    join templates p on p.workspace_id = m.workspace_id and p.template_id = m.template_id
    where m.updated_at < now() - make_interval(days => coalesce(p.retention_days, usual_days))
    limit most for update of m skip locked),
  forgotten as (delete from assistant_memories m using old
    where m.workspace_id = old.workspace_id and m.template_id = old.template_id and m.subject = old.subject returning 1)
  select count(*)::integer from forgotten;
end;

-- The people who answer for a template: its owner and the members of its teams. A visitor's message is no request of theirs.
create function template_colleagues(in_workspace uuid, wanted uuid) returns table (user_id uuid)
language sql stable security definer set search_path = public
begin atomic
  select p.owner_id from templates p where p.workspace_id = in_workspace and p.template_id = wanted and in_workspace = app_workspace()
  union select m.user_id from team_shares s join team_members m on m.workspace_id = s.workspace_id and m.team_id = s.team_id
    where s.workspace_id = in_workspace and s.template_id = wanted and in_workspace = app_workspace();
end;

revoke execute on function due_assistant_turns(integer), forget_assistant_memories(integer, integer), template_colleagues(uuid, uuid)
  from public;
grant execute on function due_assistant_turns(integer), forget_assistant_memories(integer, integer), template_colleagues(uuid, uuid)
  to heddle_app;
