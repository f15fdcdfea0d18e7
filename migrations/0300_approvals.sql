-- Breaks nothing: new tables and a trigger. Gates with their votes, questions with their answers, what agents have earned.

create table approval_requests (
  workspace_id uuid not null references workspaces on delete cascade,
  request_id uuid not null,
  execution_id uuid not null,
  workflow_id uuid,
  version_id uuid,
  node_path text not null,
  node_id text not null,
  title text not null,
  payload json not null,
  payload_sha256 text not null,
  policy jsonb not null,
  status text not null default 'open' check (status in ('open', 'approved', 'rejected', 'expired', 'cancelled')),
  -- What an expired gate counts as.
  outcome text check (outcome in ('approved', 'rejected')),
  started_by uuid,
  escalated boolean not null default false,
  reminded boolean not null default false,
  unsatisfiable boolean not null default false,
  due_at timestamptz,
  opened_at timestamptz not null default now(),
  resolved_at timestamptz,
  primary key (workspace_id, request_id)
);
create unique index approval_requests_one_open on approval_requests (workspace_id, execution_id, node_path) where status = 'open';
create index approval_requests_by_execution on approval_requests (workspace_id, execution_id, request_id);
create index approval_requests_by_node on approval_requests (workspace_id, execution_id, node_path, request_id);
create index approval_requests_open on approval_requests (workspace_id, due_at, request_id) where status = 'open';

-- Who may vote, one row per line of the policy. People are found through it at the moment of asking, so that whoever has
-- left drops out by themselves.
create table approval_approvers (
  workspace_id uuid not null,
  request_id uuid not null,
  position integer not null,
  kind text not null check (kind in ('user', 'team', 'role', 'agent')),
  ref_id uuid,
  role text,
  agent text,
  agent_name text,
  instructions text,
  model text,
  primary key (workspace_id, request_id, position),
  foreign key (workspace_id, request_id) references approval_requests on delete cascade
);
create index approval_approvers_by_ref on approval_approvers (workspace_id, kind, ref_id);

create table approval_delegations (
  workspace_id uuid not null,
  request_id uuid not null,
  from_user uuid not null,
  to_user uuid not null,
  at timestamptz not null default now(),
  primary key (workspace_id, request_id, from_user),
  foreign key (workspace_id, request_id) references approval_requests on delete cascade
);

create table approval_votes (
  workspace_id uuid not null,
  vote_id uuid not null,
  request_id uuid not null,
  voter_kind text not null check (voter_kind in ('human', 'agent')),
  voter_id text not null,
  voter_name text not null,
  voter_role text,
  decision text not null check (decision in ('approve', 'reject', 'abstain')),
  comment text,
  rationale text,
  confidence double precision,
  evidence json,
  usage json,
  payload_sha256 text not null,
  voted_at timestamptz not null default now(),
  primary key (workspace_id, vote_id),
  unique (workspace_id, request_id, voter_kind, voter_id),
  foreign key (workspace_id, request_id) references approval_requests on delete cascade,
  check (voter_kind = 'human' or rationale is not null)
);

-- Reviews that agents still owe; taken by whichever worker is free.
create table agent_reviews (
  workspace_id uuid not null,
  request_id uuid not null,
  agent text not null,
  attempts integer not null default 0,
  not_before timestamptz not null default now(),
  primary key (workspace_id, request_id, agent),
  foreign key (workspace_id, request_id) references approval_requests on delete cascade
);
create index agent_reviews_due on agent_reviews (workspace_id, not_before);

-- How often an agent's blind vote matched the final decision of a gate.
create table agent_agreement (
  workspace_id uuid not null references workspaces on delete cascade,
  agent text not null,
  workflow_id uuid not null,
  node_id text not null,
  votes integer not null default 0,
  agreed integer not null default 0,
  primary key (workspace_id, agent, workflow_id, node_id)
);

create table questions (
  workspace_id uuid not null references workspaces on delete cascade,
  clarification_id uuid not null,
  execution_id uuid not null,
  workflow_id uuid,
  node_path text not null,
  node_id text not null,
  question text not null,
  schema json not null,
  -- Null: the owner and members of the workflow and whoever started the execution. Each line has the uuid of its person or team as `ref`.
  who jsonb,
  status text not null default 'open' check (status in ('open', 'answered', 'expired', 'cancelled')),
  on_due text not null default 'fail' check (on_due in ('fail', 'default', 'escalate')),
  default_answer json,
  escalated boolean not null default false,
  started_by uuid,
  answer json,
  answered_by text,
  answered_by_name text,
  asked_at timestamptz not null default now(),
  due_at timestamptz,
  answered_at timestamptz,
  primary key (workspace_id, clarification_id)
);
create unique index questions_one_open on questions (workspace_id, execution_id, node_path) where status = 'open';
create index questions_by_execution on questions (workspace_id, execution_id, clarification_id);
create index questions_by_node on questions (workspace_id, execution_id, node_path, clarification_id);
create index questions_open on questions (workspace_id, due_at, clarification_id) where status = 'open';

-- Somebody left a workspace or a team: its open gates must be looked at again. One row per departure, gone once every gate
-- has been looked at after it; departures never wait for one another.
create table gate_rechecks (
  workspace_id uuid not null,
  recheck_id bigint generated always as identity,
  primary key (workspace_id, recheck_id)
);
create function recheck_gates() returns trigger language plpgsql security definer set search_path = public as $$
begin
  if exists (select from approval_requests where workspace_id = old.workspace_id and status = 'open') then
    insert into gate_rechecks (workspace_id) values (old.workspace_id);
  end if;
  return old;
