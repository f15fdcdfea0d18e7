-- Breaks nothing: new tables. Clips of threads, gateway channels, and what goes in and out through them.

-- A clip that somebody sent with a message. The bytes are in the blob store, under a key made from these ids.
create table audio_clips (
  workspace_id uuid not null,
  audio_id uuid not null,
  thread_id uuid not null,
  content_type text not null check (content_type in ('audio/mpeg', 'audio/wav', 'audio/ogg', 'audio/webm')),
  size_bytes bigint not null,
  duration_s double precision not null,
  -- Null while its message is being written; a clip that never gets one is removed.
  message_id uuid,
  created_at timestamptz not null default now(),
  primary key (workspace_id, audio_id),
  unique (audio_id),
  foreign key (workspace_id, thread_id) references threads on delete cascade
);
create index audio_clips_by_thread on audio_clips (workspace_id, thread_id);
create index audio_clips_left_over on audio_clips (created_at) where message_id is null;

-- Blobs whose rows are gone, to be removed from the store.
create table audio_to_remove (
  workspace_id uuid not null,
  audio_id uuid not null,
  primary key (workspace_id, audio_id)
);
create function note_removed_audio() returns trigger language plpgsql security definer set search_path = public as $$
begin
  insert into audio_to_remove values (old.workspace_id, old.audio_id) on conflict do nothing;
  return old;
end $$;
create trigger note_removed_audio after delete on audio_clips for each row execute function note_removed_audio();

-- One config per account at a vendor. `credentials` is sealed; `credentials_set` names what is in it.
create table gateway_channels (
  workspace_id uuid not null references workspaces on delete cascade,
  config_id uuid not null,
  channel text not null check (channel in ('slack', 'telegram', 'whatsapp', 'discord', 'email', 'webhook')),
  external_id text not null,
  template_id uuid,
  name text,
  enabled boolean not null,
  credentials bytea,
  credentials_set text[] not null default '{}',
  -- Why the vendor did not take the last message; null once it took one.
  problem text,
  created_by uuid references users on delete set null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (workspace_id, config_id),
  unique (config_id),
  unique (workspace_id, channel, external_id),
  foreign key (workspace_id, template_id) references templates on delete set null (template_id)
);
create index gateway_channels_by_template on gateway_channels (workspace_id, template_id, config_id);

-- What came in, once per delivery of the vendor; kept for a while after it was taken, so that a repetition is known.
create table channel_deliveries (
  workspace_id uuid not null,
  config_id uuid not null,
  receipt_id uuid not null,
  delivery_sha256 bytea not null,
  conversation text not null,
  sender jsonb not null,
  address jsonb not null,
  -- Null once it was taken: the message is in the thread then.
  text text,
  state text not null default 'waiting' check (state in ('waiting', 'taken', 'parked')),
  attempts integer not null default 0,
  not_before timestamptz not null default now(),
  received_at timestamptz not null default now(),
  primary key (workspace_id, receipt_id),
  unique (workspace_id, config_id, delivery_sha256),
  foreign key (workspace_id, config_id) references gateway_channels on delete cascade
);
create index channel_deliveries_waiting on channel_deliveries (workspace_id, config_id, conversation, receipt_id) where state = 'waiting';
create index channel_deliveries_due on channel_deliveries (not_before) where state = 'waiting';
create index channel_deliveries_old on channel_deliveries (received_at) where state = 'taken';

-- Where the answers of a thread go: the place from which its last message came.
create table channel_addresses (
  workspace_id uuid not null,
  thread_id uuid not null,
  config_id uuid not null,
  address jsonb not null,
  primary key (workspace_id, thread_id),
  foreign key (workspace_id, thread_id) references threads on delete cascade,
  foreign key (workspace_id, config_id) references gateway_channels on delete cascade
);

