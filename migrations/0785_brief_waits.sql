-- Breaks nothing: a new function. What an execution waits for, as lists show it: questions may carry schemas of a megabyte each.

-- Waits of more than 32 KiB together keep their small fields; `left_out` names the fields that one execution alone shows.
create function engine.brief_waits(waits jsonb) returns jsonb
language sql immutable parallel safe
  return case
    -- Values of this size are not compressed: their size is known without reading them.
    when waits is null or pg_column_size(waits) < 1900 or octet_length(waits::text) <= 32768 then waits
    else (select jsonb_agg((select jsonb_object_agg(f.key, f.value) from jsonb_each(w.wait) as f where octet_length(f.value::text) <= 2048)
        || coalesce((select jsonb_build_object('left_out', jsonb_agg(f.key order by f.key))
          from jsonb_each(w.wait) as f where octet_length(f.value::text) > 2048 having count(*) > 0), '{}') order by w.at)
      from jsonb_array_elements(waits) with ordinality as w (wait, at)) end;
revoke all on function engine.brief_waits(jsonb) from public;
grant execute on function engine.brief_waits(jsonb) to heddle_app, heddle_operator, heddle_engine;
