-- Breaks nothing: proven addresses, sign-ups that wait for their mail, links that prove an address or replace a password.

alter table users add column email_verified_at timestamptz;
grant select (email_verified_at) on users to heddle_app, heddle_operator;
grant insert (email_verified_at), update (email_verified_at) on users to heddle_app;

-- Where mail is configured an account is made when its address is proven, not before. The role of requests writes these rows
-- and reads one only by the hash of its token.
create table pending_sign_ups (
  token_hash bytea primary key,
  org_id uuid not null references orgs on delete cascade,
  email text not null check (email = lower(email)),
  name text not null,
  password_hash text not null,
  workspace_name text,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null
);
create index pending_sign_ups_by_email on pending_sign_ups (org_id, email);
create index pending_sign_ups_by_age on pending_sign_ups (expires_at);
grant insert on pending_sign_ups to heddle_app;

create function find_sign_up(token bytea)
returns table (org_id uuid, email text, name text, password_hash text, workspace_name text)
language sql stable security definer set search_path = public
begin atomic
  select p.org_id, p.email, p.name, p.password_hash, p.workspace_name from pending_sign_ups p
  where p.token_hash = token and p.expires_at > now();
end;

-- True once. With it go all others of the same address.
create function use_sign_up(token bytea) returns boolean language plpgsql security definer set search_path = public as $$
declare
  used record;
begin
  delete from pending_sign_ups p where p.token_hash = token and p.expires_at > now() returning p.org_id, p.email into used;
  if not found then return false; end if;
  delete from pending_sign_ups p where p.org_id = used.org_id and p.email = used.email;
  return true;
end $$;

create function prune_sign_ups() returns void language sql security definer set search_path = public as $$
  delete from pending_sign_ups where token_hash in (
    select token_hash from pending_sign_ups where expires_at < now() limit 100 for update skip locked);
$$;

-- Links sent by mail: single use, hash only.
create table account_tokens (
  token_hash bytea primary key,
  user_id uuid not null references users on delete cascade,
  kind text not null check (kind in ('verify_email', 'reset_password')),
  created_at timestamptz not null default now(),
  expires_at timestamptz not null
);
create index account_tokens_by_user on account_tokens (user_id);
alter table account_tokens enable row level security;
alter table account_tokens force row level security;
create policy owner_all on account_tokens to heddle_owner using (true) with check (true);
create policy own on account_tokens to heddle_app using (user_id = app_user() and app_bound() is null);
grant select, insert, delete on account_tokens to heddle_app;

create function find_account_token(token bytea, wanted text)
returns table (user_id uuid, org_id uuid, email text, name text, is_verified boolean)
language sql stable security definer set search_path = public
begin atomic
  select u.user_id, u.org_id, u.email, u.name, u.email_verified_at is not null
  from account_tokens t join users u on u.user_id = t.user_id
  where t.token_hash = token and t.kind = wanted and t.expires_at > now();
end;

-- Mails that strangers can cause, per recipient and per recipient and caller: hashes only.
create table account_mails (
  recipient_hash bytea not null,
  caller_hash bytea not null,
  at timestamptz not null default now()
);
create index account_mails_by_recipient on account_mails (recipient_hash, at);
create index account_mails_by_age on account_mails (at);
grant select, insert, delete on account_mails to heddle_app;

revoke execute on function find_sign_up(bytea), use_sign_up(bytea), prune_sign_ups(), find_account_token(bytea, text) from public;
grant execute on function find_sign_up(bytea), use_sign_up(bytea), prune_sign_ups(), find_account_token(bytea, text) to heddle_app;
