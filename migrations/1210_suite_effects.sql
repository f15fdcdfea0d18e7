-- Breaks nothing: new tables and columns that may be null. Suites that answer effects from what one live run recorded, and what each case costs.

-- Null: a run of an older release, which acted.
alter table ledger_runs add column effects text check (effects in ('live', 'pinned', 'mock'));
alter table ledger_runs add column models text check (models in ('live', 'mock'));

alter table suite_outcomes add column score double precision;
alter table suite_outcomes add column recorded json;
alter table suite_outcomes add column mocked json;

-- What the nodes of a suite's live runs gave, by node and resolved arguments. The last answer counts.
create table suite_recordings (
  workspace_id uuid not null,
  suite_id uuid not null,
  -- Inside a map or loop `map[].node`.
  node_path text not null,
  key bytea not null,
  output json,
  port text,
  error json,
  usage json,
  duration_ms bigint not null default 0,
  recorded_at timestamptz not null default now(),
  primary key (workspace_id, suite_id, node_path, key),
  foreign key (workspace_id, suite_id) references suites (workspace_id, suite_id) on delete cascade,
  check ((output is null) <> (error is null))
);

-- Which nodes of a case were answered and how, until the report of the run is written.
create table suite_answers (
  workspace_id uuid not null,
  suite_id uuid not null,
  execution_id uuid not null,
  node_path text not null,
  node_type text not null,
  -- Null: the record answered it.
  reason text check (reason in ('arguments_differ', 'not_recorded')),
  usage json,
  duration_ms bigint not null default 0,
  at timestamptz not null default now(),
  primary key (workspace_id, execution_id, node_path),
  foreign key (workspace_id, suite_id) references suites (workspace_id, suite_id) on delete cascade
);
create index suite_answers_by_suite on suite_answers (workspace_id, suite_id, at);

do $$
declare one_table text;
begin
  foreach one_table in array array['suite_recordings', 'suite_answers'] loop
    execute format('alter table %I enable row level security', one_table);
    execute format('alter table %I force row level security', one_table);
    execute format('create policy owner_all on %I to heddle_owner using (true) with check (true)', one_table);
    execute format('create policy own on %I to heddle_app using (workspace_id = app_workspace())', one_table);
    execute format('grant select, insert, update, delete on %I to heddle_app', one_table);
  end loop;
end $$;
