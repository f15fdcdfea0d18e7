-- Breaks nothing: a new table. Which keys the processes of the service have, so that a rotation knows when all can read the new one.

create table key_holders (
  process_id uuid primary key,
  -- Ids of keys, which say nothing about them. `configured`: the one it would start with again.
  keys text[] not null,
  current text not null,
  configured text not null,
  -- Where it takes that one from.
  source text not null check (source in ('file', 'environment')),
  seen_at timestamptz not null default now()
);
grant select, insert, update, delete on key_holders to heddle_app;
