-- Breaks nothing: a new table and rights of operators. Operators see what each workspace uses, suspend workspaces, and delete suspended ones.

-- Written by operators alone.
create table workspace_suspensions (
  workspace_id uuid primary key references workspaces on delete cascade,
  -- Shown to the people of the workspace.
  reason text not null check (length(reason) between 1 and 500),
  suspended_by uuid references users on delete set null,
  suspended_at timestamptz not null default now()
);
alter table workspace_suspensions enable row level security;
alter table workspace_suspensions force row level security;
create policy owner_all on workspace_suspensions to heddle_owner using (true) with check (true);
create policy seen on workspace_suspensions for select to heddle_app using (workspace_id = app_workspace());
create policy everything on workspace_suspensions to heddle_operator using (true) with check (true);
grant select on workspace_suspensions to heddle_app;
grant select, insert, update, delete on workspace_suspensions to heddle_operator;

-- Only sums: what a workspace ran, stores and asked models for.
create policy everything on usage_counters for select to heddle_operator using (true);
create policy everything on usage_days for select to heddle_operator using (true);
grant select on usage_counters, usage_days to heddle_operator;

-- A workspace is suspended before an operator deletes it, so that a wrong id deletes nothing.
create policy suspended on workspaces for delete to heddle_operator
  using (exists (select from workspace_suspensions s where s.workspace_id = workspaces.workspace_id));
grant delete on workspaces to heddle_operator;

-- A suspended workspace has the quotas of no plan: nothing starts, and nothing of the installation is used. Processes of older releases obey
-- the numbers too.
create or replace function workspace_quotas(workspace uuid, wanted_provider text, month text)
returns table (plan_id uuid, name text, quotas jsonb, executions bigint)
language sql stable security definer set search_path = public
begin atomic
  select p.plan_id, p.name,
    case when h.workspace_id is null then coalesce(p.quotas, '{}')
      else coalesce(p.quotas, '{}') || jsonb_build_object('suspended', h.reason) || '{"runs_per_month": 0, "members": 0,
        "event_destinations": 0, "knowledge_documents": 0, "mails_per_minute": 0, "outside_recipients_per_day": 0,
        "model_tokens_per_minute": 0, "speech_characters_per_minute": 0, "transcription_s_per_minute": 0,
        "outgoing_requests_per_minute": 0}' end,
    coalesce(u.used, 0)
  from workspaces w
  left join workspace_suspensions h on h.workspace_id = w.workspace_id
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
