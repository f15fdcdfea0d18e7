-- Breaks nothing: new tables and functions. Rules that tell people when runs fail, take too long, wait too long, stop coming, or cost
-- too much.

create table alert_rules (
  workspace_id uuid not null references workspaces on delete cascade,
  rule_id uuid not null,
  name text not null,
  kind text not null check (kind in ('failure_rate', 'duration', 'queue_age', 'silence', 'budget')),
  -- Null: of the whole workspace.
  workflow_id uuid,
  threshold double precision not null,
  window_s integer not null,
  min_runs integer not null,
  people uuid[] not null,
  mail boolean not null,
  config_id uuid,
  channel_to text,
  enabled boolean not null default true,
  silenced_until timestamptz,
  created_by uuid references users on delete set null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  state text not null default 'ok' check (state in ('ok', 'firing')),
  since timestamptz not null default now(),
  value double precision,
  -- Whether people were told that it fires, and not yet that it is over.
  told boolean not null default false,
  number integer not null default 0,
  checked_at timestamptz,
  next_check_at timestamptz not null default now(),
  primary key (workspace_id, rule_id),
  foreign key (workspace_id, workflow_id) references workflows (workspace_id, workflow_id) on delete cascade,
  check ((config_id is null) = (channel_to is null))
);
create index alert_rules_due on alert_rules (next_check_at) where enabled;

-- Mails and messages that are to be sent: written with what they tell of, deleted once they have left. Keys make a second one the same.
create table alert_messages (
  workspace_id uuid not null,
  rule_id uuid not null,
  number integer not null,
  way text not null check (way in ('mail', 'channel')),
  subject text not null,
  body text not null,
  attempts integer not null default 0,
  next_at timestamptz not null default now(),
  primary key (workspace_id, rule_id, number, way),
  foreign key (workspace_id, rule_id) references alert_rules on delete cascade
);
create index alert_messages_due on alert_messages (next_at);

do $$
declare one_table text;
begin
  foreach one_table in array array['alert_rules', 'alert_messages'] loop
    execute format('alter table %I enable row level security', one_table);
    execute format('alter table %I force row level security', one_table);
    execute format('create policy owner_all on %I to heddle_owner using (true) with check (true)', one_table);
    execute format('create policy own on %I to heddle_app using (workspace_id = app_workspace())', one_table);
  end loop;
end $$;
grant select, insert, update, delete on alert_rules, alert_messages to heddle_app;

create function due_alert_rules(most integer) returns table (workspace_id uuid, rule_id uuid)
language sql stable security definer set search_path = public, pg_temp
begin atomic
  select r.workspace_id, r.rule_id from alert_rules r where r.enabled and r.next_check_at <= now() order by r.next_check_at limit most;
end;

-- Taken for a minute: another process sends it again where this one dies before it is deleted.
create function take_alert_messages(most integer) returns table (workspace_id uuid, rule_id uuid, number integer, way text)
language sql security definer set search_path = public, pg_temp
begin atomic
  update alert_messages m set next_at = now() + interval '1 minute', attempts = m.attempts + 1
  where (m.workspace_id, m.rule_id, m.number, m.way) in (
    select d.workspace_id, d.rule_id, d.number, d.way from alert_messages d where d.next_at <= now()
    order by d.next_at limit most for update skip locked)
  returning m.workspace_id, m.rule_id, m.number, m.way;
end;
revoke execute on function due_alert_rules(integer), take_alert_messages(integer) from public;
grant execute on function due_alert_rules(integer), take_alert_messages(integer) to heddle_app;
