-- Breaks nothing: a function with one more kind, and an index. A process of an earlier release does not ask for that kind. Triggers are switched off and on.

-- A trigger that was switched off and is still registered at its vendor, or may be.
create index service_triggers_ending on service_triggers (next_poll_at)
  where not enabled and (registered or hook_generation > hook_confirmed);

-- As before, and 'ending': triggers that are off and have to be taken back at the vendor.
create or replace function due_trigger_work(p_kind text, p_limit integer, p_of_workspace integer, p_of_service integer, p_under_way jsonb)
returns table (workspace_id uuid, id uuid, service text)
language sql stable security definer set search_path = public, pg_temp
begin atomic
  with busy as materialized (
    select u.workspace_id, u.id, u.service from jsonb_to_recordset(p_under_way) u (workspace_id uuid, id uuid, service text)
  ),
  due as (
    select t.workspace_id, t.trigger_id as id, t.service, t.next_poll_at as at from service_triggers t
    where t.enabled and t.kind = p_kind and t.next_poll_at <= now()
    union all
    select t.workspace_id, t.trigger_id, t.service, t.next_poll_at from service_triggers t
    where p_kind = 'ending' and not t.enabled and (t.registered or t.hook_generation > t.hook_confirmed) and t.next_poll_at <= now()
    union all
    select r.workspace_id, r.removal_id, r.service, r.next_at from service_trigger_removals r
    where p_kind = 'removal' and r.next_at <= now()
  ),
  of_service as (
    select d.*, row_number() over (partition by d.workspace_id, d.service order by d.at)
      + (select count(*) from busy b where b.workspace_id = d.workspace_id and b.service = d.service) as place
    from due d where not exists (select from busy b where b.workspace_id = d.workspace_id and b.id = d.id)
  ),
  of_workspace as (
    select s.workspace_id, s.id, s.service, s.at, row_number() over (partition by s.workspace_id order by s.place, s.at)
      + (select count(*) from busy b where b.workspace_id = s.workspace_id) as place
    from of_service s where s.place <= p_of_service
  )
  select w.workspace_id, w.id, w.service from of_workspace w where w.place <= p_of_workspace order by w.place, w.at limit p_limit;
end;
