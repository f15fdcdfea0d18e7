-- Breaks nothing: new tables and functions. Knowledge bases: documents, cut into passages that can be searched.

create table knowledge_bases (
  workspace_id uuid not null references workspaces on delete cascade,
  knowledge_id uuid not null,
  name text not null,
  description text,
  language text not null check (language in ('german', 'english', 'french', 'spanish', 'norwegian', 'simple')),
  -- The credential of the model that turns passages into vectors, and the model's name; null: full text alone.
  embedding_credential_id uuid,
  embedding_model text,
  owner_id uuid references users on delete set null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (workspace_id, knowledge_id),
  foreign key (workspace_id, embedding_credential_id) references credentials (workspace_id, credential_id)
    on delete set null (embedding_credential_id)
);

create table knowledge_shares (
  workspace_id uuid not null,
  knowledge_id uuid not null,
  kind text not null check (kind in ('user', 'team', 'workspace')),
  user_id uuid,
  team_id uuid,
  role text not null check (role in ('use', 'edit')),
  foreign key (workspace_id, knowledge_id) references knowledge_bases on delete cascade,
  foreign key (workspace_id, user_id) references memberships (workspace_id, user_id) on delete cascade,
  foreign key (workspace_id, team_id) references teams (workspace_id, team_id) on delete cascade,
  unique nulls not distinct (workspace_id, knowledge_id, kind, user_id, team_id),
  check ((kind = 'user') = (user_id is not null)),
  check ((kind = 'team') = (team_id is not null))
);
create index knowledge_shares_by_user on knowledge_shares (workspace_id, user_id) where user_id is not null;
create index knowledge_shares_by_team on knowledge_shares (workspace_id, team_id) where team_id is not null;

create table knowledge_documents (
  workspace_id uuid not null,
  knowledge_id uuid not null,
  document_id uuid not null,
  name text not null,
  kind text not null check (kind in ('text', 'file', 'dataset', 'url')),
  source jsonb not null default '{}',
  -- Pages that a crawl found belong to the document it began with.
  root_id uuid,
  url text,
  -- How many more links may be followed from here.
  depth_left integer not null default 0,
  status text not null default 'pending' check (status in ('pending', 'indexing', 'ready', 'failed')),
  error jsonb,
  content text,
  bytes bigint not null default 0,
  -- The passages of `revision` are being made; those of `ready_revision` are searched.
  revision integer not null default 1,
  ready_revision integer,
  chunk_count integer not null default 0,
  attempts integer not null default 0,
  -- When it is taken up; a lease while somebody works on it.
  due_at timestamptz not null default now(),
  created_by uuid references users on delete set null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (workspace_id, document_id),
  foreign key (workspace_id, knowledge_id) references knowledge_bases on delete cascade,
  foreign key (workspace_id, root_id) references knowledge_documents (workspace_id, document_id) on delete cascade
);
create index knowledge_documents_by_base on knowledge_documents (workspace_id, knowledge_id, document_id);
create index knowledge_documents_by_root on knowledge_documents (workspace_id, root_id) where root_id is not null;
create unique index knowledge_documents_by_url on knowledge_documents (workspace_id, root_id, md5(url)) where root_id is not null;
create index knowledge_documents_due on knowledge_documents (workspace_id, due_at) where status in ('pending', 'indexing');

create table knowledge_chunks (
  workspace_id uuid not null,
  knowledge_id uuid not null,
  document_id uuid not null,
  revision integer not null,
  position integer not null,
  -- Characters of the document's text.
  from_offset integer not null,
  to_offset integer not null,
  heading text[] not null default '{}',
  body text not null,
  -- Holds a word that names the knowledge base, so that one index serves all and a search reads only its own part of it.
  words tsvector not null,
  embedding bytea,
  embedding_bits bit varying,
  primary key (workspace_id, document_id, revision, position),
  foreign key (workspace_id, document_id) references knowledge_documents (workspace_id, document_id) on delete cascade
);
create index knowledge_chunks_by_words on knowledge_chunks using gin (words);
create index knowledge_chunks_embedded on knowledge_chunks (workspace_id, knowledge_id) where embedding is not null;

