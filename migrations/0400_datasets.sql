-- Breaks nothing: new tables. Datasets, their immutable versions and chunks, and what executions have seen of them.

-- One immutable set of records. Written as `pending`, made `current` by the row of its dataset in one statement,
-- `retired` when that row points elsewhere; what is not current is swept.
create table dataset_versions (
  workspace_id uuid not null references workspaces on delete cascade,
  version_id uuid not null,
  state text not null default 'pending' check (state in ('pending', 'current', 'retired')),
  touched_at timestamptz not null default now(),
  primary key (workspace_id, version_id)
);
create index dataset_versions_to_sweep on dataset_versions (touched_at) where state <> 'current';

-- About 1 MiB of canonical JSON, one record a line, compressed by the program.
create table dataset_chunks (
  workspace_id uuid not null,
  version_id uuid not null,
  n integer not null,
  first_record integer not null,
  record_count integer not null check (record_count > 0),
  body bytea not null,
  primary key (workspace_id, version_id, n),
  unique (workspace_id, version_id, first_record),
  foreign key (workspace_id, version_id) references dataset_versions (workspace_id, version_id) on delete cascade
);
alter table dataset_chunks alter column body set storage external;

create table datasets (
  workspace_id uuid not null references workspaces on delete cascade,
  dataset_id uuid not null,
  version_id uuid not null,
  name text not null,
  description text,
  sha256 text not null,
  record_count integer not null,
  size_bytes bigint not null,
  columns jsonb not null,
  -- False where the records have more keys than a profile keeps.
  columns_complete boolean not null default true,
  created_by uuid references users on delete set null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (workspace_id, dataset_id),
  unique (dataset_id),
  foreign key (workspace_id, version_id) references dataset_versions (workspace_id, version_id)
);
create index datasets_by_version on datasets (workspace_id, version_id);
create index datasets_by_name on datasets (workspace_id, name, dataset_id desc);

-- The fingerprint an execution saw when it first read a dataset: every later look is held against it.
create table dataset_pins (
  workspace_id uuid not null references workspaces on delete cascade,
  execution_id uuid not null,
  dataset_id uuid not null,
  sha256 text not null,
  pinned_at timestamptz not null default now(),
  primary key (workspace_id, execution_id, dataset_id)
);
create index dataset_pins_to_sweep on dataset_pins (pinned_at);

-- What a node wrote, by its effect key: an attempt repeated after a crash answers the same and appends nothing twice.
create table dataset_writes (
  workspace_id uuid not null references workspaces on delete cascade,
  effect_key text not null,
  dataset_id uuid not null,
  sha256 text not null,
  record_count integer not null,
  written_at timestamptz not null default now(),
  primary key (workspace_id, effect_key)
);
create index dataset_writes_to_sweep on dataset_writes (written_at);

do $$
declare
  one_table text;
begin
  foreach one_table in array array['dataset_versions', 'dataset_chunks', 'datasets', 'dataset_pins', 'dataset_writes'] loop
    execute format('alter table %I enable row level security', one_table);
    execute format('alter table %I force row level security', one_table);
    execute format('create policy owner_all on %I to heddle_owner using (true) with check (true)', one_table);
    execute format('create policy own on %I to heddle_app using (workspace_id = nullif(current_setting(''app.ws'', true), '''')::uuid)', one_table);
  end loop;
end $$;

grant select, insert, update, delete on dataset_versions, dataset_chunks, datasets, dataset_pins, dataset_writes to heddle_app;

-- Removes what nothing points at: versions replaced a while ago (readers in the middle finish), uploads that were given
-- up, and notes about executions long gone.
create function sweep_datasets() returns integer language plpgsql security definer set search_path = public as $$
declare
  swept integer;
begin
  if not pg_try_advisory_xact_lock(hashtext('sweep_datasets')) then return 0; end if;
  delete from dataset_versions v
  where (state = 'retired' and touched_at < now() - interval '15 minutes')
     or (state = 'pending' and touched_at < now() - interval '1 hour');
  get diagnostics swept = row_count;
  delete from dataset_pins p where pinned_at < now() - interval '1 hour' and not exists (
    select from executions e where e.execution_id = p.execution_id and e.status in ('queued', 'running', 'waiting'));
  delete from dataset_writes where written_at < now() - interval '90 days';
  return swept;
end $$;
grant execute on function sweep_datasets() to heddle_app;
