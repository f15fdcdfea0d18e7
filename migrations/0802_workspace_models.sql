-- Breaks nothing: a new table, a column and a function. The language model of a workspace, and of a template.

create table workspace_models (
  workspace_id uuid primary key references workspaces on delete cascade,
  credential_id uuid,
  fallback_credential_id uuid,
  set_by uuid references users on delete set null,
  updated_at timestamptz not null default now(),
  foreign key (workspace_id, credential_id) references credentials (workspace_id, credential_id) on delete set null (credential_id),
  foreign key (workspace_id, fallback_credential_id) references credentials (workspace_id, credential_id)
    on delete set null (fallback_credential_id)
);
alter table workspace_models enable row level security;
alter table workspace_models force row level security;
create policy owner_all on workspace_models to heddle_owner using (true) with check (true);
create policy own on workspace_models to heddle_app using (workspace_id = app_workspace());
grant select, insert, update, delete on workspace_models to heddle_app;

-- {"credential_id": …, "fallback_credential_id": …}, ids as on the wire.
alter table templates add column llm jsonb;

-- Whether any workspace has a language model of its own: where none has, messages are read by rules at once.
create function any_model_stored() returns boolean language sql stable security definer set search_path = public
begin atomic
  select exists (select from credentials where kind = 'llm' and state = 'ready');
end;
revoke execute on function any_model_stored() from public;
grant execute on function any_model_stored() to heddle_app;
create index credentials_of_models on credentials (credential_id) where kind = 'llm';
