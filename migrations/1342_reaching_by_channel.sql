-- Breaks nothing: new tables and columns, and functions with the same arguments. Gates and questions reach people by Slack, Telegram and
-- Discord, with buttons.

-- A person of the workspace in a channel: the vendor says who writes and who presses a button.
create table channel_identities (
  workspace_id uuid not null,
  identity_id uuid not null,
  config_id uuid not null,
  user_id uuid not null,
  sender_id text not null,
  sender_name text not null,
  address json not null,
  created_at timestamptz not null default now(),
  primary key (workspace_id, identity_id),
  unique (workspace_id, config_id, sender_id),
  unique (workspace_id, config_id, user_id),
  foreign key (workspace_id, config_id) references gateway_channels on delete cascade,
  foreign key (workspace_id, user_id) references memberships (workspace_id, user_id) on delete cascade
);
create index channel_identities_by_user on channel_identities (workspace_id, user_id);

-- What a person writes to the channel to prove that it is theirs. One at a time.
create table channel_link_codes (
  workspace_id uuid not null,
  user_id uuid not null,
  config_id uuid not null,
  code_hash bytea not null,
  expires_at timestamptz not null,
  primary key (workspace_id, user_id),
  foreign key (workspace_id, config_id) references gateway_channels on delete cascade,
  foreign key (workspace_id, user_id) references memberships (workspace_id, user_id) on delete cascade
);
create index channel_link_codes_by_config on channel_link_codes (workspace_id, config_id);

do $$
declare one_table text;
begin
  foreach one_table in array array['channel_identities', 'channel_link_codes'] loop
    execute format('alter table %I enable row level security', one_table);
    execute format('alter table %I force row level security', one_table);
    execute format('create policy owner_all on %I to heddle_owner using (true) with check (true)', one_table);
    execute format('create policy own on %I to heddle_app using (workspace_id = app_workspace())', one_table);
    execute format('grant select, insert, update, delete on %I to heddle_app', one_table);
  end loop;
end $$;

-- Null: where the person chose nothing, what asks for an answer goes to their channels too.
alter table notification_preferences add column channel boolean;

-- `identity_id`: to this channel and not by mail. `sent_ref`: the message as the vendor knows it, to be changed once the matter is
-- settled; `outcome` is what it then says.
alter table reach_messages
  add column identity_id uuid,
  add column sent_ref text,
  add column outcome text,
  add foreign key (workspace_id, identity_id) references channel_identities on delete cascade;
create index reach_messages_by_identity on reach_messages (workspace_id, identity_id) where identity_id is not null;

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
      bool_and(u.kind = 'person' and coalesce(p.mail, asks and mails)) as mail,
      bool_and(u.kind = 'person' and coalesce(p.channel, asks)) as channel
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
    if one.channel then
      insert into reach_messages (workspace_id, message_id, user_id, kind, matter, title, body, link, identity_id)
        select workspace, gen_random_uuid(), one.user_id, event_kind, case when asks then about end, event_title, event_body, event_link,
          i.identity_id
        from channel_identities i where i.workspace_id = workspace and i.user_id = one.user_id;
    end if;
  end loop;
end $$;

-- As before; and a message that stands in a channel is due once more, to say how the matter ended.
create or replace function settle_matters(workspace uuid, matters text[], outcome text, only_user uuid)
returns setof uuid language plpgsql security definer set search_path = public, pg_temp as $$
#variable_conflict use_variable
declare
  one record;
begin
  if workspace is distinct from app_workspace() then return; end if;
  update reach_messages r set
      state = case when r.sent_ref is not null then 'due' else 'done' end,
      outcome = settle_matters.outcome, attempts = 0, next_at = now()
    where r.workspace_id = workspace and r.matter = any (matters) and r.state in ('due', 'sent') and (only_user is null or r.user_id = only_user);
  for one in select n.notification_id, n.user_id from notifications n
    where n.workspace_id = workspace and n.matter = any (matters) and n.resolved_at is null and (only_user is null or n.user_id = only_user)
    order by n.user_id, n.notification_id for update loop
    update notifications set resolved_at = now(), read_at = coalesce(read_at, now()),
        data = data || jsonb_build_object('resolution', settle_matters.outcome, 'resolved_at', to_jsonb(now()))
      where notification_id = one.notification_id;
    perform append_feed(one.user_id, 'notification.updated', jsonb_build_object('notification_id', one.notification_id));
    return next one.user_id;
  end loop;
end $$;
