-- Breaks nothing: two tables. What senders delivered to webhook tokens, and by which key a repeated delivery is known.

-- The newest calls of each token, without bodies and without credentials. A record for people who set a sender up, not a log: the
-- oldest are removed as new ones come.
create table webhook_deliveries (
  workspace_id uuid not null,
  delivery_id uuid not null,
  token_id uuid not null,
  received_at timestamptz not null,
  method text not null,
  status smallint not null,
  code text,
  reason text,
  content_type text,
  bytes integer not null,
  headers jsonb not null,
  execution_id uuid,
  primary key (workspace_id, delivery_id),
  foreign key (workspace_id, token_id) references webhook_tokens (workspace_id, token_id) on delete cascade
);
create index webhook_deliveries_by_token on webhook_deliveries (workspace_id, token_id, delivery_id desc);

-- `start_key` is the key under which the execution is started: whoever delivers again within the window gets the same one, and so the
-- same execution, even where the first start did not come to its end.
create table webhook_seen (
  workspace_id uuid not null,
  token_id uuid not null,
  key_hash bytea not null,
  start_key uuid not null,
  seen_at timestamptz not null default now(),
  primary key (workspace_id, token_id, key_hash),
  foreign key (workspace_id, token_id) references webhook_tokens (workspace_id, token_id) on delete cascade
);
create index webhook_seen_by_age on webhook_seen (workspace_id, token_id, seen_at);

do $$
declare
  one_table text;
begin
  foreach one_table in array array['webhook_deliveries', 'webhook_seen'] loop
    execute format('alter table %I enable row level security', one_table);
    execute format('alter table %I force row level security', one_table);
    execute format('create policy owner_all on %I to heddle_owner using (true) with check (true)', one_table);
    execute format('create policy own on %I to heddle_app using (workspace_id = app_workspace())', one_table);
    execute format('grant select, insert, update, delete on %I to heddle_app', one_table);
  end loop;
end $$;
