-- Breaks nothing: new tables, columns and functions, and `deliver_event` with the same arguments. Gates, questions and notices reach
-- people by mail, as each of them chose; what is settled is settled for everybody.

-- `matter`: the gate or question that it is about, as on the wire.
alter table notifications add column matter text;
alter table notifications add column resolved_at timestamptz;
create index notifications_by_matter on notifications (workspace_id, matter) where matter is not null and resolved_at is null;

alter table questions add column reminded boolean not null default false;

-- What a person chose for a kind of notice; without a row the default holds.
create table notification_preferences (
  workspace_id uuid not null,
  user_id uuid not null,
  kind text not null,
  app boolean not null,
  mail boolean not null,
  primary key (workspace_id, user_id, kind),
  foreign key (workspace_id, user_id) references memberships (workspace_id, user_id) on delete cascade
);

-- One mail to one person, kept until its links have expired. Written with what it tells of and sent afterwards.
create table reach_messages (
  workspace_id uuid not null,
  message_id uuid not null,
  user_id uuid not null,
  kind text not null,
  matter text,
  title text not null,
  body text,
  link text,
  state text not null default 'due' check (state in ('due', 'sent', 'done')),
  attempts integer not null default 0,
  next_at timestamptz not null default now(),
  created_at timestamptz not null default now(),
  sent_at timestamptz,
  expires_at timestamptz not null default now() + interval '14 days',
  -- What the mail showed.
  payload_sha256 text,
  used_at timestamptz,
  codes_sent integer not null default 0,
  code_hash bytea,
  code_expires_at timestamptz,
  code_tries integer not null default 0,
  primary key (workspace_id, message_id),
  foreign key (workspace_id, user_id) references memberships (workspace_id, user_id) on delete cascade
);
create index reach_messages_due on reach_messages (workspace_id, next_at) where state = 'due';
create index reach_messages_by_matter on reach_messages (workspace_id, matter) where matter is not null and state in ('due', 'sent');
create index reach_messages_by_person on reach_messages (workspace_id, user_id, sent_at);
create index reach_messages_expired on reach_messages (expires_at);

do $$
declare one_table text;
begin
  foreach one_table in array array['notification_preferences', 'reach_messages'] loop
    execute format('alter table %I enable row level security', one_table);
    execute format('alter table %I force row level security', one_table);
    execute format('create policy owner_all on %I to heddle_owner using (true) with check (true)', one_table);
    execute format('create policy own on %I to heddle_app using (workspace_id = app_workspace())', one_table);
    execute format('grant select, insert, update, delete on %I to heddle_app', one_table);
  end loop;
end $$;

-- Whether mails leave the service. One row; the program says so when it starts.
create table mail_leaves (one boolean primary key default true check (one), leaves boolean not null);
insert into mail_leaves (leaves) values (false);
alter table mail_leaves enable row level security;
alter table mail_leaves force row level security;
create policy owner_all on mail_leaves to heddle_owner using (true) with check (true);

create function note_mail_leaves(now_leaves boolean) returns void language sql security definer set search_path = public, pg_temp
begin atomic
  update mail_leaves set leaves = now_leaves where leaves <> now_leaves;
end;

-- What asks somebody to decide or answer, and so also goes by mail where the person chose nothing else.
create function asks_for_an_answer(event_kind text) returns boolean language sql immutable
begin atomic
  select event_kind in ('approval.requested', 'approval.reminder', 'approval.escalated', 'approval.delegated',
    'clarification.asked', 'clarification.reminder', 'clarification.escalated');
end;

create or replace function deliver_event(workspace uuid, event_kind text, event_title text, event_body text, event_data jsonb,
  event_link text, recipients uuid[], notification_ids uuid[])
returns setof uuid language plpgsql security definer set search_path = public, pg_temp as $$
declare
  one record;
  about text := coalesce(event_data ->> 'request_id', event_data ->> 'clarification_id');
  asks boolean := asks_for_an_answer(event_kind);
  mails boolean := (select l.leaves from mail_leaves l);
