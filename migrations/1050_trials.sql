-- Breaks nothing: a new table and functions. Drafts that people try, each with the definition that its execution runs.

create table trials (
  workspace_id uuid not null references workspaces on delete cascade,
  -- The same id as its execution has, or the run of a suite.
  trial_id uuid not null,
  workflow_id uuid not null,
  -- What the person sent, and what runs: the draft with pinned and mocked answers in the place of nodes.
  draft json not null,
  definition json not null,
  plan json not null,
  effects text not null check (effects in ('live', 'pinned', 'mock')),
  created_by uuid references users on delete set null,
  created_at timestamptz not null default now(),
  primary key (workspace_id, trial_id),
  foreign key (workspace_id, workflow_id) references workflows (workspace_id, workflow_id) on delete cascade
);
create index trials_by_age on trials (created_at);
create index trials_of_workspace on trials (workspace_id, created_at);
alter table trials enable row level security;
alter table trials force row level security;
create policy owner_all on trials to heddle_owner using (true) with check (true);
create policy own on trials to heddle_app using (workspace_id = app_workspace());
grant select, insert, delete on trials to heddle_app;

-- Trials whose executions or runs are no longer kept, or never began.
create function forget_trials(most integer) returns integer
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  forgotten integer;
begin
  delete from trials t where (t.workspace_id, t.trial_id) in (
    select o.workspace_id, o.trial_id from trials o where o.created_at < now() - interval '1 day'
      and not exists (select from executions e where e.workspace_id = o.workspace_id and e.execution_id = o.trial_id)
      and not exists (select from ledger_runs r where r.workspace_id = o.workspace_id and r.run_id = o.trial_id)
    order by o.created_at limit most);
  get diagnostics forgotten = row_count;
  return forgotten;
end $$;
revoke execute on function forget_trials(integer) from public;
grant execute on function forget_trials(integer) to heddle_app;

-- Executions of suites and trials leave no events.
create or replace function execution_is_quiet(e executions) returns boolean language sql immutable
  return e.trigger_kind = 'trial' or coalesce(e.trigger_id, '') like 'suite\_%'
    or coalesce(e.initiated_by::jsonb @> '[{"kind": "suite"}]', false);
