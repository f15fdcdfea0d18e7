-- Breaks nothing: new tables, functions and a column. Programs that a person lets call /mcp (OAuth 2.1).

-- A program that registered itself. It belongs to nobody and holds no secret; requests reach it through the functions below alone.
create table oauth_clients (
  client_id uuid primary key,
  name text not null,
  redirect_uris text[] not null,
  created_at timestamptz not null default now()
);
create index oauth_clients_by_age on oauth_clients (created_at);

-- What one person allowed one program in one workspace. Without its membership there is no grant, and without a grant no token.
create table oauth_grants (
  workspace_id uuid not null,
  grant_id uuid not null unique,
  client_id uuid not null references oauth_clients on delete cascade,
  user_id uuid not null,
  resource text not null,
  created_at timestamptz not null default now(),
  last_used_at timestamptz,
  primary key (workspace_id, grant_id),
  foreign key (workspace_id, user_id) references memberships (workspace_id, user_id) on delete cascade
);
create index oauth_grants_by_client on oauth_grants (client_id);
create index oauth_grants_by_user on oauth_grants (workspace_id, user_id);

-- Codes and refresh tokens, each used once. A used one that comes back was stolen: its grant ends.
create table oauth_tokens (
  workspace_id uuid not null,
  token_hash bytea not null unique,
  grant_id uuid not null,
  kind text not null check (kind in ('code', 'refresh')),
  code_challenge text,
  redirect_uri text,
  expires_at timestamptz not null,
  used_at timestamptz,
  primary key (workspace_id, token_hash),
  foreign key (workspace_id, grant_id) references oauth_grants on delete cascade
);
create index oauth_tokens_by_grant on oauth_tokens (workspace_id, grant_id);

-- An access token is an API key with the scope of /mcp and an hour to live.
alter table api_keys add column grant_id uuid references oauth_grants (grant_id) on delete cascade;
create index api_keys_by_grant on api_keys (grant_id) where grant_id is not null;

alter table oauth_clients enable row level security;
alter table oauth_clients force row level security;
create policy owner_all on oauth_clients to heddle_owner using (true) with check (true);
do $$
declare one_table text;
begin
  foreach one_table in array array['oauth_grants', 'oauth_tokens'] loop
    execute format('alter table %I enable row level security', one_table);
    execute format('alter table %I force row level security', one_table);
    execute format('create policy owner_all on %I to heddle_owner using (true) with check (true)', one_table);
    execute format('grant select, insert, update, delete on %I to heddle_app', one_table);
  end loop;
end $$;
create policy own on oauth_grants to heddle_app using (workspace_id = app_workspace() and user_id = app_user());
create policy own on oauth_tokens to heddle_app using (workspace_id = app_workspace() and exists (
  select from oauth_grants g where g.workspace_id = oauth_tokens.workspace_id and g.grant_id = oauth_tokens.grant_id
    and g.user_id = app_user()));

-- False where there are too many that nobody has ever allowed anything. Those are forgotten after a day.
create function register_oauth_client(id uuid, title text, uris text[], most integer) returns boolean
language plpgsql security definer set search_path = public as $$
begin
  delete from oauth_clients c where c.client_id in (
    select o.client_id from oauth_clients o where o.created_at < now() - interval '1 day'
      and not exists (select from oauth_grants g where g.client_id = o.client_id) order by o.created_at limit 100);
  if (select count(*) from (select from oauth_clients o
      where not exists (select from oauth_grants g where g.client_id = o.client_id) limit most) unused) >= most then
    return false;
  end if;
  insert into oauth_clients (client_id, name, redirect_uris) values (id, title, uris);
  return true;
end $$;

create function find_oauth_client(id uuid) returns table (client_id uuid, name text, redirect_uris text[])
language sql stable security definer set search_path = public
begin atomic
  select c.client_id, c.name, c.redirect_uris from oauth_clients c where c.client_id = id;
end;

-- Takes a code or a refresh token, once. One that was used before ends its grant and every token of it.
create function use_oauth_token(token bytea, wanted text)
returns table (workspace_id uuid, grant_id uuid, client_id uuid, user_id uuid, resource text, code_challenge text, redirect_uri text)
language plpgsql security definer set search_path = public as $$
#variable_conflict use_column
declare
  held oauth_tokens;
begin
  select * into held from oauth_tokens t where t.token_hash = token and t.kind = wanted for update;
  if not found then return; end if;
  if held.used_at is not null then
    delete from oauth_grants g where g.grant_id = held.grant_id;
    return;
  end if;
  update oauth_tokens t set used_at = now() where t.token_hash = token;
  if held.expires_at <= now() then return; end if;
  return query select g.workspace_id, g.grant_id, g.client_id, g.user_id, g.resource, held.code_challenge, held.redirect_uri
    from oauth_grants g where g.grant_id = held.grant_id;
end $$;

-- The grant of an access or refresh token of this client ends. True where there was one.
create function revoke_oauth_token(token bytea, client uuid) returns boolean
language plpgsql security definer set search_path = public as $$
declare
  ended integer;
begin
  delete from oauth_grants g where g.client_id = client and g.grant_id in (
    select t.grant_id from oauth_tokens t where t.token_hash = token
    union all select k.grant_id from api_keys k where k.token_hash = token and k.grant_id is not null);
  get diagnostics ended = row_count;
  return ended > 0;
end $$;

-- Tokens that can no longer be used, and grants without any that can.
create function forget_oauth_tokens(most integer) returns integer
language plpgsql security definer set search_path = public as $$
declare
  forgotten integer;
begin
  delete from api_keys k where k.key_id in (
    select o.key_id from api_keys o where o.grant_id is not null and o.expires_at < now() limit most);
  delete from oauth_grants g where g.grant_id in (
    select o.grant_id from oauth_grants o where o.created_at < now() - interval '1 hour'
      and not exists (select from oauth_tokens t where t.workspace_id = o.workspace_id and t.grant_id = o.grant_id
        and t.used_at is null and t.expires_at > now())
      and not exists (select from api_keys k where k.grant_id = o.grant_id and k.expires_at > now()) limit most);
  get diagnostics forgotten = row_count;
  return forgotten;
end $$;

revoke execute on function register_oauth_client(uuid, text, text[], integer), find_oauth_client(uuid), use_oauth_token(bytea, text),
  revoke_oauth_token(bytea, uuid), forget_oauth_tokens(integer) from public;
grant execute on function register_oauth_client(uuid, text, text[], integer), find_oauth_client(uuid), use_oauth_token(bytea, text),
  revoke_oauth_token(bytea, uuid), forget_oauth_tokens(integer) to heddle_app;