begin
  for one in select m.user_id, (array_agg(wanted.id))[1] as notification_id, bool_and(coalesce(p.app, true)) as app,
      bool_and(u.kind = 'person' and coalesce(p.mail, asks and mails)) as mail
    from unnest(recipients, notification_ids) as wanted (user_id, id)
    join memberships m on m.user_id = wanted.user_id
    join users u on u.user_id = m.user_id
    left join notification_preferences p on p.workspace_id = workspace and p.user_id = m.user_id and p.kind = event_kind
    where m.workspace_id = workspace group by m.user_id order by m.user_id loop
    if one.app then
      insert into notifications (notification_id, user_id, workspace_id, kind, title, body, data, link, matter)
        values (one.notification_id, one.user_id, workspace, event_kind, event_title, event_body, coalesce(event_data, '{}'), event_link,
          case when asks then about end);
      perform append_feed(one.user_id, 'notification.created', jsonb_build_object('notification_id', one.notification_id));
      return next one.user_id;
    end if;
    if one.mail then
      insert into reach_messages (workspace_id, message_id, user_id, kind, matter, title, body, link)
        values (workspace, gen_random_uuid(), one.user_id, event_kind, case when asks then about end, event_title, event_body, event_link);
    end if;
  end loop;
end $$;

-- The matters are settled, for everybody or for one person: notices about them are read and say how, and what was not sent yet is not
-- sent any more. People are told in the order in which deliver_event tells them.
create function settle_matters(workspace uuid, matters text[], outcome text, only_user uuid)
returns setof uuid language plpgsql security definer set search_path = public, pg_temp as $$
declare
  one record;
begin
  if workspace is distinct from app_workspace() then return; end if;
  update reach_messages r set state = 'done'
    where r.workspace_id = workspace and r.matter = any (matters) and r.state in ('due', 'sent') and (only_user is null or r.user_id = only_user);
  for one in select n.notification_id, n.user_id from notifications n
    where n.workspace_id = workspace and n.matter = any (matters) and n.resolved_at is null and (only_user is null or n.user_id = only_user)
    order by n.user_id, n.notification_id for update loop
    update notifications set resolved_at = now(), read_at = coalesce(read_at, now()),
        data = data || jsonb_build_object('resolution', outcome, 'resolved_at', to_jsonb(now()))
      where notification_id = one.notification_id;
    perform append_feed(one.user_id, 'notification.updated', jsonb_build_object('notification_id', one.notification_id));
    return next one.user_id;
  end loop;
end $$;

-- Of each workspace a few at a time. Taken for a minute: where this process dies, another sends it.
create function take_reach_messages(most integer, most_of_one integer) returns table (workspace_id uuid, message_id uuid)
language sql security definer set search_path = public, pg_temp
begin atomic
  with recursive spaces as (
    (select r.workspace_id from reach_messages r where r.state = 'due' order by r.workspace_id limit 1)
    union all
    select (select r.workspace_id from reach_messages r where r.state = 'due' and r.workspace_id > s.workspace_id
        order by r.workspace_id limit 1)
      from spaces s where s.workspace_id is not null
  ),
  wanted as (
    select d.workspace_id, d.message_id from spaces s cross join lateral (
      select r.workspace_id, r.message_id, r.next_at from reach_messages r
      where r.workspace_id = s.workspace_id and r.state = 'due' and r.next_at <= now() order by r.next_at limit most_of_one) d
    order by d.next_at limit most
  )
  update reach_messages m set next_at = now() + interval '1 minute', attempts = m.attempts + 1
  from wanted w where m.workspace_id = w.workspace_id and m.message_id = w.message_id and m.next_at <= now() and m.state = 'due'
  returning m.workspace_id, m.message_id;
end;

create function forget_reach_messages(most integer) returns integer language sql security definer set search_path = public, pg_temp
begin atomic
  with old as (select r.workspace_id, r.message_id from reach_messages r where r.expires_at < now() order by r.expires_at limit most),
    gone as (delete from reach_messages r using old where r.workspace_id = old.workspace_id and r.message_id = old.message_id returning 1)
  select count(*)::integer from gone;
end;

revoke execute on function note_mail_leaves(boolean), asks_for_an_answer(text), settle_matters(uuid, text[], text, uuid),
  take_reach_messages(integer, integer), forget_reach_messages(integer) from public;
grant execute on function note_mail_leaves(boolean), settle_matters(uuid, text[], text, uuid), take_reach_messages(integer, integer),
  forget_reach_messages(integer) to heddle_app;
