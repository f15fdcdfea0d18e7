-- Breaks changes of plans by operators in older releases: they wrote plans as the role of requests, which now only reads them.

revoke insert, update on plans from heddle_app;
grant select, insert, update on plans to heddle_operator;
grant execute on function plan_has_subscribers(uuid) to heddle_operator;

-- A plan that somebody is subscribing to: its price cannot change before their transaction ends. Holding a row with a lock
-- needs the right to change it, which the role of requests does not have.
create function hold_plan(plan uuid)
returns table (plan_id uuid, name text, amount integer, currency text, "interval" text, trial_days integer)
language sql security definer set search_path = public as $$
  select p.plan_id, p.name, p.amount, p.currency, p."interval", p.trial_days from plans p where p.plan_id = plan for share;
$$;
grant execute on function hold_plan(uuid) to heddle_app;
