-- Breaks nothing: columns with defaults, an index and functions. An older release makes bearer tokens and knows no others.

-- How a caller proves that it may call. `secret` is sealed: the key of signatures, or the password of `basic`. A `bearer` or `url`
-- token has only its hash.
alter table webhook_tokens
  add column auth text not null default 'bearer' check (auth in ('bearer', 'url', 'basic', 'hmac')),
  add column auth_config jsonb not null default '{}',
  add column secret bytea,
  add column methods text[] not null default array['POST'],
  add column input text not null default 'body' check (input in ('body', 'request')),
  add column respond text not null default 'accepted' check (respond in ('accepted', 'result', 'node')),
  add column respond_timeout_s integer not null default 30 check (respond_timeout_s between 1 and 60),
  add column challenge text,
  add column dedupe jsonb;

-- These are named by their id in the address, so they are looked up without a workspace.
create unique index webhook_tokens_called_by_id on webhook_tokens (token_id) where auth in ('basic', 'hmac');

-- A secret that stands in an address is known to proxies and logs on the way: it is not taken as a bearer token.
create or replace function identify_webhook_token(token bytea)
returns table (token_id uuid, org_id uuid, workspace_id uuid, workflow_id uuid, enabled boolean, expired boolean, version_id uuid,
  inputs json, settings jsonb)
language sql stable security definer set search_path = public
begin atomic
  select t.token_id, s.org_id, t.workspace_id, t.workflow_id, t.enabled, coalesce(t.expires_at <= now(), false), v.version_id,
    v.definition -> 'inputs', w.settings
  from webhook_tokens t
  join workspaces s on s.workspace_id = t.workspace_id
  join workflows w on w.workspace_id = t.workspace_id and w.workflow_id = t.workflow_id and w.deleted_at is null
  left join workflow_versions v on v.workspace_id = t.workspace_id and v.workflow_id = t.workflow_id and v.active
  where t.token_hash = token and t.auth = 'bearer';
end;

-- What a call of any other kind needs: by the hash of the secret in its address, or by the id.
create function identify_inbound_token(token bytea, id uuid)
returns table (token_id uuid, org_id uuid, workspace_id uuid, workflow_id uuid, enabled boolean, expired boolean, version_id uuid,
  inputs json, settings jsonb, created_by uuid, principal_id uuid, activation_required boolean, auth text, auth_config jsonb,
  secret bytea, methods text[], input text, respond text, respond_timeout_s integer, challenge text, dedupe jsonb)
language sql stable security definer set search_path = public
begin atomic
  with called as (
    select * from webhook_tokens where token_hash = token and auth = 'url'
    union all
    select * from webhook_tokens where token_id = id and auth in ('basic', 'hmac')
  )
  select t.token_id, s.org_id, t.workspace_id, t.workflow_id, t.enabled, coalesce(t.expires_at <= now(), false), v.version_id,
    v.definition -> 'inputs', w.settings, t.created_by, principal_of_version(t.workspace_id, v.version_id), w.activation_required,
    t.auth, t.auth_config, t.secret, t.methods, t.input, t.respond, t.respond_timeout_s, t.challenge, t.dedupe
  from called t
  join workspaces s on s.workspace_id = t.workspace_id
  join workflows w on w.workspace_id = t.workspace_id and w.workflow_id = t.workflow_id and w.deleted_at is null
  left join workflow_versions v on v.workspace_id = t.workspace_id and v.workflow_id = t.workflow_id and v.active;
end;
revoke execute on function identify_inbound_token(bytea, uuid) from public;
grant execute on function identify_inbound_token(bytea, uuid) to heddle_app;
