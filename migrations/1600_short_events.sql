-- Breaks nothing: readers use this function. Packed rows can contain events in a short form.

-- A packed row contains [type, milliseconds after the row's time, data] for each event. The most frequent events are shorter: a code instead of
-- the type, and the values of their keys, except the number of the first attempt, instead of the data. A type contains a dot and a code does not. The type of such a row is `p`, before this
-- migration `packed`.
create or replace function unpacked(p_seq integer, p_at timestamptz, p_type text, p_data json)
returns table (seq integer, at timestamptz, type text, data json) language sql immutable
begin atomic
  select p_seq, p_at, p_type, p_data where p_type not in ('p', 'packed')
  union all
  select p_seq + x.n::integer - 1, p_at + (x.event ->> 1)::double precision * interval '1 millisecond',
    case x.event ->> 0
      when 'b' then 'node.started'
      when 's' then 'node.succeeded'
      when 'k' then 'node.skipped'
      when 't' then 'execution.started'
      when 'e' then 'execution.succeeded'
      else x.event ->> 0
    end,
    case x.event ->> 0
      when 'b' then format('{"node_id":%s,"attempt":1}', x.event -> 2)::json
      when 's' then format('{"node_id":%s,"attempt":1,"output":%s}', x.event -> 2, x.event -> 3)::json
      when 'k' then format('{"node_id":%s}', x.event -> 2)::json
      when 't' then format('{"trigger":%s}', x.event -> 2)::json
      when 'e' then format('{"results":%s}', x.event -> 2)::json
      else x.event -> 2
    end
  from json_array_elements(case when p_type in ('p', 'packed') then p_data else '[]' end) with ordinality as x (event, n);
end;
