-- Breaks nothing: a new table, a column and a function. Consents to OAuth2 credentials that are under way.

create table credential_authorizations (
  state_hash bytea primary key,
  workspace_id uuid not null,
  credential_id uuid not null,
  -- Only the session that began it may come back with it.
  session_id uuid not null,
  user_id uuid not null references users on delete cascade,
  -- Of PKCE, sealed.
  verifier bytea not null,
  redirect_uri text not null,
  expires_at timestamptz not null,
  foreign key (workspace_id, credential_id) references credentials (workspace_id, credential_id) on delete cascade
);
create index credential_authorizations_by_credential on credential_authorizations (workspace_id, credential_id);
create index credential_authorizations_by_user on credential_authorizations (user_id);

alter table credential_authorizations enable row level security;
alter table credential_authorizations force row level security;
create policy owner_all on credential_authorizations to heddle_owner using (true) with check (true);
create policy own on credential_authorizations to heddle_app using (workspace_id = app_workspace());
grant select, insert, update, delete on credential_authorizations to heddle_app;

-- Single use: the row is gone whatever comes of it. The callback names no workspace, so it is found by its state alone.
create function take_credential_authorization(wanted bytea, in_session uuid)
returns table (workspace_id uuid, credential_id uuid, user_id uuid, verifier bytea, redirect_uri text)
language sql security definer set search_path = public
begin atomic
  with taken as (
    delete from credential_authorizations a where a.state_hash = wanted and a.session_id = in_session returning a.*)
  select t.workspace_id, t.credential_id, t.user_id, t.verifier, t.redirect_uri from taken t where t.expires_at > now();
end;
revoke execute on function take_credential_authorization(bytea, uuid) from public;
grant execute on function take_credential_authorization(bytea, uuid) to heddle_app;

-- The last time a 401 made us ask for a new token: a service that refuses every token does not make us ask with each call.
alter table credentials add column renewed_at timestamptz;
