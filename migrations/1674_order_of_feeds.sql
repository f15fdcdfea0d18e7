-- Breaks nothing: the function writes as before, and locks the feeds of all people who were asked in the order of their ids.
create or replace function settle_matters(workspace uuid, matters text[], outcome text, only_user uuid)
returns setof uuid language plpgsql security definer set search_path = public, pg_temp as $$
#variable_conflict use_variable
declare
  one record;
begin
  if workspace is distinct from app_workspace() then return; end if;
  -- A later call in this transaction may settle the notices of everyone who was asked. All feeds are locked now, in one order, because the votes
  -- of two people on two gates would deadlock otherwise. Notices are locked before feeds, as in all other writes.
  perform from notifications n where n.workspace_id = workspace and n.matter = any (matters) and n.resolved_at is null
    order by n.user_id, n.notification_id for update;
  perform from feed_counters c
    where c.user_id in (select n.user_id from notifications n where n.workspace_id = workspace and n.matter = any (matters) and n.resolved_at is null)
    order by c.user_id for no key update;
  update reach_messages r set
      state = case when r.sent_ref is not null then 'due' else 'done' end,
      outcome = settle_matters.outcome, attempts = 0, next_at = now()
    where r.workspace_id = workspace and r.matter = any (matters) and r.state in ('due', 'sent') and (only_user is null or r.user_id = only_user);
  for one in select n.notification_id, n.user_id from notifications n
    where n.workspace_id = workspace and n.matter = any (matters) and n.resolved_at is null and (only_user is null or n.user_id = only_user)
    order by n.user_id, n.notification_id for update loop
    update notifications set resolved_at = now(), read_at = coalesce(read_at, now()),
        data = data || jsonb_build_object('resolution', settle_matters.outcome,
          'resolved_at', to_char(now() at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))
      where notification_id = one.notification_id;
    perform append_feed(one.user_id, 'notification.updated', jsonb_build_object('notification_id', one.notification_id));
    return next one.user_id;
  end loop;
end $$;
