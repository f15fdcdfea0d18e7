-- Breaks nothing: plans of an org; what a workspace pays with, subscribes to, was charged for and has used.

-- Plans belong to an org, not to a workspace: anybody may read them, operators write them. A deleted plan is archived, because
-- subscriptions and invoices of the past still name it.
create table plans (
  plan_id uuid primary key,
  org_id uuid not null references orgs,
  name text not null,
  amount integer not null check (amount between 0 and 99999999),
  currency text not null check (currency ~ '^[a-z]{3}$'),
  "interval" text not null check ("interval" in ('month', 'year')),
  quotas jsonb not null default '{}',
  features jsonb not null default '[]',
  trial_days integer not null default 0 check (trial_days between 0 and 730),
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  archived_at timestamptz
);
create index plans_by_org on plans (org_id, amount, plan_id) where archived_at is null;

-- With the provider `builtin` the tables below are the ledger; with `stripe` they are a cache that a re-read corrects.

create table billing_customers (
  workspace_id uuid not null references workspaces on delete cascade,
  provider text not null check (provider in ('builtin', 'stripe')),
  customer_id uuid not null,
  provider_ref text,
  trial_used boolean not null default false,
  -- Built-in ledger: money owed to the customer by currency, the numbering of invoices, the test clock.
  credit jsonb not null default '{}',
  invoice_prefix text not null,
  invoices_issued integer not null default 0,
  clock_ahead_s bigint not null default 0 check (clock_ahead_s >= 0),
  -- Stripe: who is changing this customer, which attempt to subscribe this is, and the order of re-reads.
  lease text,
  leased_until timestamptz,
  attempt integer not null default 0,
  attempt_request text,
  attempt_at timestamptz,
  reads_begun bigint not null default 0,
  read_applied bigint not null default 0,
  synced_at timestamptz,
  created_at timestamptz not null default now(),
  primary key (workspace_id, provider),
  unique (customer_id),
  unique (provider, provider_ref)
);

create table setup_intents (
  workspace_id uuid not null,
  setup_intent_id uuid not null,
  provider text not null,
  provider_ref text,
  status text not null default 'requires_payment_method'
    check (status in ('requires_payment_method', 'requires_action', 'succeeded')),
  -- Brand, last four and expiry of the card being confirmed; a card number is never stored.
  card jsonb,
  payment_method_id uuid,
  request_key text not null,
  created_at timestamptz not null default now(),
  primary key (workspace_id, setup_intent_id),
  unique (workspace_id, request_key),
  foreign key (workspace_id, provider) references billing_customers (workspace_id, provider) on delete cascade
);

create table payment_methods (
  workspace_id uuid not null,
  payment_method_id uuid not null,
  provider text not null,
  provider_ref text not null,
  brand text not null,
  last4 text not null,
  exp_month integer not null,
  exp_year integer not null,
  is_default boolean not null default false,
  -- Built-in test cards: what a charge does.
  charge text not null default 'pays' check (charge in ('pays', 'declines')),
  created_at timestamptz not null default now(),
  primary key (workspace_id, payment_method_id),
  unique (provider, provider_ref),
  foreign key (workspace_id, provider) references billing_customers (workspace_id, provider) on delete cascade
);
create unique index one_default_method on payment_methods (workspace_id, provider) where is_default;

