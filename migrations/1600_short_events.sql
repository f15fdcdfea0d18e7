-- Breaks nothing: readers use this function. Packed rows can contain events in a short form.

-- A packed row contains [type, milliseconds after the row's time, data] for each event. The most frequent events are shorter: a code instead of
-- the type, and the values of their keys, except the number of the first attempt, instead of the data. A type contains a dot and a code does not.
-- The type of such a row is `p`, before this migration `packed`. Only json_array_elements leaves texts as they are: `->` fails if any text of the
-- event contains \u0000, even in another element.
create or replace function unpacked(p_seq integer, p_at timestamptz, p_type text, p_data json)
returns table (seq integer, at timestamptz, type text, data json) language sql immutable
begin atomic
  select p_seq, p_at, p_type, p_data where p_type not in ('p', 'packed')
  union all
  select p_seq + e.n::integer - 1, p_at + e.part[2]::text::double precision * interval '1 millisecond',
    case e.part[1]::text
      when '"b"' then 'node.started'
      when '"s"' then 'node.succeeded'
      when '"k"' then 'node.skipped'
      when '"t"' then 'execution.started'
      when '"e"' then 'execution.succeeded'
      else btrim(e.part[1]::text, '"')
    end,
    case e.part[1]::text
      when '"b"' then format('{"node_id":%s,"attempt":1}', e.part[3])::json
      when '"s"' then format('{"node_id":%s,"attempt":1,"output":%s}', e.part[3], e.part[4])::json
      when '"k"' then format('{"node_id":%s}', e.part[3])::json
      when '"t"' then format('{"trigger":%s}', e.part[3])::json
      when '"e"' then format('{"results":%s}', e.part[3])::json
      else e.part[3]
    end
  from (select x.n, array(select json_array_elements(x.event)) as part
    from json_array_elements(case when p_type in ('p', 'packed') then p_data else '[]' end) with ordinality as x (event, n)
    offset 0) as e;
end;
