-- Breaks nothing: more rows that the present release looks at as well. A gate that was being opened while its only voter left was not
-- seen by the departure, so nobody looked at it again. Every departure asks for a look now, and the look waits for gates that are being opened.

create or replace function recheck_gates() returns trigger language plpgsql security definer set search_path = public as $$
begin
  insert into gate_rechecks (workspace_id) values (old.workspace_id);
  return old;
end $$;