create table billing_subscriptions (
  workspace_id uuid not null,
  subscription_id uuid not null,
  provider text not null,
  provider_ref text not null,
  plan_id uuid not null references plans,
  status text not null check (status in ('trialing', 'active', 'past_due', 'cancelled')),
  anchor_at timestamptz not null,
  current_period_start timestamptz not null,
  current_period_end timestamptz not null,
  cancel_at_period_end boolean not null default false,
  -- Dunning of the built-in ledger.
  first_failed_at timestamptz,
  next_attempt_at timestamptz,
  request_key text,
  created_at timestamptz not null default now(),
  ended_at timestamptz,
  primary key (workspace_id, subscription_id),
  unique (provider, provider_ref),
  foreign key (workspace_id, provider) references billing_customers (workspace_id, provider) on delete cascade,
  check (current_period_end > current_period_start)
);
create unique index one_live_subscription on billing_subscriptions (workspace_id, provider) where status <> 'cancelled';
create index billing_subscriptions_by_plan on billing_subscriptions (plan_id) where status <> 'cancelled';
create index billing_subscriptions_due on billing_subscriptions (current_period_end)
  where status <> 'cancelled' and provider = 'builtin';

create table invoices (
  workspace_id uuid not null,
  invoice_id uuid not null,
  provider text not null,
  provider_ref text not null,
  subscription_id uuid,
  number text,
  status text not null check (status in ('draft', 'open', 'paid', 'void', 'uncollectible')),
  amount_due integer not null check (amount_due >= 0),
  amount_paid integer not null default 0 check (amount_paid >= 0),
  currency text not null,
  lines jsonb not null,
  period_start timestamptz not null,
  period_end timestamptz not null,
  attempts integer not null default 0,
  -- Where the provider shows it; the built-in page is signed when it is asked for.
  hosted_url text,
  created_at timestamptz not null default now(),
  primary key (workspace_id, invoice_id),
  unique (provider, provider_ref),
  unique (workspace_id, provider, number),
  foreign key (workspace_id, provider) references billing_customers (workspace_id, provider) on delete cascade,
  foreign key (workspace_id, subscription_id) references billing_subscriptions (workspace_id, subscription_id)
);
create index invoices_newest on invoices (workspace_id, provider, created_at desc, invoice_id desc);

create table usage_counters (
  workspace_id uuid not null references workspaces on delete cascade,
  quota text not null check (quota in ('runs_per_month', 'storage_bytes', 'records')),
  -- The month in UTC (2026-01) for what is counted per month, empty for what is there.
  period text not null,
  used bigint not null default 0,
  primary key (workspace_id, quota, period)
);

-- Webhooks already acted upon. Noted after the act, so that one whose act failed is acted upon when it is sent again.
create table billing_events (
  provider text not null,
  event_id text not null,
  received_at timestamptz not null default now(),
  primary key (provider, event_id)
);
create index billing_events_by_time on billing_events (received_at);

-- Subscriptions that outlived their workspace. The billing clock ends them at the provider.
create table billing_orphans (
  provider text not null,
  provider_ref text not null,
  primary key (provider, provider_ref)
);
create function keep_orphaned_subscription() returns trigger language plpgsql security definer set search_path = public as $$
begin
  if old.provider <> 'builtin' and old.status <> 'cancelled' then
    insert into billing_orphans (provider, provider_ref) values (old.provider, old.provider_ref) on conflict do nothing;
  end if;
  return old;
end $$;
create trigger keep_orphan after delete on billing_subscriptions for each row execute function keep_orphaned_subscription();

do $$
declare
  one_table text;
begin
  foreach one_table in array array['billing_customers', 'setup_intents', 'payment_methods', 'billing_subscriptions',
    'invoices', 'usage_counters'] loop
    execute format('alter table %I enable row level security', one_table);
    execute format('alter table %I force row level security', one_table);
    execute format('create policy owner_all on %I to heddle_owner using (true) with check (true)', one_table);
    execute format('create policy own on %I to heddle_app using (workspace_id = app_workspace())', one_table);
    execute format('grant select, insert, update, delete on %I to heddle_app', one_table);
  end loop;
end $$;
grant select, insert, update on plans to heddle_app;
grant select, insert, delete on billing_events to heddle_app;
grant select, delete on billing_orphans to heddle_app;

-- A webhook names a customer of the provider, never a workspace.
create function billing_workspace_of(wanted_provider text, wanted_ref text) returns uuid
language sql stable security definer set search_path = public
  return (select workspace_id from billing_customers where provider = wanted_provider and provider_ref = wanted_ref);

