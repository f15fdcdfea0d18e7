-- Breaks nothing: a new function. `claim_deliveries` stays for processes of the release before.
-- `claim_deliveries` left out a destination once it had as many deliveries under way as it may have. Below that number it gave a
-- full share again: a destination with 7 of 8 under way got 8 more.

-- Deliveries that are due, some of each destination, beginning after p_after. The caller keeps each for p_lease_s seconds.
-- p_under_way names the destination of every delivery the caller has under way, once for each.
create function take_deliveries(p_after uuid, p_limit integer, p_of_destination integer, p_of_workspace integer, p_lease_s integer,
  p_under_way uuid[])
returns table (workspace_id uuid, destination_id uuid, delivery_id uuid)
language sql security definer set search_path = public, pg_temp as $$
  with recursive places as (
    (select d.destination_id from event_deliveries d where d.status = 'pending' and d.head order by d.destination_id limit 1)
    union all
    select (select d.destination_id from event_deliveries d where d.status = 'pending' and d.head
        and d.destination_id > p.destination_id order by d.destination_id limit 1)
    from places p where p.destination_id is not null
  ),
  busy as materialized (
    select u.destination_id, e.workspace_id, count(*)::integer as count
    from unnest(p_under_way) u (destination_id) join event_destinations e on e.destination_id = u.destination_id
    group by u.destination_id, e.workspace_id
  ),
  found as materialized (
    select p.destination_id, t.workspace_id, t.delivery_id, t.next_at from places p
    join event_destinations e on e.destination_id = p.destination_id and e.enabled and coalesce(e.blocked_until <= now(), true)
    cross join lateral (
      select d.workspace_id, d.delivery_id, d.next_at from event_deliveries d
      where d.destination_id = p.destination_id and d.status = 'pending' and d.head and d.next_at <= now()
      order by d.next_at
      limit greatest(0, p_of_destination - coalesce((select b.count from busy b where b.destination_id = p.destination_id), 0))
      for no key update skip locked) t
  ),
  due as (
    select f.workspace_id, f.delivery_id from (
      select n.*, row_number() over (partition by n.workspace_id order by n.destination_id > p_after desc, n.destination_id, n.next_at)
      from found n) f
    where f.row_number <= p_of_workspace
      - coalesce((select sum(b.count) from busy b where b.workspace_id = f.workspace_id), 0)
    order by f.destination_id > p_after desc, f.destination_id
    limit p_limit
  )
  update event_deliveries d set next_at = now() + make_interval(secs => p_lease_s)
  from due where d.workspace_id = due.workspace_id and d.delivery_id = due.delivery_id
  returning d.workspace_id, d.destination_id, d.delivery_id
$$;

revoke execute on function take_deliveries(uuid, integer, integer, integer, integer, uuid[]) from public;
grant execute on function take_deliveries(uuid, integer, integer, integer, integer, uuid[]) to heddle_app;
