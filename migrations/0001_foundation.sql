-- Breaks nothing: the first tables. Orgs, people, companies, workspaces, teams, notifications, presence, audit.

-- Who asks. Row security reads these settings; unset or empty shows no row. `app.bound` is the workspace that the caller's
-- API key is bound to: whatever the person may see elsewhere, the key does not.
create function app_workspace() returns uuid language sql stable parallel safe
  return nullif(current_setting('app.ws', true), '')::uuid;
create function app_user() returns uuid language sql stable parallel safe
  return nullif(current_setting('app.user', true), '')::uuid;
create function app_bound() returns uuid language sql stable parallel safe
  return nullif(current_setting('app.bound', true), '')::uuid;

-- An id as it stands on the wire, for the few places where JSON of tenants names a row.
create function typeid(prefix text, id uuid) returns text language plpgsql immutable parallel safe as $$
declare
  hex text := replace(id::text, '-', '');
  alphabet constant text := '0123456789abcdefghjkmnpqrstvwxyz';
  bits bit varying := ('x' || hex)::bit(128)::bit varying;
  encoded text := '';
begin
  bits := B'00' || bits;
  for letter in 0..25 loop
    encoded := encoded || substr(alphabet, substring(bits from letter * 5 + 1 for 5)::bit(5)::integer + 1, 1);
  end loop;
  return prefix || '_' || encoded;
end $$;

-- Facts about this installation, such as a value sealed with its key.
create table installation (
  name text primary key,
  value bytea not null
);

create table orgs (
  org_id uuid primary key,
  name text not null,
  created_at timestamptz not null default now()
);
create table org_hosts (
  host text primary key check (host = lower(host)),
  org_id uuid not null references orgs
);

create table users (
  user_id uuid primary key,
  org_id uuid not null references orgs,
  email text not null check (email = lower(email)),
  name text not null,
  password_hash text,
  created_at timestamptz not null default now(),
  unique (org_id, email)
);

-- Keyed by the issuer, not by the name a setting gives it: a setting can be pointed elsewhere.
create table oidc_identities (
  org_id uuid not null references orgs,
  issuer text not null,
  subject text not null,
  user_id uuid not null references users on delete cascade,
  created_at timestamptz not null default now(),
  primary key (org_id, issuer, subject)
);
create index oidc_identities_by_user on oidc_identities (user_id);

-- A sign-in that is under way at a provider: single use, bound to one browser. Hashes only.
create table oidc_attempts (
  state_hash bytea primary key,
  browser_hash bytea not null,
  org_id uuid not null references orgs,
  provider text not null,
  link_user_id uuid references users on delete cascade,
  return_to text not null,
  expires_at timestamptz not null
);

-- Wrong passwords per address of the account and address of the caller (hashed together), whether or not the account exists.
create table sign_in_failures (
  key_hash bytea primary key,
  failures integer not null,
  last_at timestamptz not null
);
create index sign_in_failures_by_age on sign_in_failures (last_at);