-- Between whom an invoice is: its page is opened without signing in, by a signed address.
create function billing_parties(workspace uuid) returns table (seller text, buyer text)
language sql stable security definer set search_path = public
begin atomic
  select o.name, c.name || ', ' || w.name
  from workspaces w join companies c using (company_id) join orgs o on o.org_id = w.org_id
  where w.workspace_id = workspace and w.workspace_id = app_workspace();
end;

-- Whose ledger has something to do: a period ended, or a payment is to be tried again.
create function billing_due(at timestamptz, most integer) returns setof uuid
language sql stable security definer set search_path = public
begin atomic
  select s.workspace_id from billing_subscriptions s join billing_customers c using (workspace_id, provider)
  where s.provider = 'builtin' and s.status <> 'cancelled'
    and case when s.status = 'past_due' then s.next_attempt_at else s.current_period_end end
      <= at + make_interval(secs => c.clock_ahead_s)
  order by s.workspace_id limit most;
end;

-- Whose cache has not been compared with the provider for long.
create function billing_stale(wanted_provider text, before timestamptz, most integer) returns setof uuid
language sql stable security definer set search_path = public
begin atomic
  select workspace_id from billing_customers
  where provider = wanted_provider and provider_ref is not null and (synced_at is null or synced_at < before)
  order by synced_at nulls first limit most;
end;

-- Whether anybody, in any workspace, is subscribed to a plan.
create function plan_has_subscribers(plan uuid) returns boolean
language sql stable security definer set search_path = public
  return exists (select from billing_subscriptions where plan_id = plan and status <> 'cancelled');

-- The quotas that hold for a workspace: those of its live subscription, else of the org's free plan; and what is used of the month.
create function workspace_quotas(workspace uuid, wanted_provider text, month text)
returns table (plan_id uuid, name text, quotas jsonb, executions bigint)
language sql stable security definer set search_path = public
begin atomic
  select p.plan_id, p.name, coalesce(p.quotas, '{}'), coalesce(u.used, 0)
  from workspaces w
  left join billing_subscriptions s on s.workspace_id = w.workspace_id and s.provider = wanted_provider and s.status <> 'cancelled'
  left join lateral (
    select plan.plan_id, plan.name, plan.quotas from plans plan
    where plan.plan_id = s.plan_id
      or (s.plan_id is null and plan.org_id = w.org_id and plan.amount = 0 and plan.archived_at is null)
    order by plan.plan_id limit 1
  ) p on true
  left join usage_counters u on u.workspace_id = w.workspace_id and u.quota = 'runs_per_month' and u.period = month
  where w.workspace_id = workspace;
end;

-- What many workspaces used, in one statement; rows are taken in one order, so that two servers never deadlock.
create function add_usage(workspaces_ uuid[], quotas_ text[], periods text[], amounts bigint[]) returns void
language sql security definer set search_path = public
begin atomic
  insert into usage_counters as present (workspace_id, quota, period, used)
  select n.workspace_id, n.quota, n.period, sum(n.amount)::bigint
  from unnest(workspaces_, quotas_, periods, amounts) as n (workspace_id, quota, period, amount)
  where exists (select from workspaces w where w.workspace_id = n.workspace_id)
  group by n.workspace_id, n.quota, n.period
  order by n.workspace_id, n.quota, n.period
  on conflict (workspace_id, quota, period) do update set used = greatest(present.used + excluded.used, 0);
end;

grant execute on function billing_workspace_of(text, text), billing_parties(uuid), billing_due(timestamptz, integer),
  billing_stale(text, timestamptz, integer), plan_has_subscribers(uuid) to heddle_app;
grant execute on function workspace_quotas(uuid, text, text), add_usage(uuid[], text[], text[], bigint[])
  to heddle_app, heddle_engine;
