-- Breaks nothing: a function and one more kind of row. Sign-in with a passkey alone.

-- `spent`: a challenge with which somebody came in. It is refused until it has expired.
alter table factor_challenges drop constraint factor_challenges_kind_check;
alter table factor_challenges add constraint factor_challenges_kind_check check (kind in ('sign_in', 'add_passkey', 'spent'));

-- Whose passkey it is, by the id that its authenticator made up.
create function find_passkey(org uuid, credential text)
returns table (user_id uuid, email text, name text, credential_id text, public_key bytea, counter bigint, transports text[])
language sql stable security definer set search_path = public
begin atomic
  select u.user_id, u.email, u.name, p.credential_id, p.public_key, p.counter, p.transports
  from passkeys p join users u on u.user_id = p.user_id
  where p.credential_id = credential and u.org_id = org;
end;
revoke execute on function find_passkey(uuid, text) from public;
grant execute on function find_passkey(uuid, text) to heddle_app;
