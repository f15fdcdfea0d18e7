-- Breaks nothing: the function returns true where it returned false.

-- If `most` programs have registered that nobody has allowed yet, the oldest of them make room for the new one.
create or replace function register_oauth_client(id uuid, title text, uris text[], most integer) returns boolean
language plpgsql security definer set search_path = public as $$
begin
  delete from oauth_clients c where c.client_id in (
    select o.client_id from oauth_clients o where o.created_at < now() - interval '1 day'
      and not exists (select from oauth_grants g where g.client_id = o.client_id) order by o.created_at limit 100);
  delete from oauth_clients c where c.client_id in (
    select l.client_id from oauth_clients l where l.client_id in (
      select o.client_id from oauth_clients o where not exists (select from oauth_grants g where g.client_id = o.client_id)
        order by o.created_at desc, o.client_id desc offset most - 1 limit 100)
    for update skip locked);
  insert into oauth_clients (client_id, name, redirect_uris) values (id, title, uris);
  return true;
end $$;
