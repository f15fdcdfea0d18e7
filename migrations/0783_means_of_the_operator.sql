-- Breaks nothing: what a workspace uses of the operator's means (mails, model tokens, speech, outgoing requests), and which
-- workspaces an operator trusts.

alter table usage_counters drop constraint usage_counters_quota_check;
alter table usage_counters add constraint usage_counters_quota_check check (quota in ('runs_per_month', 'storage_bytes', 'records',
  'mails_per_minute', 'outside_recipients_per_day', 'model_tokens_per_minute', 'model_tokens_per_month',
  'speech_characters_per_minute', 'transcription_s_per_minute', 'outgoing_requests_per_minute'));
comment on column usage_counters.period is 'In UTC: the month (2026-01), the day (2026-01-31) or the minute (2026-01-31T09:30); empty for what is there';
create index usage_counters_old_minutes on usage_counters (period) where length(period) > 7;

create function prune_usage() returns void language sql security definer set search_path = public as $$
  delete from usage_counters where ctid = any(array(
    select ctid from usage_counters where length(period) > 7
      and period < to_char(now() at time zone 'utc' - case when length(period) > 10 then interval '1 hour' else interval '40 days' end,
        'YYYY-MM-DD"T"HH24:MI')
    limit 5000));
$$;

-- What of several periods is used, for the process that checks it before a node runs.
create function usage_of(workspace uuid, periods text[]) returns table (quota text, used bigint)
language sql stable security definer set search_path = public
begin atomic
  select u.quota, u.used from usage_counters u where u.workspace_id = workspace and u.period = any(periods);
end;

-- Written by operators alone.
create table workspace_trust (
  workspace_id uuid primary key references workspaces on delete cascade,
  trusted_by uuid references users on delete set null,
  trusted_at timestamptz not null default now()
);
alter table workspace_trust enable row level security;
alter table workspace_trust force row level security;
create policy owner_all on workspace_trust to heddle_owner using (true) with check (true);
create policy seen on workspace_trust for select to heddle_app using (workspace_id = app_workspace());
create policy everything on workspace_trust to heddle_operator using (true) with check (true);
grant select on workspace_trust to heddle_app;
grant select, insert, delete on workspace_trust to heddle_operator;

-- How far a workspace may mail people outside: whether it is trusted, whether one of its owners has proven an address, and how
-- many of the recipients are not its own people.
create function mail_standing(workspace uuid, recipients text[])
returns table (is_trusted boolean, has_verified_owner boolean, outside integer)
language sql stable security definer set search_path = public
begin atomic
  select exists (select from workspace_trust t where t.workspace_id = workspace),
    exists (select from memberships m join users u on u.user_id = m.user_id
      where m.workspace_id = workspace and m.role = 'owner' and u.email_verified_at is not null),
    (select count(*)::integer from unnest(recipients) as wanted (address) where not exists (
      select from memberships m join users u on u.user_id = m.user_id
      where m.workspace_id = workspace and u.email = lower(wanted.address)));
end;

revoke execute on function prune_usage(), usage_of(uuid, text[]), mail_standing(uuid, text[]) from public;
grant execute on function prune_usage(), usage_of(uuid, text[]), mail_standing(uuid, text[]) to heddle_app;

-- The first plans were far larger than one machine. Plans that still have exactly those numbers get sensible ones.
update plans set updated_at = now(), quotas = quotas
    || '{"runs_per_month": 1000000, "members": 100, "storage_bytes": 21474836480, "records": 10000000}'
  where name = 'Free' and amount = 0 and quotas @> '{"runs_per_month": 10000000, "members": 1000, "storage_bytes": 1099511627776, "records": 100000000}';
update plans set updated_at = now(), quotas = quotas
    || '{"runs_per_month": 10000000, "members": 1000, "storage_bytes": 214748364800, "records": 100000000}'
  where name = 'Team' and quotas @> '{"runs_per_month": 100000000, "members": 10000, "storage_bytes": 10995116277760, "records": 1000000000}';
