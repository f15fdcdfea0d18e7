-- Breaks nothing: a column with a default, a table and a trigger. Plans may charge for what is used of the operator's language models.

-- [{"meter": "model_tokens", "unit_amount": 200, "per": 1000000, "included": 100000}]
alter table plans add column usage_prices jsonb not null default '[]';

-- What is charged for, one row for each answer of a model and each price of the plan. Written with the call itself and kept with the invoices,
-- however long calls and runs are kept.
create table usage_charges (
  workspace_id uuid not null references workspaces on delete cascade,
  charge_id uuid not null default gen_random_uuid(),
  subscription_id uuid not null,
  plan_id uuid not null references plans,
  meter text not null check (meter in ('model_tokens', 'model_cost')),
  at timestamptz not null default now(),
  -- Tokens, or millionths of a US dollar.
  quantity bigint not null check (quantity > 0),
  model text not null,
  execution_id uuid,
  node_path text,
  workflow_id uuid,
  person_id uuid,
  -- The invoice whose line it is part of.
  invoice_id uuid,
  -- Stripe: with which others it was reported, and when. A batch is sent again as it is until it has arrived.
  batch_id uuid,
  reported_at timestamptz,
  primary key (workspace_id, charge_id),
  foreign key (workspace_id, subscription_id) references billing_subscriptions (workspace_id, subscription_id) on delete cascade,
  foreign key (workspace_id, invoice_id) references invoices (workspace_id, invoice_id) on delete cascade
);
create index usage_charges_newest on usage_charges (workspace_id, at desc, charge_id desc);
create index usage_charges_by_execution on usage_charges (workspace_id, execution_id) where execution_id is not null;
create index usage_charges_by_invoice on usage_charges (workspace_id, invoice_id);
create index usage_charges_open on usage_charges (workspace_id, subscription_id) where invoice_id is null;
create index usage_charges_unreported on usage_charges (workspace_id) where reported_at is null;
alter table usage_charges enable row level security;
alter table usage_charges force row level security;
create policy owner_all on usage_charges to heddle_owner using (true) with check (true);
create policy own on usage_charges to heddle_app using (workspace_id = app_workspace());
grant select, update on usage_charges to heddle_app;

-- Only what the operator pays for: a model that is asked with a credential of the tenant's is on the tenant's own bill. A trial is free.
create function charge_model_call() returns trigger language plpgsql security definer set search_path = public, pg_temp as $$
begin
  insert into usage_charges (workspace_id, subscription_id, plan_id, meter, at, quantity, model, execution_id, node_path, workflow_id, person_id)
  select new.workspace_id, s.subscription_id, s.plan_id, price.meter, new.at, used.quantity, new.model, new.execution_id, new.node_path,
    new.workflow_id, new.person_id
  from billing_subscriptions s join plans p on p.plan_id = s.plan_id
    cross join jsonb_to_recordset(p.usage_prices) as price (meter text)
    cross join lateral (select case price.meter when 'model_tokens' then new.input_tokens + new.output_tokens
      else ceil(new.cost * 1000000)::bigint end as quantity) as used
  where s.workspace_id = new.workspace_id and s.status in ('active', 'past_due') and used.quantity > 0;
  return null;
end $$;
revoke execute on function charge_model_call() from public;
create trigger charge_model_call after insert on model_calls for each row when (new.credential_id is null) execute function charge_model_call();

-- Whose charges have yet to be reported to the provider.
create function unreported_charges(wanted_provider text, most integer) returns setof uuid
language sql stable security definer set search_path = public, pg_temp
begin atomic
  select distinct u.workspace_id from usage_charges u join billing_subscriptions s using (workspace_id, subscription_id)
  where u.reported_at is null and s.provider = wanted_provider limit most;
end;
revoke execute on function unreported_charges(text, integer) from public;
grant execute on function unreported_charges(text, integer) to heddle_app;