end $$;
create trigger recheck_gates after delete or update on memberships for each row execute function recheck_gates();
create trigger recheck_gates after delete on team_members for each row execute function recheck_gates();

do $$
declare one_table text;
begin
  foreach one_table in array array['approval_requests', 'approval_approvers', 'approval_delegations', 'approval_votes', 'agent_reviews',
    'agent_agreement', 'questions', 'gate_rechecks'] loop
    execute format('alter table %I enable row level security', one_table);
    execute format('alter table %I force row level security', one_table);
    execute format('create policy owner_all on %I to heddle_owner using (true) with check (true)', one_table);
    execute format('create policy own on %I to heddle_app using (workspace_id = nullif(current_setting(''app.ws'', true), '''')::uuid)', one_table);
    execute format('grant select, insert, update, delete on %I to heddle_app', one_table);
  end loop;
end $$;

-- Work of all workspaces; whoever takes it then works in each one's own scope.
-- Of each workspace a few: one with a thousand gates keeps nobody waiting. Workspaces are found by index alone.
create function due_agent_reviews(most integer, most_of_one integer) returns table (workspace_id uuid, request_id uuid, agent text)
language sql stable security definer set search_path = public
begin atomic
  with recursive spaces as (
    (select r.workspace_id from agent_reviews r order by r.workspace_id limit 1)
    union all
    select (select r.workspace_id from agent_reviews r where r.workspace_id > s.workspace_id order by r.workspace_id limit 1)
      from spaces s where s.workspace_id is not null
  )
  select d.workspace_id, d.request_id, d.agent from spaces s cross join lateral (
    select r.* from agent_reviews r where r.workspace_id = s.workspace_id and r.not_before <= now() order by r.not_before limit most_of_one) d
  order by d.not_before limit most;
end;
create function workspaces_to_recheck(most integer) returns setof uuid
language sql stable security definer set search_path = public
begin atomic
  select distinct workspace_id from gate_rechecks limit most;
end;

-- Everybody who may vote on each of the requests now: named, by team, by role, or by delegation; never the one who started
-- the execution, unless the policy allows that; never one who handed the vote on. A vote whose new holder has left without
-- casting it is back with whom it came from.
create function voters_of_gates(workspace uuid, requests uuid[]) returns table (request_id uuid, user_id uuid, name text, role text)
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
  select h.request_id, h.user_id, u.name, m.role from handed h
    join memberships m on m.workspace_id = workspace and m.user_id = h.user_id
    join users u on u.user_id = h.user_id
    join approval_requests g on g.workspace_id = workspace and g.request_id = h.request_id
      and ((g.policy -> 'allow_self') = 'true' or g.started_by is distinct from h.user_id)
  where workspace = app_workspace();
end;

revoke execute on function due_agent_reviews(integer, integer), workspaces_to_recheck(integer), voters_of_gates(uuid, uuid[]) from public;
grant execute on function due_agent_reviews(integer, integer), workspaces_to_recheck(integer), voters_of_gates(uuid, uuid[]) to heddle_app;

-- Everybody who may answer a question now: those it names, else the owner and members of the workflow and whoever started
-- the execution; once escalated, the owners of the workspace as well.
create function question_answerers(workspace uuid, asked_id uuid) returns table (user_id uuid)
language sql stable security definer set search_path = public
begin atomic
  with asked as (select * from questions q where q.workspace_id = workspace and q.clarification_id = asked_id and workspace = app_workspace()),
  named as (select line ->> 'kind' as kind, line ->> 'id' as id, (line ->> 'ref')::uuid as ref from asked, jsonb_array_elements(coalesce(who, '[]')) as line),
  people as (
    select m.user_id from named n join memberships m on m.workspace_id = workspace and n.kind = 'user' and n.ref = m.user_id
    union
    select t.user_id from named n join team_members t on t.workspace_id = workspace and n.kind = 'team' and n.ref = t.team_id
    union
    select m.user_id from named n join memberships m on m.workspace_id = workspace and n.kind = 'role' and n.id = m.role
    union
    select w.owner_id from asked join workflows w on w.workspace_id = workspace and w.workflow_id = asked.workflow_id where asked.who is null
    union
    select wm.user_id from asked join workflow_members wm on wm.workspace_id = workspace and wm.workflow_id = asked.workflow_id and wm.role = 'member'
      where asked.who is null
    union
    select started_by from asked where who is null and started_by is not null
    union
    select m.user_id from asked join memberships m on m.workspace_id = workspace and m.role = 'owner' where asked.escalated
  )
  select p.user_id from people p join memberships m on m.workspace_id = workspace and m.user_id = p.user_id;
end;
revoke execute on function question_answerers(uuid, uuid) from public;
grant execute on function question_answerers(uuid, uuid) to heddle_app;

-- What people were shown and said goes with its execution, whoever removes that, and in the same transaction. What agents
-- have earned stays.
create function forget_said() returns trigger language plpgsql security definer set search_path = public, pg_temp as $$
begin
  delete from approval_requests r using gone where r.workspace_id = gone.workspace_id and r.execution_id = gone.execution_id;
  delete from questions q using gone where q.workspace_id = gone.workspace_id and q.execution_id = gone.execution_id;
  return null;
end $$;
revoke execute on function forget_said() from public;
create trigger forget_said after delete on executions referencing old table as gone
  for each statement execute function forget_said();
