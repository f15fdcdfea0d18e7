-- Breaks nothing: a new function, for several entries of a person's feed at once.

create function append_own_feed_entries(entry_type text, notifications uuid[])
returns void language sql security definer set search_path = public, pg_temp as $$
  with counter as (
    insert into feed_counters (user_id, last_seq) values (app_user(), cardinality(notifications))
    on conflict (user_id) do update set last_seq = feed_counters.last_seq + cardinality(notifications) returning last_seq
  )
  insert into feed_entries (user_id, seq, type, data)
  select app_user(), c.last_seq - cardinality(notifications) + n.at, entry_type, jsonb_build_object('notification_id', n.id)
  from counter c, unnest(notifications) with ordinality as n (id, at);
$$;
revoke all on function append_own_feed_entries(text, uuid[]) from public;
grant execute on function append_own_feed_entries(text, uuid[]) to heddle_app;
