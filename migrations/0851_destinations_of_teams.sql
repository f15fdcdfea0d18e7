-- Breaks nothing: a destination is not switched off while its owner sees the workflow through a team.

create or replace function stop_destinations() returns table (workspace_id uuid, destination_id uuid)
language sql security definer set search_path = public, pg_temp as $$
  with stopped as (
    update event_destinations d set enabled = false, off_at = now(), told = false, updated_at = now(),
      off_reason = case when m.user_id is null then 'owner_left' else 'no_access' end
    from event_destinations x
    left join memberships m on m.workspace_id = x.workspace_id and m.user_id = x.owner_id and m.role <> 'guest'
    where d.destination_id = x.destination_id and d.enabled and (m.user_id is null
      or (x.workflow_id is not null and not exists (select from workflows w where w.workspace_id = x.workspace_id
        and w.workflow_id = x.workflow_id and w.deleted_at is null and (w.owner_id = x.owner_id
          or exists (select from workflow_members f where f.workspace_id = w.workspace_id and f.workflow_id = w.workflow_id
            and f.user_id = x.owner_id)
          or exists (select from team_shares s join team_members t on t.workspace_id = s.workspace_id and t.team_id = s.team_id
            where s.workspace_id = w.workspace_id and s.workflow_id = w.workflow_id and t.user_id = x.owner_id)))))
    returning d.workspace_id, d.destination_id
  )
  select * from stopped
  union select d.workspace_id, d.destination_id from event_destinations d where not d.told
$$;