do $$
declare one_table text;
begin
  foreach one_table in array array['knowledge_bases', 'knowledge_shares', 'knowledge_documents', 'knowledge_chunks'] loop
    execute format('alter table %I enable row level security', one_table);
    execute format('alter table %I force row level security', one_table);
    execute format('create policy owner_all on %I to heddle_owner using (true) with check (true)', one_table);
    execute format('create policy own on %I to heddle_app using (workspace_id = app_workspace())', one_table);
  end loop;
end $$;
grant select, insert, update, delete on knowledge_bases, knowledge_shares, knowledge_documents, knowledge_chunks to heddle_app;

-- What a person may do with a knowledge base: `owner` and `edit` change it, `use` searches it. `manage` is for owners of the
-- workspace with whom it is not shared: they look at it and delete it. Null: it does not exist for them.
create function knowledge_role(in_workspace uuid, wanted uuid, person uuid) returns text
language sql stable security definer set search_path = public, pg_temp
begin atomic
  select case
    when m.role = 'guest' then null
    when m.role = 'viewer' and r.role is not null then 'use'
    when r.role is not null then r.role
    when m.role = 'owner' then 'manage'
  end
  from knowledge_bases b
  join memberships m on m.workspace_id = b.workspace_id and m.user_id = person
  cross join lateral (
    select case
      when b.owner_id = person then 'owner'
      else (
        select min(s.role) from knowledge_shares s
        where s.workspace_id = b.workspace_id and s.knowledge_id = b.knowledge_id
          and (s.kind = 'workspace' or s.user_id = person or exists (
            select from team_members t
            where t.workspace_id = s.workspace_id and t.team_id = s.team_id and t.user_id = person)))
    end as role
  ) r
  where b.workspace_id = in_workspace and b.knowledge_id = wanted and in_workspace = app_workspace();
end;

-- The next document to work on, of the workspace after the one that was served last; a workspace that the caller works for already
-- waits. Leased: another process takes it up once
-- the lease is over.
create function claim_knowledge_document(p_after uuid, p_busy uuid[], p_lease_s integer) returns table (workspace_id uuid, knowledge_id uuid, document_id uuid)
language plpgsql security definer set search_path = public, pg_temp as $$
declare found_row record;
begin
  for wrapped in 0..1 loop
    select d.workspace_id, d.document_id into found_row from knowledge_documents d
      where d.status in ('pending', 'indexing') and d.due_at <= now() and (wrapped = 1 or d.workspace_id > p_after)
        and d.workspace_id <> all (p_busy)
      order by d.workspace_id, d.due_at limit 1 for no key update skip locked;
    exit when found;
  end loop;
  if found_row is null then return; end if;
  return query update knowledge_documents d
    set status = 'indexing', attempts = d.attempts + 1, due_at = now() + make_interval(secs => p_lease_s)
    where d.workspace_id = found_row.workspace_id and d.document_id = found_row.document_id
    returning d.workspace_id, d.knowledge_id, d.document_id;
end $$;

-- The passages of a knowledge base that have words of the query, best first. Rare words count more than frequent ones, and words
-- of its own heading more than words of the text, which count more than words of what stands above. Of a frequent word at most `most` passages are looked at, so that a search costs the
-- same however large the base is. Row security does not let an index answer for words: hence a function, which asks for the workspace.
create function search_knowledge(in_workspace uuid, wanted uuid, config regconfig, query text, most integer)
returns table (document_id uuid, "position" integer, score double precision, words text)
language plpgsql stable security definer set search_path = public, pg_temp as $$
declare
  here tsquery := quote_literal('kb:' || wanted::text)::tsquery;
  total integer;
