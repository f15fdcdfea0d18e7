-- Breaks nothing: API keys may have scopes, and workspaces may have service accounts. Processes of older releases refuse both.

-- Null: everything that its person may do.
alter table api_keys add column scopes text[];
-- Of a key that somebody made for a service account.
alter table api_keys add column created_by uuid references users on delete set null;

-- A service account is a row among the people, so that it can own, share, be named and be recorded as one. It has no password.
-- `held_by`: everybody who ever made it or a key of it. They count as those who led to what it starts, also after they deleted the key.
alter table users add column kind text not null default 'person' check (kind in ('person', 'service_account'));
alter table users add column held_by uuid[];
alter table users add constraint service_accounts_have_no_password check (kind = 'person' or password_hash is null);
grant select (kind, held_by) on users to heddle_app, heddle_operator;
grant insert (kind, held_by), update (held_by) on users to heddle_app;

create table service_accounts (
  workspace_id uuid not null,
  user_id uuid not null unique references users on delete cascade,
  description text,
  created_by uuid references users on delete set null,
  disabled_at timestamptz,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (workspace_id, user_id),
  -- Without its membership there is no account.
  foreign key (workspace_id, user_id) references memberships (workspace_id, user_id) on delete cascade
);
alter table service_accounts enable row level security;
alter table service_accounts force row level security;
create policy owner_all on service_accounts to heddle_owner using (true) with check (true);
create policy own on service_accounts to heddle_app using (workspace_id = app_workspace());
grant select, insert, update, delete on service_accounts to heddle_app;

create policy service_account_made on users for insert to heddle_app with check (kind = 'service_account');
create policy service_account_changed on users for update to heddle_app using (kind = 'service_account' and exists (
  select from service_accounts s where s.workspace_id = app_workspace() and s.user_id = users.user_id));
create policy service_account_made on api_keys for insert to heddle_app with check (workspace_id = app_workspace() and exists (
  select from service_accounts s where s.workspace_id = app_workspace() and s.user_id = api_keys.user_id));

-- For people alone: with a key of a service account nobody signs in, links a provider or asks for a new password.
create or replace function credentials_of(org uuid, address text) returns table (user_id uuid, name text, password_hash text)
language sql stable security definer set search_path = public
begin atomic
  select u.user_id, u.name, u.password_hash from users u where u.org_id = org and u.email = address and u.kind = 'person';
end;

-- A service account has no second factor and needs none: it has keys, and no password that could be guessed.
create or replace function has_second_factor(person uuid) returns boolean language sql stable security definer set search_path = public
  return exists (select from totp_factors where user_id = person and confirmed_at is not null)
    or exists (select from passkeys where user_id = person)
    or exists (select from users where user_id = person and kind = 'service_account');

-- Processes of older releases know no scopes: to them such a key is no key.
create or replace function identify_key(token bytea, wanted uuid)
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
  where k.token_hash = token and (k.expires_at is null or k.expires_at > now()) and k.scopes is null and u.kind = 'person';
end;

create function identify_scoped_key(token bytea, wanted uuid)
returns table (key_id uuid, key_workspace_id uuid, user_id uuid, org_id uuid, email text, name text, last_used_at timestamptz,
  workspace_id uuid, role text, factor_missing boolean, scopes text[], is_service_account boolean)
language sql stable security definer set search_path = public
begin atomic
  select k.key_id, k.workspace_id, u.user_id, u.org_id, u.email, u.name, k.last_used_at, m.workspace_id, m.role,
    coalesce(w.require_second_factor, false) and not has_second_factor(u.user_id), k.scopes, u.kind = 'service_account'
  from api_keys k join users u on u.user_id = k.user_id
  left join lateral (
    select m.workspace_id, m.role from memberships m
    where m.user_id = u.user_id and m.workspace_id = coalesce(wanted, k.workspace_id, m.workspace_id)
      and (k.workspace_id is null or m.workspace_id = k.workspace_id)
    order by m.joined_at, m.workspace_id limit 1
  ) m on true
  left join workspaces w on w.workspace_id = m.workspace_id
  where k.token_hash = token and (k.expires_at is null or k.expires_at > now())
    and (u.kind = 'person' or exists (select from service_accounts s
      where s.workspace_id = k.workspace_id and s.user_id = u.user_id and s.disabled_at is null));
end;
revoke execute on function identify_scoped_key(bytea, uuid) from public;
grant execute on function identify_scoped_key(bytea, uuid) to heddle_app;

-- As before, but a team or a role stands for its people: a service account votes only where the policy names it.
create or replace function candidates_of_gates(workspace uuid, requests uuid[])
returns table (request_id uuid, user_id uuid, name text, role text, excluded boolean)
language sql stable security definer set search_path = public
begin atomic
  with named as (
    select a.request_id, a.ref_id as user_id from approval_approvers a
      where a.workspace_id = workspace and a.request_id = any (requests) and a.kind = 'user'
    union
    select a.request_id, t.user_id from approval_approvers a join team_members t on t.workspace_id = a.workspace_id and t.team_id = a.ref_id
      where a.workspace_id = workspace and a.request_id = any (requests) and a.kind = 'team'
        and not exists (select from service_accounts s where s.workspace_id = workspace and s.user_id = t.user_id)
    union
    select a.request_id, m.user_id from approval_approvers a join memberships m on m.workspace_id = a.workspace_id and m.role = a.role
      where a.workspace_id = workspace and a.request_id = any (requests) and a.kind = 'role'
        and not exists (select from service_accounts s where s.workspace_id = workspace and s.user_id = m.user_id)
  ),
  delegated as (
    select d.request_id, d.from_user, d.to_user from approval_delegations d
      where d.workspace_id = workspace and d.request_id = any (requests)
        and (exists (select from memberships m where m.workspace_id = workspace and m.user_id = d.to_user)
          or exists (select from approval_votes v where v.workspace_id = workspace and v.request_id = d.request_id
            and v.voter_kind = 'human' and v.voter_id = d.to_user::text))
  ),
  handed as (
    select n.request_id, n.user_id from named n
      where not exists (select from delegated d where d.request_id = n.request_id and d.from_user = n.user_id)
    union
    select d.request_id, d.to_user from delegated d join named n on n.request_id = d.request_id and n.user_id = d.from_user
  )
  select h.request_id, h.user_id, u.name, m.role,
    (g.policy -> 'allow_self') is distinct from 'true' and (h.user_id is not distinct from g.started_by
      or coalesce(g.initiators @> jsonb_build_array(jsonb_build_object('user_id', h.user_id)), false))
  from handed h
    join memberships m on m.workspace_id = workspace and m.user_id = h.user_id
    join users u on u.user_id = h.user_id
    join approval_requests g on g.workspace_id = workspace and g.request_id = h.request_id
  where workspace = app_workspace();
end;

-- As before, and no socket outlives the disabling of its service account.
create or replace function tickets_hold(people uuid[], workspaces uuid[], credential_kinds text[], credentials uuid[])
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
    and not exists (select from service_accounts s where s.user_id = t.user_id and s.disabled_at is not null)
  from unnest(people, workspaces, credential_kinds, credentials) with ordinality
    as t (user_id, workspace_id, credential_kind, credential_id, position)
  order by t.position;
end;
create trigger access_hint after update of disabled_at on service_accounts for each row execute function hint_access();
