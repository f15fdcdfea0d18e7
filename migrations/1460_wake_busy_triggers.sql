-- Breaks nothing: triggers are woken as before. A condition on the row was judged by the snapshot while a look at the trigger ended, and then
-- neither of the two saw the other: a workflow that was activated in that moment was not registered at the vendor for a whole pause.

create or replace function wake_webhook_triggers() returns trigger language plpgsql set search_path = public as $$
begin
  -- Where a process is at work on it, that one looks before it is done whether it is still wanted.
  update service_triggers t set next_poll_at = case when t.busy_until > now() then t.next_poll_at else now() end
    where t.workspace_id = new.workspace_id and t.workflow_id = new.workflow_id and t.kind = 'webhook';
  return null;
end $$;
