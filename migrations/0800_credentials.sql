-- Breaks nothing: new tables and functions. Credentials for outside services, and with whom they are shared.

create table credentials (
  workspace_id uuid not null references workspaces on delete cascade,
  credential_id uuid not null,
  name text not null,
  kind text not null check (kind in ('bearer', 'header', 'query', 'basic', 'oauth2_client', 'oauth2_code', 'aws_sigv4',
    'tls_client', 'llm', 'service')),
  service text,
  -- Where the secret may go. Authenticated together with it: a row with other hosts does not open.
  hosts text[] not null check (cardinality(hosts) > 0),
  config jsonb not null default '{}',
  state text not null check (state in ('ready', 'needs_authorization', 'needs_reconnect', 'revoked')),
  -- Why it must be connected again, in words.
  problem text,
  owner_id uuid references users on delete set null,
  -- Sealed; null once revoked.
  secrets bytea,
  -- Sealed access and refresh token of OAuth2. `token_version` grows with each, so that of many who saw a stale one only
  -- the first asks for another.
  tokens bytea,
  token_version integer not null default 0,
  token_expires_at timestamptz,
  -- Whoever refreshes holds this for a while; no lock is held while the token endpoint is asked.
  refresh_lease uuid,
  refresh_lease_until timestamptz,
  expires_at timestamptz,
  last_used_at timestamptz,
  last_test jsonb,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (workspace_id, credential_id),
  unique (credential_id),
  check ((state = 'revoked') = (secrets is null))
);

create table credential_shares (
  workspace_id uuid not null,
  credential_id uuid not null,
  kind text not null check (kind in ('user', 'team', 'workspace')),
  user_id uuid,
  team_id uuid,
  role text not null check (role in ('use', 'edit')),
  foreign key (workspace_id, credential_id) references credentials (workspace_id, credential_id) on delete cascade,
  foreign key (workspace_id, user_id) references memberships (workspace_id, user_id) on delete cascade,
  foreign key (workspace_id, team_id) references teams (workspace_id, team_id) on delete cascade,
  unique nulls not distinct (workspace_id, credential_id, kind, user_id, team_id),
  check ((kind = 'user') = (user_id is not null)),
  check ((kind = 'team') = (team_id is not null))
);
create index credential_shares_by_user on credential_shares (workspace_id, user_id) where user_id is not null;
create index credential_shares_by_team on credential_shares (workspace_id, team_id) where team_id is not null;

do $$
declare
  one_table text;
begin
  foreach one_table in array array['credentials', 'credential_shares'] loop
    execute format('alter table %I enable row level security', one_table);
    execute format('alter table %I force row level security', one_table);
    execute format('create policy owner_all on %I to heddle_owner using (true) with check (true)', one_table);
    execute format('create policy own on %I to heddle_app using (workspace_id = app_workspace())', one_table);
  end loop;
end $$;

grant select, insert, update, delete on credentials, credential_shares to heddle_app;

-- What a person may do with a credential: `owner`, `edit` and `use` may use it; `see` is for viewers of the workspace with
-- whom it is shared; `manage` is for owners of the workspace, who may look at any and revoke it, but use only what is shared
-- with them. Null: it does not exist for them. Answers for the workspace of the scope alone.
create function credential_role(in_workspace uuid, wanted uuid, person uuid) returns text
language sql stable security definer set search_path = public
begin atomic
  select case
    when m.role = 'guest' then null
    when m.role = 'viewer' then case when r.role is null then null else 'see' end
    when r.role is not null then r.role
    when m.role = 'owner' then 'manage'
  end
  from credentials c
  join memberships m on m.workspace_id = c.workspace_id and m.user_id = person
  cross join lateral (
    select case
      when c.owner_id = person then 'owner'
      else (
        select min(s.role) from credential_shares s
        where s.workspace_id = c.workspace_id and s.credential_id = c.credential_id
          and (s.kind = 'workspace' or s.user_id = person or exists (
            select from team_members t
            where t.workspace_id = s.workspace_id and t.team_id = s.team_id and t.user_id = person)))
    end as role
  ) r
  where c.workspace_id = in_workspace and c.credential_id = wanted and in_workspace = app_workspace();
end;

-- When credentials of any workspace were last used, told by the worker every so often and not with every call: a credential
-- that is used a thousand times a second is written to twice a minute.
create function note_credentials_used(workspaces uuid[], wanted uuid[], at timestamptz[]) returns void
language sql security definer set search_path = public
begin atomic
  update credentials c set last_used_at = greatest(c.last_used_at, u.at)
  from unnest(workspaces, wanted, at) as u (workspace_id, credential_id, at)
  where c.workspace_id = u.workspace_id and c.credential_id = u.credential_id;
end;

revoke execute on function credential_role(uuid, uuid, uuid), note_credentials_used(uuid[], uuid[], timestamptz[]) from public;
grant execute on function credential_role(uuid, uuid, uuid), note_credentials_used(uuid[], uuid[], timestamptz[]) to heddle_app;