-- What goes out. Written in the transaction that makes it true, sent afterwards, in order per lane (the conversation).
create table channel_sends (
  workspace_id uuid not null,
  send_id uuid not null,
  config_id uuid not null,
  lane text not null,
  dedupe_key text not null,
  address jsonb not null,
  text text not null,
  state text not null default 'waiting' check (state in ('waiting', 'sent', 'parked')),
  attempts integer not null default 0,
  not_before timestamptz not null default now(),
  problem text,
  created_at timestamptz not null default now(),
  settled_at timestamptz,
  primary key (workspace_id, send_id),
  unique (workspace_id, config_id, dedupe_key),
  foreign key (workspace_id, config_id) references gateway_channels on delete cascade
);
create index channel_sends_waiting on channel_sends (workspace_id, config_id, lane, send_id) where state = 'waiting';
create index channel_sends_due on channel_sends (not_before) where state = 'waiting';
create index channel_sends_old on channel_sends (settled_at) where state <> 'waiting';

do $$
declare one_table text;
begin
  foreach one_table in array array['audio_clips', 'audio_to_remove', 'gateway_channels', 'channel_deliveries', 'channel_addresses', 'channel_sends'] loop
    execute format('alter table %I enable row level security', one_table);
    execute format('alter table %I force row level security', one_table);
    execute format('create policy owner_all on %I to heddle_owner using (true) with check (true)', one_table);
    execute format('create policy own on %I to heddle_app using (workspace_id = nullif(current_setting(''app.ws'', true), '''')::uuid)', one_table);
  end loop;
end $$;
grant select, insert, update, delete on audio_clips, gateway_channels, channel_deliveries, channel_addresses, channel_sends to heddle_app;
grant select, delete on audio_to_remove to heddle_app;

-- A vendor's call names a config and nothing else: which workspace it belongs to is looked up here.
create function gateway_channel_of(config uuid, kind text)
returns table (workspace_id uuid, config_id uuid, channel text, external_id text, template_id uuid, enabled boolean, credentials bytea)
language sql stable security definer set search_path = public
begin atomic
  select g.workspace_id, g.config_id, g.channel, g.external_id, g.template_id, g.enabled, g.credentials
  from gateway_channels g where g.config_id = config and g.channel = kind;
end;

-- Work of all workspaces; whoever takes it then works in each one's own scope. Only the first of each conversation: the
-- next one waits until it is done or parked.
create function due_channel_deliveries(most integer) returns table (workspace_id uuid, receipt_id uuid)
language sql stable security definer set search_path = public
begin atomic
  select d.workspace_id, d.receipt_id from channel_deliveries d
  where d.state = 'waiting' and d.not_before <= now() and not exists (select from channel_deliveries e
    where e.workspace_id = d.workspace_id and e.config_id = d.config_id and e.conversation = d.conversation
      and e.state = 'waiting' and e.receipt_id < d.receipt_id)
  order by d.not_before limit most;
end;
create function due_channel_sends(most integer) returns table (workspace_id uuid, send_id uuid)
language sql stable security definer set search_path = public
begin atomic
  select s.workspace_id, s.send_id from channel_sends s
  where s.state = 'waiting' and s.not_before <= now() and not exists (select from channel_sends e
    where e.workspace_id = s.workspace_id and e.config_id = s.config_id and e.lane = s.lane
      and e.state = 'waiting' and e.send_id < s.send_id)
  order by s.not_before limit most;
end;

-- Vendors repeat a delivery for up to a week.
create function forget_channel_work() returns void language sql security definer set search_path = public
begin atomic
  delete from channel_deliveries where state <> 'waiting' and received_at < now() - interval '8 days';
  delete from channel_sends where state <> 'waiting' and settled_at < now() - interval '30 days';
end;

-- Clips whose message was never written, and blobs whose clips are gone.
create function audio_left_over(most integer) returns table (workspace_id uuid, audio_id uuid)
language sql security definer set search_path = public
begin atomic
  delete from audio_clips c where c.message_id is null and c.created_at < now() - interval '1 day';
  select r.workspace_id, r.audio_id from audio_to_remove r limit most;
end;

revoke execute on function note_removed_audio(), gateway_channel_of(uuid, text), due_channel_deliveries(integer), due_channel_sends(integer),
  forget_channel_work(), audio_left_over(integer) from public;
grant execute on function gateway_channel_of(uuid, text), due_channel_deliveries(integer), due_channel_sends(integer),
  forget_channel_work(), audio_left_over(integer) to heddle_app;
