-- Breaks nothing: records and storage of datasets are counted where they change, whatever changes them, and held against
-- the plan in the same transaction. The counter's row makes writers of one workspace take turns, so the limit is exact.

create function count_dataset() returns trigger language plpgsql security definer set search_path = public as $$
declare
  workspace uuid := coalesce(new.workspace_id, old.workspace_id);
  more_records bigint := coalesce(new.record_count, 0) - coalesce(old.record_count, 0);
  more_bytes bigint := coalesce(new.size_bytes, 0) - coalesce(old.size_bytes, 0);
  limits jsonb;
  over text;
begin
  if more_records = 0 and more_bytes = 0 then return null; end if;
  perform add_usage(array[workspace, workspace], array['records', 'storage_bytes'], array['', ''], array[more_records, more_bytes]);
  if more_records <= 0 and more_bytes <= 0 then return null; end if;
  select p.quotas into limits from workspaces w
    left join lateral (select plan_id from billing_subscriptions s where s.workspace_id = w.workspace_id and s.status <> 'cancelled'
      order by s.subscription_id desc limit 1) s on true
    join lateral (select plan.quotas from plans plan where plan.plan_id = s.plan_id
      or (s.plan_id is null and plan.org_id = w.org_id and plan.amount = 0 and plan.archived_at is null)
      order by plan.plan_id limit 1) p on true
    where w.workspace_id = workspace;
  select format('The quota %s is used up: the plan allows %s. Remove something, or change the plan.', u.quota, limits ->> u.quota) into over
    from usage_counters u where u.workspace_id = workspace and u.period = '' and u.used > (limits ->> u.quota)::bigint
      and case u.quota when 'records' then more_records else more_bytes end > 0
    limit 1;
  if over is not null then raise exception using errcode = 'HQ001', message = over; end if;
  return null;
end $$;
create trigger count_dataset after insert or update of record_count, size_bytes or delete on datasets
  for each row execute function count_dataset();
revoke execute on function count_dataset() from public;
