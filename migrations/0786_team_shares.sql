-- Breaks nothing: a table, two views, and functions that count members of teams among the people of a workflow or job. An older
-- release does not see these people, and changes nothing about their teams.

-- A workflow, template or job that is shared with a team. Whoever leaves the team, or the workspace, loses it at once: who is in
-- the team is looked up and never copied.
create table team_shares (
  workspace_id uuid not null,
  team_id uuid not null,
  workflow_id uuid,
  template_id uuid,
  job_id uuid,
  role text not null,
  foreign key (workspace_id, team_id) references teams (workspace_id, team_id) on delete cascade,
  foreign key (workspace_id, workflow_id) references workflows (workspace_id, workflow_id) on delete cascade,
  foreign key (workspace_id, template_id) references templates (workspace_id, template_id) on delete cascade,
  foreign key (workspace_id, job_id) references enrichment_jobs (workspace_id, job_id) on delete cascade,
  unique nulls not distinct (workspace_id, workflow_id, template_id, job_id, team_id),
  check (num_nonnulls(workflow_id, template_id, job_id) = 1),
  check (case when workflow_id is not null then role in ('editor', 'member', 'viewer')
    when template_id is not null then role = 'editor' else role in ('member', 'viewer') end)
);
create index team_shares_by_team on team_shares (workspace_id, team_id);
create index team_shares_by_template on team_shares (workspace_id, template_id) where template_id is not null;
create index team_shares_by_job on team_shares (workspace_id, job_id) where job_id is not null;

alter table team_shares enable row level security;
alter table team_shares force row level security;
create policy owner_all on team_shares to heddle_owner using (true) with check (true);
create policy own on team_shares to heddle_app using (workspace_id = app_workspace());
grant select, insert, update, delete on team_shares to heddle_app;
create index if not exists team_members_by_user on team_members (workspace_id, user_id);

-- Who has a role in a workflow without owning it: its members, and those of its teams. A person may stand there several times; the
-- lowest word is the highest role. For the workspace of the scope alone.
create view workflow_people as
  select m.workspace_id, m.workflow_id, m.user_id, m.role from workflow_members m where m.workspace_id = app_workspace()
  union all
  select s.workspace_id, s.workflow_id, t.user_id, s.role from team_shares s
    join team_members t on t.workspace_id = s.workspace_id and t.team_id = s.team_id
    where s.workspace_id = app_workspace() and s.workflow_id is not null;

-- The same for jobs: members, owners among them, and members of their teams.
create view job_people as
  select m.workspace_id, m.job_id, m.user_id, m.role from job_members m where m.workspace_id = app_workspace()
  union all
  select s.workspace_id, s.job_id, t.user_id, s.role from team_shares s
    join team_members t on t.workspace_id = s.workspace_id and t.team_id = s.team_id
    where s.workspace_id = app_workspace() and s.job_id is not null;
grant select on workflow_people, job_people to heddle_app;

-- Whether a person may change a template through one of their teams.
create function edits_template(in_workspace uuid, wanted uuid, person uuid) returns boolean
language sql stable security definer set search_path = public
  return exists (select from team_shares s join team_members t on t.workspace_id = s.workspace_id and t.team_id = s.team_id
    where s.workspace_id = in_workspace and in_workspace = app_workspace() and s.template_id = wanted and t.user_id = person);
revoke execute on function edits_template(uuid, uuid, uuid) from public;
grant execute on function edits_template(uuid, uuid, uuid) to heddle_app;

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
    select wp.user_id from asked join workflow_people wp on wp.workspace_id = workspace and wp.workflow_id = asked.workflow_id
      and wp.role in ('editor', 'member') where asked.who is null
    union
    select started_by from asked where who is null and started_by is not null
    union
    select m.user_id from asked join memberships m on m.workspace_id = workspace and m.role = 'owner' where asked.escalated
  )
  select p.user_id from people p join memberships m on m.workspace_id = workspace and m.user_id = p.user_id;
end;

-- As before, and members of teams. Sockets of many workspaces ask together, so the views of one workspace do not serve here.
create or replace function roles_in_jobs(people uuid[], spaces uuid[], jobs uuid[]) returns table (role text)
language sql stable security definer set search_path = public
begin atomic
  select case
    when j.job_id is null then null
    when f.workflow_id is not null then case when f.owner_id = w.person then 'owner' else coalesce((select min(p.role) from (
        select m.role from workflow_members m where m.workspace_id = f.workspace_id and m.workflow_id = f.workflow_id and m.user_id = w.person
        union all
        select s.role from team_shares s join team_members t on t.workspace_id = s.workspace_id and t.team_id = s.team_id
          where s.workspace_id = f.workspace_id and s.workflow_id = f.workflow_id and t.user_id = w.person) p), '') end
    else coalesce((select p.role from (
        select m.role from job_members m where m.workspace_id = j.workspace_id and m.job_id = j.job_id and m.user_id = w.person
        union all
        select s.role from team_shares s join team_members t on t.workspace_id = s.workspace_id and t.team_id = s.team_id
          where s.workspace_id = j.workspace_id and s.job_id = j.job_id and t.user_id = w.person) p
      order by array_position(array['owner', 'member', 'viewer'], p.role) limit 1), '') end
  from unnest(people, spaces, jobs) with ordinality as w (person, space, job, n)
  left join enrichment_jobs j on j.workspace_id = w.space and j.job_id = w.job
  left join workflows f on f.workspace_id = j.workspace_id and f.workflow_id = j.workflow_id and f.deleted_at is null
  order by w.n;
end;

create or replace function watchable_executions(people uuid[], spaces uuid[], watched uuid[]) returns table (allowed boolean)
language sql stable security definer set search_path = public
begin atomic
  select case when e.execution_id is null then null
    else e.started_by is not distinct from w.person or exists (select from workflows f where f.workspace_id = e.workspace_id and f.workflow_id = e.workflow_id
        and f.deleted_at is null and (f.owner_id = w.person or exists (select from workflow_members m
          where m.workspace_id = f.workspace_id and m.workflow_id = f.workflow_id and m.user_id = w.person)
        or exists (select from team_shares s join team_members t on t.workspace_id = s.workspace_id and t.team_id = s.team_id
          where s.workspace_id = f.workspace_id and s.workflow_id = f.workflow_id and t.user_id = w.person)))
      or (e.definition_ref like 'adhoc:%' and exists (select from job_definitions d, roles_in_jobs(array[w.person], array[d.workspace_id], array[d.job_id]) r
        where d.workspace_id = e.workspace_id and d.definition_id = substr(e.definition_ref, 7)::uuid and r.role <> '')) end
  from unnest(people, spaces, watched) with ordinality as w (person, space, execution, n)
  left join executions e on e.workspace_id = w.space and e.execution_id = w.execution
  order by w.n;
end;
