-- Breaks nothing: second factors of people, and workspaces that ask for one.

-- The secret is sealed. `last_step`: the time step of the newest code that was taken; neither it nor an older one is taken again.
create table totp_factors (
  user_id uuid primary key references users on delete cascade,
  secret bytea not null,
  last_step bigint not null default 0,
  created_at timestamptz not null default now(),
  confirmed_at timestamptz
);

create table passkeys (
  passkey_id uuid primary key,
  user_id uuid not null references users on delete cascade,
  credential_id text not null unique,
  public_key bytea not null,
  counter bigint not null default 0,
  transports text[] not null default '{}',
  name text not null,
  created_at timestamptz not null default now(),
  last_used_at timestamptz
);
create index passkeys_by_user on passkeys (user_id, passkey_id);

create table recovery_codes (
  user_id uuid not null references users on delete cascade,
  code_hash bytea not null,
  used_at timestamptz,
  primary key (user_id, code_hash)
);

-- A sign-in whose password was right, or a passkey that is being added: short-lived, single use, hash only.
create table factor_challenges (
  token_hash bytea primary key,
  user_id uuid not null references users on delete cascade,
  kind text not null check (kind in ('sign_in', 'add_passkey')),
  passkey_challenge text,
  failures integer not null default 0,
  expires_at timestamptz not null
);
create index factor_challenges_by_user on factor_challenges (user_id);

do $$
declare
  one_table text;
begin
  foreach one_table in array array['totp_factors', 'passkeys', 'recovery_codes', 'factor_challenges'] loop
    execute format('alter table %I enable row level security', one_table);
    execute format('alter table %I force row level security', one_table);
    execute format('create policy owner_all on %I to heddle_owner using (true) with check (true)', one_table);
    execute format('create policy own on %I to heddle_app using (user_id = app_user() and app_bound() is null)', one_table);
    execute format('grant select, insert, update, delete on %I to heddle_app', one_table);
  end loop;
end $$;

create function find_factor_challenge(token bytea)
returns table (user_id uuid, org_id uuid, email text, name text, passkey_challenge text, failures integer, expires_at timestamptz)
language sql stable security definer set search_path = public
begin atomic
  select u.user_id, u.org_id, u.email, u.name, c.passkey_challenge, c.failures, c.expires_at
  from factor_challenges c join users u on u.user_id = c.user_id
  where c.token_hash = token and c.kind = 'sign_in' and c.expires_at > now();
end;

create function has_second_factor(person uuid) returns boolean language sql stable security definer set search_path = public
  return exists (select from totp_factors where user_id = person and confirmed_at is not null)
    or exists (select from passkeys where user_id = person);

alter table workspaces add column require_second_factor boolean not null default false;

-- Whether the caller may work in the workspace as far as second factors go. Work of the service itself has no person.
create function factor_satisfied(workspace uuid) returns boolean language sql stable security definer set search_path = public
  return app_user() is null
    or not exists (select from workspaces w where w.workspace_id = workspace and w.require_second_factor)
    or has_second_factor(app_user());

-- What spans a person's workspaces leaves out those that ask for a factor the person does not have.
do $$
declare
  one_table text;
begin
  foreach one_table in array array['teams', 'team_members', 'subscriptions', 'presence'] loop
    execute format('create policy factor on %I as restrictive to heddle_app using (factor_satisfied(workspace_id))', one_table);
  end loop;
end $$;

-- As identify_session and identify_key, and whether the selected workspace asks for a factor that the person does not have.
create function identify_session_factor(token bytea, wanted uuid)
returns table (session_id uuid, user_id uuid, org_id uuid, email text, name text, last_seen_at timestamptz,
  workspace_id uuid, role text, factor_missing boolean)
language sql stable security definer set search_path = public
begin atomic
  select i.session_id, i.user_id, i.org_id, i.email, i.name, i.last_seen_at, i.workspace_id, i.role,
    coalesce(w.require_second_factor, false) and not has_second_factor(i.user_id)
  from identify_session(token, wanted) i left join workspaces w on w.workspace_id = i.workspace_id;
end;

create function identify_key_factor(token bytea, wanted uuid)
returns table (key_id uuid, key_workspace_id uuid, user_id uuid, org_id uuid, email text, name text, last_used_at timestamptz,
  workspace_id uuid, role text, factor_missing boolean)
language sql stable security definer set search_path = public
begin atomic
  select i.key_id, i.key_workspace_id, i.user_id, i.org_id, i.email, i.name, i.last_used_at, i.workspace_id, i.role,
    coalesce(w.require_second_factor, false) and not has_second_factor(i.user_id)
  from identify_key(token, wanted) i left join workspaces w on w.workspace_id = i.workspace_id;
end;

revoke execute on function find_factor_challenge(bytea), has_second_factor(uuid), factor_satisfied(uuid),
  identify_session_factor(bytea, uuid), identify_key_factor(bytea, uuid) from public;
grant execute on function find_factor_challenge(bytea), has_second_factor(uuid), factor_satisfied(uuid),
  identify_session_factor(bytea, uuid), identify_key_factor(bytea, uuid) to heddle_app;
