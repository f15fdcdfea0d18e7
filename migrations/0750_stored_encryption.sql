-- Breaks nothing: PostgreSQL connections that say nothing about encryption keep what they were stored with. New ones check the
-- certificate of the server; these encrypt without checking it, as before, and no longer send a password in clear.

-- The owner of the table is bound by row security too, and has no workspace.
alter table connections no force row level security;
update connections set config = config || '{"ssl": "prefer"}' where kind = 'postgres' and not config ? 'ssl';
alter table connections force row level security;
