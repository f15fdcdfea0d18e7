-- Breaks nothing: sockets are closed earlier. A workspace that requires a second factor closes the sockets of people without one.

create or replace function tickets_hold(people uuid[], workspaces uuid[], credential_kinds text[], credentials uuid[])
returns setof boolean language sql stable security definer set search_path = public
begin atomic
  select (t.workspace_id is null
      or exists (select from memberships m join workspaces w on w.workspace_id = m.workspace_id
        where m.workspace_id = t.workspace_id and m.user_id = t.user_id
          and (not w.require_second_factor or has_second_factor(t.user_id))))
    and case t.credential_kind
      when 'session' then exists (
        select from sessions s where s.session_id = t.credential_id and s.user_id = t.user_id and s.expires_at > now())
      else exists (
        select from api_keys k where k.key_id = t.credential_id and k.user_id = t.user_id
          and (k.expires_at is null or k.expires_at > now())) end
    and not exists (select from service_accounts s where s.user_id = t.user_id and s.disabled_at is not null)
  from unnest(people, workspaces, credential_kinds, credentials) with ordinality
    as t (user_id, workspace_id, credential_kind, credential_id, position)
  order by t.position;
end;