create table companies (
  company_id uuid primary key,
  org_id uuid not null references orgs,
  owner_id uuid not null references users,
  name text not null,
  metadata jsonb not null default '{}',
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create index companies_by_owner on companies (owner_id);

create table workspaces (
  workspace_id uuid primary key,
  company_id uuid not null references companies,
  org_id uuid not null references orgs,
  name text not null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create index workspaces_by_company on workspaces (company_id);

create table memberships (
  workspace_id uuid not null references workspaces on delete cascade,
  user_id uuid not null references users on delete cascade,
  role text not null check (role in ('owner', 'member', 'viewer', 'guest')),
  joined_at timestamptz not null default now(),
  primary key (workspace_id, user_id)
);
create index memberships_by_user on memberships (user_id, joined_at, workspace_id);

create table sessions (
  session_id uuid primary key,
  user_id uuid not null references users on delete cascade,
  token_hash bytea not null unique,
  selected_workspace_id uuid references workspaces on delete set null,
  user_agent text,
  address text,
  created_at timestamptz not null default now(),
  last_seen_at timestamptz not null default now(),
  expires_at timestamptz not null
);
create index sessions_by_user on sessions (user_id);

create table api_keys (
  key_id uuid primary key,
  user_id uuid not null references users on delete cascade,
  workspace_id uuid references workspaces on delete cascade,
  name text not null,
  prefix text not null,
  token_hash bytea not null unique,
  created_at timestamptz not null default now(),
  last_used_at timestamptz,
  expires_at timestamptz
);
create index api_keys_by_user on api_keys (user_id);

create table operator_claims (
  email text primary key,
  token_hash bytea not null
);

-- Waiting people: into a workspace, or to one thread or job alone (resource_kind, resource_id).
create table invitations (
  invitation_id uuid primary key,
  workspace_id uuid not null references workspaces on delete cascade,
  email text not null check (email = lower(email)),
  role text not null,
  resource_kind text check (resource_kind in ('thread', 'job')),
  resource_id uuid,
  token_hash bytea not null unique,
  invited_by uuid references users on delete set null,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null,
  accepted_at timestamptz,
  accepted_by uuid references users on delete set null,
  check ((resource_kind is null) = (resource_id is null))
);
create index invitations_by_workspace on invitations (workspace_id, invitation_id);

create table teams (
  team_id uuid not null,
  workspace_id uuid not null references workspaces on delete cascade,
  owner_id uuid not null references users,
  name text not null,
  slug text not null,
  description text,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (workspace_id, team_id),
  unique (team_id),
  unique (workspace_id, slug)
);
create table team_members (
  workspace_id uuid not null,
  team_id uuid not null,
  user_id uuid not null,
  added_at timestamptz not null default now(),
  primary key (workspace_id, team_id, user_id),
  foreign key (workspace_id, team_id) references teams (workspace_id, team_id) on delete cascade,
  foreign key (workspace_id, user_id) references memberships (workspace_id, user_id) on delete cascade
);

create table subscriptions (
  subscription_id uuid not null,
  workspace_id uuid not null references workspaces on delete cascade,
  name text not null,
  status text not null default 'active' check (status in ('active', 'paused', 'ended')),
  quantity integer not null default 1 check (quantity >= 0),
  starts_at timestamptz not null default now(),
  ends_at timestamptz,
  metadata jsonb not null default '{}',
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (workspace_id, subscription_id),
  unique (subscription_id)
);

create table notifications (
  notification_id uuid primary key,
  user_id uuid not null references users on delete cascade,
  workspace_id uuid references workspaces on delete cascade,
  kind text not null,
  title text not null,
  body text,
  data jsonb not null default '{}',
  link text,
  read_at timestamptz,
  created_at timestamptz not null default now()
);
create index notifications_by_user on notifications (user_id, notification_id desc);
create index notifications_unread on notifications (user_id, notification_id desc) where read_at is null;

create table presence (
  presence_id uuid primary key,
  workspace_id uuid not null,
  user_id uuid not null,
  status text not null check (status in ('online', 'away', 'busy', 'offline')),
  context jsonb,
  last_seen_at timestamptz not null,
  expires_at timestamptz not null,
  unique (workspace_id, user_id),
  foreign key (workspace_id, user_id) references memberships (workspace_id, user_id) on delete cascade
);
create index presence_by_user on presence (user_id, presence_id desc);

-- Live feeds. A counter row per recipient numbers the entries in commit order, which a sequence would not. The time is
-- that of the insert, under the counter's lock: the oldest entries are the lowest numbers, so pruning leaves no hole.
create table feed_counters (
  user_id uuid primary key references users on delete cascade,
  last_seq bigint not null
);
create table feed_entries (
  user_id uuid not null references users on delete cascade,
  seq bigint not null,
  type text not null,
  data jsonb not null,
  at timestamptz not null default clock_timestamp(),
  primary key (user_id, seq)
);
create index feed_entries_by_time on feed_entries (at);

-- Tickets for sockets: single use, 30 seconds. Hash only. The credential that asked is kept: when it ends, so does the socket.
create table tickets (
  token_hash bytea primary key,
  kind text not null check (kind in ('notifications', 'execution', 'job')),
  user_id uuid not null references users on delete cascade,
  workspace_id uuid references workspaces on delete cascade,
  resource_id uuid not null,
  credential_kind text not null check (credential_kind in ('session', 'api_key')),
  credential_id uuid not null,
  expires_at timestamptz not null
);

create table audit_log (
  entry_id uuid primary key,
  workspace_id uuid references workspaces on delete cascade,
  actor_id uuid references users on delete set null,
  actor_kind text not null default 'person',
  action text not null,
  subject text,
  data jsonb not null default '{}',
  address text,
  at timestamptz not null default now()
);
create index audit_log_by_workspace on audit_log (workspace_id, entry_id desc);

create table mail_outbox (
  mail_id uuid primary key,
  workspace_id uuid references workspaces on delete cascade,
  idempotency_key text unique,
  recipient text[] not null,
  subject text not null,
  body_text text,
  body_html text,
  created_at timestamptz not null default now()
);

-- Answers to repeated requests. One table a day, dropped by turns; `answer` is sealed because it can hold a secret.
create table idempotency_keys (
  day date not null,
  key_hash bytea not null,
  request_sha256 bytea not null,
  state text not null check (state in ('in_progress', 'done')),
  status integer,
  headers jsonb,
  answer bytea,
  created_at timestamptz not null default now(),
  primary key (day, key_hash)
) partition by list (day);

create function ensure_idempotency_days() returns void language plpgsql security definer set search_path = public as $$
declare
  wanted date;
  old record;
begin
  perform pg_advisory_xact_lock(hashtext('idempotency_days'));
  foreach wanted in array array[current_date, current_date + 1] loop
    execute format('create table if not exists %I partition of idempotency_keys for values in (%L)',
      'idempotency_keys_' || to_char(wanted, 'YYYYMMDD'), wanted);
  end loop;
  for old in select c.relname from pg_inherits i join pg_class c on c.oid = i.inhrelid
    where i.inhparent = 'idempotency_keys'::regclass
      and c.relname < 'idempotency_keys_' || to_char(current_date - 1, 'YYYYMMDD') loop
    execute format('drop table %I', old.relname);
  end loop;
end $$;
select ensure_idempotency_days();

-- The one function behind everything that spans the caller's workspaces.
create function is_member(workspace uuid) returns boolean language sql stable security definer set search_path = public
  return exists (select from memberships where workspace_id = workspace and user_id = app_user());
create function reaches_company(company uuid) returns boolean language sql stable security definer set search_path = public
  return exists (select from workspaces join memberships using (workspace_id)
    where company_id = company and user_id = app_user() and role <> 'guest' and (app_bound() is null or workspace_id = app_bound()));
create function shares_workspace(person uuid) returns boolean language sql stable security definer set search_path = public
  return exists (select from memberships mine join memberships theirs using (workspace_id)
    where mine.user_id = app_user() and theirs.user_id = person and (app_bound() is null or workspace_id = app_bound()));

-- Row security: the second wall.
do $$
declare
  one_table text;
begin
  foreach one_table in array array['users', 'oidc_identities', 'companies', 'workspaces', 'memberships', 'sessions', 'api_keys', 'invitations', 'teams',
    'team_members', 'subscriptions', 'notifications', 'presence', 'feed_counters', 'feed_entries', 'tickets', 'audit_log', 'mail_outbox'] loop
    execute format('alter table %I enable row level security', one_table);
    execute format('alter table %I force row level security', one_table);
    execute format('create policy owner_all on %I to heddle_owner using (true) with check (true)', one_table);
  end loop;
  -- A key that is bound to one workspace reaches nothing outside it, not even what is its person's own.
  foreach one_table in array array['workspaces', 'memberships', 'api_keys', 'invitations', 'teams', 'team_members',
    'subscriptions', 'presence'] loop
    execute format('create policy bound on %I as restrictive to heddle_app using (app_bound() is null or workspace_id = app_bound())', one_table);
  end loop;
end $$;
create policy bound on notifications as restrictive to heddle_app
  using (app_bound() is null or workspace_id is null or workspace_id = app_bound());

create policy seen on users for select to heddle_app using (user_id = app_user()
  or exists (select from memberships m where m.workspace_id = app_workspace() and m.user_id = users.user_id)
  or shares_workspace(user_id));
create policy made on users for insert to heddle_app with check (user_id = app_user());
create policy changed on users for update to heddle_app using (user_id = app_user());
create policy own on oidc_identities to heddle_app using (user_id = app_user());
create policy own on companies to heddle_app using (
  (owner_id = app_user() and app_bound() is null) or reaches_company(company_id));
create policy own on workspaces to heddle_app using (is_member(workspace_id)) with check (workspace_id = app_workspace());
create policy own on memberships to heddle_app using (workspace_id = app_workspace());
create policy seen on memberships for select to heddle_app using (user_id = app_user());
create policy own on sessions to heddle_app using (user_id = app_user() and app_bound() is null);
create policy own on api_keys to heddle_app using (user_id = app_user());
create policy left_behind on api_keys for delete to heddle_app using (workspace_id = app_workspace());
create policy left_behind_seen on api_keys for select to heddle_app using (workspace_id = app_workspace());
create policy own on invitations to heddle_app using (workspace_id = app_workspace());
create policy own on teams to heddle_app using (is_member(workspace_id));
create policy own on team_members to heddle_app using (is_member(workspace_id));
create policy own on subscriptions to heddle_app using (is_member(workspace_id));
create policy own on notifications to heddle_app using (user_id = app_user());
create policy seen on presence for select to heddle_app using (is_member(workspace_id));
create policy own on presence to heddle_app using (user_id = app_user());
create policy own on feed_counters to heddle_app using (user_id = app_user());
create policy own on feed_entries to heddle_app using (user_id = app_user());
create policy own on tickets to heddle_app using (user_id = app_user());
create policy seen on audit_log for select to heddle_app using (workspace_id = app_workspace());
create policy written on audit_log for insert to heddle_app
  with check (workspace_id is null or workspace_id = app_workspace() or is_member(workspace_id));
create policy written on mail_outbox for insert to heddle_app with check (workspace_id is null or workspace_id = app_workspace());

create policy everything on users for select to heddle_operator using (true);
create policy everything on companies for select to heddle_operator using (true);
create policy everything on workspaces for select to heddle_operator using (true);
create policy everything on memberships for select to heddle_operator using (true);
create policy everything on teams for select to heddle_operator using (true);
create policy everything on team_members for select to heddle_operator using (true);
create policy everything on subscriptions for select to heddle_operator using (true);
create policy everything on notifications for select to heddle_operator using (true);
create policy everything on presence for select to heddle_operator using (true);
create policy everything on audit_log to heddle_operator using (true);
create policy everything on mail_outbox for select to heddle_operator using (true);

grant usage on schema public to heddle_app, heddle_engine, heddle_operator;
grant select, insert on installation to heddle_app;
grant select on orgs, org_hosts to heddle_app;
-- No request can read a password's hash but through credentials_of, one account at a time.
grant select (user_id, org_id, email, name, created_at) on users to heddle_app;
grant insert (user_id, org_id, email, name, password_hash), update (name, password_hash) on users to heddle_app;
grant select, insert, delete on oidc_identities to heddle_app;
grant select, insert, update, delete on oidc_attempts, sign_in_failures to heddle_app;
grant select, insert, update, delete on companies, workspaces, memberships, sessions, api_keys, invitations, teams,
  team_members, subscriptions, notifications, presence, feed_counters, feed_entries, tickets, idempotency_keys to heddle_app;
grant select, insert on audit_log to heddle_app;
grant insert on mail_outbox to heddle_app, heddle_engine;
grant select on orgs, companies, workspaces, memberships, teams, team_members, subscriptions, notifications, presence,
  audit_log, mail_outbox to heddle_operator;
grant select (user_id, org_id, email, name, created_at) on users to heddle_operator;
grant insert on audit_log to heddle_operator;
create policy written_by_engine on mail_outbox for insert to heddle_engine with check (true);

-- Before a request has a scope it may only be identified: by the hash of what it showed.
create function identify_session(token bytea, wanted uuid)
returns table (session_id uuid, user_id uuid, org_id uuid, email text, name text, last_seen_at timestamptz,
  workspace_id uuid, role text)
language sql stable security definer set search_path = public
begin atomic
  select s.session_id, u.user_id, u.org_id, u.email, u.name, s.last_seen_at, m.workspace_id, m.role
  from sessions s join users u on u.user_id = s.user_id
  left join lateral (
    select m.workspace_id, m.role from memberships m
    where m.user_id = u.user_id and (wanted is null or m.workspace_id = wanted)
    order by (m.workspace_id = s.selected_workspace_id) desc nulls last, m.joined_at, m.workspace_id limit 1
  ) m on true
  where s.token_hash = token and s.expires_at > now();
end;

create function identify_key(token bytea, wanted uuid)
returns table (key_id uuid, key_workspace_id uuid, user_id uuid, org_id uuid, email text, name text, last_used_at timestamptz,
  workspace_id uuid, role text)
language sql stable security definer set search_path = public
begin atomic
  select k.key_id, k.workspace_id, u.user_id, u.org_id, u.email, u.name, k.last_used_at, m.workspace_id, m.role
  from api_keys k join users u on u.user_id = k.user_id
  left join lateral (
    select m.workspace_id, m.role from memberships m
    where m.user_id = u.user_id and m.workspace_id = coalesce(wanted, k.workspace_id, m.workspace_id)
      and (k.workspace_id is null or m.workspace_id = k.workspace_id)
    order by m.joined_at, m.workspace_id limit 1
  ) m on true
  where k.token_hash = token and (k.expires_at is null or k.expires_at > now());
end;

create function credentials_of(org uuid, address text) returns table (user_id uuid, name text, password_hash text)
language sql stable security definer set search_path = public
begin atomic
  select u.user_id, u.name, u.password_hash from users u where u.org_id = org and u.email = address;
end;

create function identify_oidc(org uuid, oidc_issuer text, oidc_subject text) returns table (user_id uuid, email text, name text)
language sql stable security definer set search_path = public
begin atomic
  select u.user_id, u.email, u.name from oidc_identities i join users u using (user_id)
  where i.org_id = org and i.issuer = oidc_issuer and i.subject = oidc_subject;
end;

create function find_invitation(token bytea)
returns table (invitation_id uuid, workspace_id uuid, workspace_name text, org_id uuid, email text, role text,
  resource_kind text, resource_id uuid, invited_by uuid, invited_by_name text, expires_at timestamptz)
language sql stable security definer set search_path = public
begin atomic
  select i.invitation_id, w.workspace_id, w.name, w.org_id, i.email, i.role, i.resource_kind, i.resource_id, i.invited_by, u.name, i.expires_at
  from invitations i join workspaces w using (workspace_id) left join users u on u.user_id = i.invited_by
  where i.token_hash = token and i.accepted_at is null and i.expires_at > now();
end;

create function is_invited(org uuid, address text) returns boolean language sql stable security definer set search_path = public
  return exists (select from invitations i join workspaces w using (workspace_id)
    where w.org_id = org and i.email = address and i.accepted_at is null and i.expires_at > now());

-- True once: the claim is gone afterwards.
create function use_operator_claim(address text, token bytea) returns boolean language sql security definer set search_path = public
begin atomic
  with used as (delete from operator_claims where email = address and token_hash = token returning 1)
  select exists (select from used);
end;

create function touch_session(session uuid) returns void language sql security definer set search_path = public
begin atomic
  update sessions set last_seen_at = now() where session_id = session;
end;
create function touch_key(key uuid) returns void language sql security definer set search_path = public
begin atomic
  update api_keys set last_used_at = now() where key_id = key;
end;

-- The one way a platform event reaches people: called inside the transaction that made the event true. Recipients who
-- are not in the workspace are left out. Counter rows are taken in the order of their ids, so that two calls never deadlock.
-- Answers whom it told; the caller hints at their feeds after the commit.
create function deliver_event(workspace uuid, event_kind text, event_title text, event_body text, event_data jsonb,
  event_link text, recipients uuid[], notification_ids uuid[])
returns setof uuid language plpgsql security definer set search_path = public as $$
declare
  recipient uuid;
  notification uuid;
begin
  for recipient, notification in select m.user_id, (array_agg(wanted.id))[1]
    from unnest(recipients, notification_ids) as wanted (user_id, id) join memberships m on m.user_id = wanted.user_id
    where m.workspace_id = workspace group by m.user_id order by m.user_id loop
    insert into notifications (notification_id, user_id, workspace_id, kind, title, body, data, link)
      values (notification, recipient, workspace, event_kind, event_title, event_body, coalesce(event_data, '{}'), event_link);
    perform append_feed(recipient, 'notification.created', jsonb_build_object('notification_id', notification));
    return next recipient;
  end loop;
end $$;

create function append_feed(recipient uuid, entry_type text, entry_data jsonb)
returns bigint language sql security definer set search_path = public as $$
  with counter as (
    insert into feed_counters (user_id, last_seq) values (recipient, 1)
    on conflict (user_id) do update set last_seq = feed_counters.last_seq + 1 returning last_seq
  )
  insert into feed_entries (user_id, seq, type, data) select recipient, last_seq, entry_type, entry_data from counter
  returning seq;
$$;

-- What the caller does to their own notifications shows on their other screens too.
create function append_own_feed(entry_type text, entry_data jsonb)
returns void language sql security definer set search_path = public as $$
  select append_feed(app_user(), entry_type, entry_data);
$$;

-- What follows each position, for many recipients at once. A row without seq says only where the numbering stands: entries
-- were pruned. What a notification says is shown while its recipient is in its workspace.
create function read_feeds(recipients uuid[], positions bigint[], most integer)
returns table (request bigint, last_seq bigint, seq bigint, type text, at timestamptz, subject_id uuid, notification_id uuid,
  user_id uuid, workspace_id uuid, kind text, title text, body text, data jsonb, link text, read_at timestamptz,
  created_at timestamptz)
language sql stable security definer set search_path = public
begin atomic
  select r.request, coalesce(c.last_seq, 0), e.seq, e.type, e.at, (e.data ->> 'notification_id')::uuid, n.notification_id,
    n.user_id, n.workspace_id, n.kind, n.title, n.body, n.data, n.link, n.read_at, n.created_at
  from unnest(recipients, positions) with ordinality as r (user_id, after, request)
  left join feed_counters c on c.user_id = r.user_id
  left join lateral (
    select * from feed_entries e where e.user_id = r.user_id and e.seq > r.after and c.last_seq > r.after
    order by e.seq limit most
  ) e on true
  left join notifications n on n.notification_id = (e.data ->> 'notification_id')::uuid and n.user_id = r.user_id
    and (n.workspace_id is null
      or exists (select from memberships m where m.workspace_id = n.workspace_id and m.user_id = r.user_id))
  where coalesce(c.last_seq, 0) <> r.after
  order by r.request, e.seq;
end;

create function prune_feeds(older_than timestamptz, most integer) returns integer
language sql security definer set search_path = public as $$
  with old as (select ctid from feed_entries where at < older_than order by at limit most),
    gone as (delete from feed_entries where ctid = any(array(select ctid from old)) returning 1)
  select count(*)::integer from gone;
$$;

create function prune_tickets() returns void language sql security definer set search_path = public
begin atomic
  delete from tickets where expires_at < now();
end;

-- Single use: of any number of callers who show the same ticket the one whose delete finds the row gets it.
create function redeem_ticket(token bytea)
returns table (kind text, user_id uuid, workspace_id uuid, resource_id uuid, credential_kind text, credential_id uuid)
language sql security definer set search_path = public as $$
  with used as (delete from tickets where token_hash = token returning *)
  select kind, user_id, workspace_id, resource_id, credential_kind, credential_id from used where expires_at > now();
$$;

-- Whether the people behind open sockets are still in their workspaces and their credentials still hold, in the order asked.
create function tickets_hold(people uuid[], workspaces uuid[], credential_kinds text[], credentials uuid[])
returns setof boolean language sql stable security definer set search_path = public
begin atomic
  select (t.workspace_id is null
      or exists (select from memberships m where m.workspace_id = t.workspace_id and m.user_id = t.user_id))
    and case t.credential_kind
      when 'session' then exists (
        select from sessions s where s.session_id = t.credential_id and s.user_id = t.user_id and s.expires_at > now())
      else exists (
        select from api_keys k where k.key_id = t.credential_id and k.user_id = t.user_id
          and (k.expires_at is null or k.expires_at > now())) end
  from unnest(people, workspaces, credential_kinds, credentials) with ordinality
    as t (user_id, workspace_id, credential_kind, credential_id, position)
  order by t.position;
end;

-- Withdrawn access is looked at again at once wherever the person has a socket; a hint only, sockets are checked anyway.
create function hint_access() returns trigger language plpgsql security definer set search_path = public as $$
begin
  perform pg_notify('access', old.user_id::text);
  return null;
end $$;
create trigger access_hint after delete or update of role on memberships for each row execute function hint_access();
create trigger access_hint after delete on sessions for each row execute function hint_access();
create trigger access_hint after delete on api_keys for each row execute function hint_access();

-- Which of these people are in the workspace, guests apart; they cannot leave before the transaction ends. For members only.
create function hold_colleagues(workspace uuid, people uuid[])
returns setof uuid language sql security definer set search_path = public as $$
  select user_id from memberships
  where workspace_id = workspace and user_id = any(people) and role <> 'guest' and is_member(workspace)
  order by user_id for key share;
$$;

-- Before somebody leaves the workspace: its company, where it is theirs and they work in no other of its workspaces, goes to
-- an owner of this one, the one who removes them first. For members only.
create function pass_company_on(workspace uuid, leaver uuid, remover uuid)
returns table (company_id uuid, name text, owner_id uuid) language sql security definer set search_path = public as $$
  update companies c set owner_id = heir.user_id, updated_at = now()
  from workspaces w, lateral (
    select m.user_id from memberships m where m.workspace_id = w.workspace_id and m.role = 'owner' and m.user_id <> leaver
    order by m.user_id = remover desc, m.joined_at, m.user_id limit 1) heir
  where w.workspace_id = workspace and c.company_id = w.company_id and c.owner_id = leaver and is_member(workspace)
    and not exists (select from workspaces o join memberships m on m.workspace_id = o.workspace_id
      where o.company_id = c.company_id and o.workspace_id <> workspace and m.user_id = leaver and m.role <> 'guest')
  returning c.company_id, c.name, c.owner_id;
$$;

revoke execute on all functions in schema public from public;
grant execute on function app_workspace(), app_user(), app_bound() to public;
grant execute on function is_member(uuid), reaches_company(uuid), shares_workspace(uuid), identify_session(bytea, uuid), identify_key(bytea, uuid),
  credentials_of(uuid, text), identify_oidc(uuid, text, text), find_invitation(bytea), is_invited(uuid, text), use_operator_claim(text, bytea),
  touch_session(uuid), touch_key(uuid), ensure_idempotency_days(), append_own_feed(text, jsonb),
  read_feeds(uuid[], bigint[], integer), prune_feeds(timestamptz, integer), prune_tickets(), redeem_ticket(bytea),
  tickets_hold(uuid[], uuid[], text[], uuid[]), hold_colleagues(uuid, uuid[]),
  pass_company_on(uuid, uuid, uuid) to heddle_app;
grant execute on function deliver_event(uuid, text, text, text, jsonb, text, uuid[], uuid[]) to heddle_app, heddle_engine;
-- Not `in schema public`: per schema a default can be added, never taken away, and the statement would do nothing.
alter default privileges revoke execute on functions from public;
