-- Breaks nothing: a new table. Which releases have worked on this database.

create table releases (
  release integer primary key,
  first_seen_at timestamptz not null default now()
);
alter table releases enable row level security;
alter table releases force row level security;
create policy owner_all on releases to heddle_owner using (true) with check (true);
create policy engine_all on releases to heddle_engine using (true) with check (true);
grant select, insert on releases to heddle_engine;
