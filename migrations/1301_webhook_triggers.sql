-- Breaks nothing: new columns and tables; a process of an earlier release goes on with the triggers that look. Triggers that the vendor calls.

alter table service_triggers add column kind text not null default 'polling' check (kind in ('polling', 'webhook'));
-- The address at the vendor holds it: an address of an earlier registration is dead.
alter table service_triggers add column hook_generation bigint not null default 0;
alter table service_triggers add column registered boolean not null default false;
-- While a process works on it; what comes meanwhile is seen when that is done.
alter table service_triggers add column busy_until timestamptz;

-- What vendors sent, until it has started its runs; the delivery ids stay for a while, so that a repetition starts nothing.
create table service_trigger_events (
  workspace_id uuid not null,
  event_id uuid not null,
  trigger_id uuid not null,
  delivery text,
  payload jsonb,
  attempts integer not null default 0,
  received_at timestamptz not null default now(),
  done_at timestamptz,
  primary key (workspace_id, event_id),
  foreign key (workspace_id, trigger_id) references service_triggers (workspace_id, trigger_id) on delete cascade
);
create unique index service_trigger_events_delivery on service_trigger_events (workspace_id, trigger_id, delivery) where delivery is not null;
create index service_trigger_events_open on service_trigger_events (workspace_id, trigger_id, event_id) where done_at is null;
create index service_trigger_events_done on service_trigger_events (workspace_id, trigger_id, done_at) where done_at is not null;
alter table service_trigger_events enable row level security;
alter table service_trigger_events force row level security;
create policy owner_all on service_trigger_events to heddle_owner using (true) with check (true);
create policy own on service_trigger_events to heddle_app using (workspace_id = app_workspace());
grant select, insert, update, delete on service_trigger_events to heddle_app;

-- Registrations of triggers that are gone, until the vendor has been told.
create table service_trigger_removals (
  workspace_id uuid not null references workspaces on delete cascade,
  removal_id uuid not null,
  service text not null,
  trigger text not null,
  args jsonb not null,
  store jsonb not null,
  credential_id uuid,
  principal_id uuid,
  attempts integer not null default 0,
  next_at timestamptz not null default now(),
  primary key (workspace_id, removal_id)
);
create index service_trigger_removals_due on service_trigger_removals (next_at);
alter table service_trigger_removals enable row level security;
alter table service_trigger_removals force row level security;
create policy owner_all on service_trigger_removals to heddle_owner using (true) with check (true);
create policy own on service_trigger_removals to heddle_app using (workspace_id = app_workspace());
grant select, insert, update, delete on service_trigger_removals to heddle_app;

create or replace function due_service_triggers(most integer) returns table (workspace_id uuid, trigger_id uuid)
language sql stable security definer set search_path = public
begin atomic
  select t.workspace_id, t.trigger_id from service_triggers t
  where t.enabled and t.kind = 'polling' and t.next_poll_at <= now() order by t.next_poll_at limit most;
end;

create function due_webhook_triggers(most integer) returns table (workspace_id uuid, trigger_id uuid)
language sql stable security definer set search_path = public
begin atomic
  select t.workspace_id, t.trigger_id from service_triggers t
  where t.enabled and t.kind = 'webhook' and t.next_poll_at <= now() order by t.next_poll_at limit most;
end;
revoke execute on function due_webhook_triggers(integer) from public;
grant execute on function due_webhook_triggers(integer) to heddle_app;

create function due_trigger_removals(most integer) returns table (workspace_id uuid, removal_id uuid)
language sql stable security definer set search_path = public
begin atomic
  select r.workspace_id, r.removal_id from service_trigger_removals r where r.next_at <= now() order by r.next_at limit most;
end;
revoke execute on function due_trigger_removals(integer) from public;
grant execute on function due_trigger_removals(integer) to heddle_app;

-- An activation, or the lack of one after a transfer, is seen at once.
create function wake_webhook_triggers() returns trigger language plpgsql set search_path = public as $$
begin
  update service_triggers t set next_poll_at = now() where t.workspace_id = new.workspace_id and t.workflow_id = new.workflow_id
    and t.kind = 'webhook' and (t.busy_until is null or t.busy_until <= now());
  return null;
end $$;
create trigger wake_webhook_triggers after update of active on workflow_versions
  for each row when (new.active is distinct from old.active) execute function wake_webhook_triggers();
create trigger wake_webhook_triggers after update of activation_required on workflows
  for each row when (new.activation_required is distinct from old.activation_required) execute function wake_webhook_triggers();
