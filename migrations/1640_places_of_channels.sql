-- Breaks nothing: new functions. Processes of older releases call those of 0501.

-- As in 0501, without workspaces that have all the places they may have: messages of a workspace whose vendor answers slowly must not delay those of
-- other workspaces.
create function due_channel_deliveries(most integer, "full" uuid[]) returns table (workspace_id uuid, receipt_id uuid)
  stable security definer set search_path = public, pg_temp begin atomic
  select d.workspace_id, d.receipt_id from channel_deliveries d
    where d.state = 'waiting' and d.not_before <= now() and d.workspace_id <> all ("full")
      and not exists (select from channel_deliveries e where e.workspace_id = d.workspace_id and e.config_id = d.config_id
        and e.conversation = d.conversation and e.state = 'waiting' and e.receipt_id < d.receipt_id)
    order by d.not_before limit most;
end;

create function due_channel_sends(most integer, "full" uuid[]) returns table (workspace_id uuid, send_id uuid)
  stable security definer set search_path = public, pg_temp begin atomic
  select s.workspace_id, s.send_id from channel_sends s
    where s.state = 'waiting' and s.not_before <= now() and s.workspace_id <> all ("full")
      and not exists (select from channel_sends e where e.workspace_id = s.workspace_id and e.config_id = s.config_id
        and e.lane = s.lane and e.state = 'waiting' and e.send_id < s.send_id)
    order by s.not_before limit most;
end;

revoke execute on function due_channel_deliveries(integer, uuid[]), due_channel_sends(integer, uuid[]) from public;
grant execute on function due_channel_deliveries(integer, uuid[]), due_channel_sends(integer, uuid[]) to heddle_app;
