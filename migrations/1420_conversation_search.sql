-- Breaks nothing: functions and indexes. Texts are found in the messages of a workspace without reading all of them.

-- The runs of three characters in a text, as numbers that differ between workspaces: what one workspace holds does not lengthen
-- the search of another. The first 2,000 characters are in it: each costs about 10 µs when a message is written.
create function text_grams(workspace uuid, body text) returns bigint[]
language plpgsql immutable parallel safe cost 5000 set search_path = pg_catalog, pg_temp as $$
begin
  return array(
    select distinct hashtextextended(c || c2 || c3, hashtextextended(workspace::text, 0))
    from (select c, lead(c) over (order by n) as c2, lead(c, 2) over (order by n) as c3
      from string_to_table(lower(left(body, 2000)), null) with ordinality as t (c, n)) g
    where c3 is not null);
end $$;

revoke execute on function text_grams(uuid, text) from public;
grant execute on function text_grams(uuid, text) to heddle_app, heddle_engine;

-- Without lists of pending entries: a search would read them whole.
create index messages_by_grams on messages using gin (text_grams(workspace_id, text)) with (fastupdate = off);
create index threads_by_grams on threads using gin (text_grams(workspace_id, title)) with (fastupdate = off)
  where kind <> 'thread' and title is not null;

-- Conversations of the caller's own workspace whose title or messages contain the text. Up to `most` messages that hold all of its grams
-- are looked into; `is_cut` says that there are more. As its owner, because no index serves `@>` under row security.
create function find_in_conversations(wanted text, most integer, out thread_ids uuid[], out is_cut boolean)
language plpgsql stable security definer set search_path = public, pg_temp set enable_seqscan = off set work_mem = '32MB' as $$
declare
  grams bigint[] := (text_grams(app_workspace(), wanted))[1:16];
begin
  with candidates as materialized (
      select m.thread_id, m.text from messages m
      where m.workspace_id = app_workspace() and text_grams(m.workspace_id, m.text) @> grams limit most + 1),
    titled as (
      select t.thread_id from threads t
      where t.workspace_id = app_workspace() and t.kind <> 'thread' and t.title is not null
        and text_grams(t.workspace_id, t.title) @> grams and strpos(lower(t.title), lower(wanted)) > 0 limit most)
  select array(select c.thread_id from candidates c where strpos(lower(c.text), lower(wanted)) > 0 union select t.thread_id from titled t),
    (select count(*) from candidates) > most
  into thread_ids, is_cut;
end $$;
revoke execute on function find_in_conversations(text, integer) from public;
grant execute on function find_in_conversations(text, integer) to heddle_app;
