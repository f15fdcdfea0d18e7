-- Breaks nothing: a new table and functions. Words and fields of ended runs, so that texts are found among millions of them. Runs that older
-- releases ended are not in it.

-- A few hundred runs that ended together, and the hashes of what they hold. The workspace is part of each hash.
create table run_terms (
  workspace_id uuid not null references workspaces on delete cascade,
  chunk_id uuid not null default gen_random_uuid(),
  first_id uuid not null,
  last_id uuid not null,
  ids uuid[] not null,
  terms bigint[] not null,
  at timestamptz not null default now(),
  primary key (workspace_id, chunk_id)
);
create index run_terms_by_first on run_terms (workspace_id, first_id);
create index run_terms_by_age on run_terms (last_id);
create index run_terms_small on run_terms (at) where cardinality(ids) < 64;
-- Without a list of pending entries: a search would read it whole.
create index run_terms_words on run_terms using gin (terms) with (fastupdate = off);
alter table run_terms enable row level security;
alter table run_terms force row level security;
create policy owner_all on run_terms to heddle_owner using (true) with check (true);
create policy own on run_terms for select to heddle_app using (workspace_id = app_workspace());
grant select on run_terms to heddle_app;

create function add_run_terms(chunks json) returns void
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  insert into run_terms (workspace_id, first_id, last_id, ids, terms)
  select r.workspace_id, r.first_id, r.last_id, r.ids, r.terms
  from json_to_recordset(chunks) as r (workspace_id uuid, first_id uuid, last_id uuid, ids uuid[], terms bigint[])
  where exists (select from workspaces w where w.workspace_id = r.workspace_id);
end $$;

-- Chunks of the caller's own workspace that hold all of these. As its owner, because no index serves `@>` under row security.
create function find_run_terms(wanted bigint[], from_id uuid, to_id uuid, oldest_first boolean, most integer)
returns table (chunk_id uuid, first_id uuid, last_id uuid)
language plpgsql stable security definer set search_path = public, pg_temp as $$
begin
  return query select t.chunk_id, t.first_id, t.last_id from run_terms t
    where t.workspace_id = app_workspace() and t.terms @> wanted and t.last_id >= from_id and t.first_id < to_id
    order by case when oldest_first then t.first_id end, case when not oldest_first then t.last_id end desc limit most;
end $$;

-- A quiet workspace writes chunks of a few runs. They become larger ones after a while.
create function compact_run_terms(most integer) returns integer
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  merged integer;
begin
  with few as materialized (
      select t.workspace_id, t.chunk_id, t.ids, t.terms, t.first_id, t.last_id,
        sum(cardinality(t.ids)) over (partition by t.workspace_id order by t.last_id) / 256 as part,
        count(*) over (partition by t.workspace_id) as together
      from (select * from run_terms where cardinality(ids) < 64 and at < now() - interval '10 minutes' order by at limit most for update skip locked) t),
    gone as (delete from run_terms t using few f where t.workspace_id = f.workspace_id and t.chunk_id = f.chunk_id and f.together > 8),
    made as (insert into run_terms (workspace_id, first_id, last_id, ids, terms)
      select g.workspace_id, g.first_id, g.last_id, g.ids, array(select distinct x from few f, unnest(f.terms) x
          where f.workspace_id = g.workspace_id and f.part = g.part)
      from (select f.workspace_id, f.part, (array_agg(f.first_id order by f.first_id))[1] as first_id,
          (array_agg(f.last_id order by f.last_id desc))[1] as last_id, array_agg(i.id) as ids
        from few f, unnest(f.ids) as i (id) where f.together > 8 group by 1, 2) g returning 1)
  select count(*) into merged from few where together > 8;
  return merged;
end $$;

create function forget_run_terms(before uuid, most integer) returns integer
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  forgotten integer;
begin
  delete from run_terms where ctid = any(array(select ctid from run_terms where last_id < before order by last_id limit most));
  get diagnostics forgotten = row_count;
  return forgotten;
end $$;

revoke execute on function add_run_terms(json), find_run_terms(bigint[], uuid, uuid, boolean, integer), compact_run_terms(integer),
  forget_run_terms(uuid, integer) from public;
grant execute on function add_run_terms(json), find_run_terms(bigint[], uuid, uuid, boolean, integer), compact_run_terms(integer),
  forget_run_terms(uuid, integer) to heddle_app;
