-- Breaks nothing: a table, a role, and a function that knows it. An older release gives an editor no rights.

-- A workflow that its owner offers to somebody, until they accept or decline or the owner takes the offer back.
create table workflow_transfers (
  workspace_id uuid not null,
  workflow_id uuid not null,
  from_user uuid not null,
  to_user uuid not null,
  created_at timestamptz not null default now(),
  primary key (workspace_id, workflow_id),
  foreign key (workspace_id, workflow_id) references workflows on delete cascade,
  foreign key (workspace_id, from_user) references memberships (workspace_id, user_id) on delete cascade,
  foreign key (workspace_id, to_user) references memberships (workspace_id, user_id) on delete cascade
);
create index workflow_transfers_by_receiver on workflow_transfers (workspace_id, to_user, workflow_id desc);
create index workflow_transfers_by_sender on workflow_transfers (workspace_id, from_user);
alter table workflow_transfers enable row level security;
alter table workflow_transfers force row level security;
create policy owner_all on workflow_transfers to heddle_owner using (true) with check (true);
create policy own on workflow_transfers to heddle_app using (workspace_id = nullif(current_setting('app.ws', true), '')::uuid);
grant select, insert, update, delete on workflow_transfers to heddle_app;

-- An editor changes a workflow without owning it.
alter table workflow_members drop constraint workflow_members_role_check;
alter table workflow_members add constraint workflow_members_role_check check (role in ('editor', 'member', 'viewer'));

create or replace function question_answerers(workspace uuid, asked_id uuid) returns table (user_id uuid)
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
    select wm.user_id from asked join workflow_members wm on wm.workspace_id = workspace and wm.workflow_id = asked.workflow_id
      and wm.role in ('editor', 'member') where asked.who is null
    union
    select started_by from asked where who is null and started_by is not null
    union
    select m.user_id from asked join memberships m on m.workspace_id = workspace and m.role = 'owner' where asked.escalated
  )
  select p.user_id from people p join memberships m on m.workspace_id = workspace and m.user_id = p.user_id;
end;
