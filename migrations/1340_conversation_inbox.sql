-- Breaks nothing: new columns with defaults and new tables. The inbox of a team: who takes care of a conversation, who waits, and what is said inside.

-- `last_visitor_seq`: the last message of the person outside. `waiting_since`: they wait for a person since then. An older release
-- fills neither, so its messages count as read.
alter table threads
  add column last_visitor_seq integer not null default 0,
  add column waiting_since timestamptz,
  add column assigned_to uuid,
  add column closed_at timestamptz,
  add foreign key (workspace_id, assigned_to) references memberships (workspace_id, user_id) on delete set null (assigned_to);
update threads set waiting_since = handover_at where handover_at is not null;
create index threads_waiting on threads (workspace_id, waiting_since) where waiting_since is not null;
create index threads_assigned on threads (workspace_id, assigned_to) where assigned_to is not null;

-- How far each person has read.
create table conversation_reads (
  workspace_id uuid not null,
  thread_id uuid not null,
  user_id uuid not null,
  seq integer not null,
  primary key (workspace_id, thread_id, user_id),
  foreign key (workspace_id, thread_id) references threads on delete cascade,
  foreign key (workspace_id, user_id) references memberships (workspace_id, user_id) on delete cascade
);
create index conversation_reads_by_user on conversation_reads (workspace_id, user_id);

-- What colleagues say to each other about a conversation. It stands apart from the messages, which visitors and models read.
create table conversation_notes (
  workspace_id uuid not null,
  note_id uuid not null,
  thread_id uuid not null,
  author_id uuid references users on delete set null,
  text text not null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (workspace_id, note_id),
  foreign key (workspace_id, thread_id) references threads on delete cascade
);
create index conversation_notes_by_thread on conversation_notes (workspace_id, thread_id, note_id);
create index conversation_notes_by_author on conversation_notes (author_id);

-- Texts that a team sends again and again.
create table canned_answers (
  workspace_id uuid not null references workspaces on delete cascade,
  answer_id uuid not null,
  name text not null,
  text text not null,
  created_by uuid references users on delete set null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (workspace_id, answer_id)
);
create unique index canned_answers_by_name on canned_answers (workspace_id, lower(name));
create index canned_answers_by_creator on canned_answers (created_by);

-- When people answer: of a template, or of the whole workspace where `template_id` is null.
create table opening_hours (
  workspace_id uuid not null references workspaces on delete cascade,
  hours_id uuid not null,
  template_id uuid,
  hours json not null,
  updated_at timestamptz not null default now(),
  primary key (workspace_id, hours_id),
  unique nulls not distinct (workspace_id, template_id),
  foreign key (workspace_id, template_id) references templates on delete cascade
);

do $$
declare one_table text;
begin
  foreach one_table in array array['conversation_reads', 'conversation_notes', 'canned_answers', 'opening_hours'] loop
    execute format('alter table %I enable row level security', one_table);
    execute format('alter table %I force row level security', one_table);
    execute format('create policy owner_all on %I to heddle_owner using (true) with check (true)', one_table);
    execute format('create policy own on %I to heddle_app using (workspace_id = app_workspace())', one_table);
    execute format('grant select, insert, update, delete on %I to heddle_app', one_table);
  end loop;
end $$;