begin
  if in_workspace is distinct from app_workspace() then return; end if;
  select coalesce(sum(d.chunk_count), 0) into total from knowledge_documents d
    where d.workspace_id = in_workspace and d.knowledge_id = wanted;
  return query
  with asked as (
    select w.lexeme, quote_literal(w.lexeme)::tsquery as word from unnest(to_tsvector(config, query)) w
    order by w.positions[1] limit 32
  ),
  -- A word that stands nowhere may be the beginning of one that does.
  known as materialized (
    select a.lexeme, p.word, p.found from asked a
    cross join lateral (
      select v.word, (select count(*) from (
        select from knowledge_chunks c where c.words @@ (here && v.word) limit most + 1) x)::double precision as found
      from (values (1, a.word), (2, case when length(a.lexeme) >= 4 then (quote_literal(a.lexeme) || ':*')::tsquery end)) v (rank, word)
      where v.word is not null order by v.rank) p
    where p.found > 0
  ),
  chosen as materialized (
    select distinct on (k.lexeme) k.lexeme, k.word, ln(1 + greatest(total, k.found) / k.found) as weight from known k
    order by k.lexeme, k.found
  ),
  terms as materialized (select * from chosen order by weight desc limit 12),
  candidates as materialized (
    select distinct f.document_id, f.revision, f.position from terms t
    cross join lateral (
      select c.document_id, c.revision, c.position from knowledge_chunks c where c.words @@ (here && t.word) limit most) f
  )
  select c.document_id, c.position,
    sum(t.weight * ts_rank('{0.6, 0.6, 0.25, 0.8}', c.words, t.word))::double precision / (1 + length(c.words) / 400.0),
    (select string_agg(x.word::text, ' | ') from terms x)
  from candidates f
  join knowledge_documents d on d.workspace_id = in_workspace and d.document_id = f.document_id and d.ready_revision = f.revision
  join knowledge_chunks c on c.workspace_id = in_workspace and c.document_id = f.document_id and c.revision = f.revision
    and c.position = f.position
  join terms t on c.words @@ t.word
  group by c.document_id, c.revision, c.position, c.words
  order by 3 desc, 1, 2 limit 100;
end $$;

-- Bytes of texts are counted where they change, and held against the plan in the same transaction, as those of files are.
create function count_knowledge() returns trigger language plpgsql security definer set search_path = public, pg_temp as $$
declare
  workspace uuid := coalesce(new.workspace_id, old.workspace_id);
  more bigint := coalesce(new.bytes, 0) - coalesce(old.bytes, 0);
  most bigint;
begin
  if more = 0 then return null; end if;
  perform add_usage(array[workspace], array['storage_bytes'], array[''], array[more]);
  if more <= 0 then return null; end if;
  select (p.quotas ->> 'storage_bytes')::bigint into most from workspaces w
    left join lateral (select plan_id from billing_subscriptions s where s.workspace_id = w.workspace_id and s.status <> 'cancelled'
      order by s.subscription_id desc limit 1) s on true
    join lateral (select plan.quotas from plans plan where plan.plan_id = s.plan_id
      or (s.plan_id is null and plan.org_id = w.org_id and plan.amount = 0 and plan.archived_at is null)
      order by plan.plan_id limit 1) p on true
    where w.workspace_id = workspace;
  if exists (select from usage_counters u where u.workspace_id = workspace and u.period = '' and u.quota = 'storage_bytes' and u.used > most) then
    raise exception using errcode = 'HQ001',
      message = format('The quota storage_bytes is used up: the plan allows %s. Remove something, or change the plan.', most);
  end if;
  return null;
end $$;
create trigger count_knowledge after insert or update of bytes or delete on knowledge_documents for each row execute function count_knowledge();

revoke execute on function knowledge_role(uuid, uuid, uuid), claim_knowledge_document(uuid, uuid[], integer),
  search_knowledge(uuid, uuid, regconfig, text, integer), count_knowledge() from public;
grant execute on function knowledge_role(uuid, uuid, uuid), claim_knowledge_document(uuid, uuid[], integer),
  search_knowledge(uuid, uuid, regconfig, text, integer) to heddle_app;
