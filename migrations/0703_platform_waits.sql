-- Breaks nothing: a new table. What executions that run wait for because the service itself is in trouble.

-- Written by the worker that tries again, for people to see; whatever it says is gone when the execution has another epoch.
create table platform_waits (
  workspace_id uuid not null,
  execution_id uuid not null,
  -- Empty where it is the execution's own results.
  node_path text not null,
  epoch integer not null,
  since timestamptz not null,
  until timestamptz not null,
  error text not null,
  primary key (workspace_id, execution_id, node_path)
);
create index platform_waits_by_age on platform_waits (until);
alter table platform_waits enable row level security;
alter table platform_waits force row level security;
create policy owner_all on platform_waits to heddle_owner using (true) with check (true);
create policy engine_all on platform_waits to heddle_engine using (true) with check (true);
create policy own on platform_waits for select to heddle_app
  using (workspace_id = nullif(current_setting('app.ws', true), '')::uuid);
create policy everything on platform_waits for select to heddle_operator using (true);
grant select, insert, update, delete on platform_waits to heddle_engine;
grant select on platform_waits to heddle_app, heddle_operator;

-- What an execution waits for, as people see it: one that runs, for the service itself at most.
create function engine.shown_waits(p_workspace uuid, p_execution uuid, p_status text, p_epoch integer, p_waiting_for jsonb)
returns jsonb language sql stable
  return case when p_status <> 'running' then p_waiting_for else coalesce((
    select jsonb_agg(jsonb_strip_nulls(jsonb_build_object('kind', 'platform', 'node_id', nullif(p.node_path, ''),
        'since', to_char(p.since at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
        'until', to_char(p.until at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), 'error', p.error)) order by p.node_path)
    from (select * from platform_waits w where w.workspace_id = p_workspace and w.execution_id = p_execution
      and w.epoch = p_epoch order by w.node_path limit 100) p), p_waiting_for) end;
revoke all on function engine.shown_waits(uuid, uuid, text, integer, jsonb) from public;
grant execute on function engine.shown_waits(uuid, uuid, text, integer, jsonb) to heddle_app, heddle_operator, heddle_engine;
