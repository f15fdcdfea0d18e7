-- Breaks nothing: a new column that older releases do not write, and more rows that they look at as well.

-- The voters who were notified of a gate or had voted by then. A person who joins a team or gets a role later may vote at once, but was not
-- notified. Null if an older release opened the gate: nobody knows whom it notified.
alter table approval_requests add column notified uuid[];

-- Somebody left or joined a workspace or a team, or got another role: its open gates must be looked at again.
create or replace function recheck_gates() returns trigger language plpgsql security definer set search_path = public as $$
begin
  insert into gate_rechecks (workspace_id) values (case when tg_op = 'INSERT' then new.workspace_id else old.workspace_id end);
  return null;
end $$;
create trigger recheck_gates_of_joined after insert on memberships for each row execute function recheck_gates();
create trigger recheck_gates_of_joined after insert on team_members for each row execute function recheck_gates();
