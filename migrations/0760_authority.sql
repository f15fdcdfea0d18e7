-- Breaks nothing: columns that may be empty, a table, and functions that fill and read them. An older release leaves them empty;
-- then a run acts for whoever made its version or owns its workflow, and the person who started it is its only initiator.

-- `principal_id`: in whose name it acts. `initiated_by`: who and what led to it, nearest first: [{kind, id, user_id}].
alter table executions add column principal_id uuid, add column initiated_by json;
alter table workflow_versions add column activated_by uuid references users on delete set null;
-- A workflow that was given away does not run before its new owner, or an editor, has activated a version.
alter table workflows add column activation_required boolean not null default false;
alter table job_definitions add column created_by uuid references users on delete set null;
alter table gateway_channels add column changed_by uuid references users on delete set null;
-- What `allow_self: false` excludes, as the execution said when it came to the gate.
alter table approval_requests add column initiators jsonb;

create or replace function engine.start(p_workspace uuid, p_execution uuid, p_input json, p_start json, p_queue_limit integer default 100000)
returns text language plpgsql security definer set search_path = public, pg_temp as $$
declare v_queued integer;
begin
  if not engine.may_touch(p_workspace) then return 'unknown'; end if;
  if exists (select from gone_workspaces where workspace_id = p_workspace) then return 'unknown'; end if;
  select count(*) into v_queued from (
    select from executions where workspace_id = p_workspace and status = 'queued' limit p_queue_limit) as queued;
  if v_queued >= p_queue_limit then return 'queue_full'; end if;
  if p_start->>'key_hash' is not null then
    insert into start_keys (credential_hash, key_hash, body_sha256, workspace_id, execution_id)
      values (decode(p_start->>'credential_hash', 'hex'), decode(p_start->>'key_hash', 'hex'),
        decode(p_start->>'body_sha256', 'hex'), p_workspace, p_execution)
      on conflict (credential_hash, key_hash) do update set body_sha256 = excluded.body_sha256,
        workspace_id = excluded.workspace_id, execution_id = excluded.execution_id, created_at = now()
        where start_keys.created_at < now() - interval '24 hours';
    if not found then return 'duplicate'; end if;
  end if;
  insert into executions (execution_id, workspace_id, workflow_id, system_slug, version_id, definition_ref, status, input,
      trigger_kind, trigger_id, started_by, retry_of, parent_execution_id, parent_node, timeout_s, max_concurrency,
      snapshot, due_at, tell_end, depth, principal_id, initiated_by)
    values (p_execution, p_workspace, (p_start->>'workflow_id')::uuid, p_start->>'system_slug',
      (p_start->>'version_id')::uuid, p_start->>'definition_ref', 'queued', p_input,
      p_start->>'trigger_kind', p_start->>'trigger_id', (p_start->>'started_by')::uuid, (p_start->>'retry_of')::uuid,
      (p_start->>'parent_execution_id')::uuid, p_start->>'parent_node', (p_start->>'timeout_s')::double precision,
      (p_start->>'max_concurrency')::integer, nullif(p_start->>'snapshot', '')::json, now(), coalesce((p_start->>'tell_end')::boolean, false),
      coalesce((p_start->>'depth')::smallint, 0), (p_start->>'principal_id')::uuid, p_start->'initiated_by')
    on conflict do nothing;
  if not found then return 'duplicate'; end if;
  return 'accepted';
end $$;

-- In whose name a version runs: whoever activated it, else whoever made it, else the owner of its workflow.
create function principal_of_version(workspace uuid, version uuid) returns uuid
language sql stable security definer set search_path = public
  return (select coalesce(v.activated_by, v.created_by, w.owner_id) from workflow_versions v
    join workflows w on w.workspace_id = v.workspace_id and w.workflow_id = v.workflow_id
    where v.workspace_id = workspace and v.version_id = version);

-- Who stands behind a webhook token, and in whose name what it starts acts.
create function authority_of_webhook(workspace uuid, token uuid, version uuid)
returns table (created_by uuid, principal_id uuid, activation_required boolean)
language sql stable security definer set search_path = public
begin atomic
  select t.created_by, principal_of_version(workspace, version), w.activation_required
  from webhook_tokens t join workflows w on w.workspace_id = t.workspace_id and w.workflow_id = t.workflow_id
  where t.workspace_id = workspace and t.token_id = token;
end;
revoke execute on function principal_of_version(uuid, uuid), authority_of_webhook(uuid, uuid, uuid) from public;
grant execute on function principal_of_version(uuid, uuid), authority_of_webhook(uuid, uuid, uuid) to heddle_app, heddle_engine;

-- Everybody whom the policy of each request lets vote, named, by team, by role or by delegation; never one who handed the vote
-- on. A vote whose new holder has left without casting it is back with whom it came from. `excluded`: they initiated the
-- execution, and the policy does not let them approve it.
create function candidates_of_gates(workspace uuid, requests uuid[])
returns table (request_id uuid, user_id uuid, name text, role text, excluded boolean)
language sql stable security definer set search_path = public
begin atomic
  with named as (
    select a.request_id, a.ref_id as user_id from approval_approvers a
      where a.workspace_id = workspace and a.request_id = any (requests) and a.kind = 'user'
    union
    select a.request_id, t.user_id from approval_approvers a join team_members t on t.workspace_id = a.workspace_id and t.team_id = a.ref_id
      where a.workspace_id = workspace and a.request_id = any (requests) and a.kind = 'team'
    union
    select a.request_id, m.user_id from approval_approvers a join memberships m on m.workspace_id = a.workspace_id and m.role = a.role
      where a.workspace_id = workspace and a.request_id = any (requests) and a.kind = 'role'
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
create or replace function voters_of_gates(workspace uuid, requests uuid[]) returns table (request_id uuid, user_id uuid, name text, role text)
language sql stable security definer set search_path = public
begin atomic
  select c.request_id, c.user_id, c.name, c.role from candidates_of_gates(workspace, requests) c where not c.excluded;
end;
revoke execute on function candidates_of_gates(uuid, uuid[]) from public;
grant execute on function candidates_of_gates(uuid, uuid[]) to heddle_app;
