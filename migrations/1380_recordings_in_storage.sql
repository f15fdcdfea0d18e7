-- Breaks nothing: what suites recorded counts as storage, where it changes, and is held against the plan in the same transaction,
-- as files and documents are. One function does it for all three.

create function count_storage(workspace uuid, more bigint) returns void language plpgsql security definer set search_path = public, pg_temp as $$
declare
  most bigint;
begin
  if more = 0 then return; end if;
  perform add_usage(array[workspace], array['storage_bytes'], array[''], array[more]);
  if more < 0 then return; end if;
  select (p.quotas ->> 'storage_bytes')::bigint into most from workspaces w
    left join lateral (select plan_id from billing_subscriptions s where s.workspace_id = w.workspace_id and s.status <> 'cancelled'
      order by s.subscription_id desc limit 1) s on true
    join lateral (select plan.quotas from plans plan where plan.plan_id = s.plan_id
      or (s.plan_id is null and plan.org_id = w.org_id and plan.amount = 0 and plan.archived_at is null)
      order by plan.plan_id limit 1) p on true
    where w.workspace_id = workspace;
  if exists (select from usage_counters u where u.workspace_id = workspace and u.period = '' and u.quota = 'storage_bytes' and u.used > most) then
    raise exception using errcode = 'HQ001',
      message = format('The quota storage_bytes is used up: the plan allows %s. Remove something, or change the plan.', most);
  end if;
end $$;

create or replace function count_file() returns trigger language plpgsql security definer set search_path = public, pg_temp as $$
begin
  perform count_storage(coalesce(new.workspace_id, old.workspace_id), coalesce(new.bytes, 0) - coalesce(old.bytes, 0));
  return null;
end $$;

create or replace function count_knowledge() returns trigger language plpgsql security definer set search_path = public, pg_temp as $$
begin
  perform count_storage(coalesce(new.workspace_id, old.workspace_id), coalesce(new.bytes, 0) - coalesce(old.bytes, 0));
  return null;
end $$;

create function count_recording() returns trigger language plpgsql security definer set search_path = public, pg_temp as $$
begin
  perform count_storage(coalesce(new.workspace_id, old.workspace_id),
    coalesce(octet_length(new.output::text), octet_length(new.error::text), 0)
      - coalesce(octet_length(old.output::text), octet_length(old.error::text), 0));
  return null;
end $$;

revoke execute on function count_storage(uuid, bigint), count_recording() from public;

insert into usage_counters as present (workspace_id, quota, period, used)
  select workspace_id, 'storage_bytes', '', sum(octet_length(coalesce(output::text, error::text))) from suite_recordings group by workspace_id
  on conflict (workspace_id, quota, period) do update set used = present.used + excluded.used;

create trigger count_recording after insert or update of output, error or delete on suite_recordings
  for each row execute function count_recording();
