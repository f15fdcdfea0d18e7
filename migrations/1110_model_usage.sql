-- Breaks nothing: new tables and functions. What language models were asked, what that cost, and what operators say a model costs.

-- One row for each answer of a model. Kept as long as executions are; `usage_days` keeps the sums for longer.
create table model_calls (
  workspace_id uuid not null references workspaces on delete cascade,
  call_id uuid not null,
  at timestamptz not null default now(),
  execution_id uuid,
  node_path text,
  workflow_id uuid,
  person_id uuid,
  credential_id uuid,
  model text not null,
  input_tokens bigint not null,
  output_tokens bigint not null,
  -- Null where neither the provider nor a price says it.
  cost numeric,
  estimated boolean not null default false,
  primary key (workspace_id, call_id)
);
create index model_calls_by_execution on model_calls (workspace_id, execution_id) where execution_id is not null;
create index model_calls_by_age on model_calls (at);

create table usage_days (
  workspace_id uuid not null references workspaces on delete cascade,
  day date not null,
  workflow_id uuid,
  model text not null,
  person_id uuid,
  credential_id uuid,
  calls bigint not null,
  unpriced_calls bigint not null,
  input_tokens bigint not null,
  output_tokens bigint not null,
  cost numeric not null,
  unique nulls not distinct (workspace_id, day, workflow_id, model, person_id, credential_id)
);
create index usage_days_by_age on usage_days (day);

-- What operators say in place of the shipped table. Not a tenant's: everybody may know what a model costs.
create table model_prices (
  model text primary key,
  input numeric not null check (input >= 0),
  output numeric not null check (output >= 0),
  updated_at timestamptz not null default now()
);

do $$
declare one_table text;
begin
  foreach one_table in array array['model_calls', 'usage_days'] loop
    execute format('alter table %I enable row level security', one_table);
    execute format('alter table %I force row level security', one_table);
    execute format('create policy owner_all on %I to heddle_owner using (true) with check (true)', one_table);
    execute format('create policy own on %I to heddle_app using (workspace_id = app_workspace())', one_table);
  end loop;
end $$;
alter table model_prices enable row level security;
alter table model_prices force row level security;
create policy owner_all on model_prices to heddle_owner using (true) with check (true);
create policy everything on model_prices to heddle_operator using (true) with check (true);
grant select, insert on model_calls to heddle_app;
grant select, insert, update on usage_days to heddle_app;
grant select, insert, update, delete on model_prices to heddle_operator;

-- What an operator says that one of these names costs, the first of them first.
create function price_of(names text[]) returns table (input double precision, output double precision)
language sql stable security definer set search_path = public, pg_temp
begin atomic
  select p.input::double precision, p.output::double precision from model_prices p where p.model = any(names)
  order by array_position(names, p.model) limit 1;
end;

-- What models counted for each node of an execution; nodes inside a map or loop are counted with it. Null where none was asked.
create function model_usage_of(workspace uuid, execution uuid) returns json language sql stable
begin atomic
  select json_agg(json_build_object('node_id', u.node_id, 'input_tokens', u.input_tokens, 'output_tokens', u.output_tokens,
      'cost', u.cost, 'calls', u.calls, 'unpriced_calls', u.unpriced_calls))
  from (select substring(c.node_path from '^[^\[#]+') as node_id, sum(c.input_tokens)::bigint as input_tokens,
      sum(c.output_tokens)::bigint as output_tokens, sum(c.cost)::double precision as cost, count(*) as calls,
      count(*) filter (where c.cost is null) as unpriced_calls
    from model_calls c where c.workspace_id = workspace and c.execution_id = execution group by 1) as u;
end;

create function forget_usage(kept_days integer, kept_sums_days integer, most integer) returns integer
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  forgotten integer;
begin
  delete from usage_days where ctid = any(array(
    select ctid from usage_days where day < (now() at time zone 'utc')::date - kept_sums_days limit most));
  delete from model_calls where ctid = any(array(
    select ctid from model_calls where at < now() - make_interval(days => kept_days) order by at limit most));
  get diagnostics forgotten = row_count;
  return forgotten;
end $$;

revoke execute on function price_of(text[]), model_usage_of(uuid, uuid), forget_usage(integer, integer, integer) from public;
grant execute on function price_of(text[]), forget_usage(integer, integer, integer) to heddle_app;
grant execute on function model_usage_of(uuid, uuid) to heddle_app;
