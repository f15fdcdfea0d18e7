-- Printed by `npm run generate` from the migrations, for new databases. Change the schema with a migration.
-- PostgreSQL 18, 144 migrations, sha256 eb50f1886263f6e79813f04c027156a878bb7577f1695cc0cdb67eb9eeaa5b24

set local check_function_bodies = off;
set local search_path = public, pg_temp;
create schema engine;
grant USAGE on schema engine to heddle_app;
grant USAGE on schema public to heddle_app;
grant USAGE on schema engine to heddle_engine;
grant USAGE on schema public to heddle_engine;
grant USAGE on schema engine to heddle_operator;
grant USAGE on schema public to heddle_operator;
alter default privileges revoke execute on functions from public;
create table public.installation (name text, value bytea, constraint installation_name_not_null NOT NULL name, constraint installation_value_not_null NOT NULL value, constraint installation_pkey PRIMARY KEY (name));
create table public.orgs (org_id uuid, name text, created_at timestamp with time zone default now(), constraint orgs_org_id_not_null NOT NULL org_id, constraint orgs_name_not_null NOT NULL name, constraint orgs_created_at_not_null NOT NULL created_at, constraint orgs_pkey PRIMARY KEY (org_id));
create table public.org_hosts (host text, org_id uuid, constraint org_hosts_host_check CHECK ((host = lower(host))), constraint org_hosts_host_not_null NOT NULL host, constraint org_hosts_org_id_not_null NOT NULL org_id, constraint org_hosts_pkey PRIMARY KEY (host), constraint org_hosts_org_id_fkey FOREIGN KEY (org_id) REFERENCES public.orgs(org_id));
create table public.users (user_id uuid, org_id uuid, email text, name text, password_hash text, created_at timestamp with time zone default now(), email_verified_at timestamp with time zone, kind text default 'person'::text, held_by uuid[], language text, constraint users_email_check CHECK ((email = lower(email))), constraint users_user_id_not_null NOT NULL user_id, constraint users_org_id_not_null NOT NULL org_id, constraint users_email_not_null NOT NULL email, constraint users_name_not_null NOT NULL name, constraint users_created_at_not_null NOT NULL created_at, constraint users_pkey PRIMARY KEY (user_id), constraint users_org_id_email_key UNIQUE (org_id, email), constraint users_kind_not_null NOT NULL kind, constraint users_kind_check CHECK ((kind = ANY (ARRAY['person'::text, 'service_account'::text]))), constraint service_accounts_have_no_password CHECK (((kind = 'person'::text) OR (password_hash IS NULL))), constraint users_language_check CHECK (((length(language) >= 2) AND (length(language) <= 10))), constraint users_org_id_fkey FOREIGN KEY (org_id) REFERENCES public.orgs(org_id));
create table public.oidc_identities (org_id uuid, issuer text, subject text, user_id uuid, created_at timestamp with time zone default now(), constraint oidc_identities_org_id_not_null NOT NULL org_id, constraint oidc_identities_issuer_not_null NOT NULL issuer, constraint oidc_identities_subject_not_null NOT NULL subject, constraint oidc_identities_user_id_not_null NOT NULL user_id, constraint oidc_identities_created_at_not_null NOT NULL created_at, constraint oidc_identities_pkey PRIMARY KEY (org_id, issuer, subject), constraint oidc_identities_org_id_fkey FOREIGN KEY (org_id) REFERENCES public.orgs(org_id), constraint oidc_identities_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.users(user_id) ON DELETE CASCADE);
create table public.oidc_attempts (state_hash bytea, browser_hash bytea, org_id uuid, provider text, link_user_id uuid, return_to text, expires_at timestamp with time zone, constraint oidc_attempts_state_hash_not_null NOT NULL state_hash, constraint oidc_attempts_browser_hash_not_null NOT NULL browser_hash, constraint oidc_attempts_org_id_not_null NOT NULL org_id, constraint oidc_attempts_provider_not_null NOT NULL provider, constraint oidc_attempts_return_to_not_null NOT NULL return_to, constraint oidc_attempts_expires_at_not_null NOT NULL expires_at, constraint oidc_attempts_pkey PRIMARY KEY (state_hash), constraint oidc_attempts_org_id_fkey FOREIGN KEY (org_id) REFERENCES public.orgs(org_id), constraint oidc_attempts_link_user_id_fkey FOREIGN KEY (link_user_id) REFERENCES public.users(user_id) ON DELETE CASCADE);
create table public.sign_in_failures (key_hash bytea, failures integer, last_at timestamp with time zone, constraint sign_in_failures_key_hash_not_null NOT NULL key_hash, constraint sign_in_failures_failures_not_null NOT NULL failures, constraint sign_in_failures_last_at_not_null NOT NULL last_at, constraint sign_in_failures_pkey PRIMARY KEY (key_hash));
create table public.companies (company_id uuid, org_id uuid, owner_id uuid, name text, metadata jsonb default '{}'::jsonb, created_at timestamp with time zone default now(), updated_at timestamp with time zone default now(), constraint companies_company_id_not_null NOT NULL company_id, constraint companies_org_id_not_null NOT NULL org_id, constraint companies_owner_id_not_null NOT NULL owner_id, constraint companies_name_not_null NOT NULL name, constraint companies_metadata_not_null NOT NULL metadata, constraint companies_created_at_not_null NOT NULL created_at, constraint companies_updated_at_not_null NOT NULL updated_at, constraint companies_pkey PRIMARY KEY (company_id), constraint companies_org_id_fkey FOREIGN KEY (org_id) REFERENCES public.orgs(org_id), constraint companies_owner_id_fkey FOREIGN KEY (owner_id) REFERENCES public.users(user_id));
create table public.workspaces (workspace_id uuid, company_id uuid, org_id uuid, name text, created_at timestamp with time zone default now(), updated_at timestamp with time zone default now(), require_second_factor boolean default false, constraint workspaces_workspace_id_not_null NOT NULL workspace_id, constraint workspaces_company_id_not_null NOT NULL company_id, constraint workspaces_org_id_not_null NOT NULL org_id, constraint workspaces_name_not_null NOT NULL name, constraint workspaces_created_at_not_null NOT NULL created_at, constraint workspaces_updated_at_not_null NOT NULL updated_at, constraint workspaces_pkey PRIMARY KEY (workspace_id), constraint workspaces_require_second_factor_not_null NOT NULL require_second_factor, constraint workspaces_company_id_fkey FOREIGN KEY (company_id) REFERENCES public.companies(company_id), constraint workspaces_org_id_fkey FOREIGN KEY (org_id) REFERENCES public.orgs(org_id));
create table public.memberships (workspace_id uuid, user_id uuid, role text, joined_at timestamp with time zone default now(), constraint memberships_role_check CHECK ((role = ANY (ARRAY['owner'::text, 'member'::text, 'viewer'::text, 'guest'::text]))), constraint memberships_workspace_id_not_null NOT NULL workspace_id, constraint memberships_user_id_not_null NOT NULL user_id, constraint memberships_role_not_null NOT NULL role, constraint memberships_joined_at_not_null NOT NULL joined_at, constraint memberships_pkey PRIMARY KEY (workspace_id, user_id), constraint memberships_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES public.workspaces(workspace_id) ON DELETE CASCADE, constraint memberships_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.users(user_id) ON DELETE CASCADE);
create table public.sessions (session_id uuid, user_id uuid, token_hash bytea, selected_workspace_id uuid, user_agent text, address text, created_at timestamp with time zone default now(), last_seen_at timestamp with time zone default now(), expires_at timestamp with time zone, constraint sessions_session_id_not_null NOT NULL session_id, constraint sessions_user_id_not_null NOT NULL user_id, constraint sessions_token_hash_not_null NOT NULL token_hash, constraint sessions_created_at_not_null NOT NULL created_at, constraint sessions_last_seen_at_not_null NOT NULL last_seen_at, constraint sessions_expires_at_not_null NOT NULL expires_at, constraint sessions_pkey PRIMARY KEY (session_id), constraint sessions_token_hash_key UNIQUE (token_hash), constraint sessions_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.users(user_id) ON DELETE CASCADE, constraint sessions_selected_workspace_id_fkey FOREIGN KEY (selected_workspace_id) REFERENCES public.workspaces(workspace_id) ON DELETE SET NULL);
create table public.oauth_clients (client_id uuid, name text, redirect_uris text[], created_at timestamp with time zone default now(), constraint oauth_clients_client_id_not_null NOT NULL client_id, constraint oauth_clients_name_not_null NOT NULL name, constraint oauth_clients_redirect_uris_not_null NOT NULL redirect_uris, constraint oauth_clients_created_at_not_null NOT NULL created_at, constraint oauth_clients_pkey PRIMARY KEY (client_id));
create table public.oauth_grants (workspace_id uuid, grant_id uuid, client_id uuid, user_id uuid, resource text, created_at timestamp with time zone default now(), last_used_at timestamp with time zone, constraint oauth_grants_workspace_id_not_null NOT NULL workspace_id, constraint oauth_grants_grant_id_not_null NOT NULL grant_id, constraint oauth_grants_client_id_not_null NOT NULL client_id, constraint oauth_grants_user_id_not_null NOT NULL user_id, constraint oauth_grants_resource_not_null NOT NULL resource, constraint oauth_grants_created_at_not_null NOT NULL created_at, constraint oauth_grants_pkey PRIMARY KEY (workspace_id, grant_id), constraint oauth_grants_grant_id_key UNIQUE (grant_id), constraint oauth_grants_client_id_fkey FOREIGN KEY (client_id) REFERENCES public.oauth_clients(client_id) ON DELETE CASCADE, constraint oauth_grants_workspace_id_user_id_fkey FOREIGN KEY (workspace_id, user_id) REFERENCES public.memberships(workspace_id, user_id) ON DELETE CASCADE);
create table public.api_keys (key_id uuid, user_id uuid, workspace_id uuid, name text, prefix text, token_hash bytea, created_at timestamp with time zone default now(), last_used_at timestamp with time zone, expires_at timestamp with time zone, scopes text[], created_by uuid, grant_id uuid, constraint api_keys_key_id_not_null NOT NULL key_id, constraint api_keys_user_id_not_null NOT NULL user_id, constraint api_keys_name_not_null NOT NULL name, constraint api_keys_prefix_not_null NOT NULL prefix, constraint api_keys_token_hash_not_null NOT NULL token_hash, constraint api_keys_created_at_not_null NOT NULL created_at, constraint api_keys_pkey PRIMARY KEY (key_id), constraint api_keys_token_hash_key UNIQUE (token_hash), constraint api_keys_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.users(user_id) ON DELETE CASCADE, constraint api_keys_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES public.workspaces(workspace_id) ON DELETE CASCADE, constraint api_keys_created_by_fkey FOREIGN KEY (created_by) REFERENCES public.users(user_id) ON DELETE SET NULL, constraint api_keys_grant_id_fkey FOREIGN KEY (grant_id) REFERENCES public.oauth_grants(grant_id) ON DELETE CASCADE);
create table public.operator_claims (email text, token_hash bytea, constraint operator_claims_email_not_null NOT NULL email, constraint operator_claims_token_hash_not_null NOT NULL token_hash, constraint operator_claims_pkey PRIMARY KEY (email));
create table public.invitations (invitation_id uuid, workspace_id uuid, email text, role text, resource_kind text, resource_id uuid, token_hash bytea, invited_by uuid, created_at timestamp with time zone default now(), expires_at timestamp with time zone, accepted_at timestamp with time zone, accepted_by uuid, constraint invitations_email_check CHECK ((email = lower(email))), constraint invitations_resource_kind_check CHECK ((resource_kind = ANY (ARRAY['thread'::text, 'job'::text]))), constraint invitations_check CHECK (((resource_kind IS NULL) = (resource_id IS NULL))), constraint invitations_invitation_id_not_null NOT NULL invitation_id, constraint invitations_workspace_id_not_null NOT NULL workspace_id, constraint invitations_email_not_null NOT NULL email, constraint invitations_role_not_null NOT NULL role, constraint invitations_token_hash_not_null NOT NULL token_hash, constraint invitations_created_at_not_null NOT NULL created_at, constraint invitations_expires_at_not_null NOT NULL expires_at, constraint invitations_pkey PRIMARY KEY (invitation_id), constraint invitations_token_hash_key UNIQUE (token_hash), constraint invitations_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES public.workspaces(workspace_id) ON DELETE CASCADE, constraint invitations_invited_by_fkey FOREIGN KEY (invited_by) REFERENCES public.users(user_id) ON DELETE SET NULL, constraint invitations_accepted_by_fkey FOREIGN KEY (accepted_by) REFERENCES public.users(user_id) ON DELETE SET NULL);
create table public.teams (team_id uuid, workspace_id uuid, owner_id uuid, name text, slug text, description text, created_at timestamp with time zone default now(), updated_at timestamp with time zone default now(), constraint teams_team_id_not_null NOT NULL team_id, constraint teams_workspace_id_not_null NOT NULL workspace_id, constraint teams_owner_id_not_null NOT NULL owner_id, constraint teams_name_not_null NOT NULL name, constraint teams_slug_not_null NOT NULL slug, constraint teams_created_at_not_null NOT NULL created_at, constraint teams_updated_at_not_null NOT NULL updated_at, constraint teams_pkey PRIMARY KEY (workspace_id, team_id), constraint teams_team_id_key UNIQUE (team_id), constraint teams_workspace_id_slug_key UNIQUE (workspace_id, slug), constraint teams_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES public.workspaces(workspace_id) ON DELETE CASCADE, constraint teams_owner_id_fkey FOREIGN KEY (owner_id) REFERENCES public.users(user_id));
create table public.team_members (workspace_id uuid, team_id uuid, user_id uuid, added_at timestamp with time zone default now(), constraint team_members_workspace_id_not_null NOT NULL workspace_id, constraint team_members_team_id_not_null NOT NULL team_id, constraint team_members_user_id_not_null NOT NULL user_id, constraint team_members_added_at_not_null NOT NULL added_at, constraint team_members_pkey PRIMARY KEY (workspace_id, team_id, user_id), constraint team_members_workspace_id_team_id_fkey FOREIGN KEY (workspace_id, team_id) REFERENCES public.teams(workspace_id, team_id) ON DELETE CASCADE, constraint team_members_workspace_id_user_id_fkey FOREIGN KEY (workspace_id, user_id) REFERENCES public.memberships(workspace_id, user_id) ON DELETE CASCADE);
create table public.subscriptions (subscription_id uuid, workspace_id uuid, name text, status text default 'active'::text, quantity integer default 1, starts_at timestamp with time zone default now(), ends_at timestamp with time zone, metadata jsonb default '{}'::jsonb, created_at timestamp with time zone default now(), updated_at timestamp with time zone default now(), constraint subscriptions_status_check CHECK ((status = ANY (ARRAY['active'::text, 'paused'::text, 'ended'::text]))), constraint subscriptions_quantity_check CHECK ((quantity >= 0)), constraint subscriptions_subscription_id_not_null NOT NULL subscription_id, constraint subscriptions_workspace_id_not_null NOT NULL workspace_id, constraint subscriptions_name_not_null NOT NULL name, constraint subscriptions_status_not_null NOT NULL status, constraint subscriptions_quantity_not_null NOT NULL quantity, constraint subscriptions_starts_at_not_null NOT NULL starts_at, constraint subscriptions_metadata_not_null NOT NULL metadata, constraint subscriptions_created_at_not_null NOT NULL created_at, constraint subscriptions_updated_at_not_null NOT NULL updated_at, constraint subscriptions_pkey PRIMARY KEY (workspace_id, subscription_id), constraint subscriptions_subscription_id_key UNIQUE (subscription_id), constraint subscriptions_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES public.workspaces(workspace_id) ON DELETE CASCADE);
create table public.notifications (notification_id uuid, user_id uuid, workspace_id uuid, kind text, title text, body text, data jsonb default '{}'::jsonb, link text, read_at timestamp with time zone, created_at timestamp with time zone default now(), matter text, resolved_at timestamp with time zone, constraint notifications_notification_id_not_null NOT NULL notification_id, constraint notifications_user_id_not_null NOT NULL user_id, constraint notifications_kind_not_null NOT NULL kind, constraint notifications_title_not_null NOT NULL title, constraint notifications_data_not_null NOT NULL data, constraint notifications_created_at_not_null NOT NULL created_at, constraint notifications_pkey PRIMARY KEY (notification_id), constraint notifications_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.users(user_id) ON DELETE CASCADE, constraint notifications_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES public.workspaces(workspace_id) ON DELETE CASCADE);
create table public.presence (presence_id uuid, workspace_id uuid, user_id uuid, status text, context jsonb, last_seen_at timestamp with time zone, expires_at timestamp with time zone, constraint presence_status_check CHECK ((status = ANY (ARRAY['online'::text, 'away'::text, 'busy'::text, 'offline'::text]))), constraint presence_presence_id_not_null NOT NULL presence_id, constraint presence_workspace_id_not_null NOT NULL workspace_id, constraint presence_user_id_not_null NOT NULL user_id, constraint presence_status_not_null NOT NULL status, constraint presence_last_seen_at_not_null NOT NULL last_seen_at, constraint presence_expires_at_not_null NOT NULL expires_at, constraint presence_pkey PRIMARY KEY (presence_id), constraint presence_workspace_id_user_id_key UNIQUE (workspace_id, user_id), constraint presence_workspace_id_user_id_fkey FOREIGN KEY (workspace_id, user_id) REFERENCES public.memberships(workspace_id, user_id) ON DELETE CASCADE);
create table public.feed_counters (user_id uuid, last_seq bigint, constraint feed_counters_user_id_not_null NOT NULL user_id, constraint feed_counters_last_seq_not_null NOT NULL last_seq, constraint feed_counters_pkey PRIMARY KEY (user_id), constraint feed_counters_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.users(user_id) ON DELETE CASCADE);
create table public.feed_entries (user_id uuid, seq bigint, type text, data jsonb, at timestamp with time zone default clock_timestamp(), constraint feed_entries_user_id_not_null NOT NULL user_id, constraint feed_entries_seq_not_null NOT NULL seq, constraint feed_entries_type_not_null NOT NULL type, constraint feed_entries_data_not_null NOT NULL data, constraint feed_entries_at_not_null NOT NULL at, constraint feed_entries_pkey PRIMARY KEY (user_id, seq), constraint feed_entries_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.users(user_id) ON DELETE CASCADE);
create table public.tickets (token_hash bytea, kind text, user_id uuid, workspace_id uuid, resource_id uuid, credential_kind text, credential_id uuid, expires_at timestamp with time zone, constraint tickets_credential_kind_check CHECK ((credential_kind = ANY (ARRAY['session'::text, 'api_key'::text]))), constraint tickets_token_hash_not_null NOT NULL token_hash, constraint tickets_kind_not_null NOT NULL kind, constraint tickets_user_id_not_null NOT NULL user_id, constraint tickets_resource_id_not_null NOT NULL resource_id, constraint tickets_credential_kind_not_null NOT NULL credential_kind, constraint tickets_credential_id_not_null NOT NULL credential_id, constraint tickets_expires_at_not_null NOT NULL expires_at, constraint tickets_pkey PRIMARY KEY (token_hash), constraint tickets_kind_check CHECK ((kind = ANY (ARRAY['notifications'::text, 'execution'::text, 'job'::text, 'conversations'::text]))), constraint tickets_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.users(user_id) ON DELETE CASCADE, constraint tickets_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES public.workspaces(workspace_id) ON DELETE CASCADE);
create table public.audit_log (entry_id uuid, workspace_id uuid, actor_id uuid, actor_kind text default 'person'::text, action text, subject text, data jsonb default '{}'::jsonb, address text, at timestamp with time zone default now(), constraint audit_log_entry_id_not_null NOT NULL entry_id, constraint audit_log_actor_kind_not_null NOT NULL actor_kind, constraint audit_log_action_not_null NOT NULL action, constraint audit_log_data_not_null NOT NULL data, constraint audit_log_at_not_null NOT NULL at, constraint audit_log_pkey PRIMARY KEY (entry_id), constraint audit_log_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES public.workspaces(workspace_id) ON DELETE CASCADE, constraint audit_log_actor_id_fkey FOREIGN KEY (actor_id) REFERENCES public.users(user_id) ON DELETE SET NULL);
create table public.mail_outbox (mail_id uuid, workspace_id uuid, idempotency_key text, recipient text[], subject text, body_text text, body_html text, created_at timestamp with time zone default now(), attachments jsonb default '[]'::jsonb, constraint mail_outbox_mail_id_not_null NOT NULL mail_id, constraint mail_outbox_recipient_not_null NOT NULL recipient, constraint mail_outbox_subject_not_null NOT NULL subject, constraint mail_outbox_created_at_not_null NOT NULL created_at, constraint mail_outbox_pkey PRIMARY KEY (mail_id), constraint mail_outbox_idempotency_key_key UNIQUE (idempotency_key), constraint mail_outbox_attachments_not_null NOT NULL attachments, constraint mail_outbox_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES public.workspaces(workspace_id) ON DELETE CASCADE);
create table public.idempotency_keys (day date, key_hash bytea, request_sha256 bytea, state text, status integer, headers jsonb, answer bytea, created_at timestamp with time zone default now(), constraint idempotency_keys_state_check CHECK ((state = ANY (ARRAY['in_progress'::text, 'done'::text]))), constraint idempotency_keys_day_not_null NOT NULL day, constraint idempotency_keys_key_hash_not_null NOT NULL key_hash, constraint idempotency_keys_request_sha256_not_null NOT NULL request_sha256, constraint idempotency_keys_state_not_null NOT NULL state, constraint idempotency_keys_created_at_not_null NOT NULL created_at, constraint idempotency_keys_pkey PRIMARY KEY (day, key_hash)) partition by LIST (day);
create table public.workers (worker_id uuid, dead boolean default false, host text, pid integer, started_at timestamp with time zone default now(), counted_workspaces uuid[], counted_executions uuid[], constraint workers_worker_id_not_null NOT NULL worker_id, constraint workers_dead_not_null NOT NULL dead, constraint workers_host_not_null NOT NULL host, constraint workers_pid_not_null NOT NULL pid, constraint workers_started_at_not_null NOT NULL started_at, constraint workers_pkey PRIMARY KEY (worker_id)) with (fillfactor=10);
create table public.heartbeats (worker_id uuid, beat bigint default 0, seen_at timestamp with time zone default now(), constraint heartbeats_worker_id_not_null NOT NULL worker_id, constraint heartbeats_beat_not_null NOT NULL beat, constraint heartbeats_seen_at_not_null NOT NULL seen_at, constraint heartbeats_pkey PRIMARY KEY (worker_id), constraint heartbeats_worker_id_fkey FOREIGN KEY (worker_id) REFERENCES public.workers(worker_id) ON DELETE CASCADE) with (fillfactor=10);
create table public.events (execution_id uuid, seq integer, workspace_id uuid, at timestamp with time zone, type text, data json, constraint events_execution_id_not_null NOT NULL execution_id, constraint events_seq_not_null NOT NULL seq, constraint events_workspace_id_not_null NOT NULL workspace_id, constraint events_at_not_null NOT NULL at, constraint events_type_not_null NOT NULL type, constraint events_data_not_null NOT NULL data, constraint events_pkey PRIMARY KEY (execution_id, seq)) partition by RANGE (execution_id);
create table public.events_default partition of public.events DEFAULT;
create table public.inbox (workspace_id uuid, execution_id uuid, n integer, key text, payload json, at timestamp with time zone default now(), constraint inbox_workspace_id_not_null NOT NULL workspace_id, constraint inbox_execution_id_not_null NOT NULL execution_id, constraint inbox_n_not_null NOT NULL n, constraint inbox_key_not_null NOT NULL key, constraint inbox_payload_not_null NOT NULL payload, constraint inbox_at_not_null NOT NULL at, constraint inbox_pkey PRIMARY KEY (execution_id, n), constraint inbox_execution_id_key_key UNIQUE (execution_id, key));
create table public.map_items (workspace_id uuid, execution_id uuid, path text, index integer, status text, state json, output json, error json, due_at timestamp with time zone, usage json, constraint map_items_status_check CHECK ((status = ANY (ARRAY['running'::text, 'waiting'::text, 'succeeded'::text, 'failed'::text]))), constraint map_items_workspace_id_not_null NOT NULL workspace_id, constraint map_items_execution_id_not_null NOT NULL execution_id, constraint map_items_path_not_null NOT NULL path, constraint map_items_index_not_null NOT NULL index, constraint map_items_status_not_null NOT NULL status, constraint map_items_pkey PRIMARY KEY (execution_id, path, index));
create table public.start_keys (credential_hash bytea, key_hash bytea, body_sha256 bytea, workspace_id uuid, execution_id uuid, created_at timestamp with time zone default now(), constraint start_keys_credential_hash_not_null NOT NULL credential_hash, constraint start_keys_key_hash_not_null NOT NULL key_hash, constraint start_keys_body_sha256_not_null NOT NULL body_sha256, constraint start_keys_workspace_id_not_null NOT NULL workspace_id, constraint start_keys_execution_id_not_null NOT NULL execution_id, constraint start_keys_created_at_not_null NOT NULL created_at, constraint start_keys_pkey PRIMARY KEY (credential_hash, key_hash));
create table public.gone_workspaces (workspace_id uuid, at timestamp with time zone default now(), constraint gone_workspaces_workspace_id_not_null NOT NULL workspace_id, constraint gone_workspaces_at_not_null NOT NULL at, constraint gone_workspaces_pkey PRIMARY KEY (workspace_id));
create table public.releases (release integer, first_seen_at timestamp with time zone default now(), constraint releases_release_not_null NOT NULL release, constraint releases_first_seen_at_not_null NOT NULL first_seen_at, constraint releases_pkey PRIMARY KEY (release));
create table public.workflows (workspace_id uuid, workflow_id uuid, owner_id uuid, name text, description text, settings jsonb default '{}'::jsonb, created_at timestamp with time zone default now(), updated_at timestamp with time zone default now(), deleted_at timestamp with time zone, activation_required boolean default false, tags text[] default '{}'::text[], constraint workflows_workspace_id_not_null NOT NULL workspace_id, constraint workflows_workflow_id_not_null NOT NULL workflow_id, constraint workflows_owner_id_not_null NOT NULL owner_id, constraint workflows_name_not_null NOT NULL name, constraint workflows_settings_not_null NOT NULL settings, constraint workflows_created_at_not_null NOT NULL created_at, constraint workflows_updated_at_not_null NOT NULL updated_at, constraint workflows_pkey PRIMARY KEY (workspace_id, workflow_id), constraint workflows_workflow_id_key UNIQUE (workflow_id), constraint workflows_activation_required_not_null NOT NULL activation_required, constraint workflows_tags_not_null NOT NULL tags, constraint workflows_tags_check CHECK ((cardinality(tags) <= 20)), constraint workflows_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES public.workspaces(workspace_id) ON DELETE CASCADE, constraint workflows_owner_id_fkey FOREIGN KEY (owner_id) REFERENCES public.users(user_id));
create table public.workflow_members (workspace_id uuid, workflow_id uuid, user_id uuid, role text, constraint workflow_members_workspace_id_not_null NOT NULL workspace_id, constraint workflow_members_workflow_id_not_null NOT NULL workflow_id, constraint workflow_members_user_id_not_null NOT NULL user_id, constraint workflow_members_role_not_null NOT NULL role, constraint workflow_members_pkey PRIMARY KEY (workspace_id, workflow_id, user_id), constraint workflow_members_role_check CHECK ((role = ANY (ARRAY['editor'::text, 'member'::text, 'viewer'::text]))), constraint workflow_members_workspace_id_workflow_id_fkey FOREIGN KEY (workspace_id, workflow_id) REFERENCES public.workflows(workspace_id, workflow_id) ON DELETE CASCADE, constraint workflow_members_workspace_id_user_id_fkey FOREIGN KEY (workspace_id, user_id) REFERENCES public.memberships(workspace_id, user_id) ON DELETE CASCADE);
create table public.workflow_versions (workspace_id uuid, version_id uuid, workflow_id uuid, number integer, active boolean default false, definition json, sha256 text, note text, created_by uuid, created_at timestamp with time zone default now(), activated_by uuid, bytes integer, constraint workflow_versions_workspace_id_not_null NOT NULL workspace_id, constraint workflow_versions_version_id_not_null NOT NULL version_id, constraint workflow_versions_workflow_id_not_null NOT NULL workflow_id, constraint workflow_versions_number_not_null NOT NULL number, constraint workflow_versions_active_not_null NOT NULL active, constraint workflow_versions_definition_not_null NOT NULL definition, constraint workflow_versions_sha256_not_null NOT NULL sha256, constraint workflow_versions_created_at_not_null NOT NULL created_at, constraint workflow_versions_pkey PRIMARY KEY (workspace_id, version_id), constraint workflow_versions_workspace_id_workflow_id_number_key UNIQUE (workspace_id, workflow_id, number), constraint workflow_versions_created_by_fkey FOREIGN KEY (created_by) REFERENCES public.users(user_id) ON DELETE SET NULL, constraint workflow_versions_workspace_id_workflow_id_fkey FOREIGN KEY (workspace_id, workflow_id) REFERENCES public.workflows(workspace_id, workflow_id) ON DELETE CASCADE, constraint workflow_versions_activated_by_fkey FOREIGN KEY (activated_by) REFERENCES public.users(user_id) ON DELETE SET NULL);
create table public.webhook_tokens (workspace_id uuid, token_id uuid, workflow_id uuid, name text, prefix text, token_hash bytea, enabled boolean default true, expires_at timestamp with time zone, last_used_at timestamp with time zone, created_by uuid, created_at timestamp with time zone default now(), auth text default 'bearer'::text, auth_config jsonb default '{}'::jsonb, secret bytea, methods text[] default ARRAY['POST'::text], input text default 'body'::text, respond text default 'accepted'::text, respond_timeout_s integer default 30, challenge text, dedupe jsonb, constraint webhook_tokens_workspace_id_not_null NOT NULL workspace_id, constraint webhook_tokens_token_id_not_null NOT NULL token_id, constraint webhook_tokens_workflow_id_not_null NOT NULL workflow_id, constraint webhook_tokens_prefix_not_null NOT NULL prefix, constraint webhook_tokens_token_hash_not_null NOT NULL token_hash, constraint webhook_tokens_enabled_not_null NOT NULL enabled, constraint webhook_tokens_created_at_not_null NOT NULL created_at, constraint webhook_tokens_pkey PRIMARY KEY (workspace_id, token_id), constraint webhook_tokens_token_hash_key UNIQUE (token_hash), constraint webhook_tokens_auth_not_null NOT NULL auth, constraint webhook_tokens_auth_config_not_null NOT NULL auth_config, constraint webhook_tokens_methods_not_null NOT NULL methods, constraint webhook_tokens_input_not_null NOT NULL input, constraint webhook_tokens_respond_not_null NOT NULL respond, constraint webhook_tokens_respond_timeout_s_not_null NOT NULL respond_timeout_s, constraint webhook_tokens_auth_check CHECK ((auth = ANY (ARRAY['bearer'::text, 'url'::text, 'basic'::text, 'hmac'::text]))), constraint webhook_tokens_input_check CHECK ((input = ANY (ARRAY['body'::text, 'request'::text]))), constraint webhook_tokens_respond_check CHECK ((respond = ANY (ARRAY['accepted'::text, 'result'::text, 'node'::text]))), constraint webhook_tokens_respond_timeout_s_check CHECK (((respond_timeout_s >= 1) AND (respond_timeout_s <= 60))), constraint webhook_tokens_created_by_fkey FOREIGN KEY (created_by) REFERENCES public.users(user_id) ON DELETE SET NULL, constraint webhook_tokens_workspace_id_workflow_id_fkey FOREIGN KEY (workspace_id, workflow_id) REFERENCES public.workflows(workspace_id, workflow_id) ON DELETE CASCADE);
create table public.templates (workspace_id uuid, template_id uuid, owner_id uuid, name text, greeting text, instructions text, model text, voice text, theme jsonb default '{}'::jsonb, features jsonb default '{}'::jsonb, allowed_origins text[] default '{}'::text[], retention_days integer, created_at timestamp with time zone default now(), updated_at timestamp with time zone default now(), llm jsonb, mode text default 'menu'::text, knowledge_ids uuid[] default '{}'::uuid[], tools jsonb default '[]'::jsonb, locale text, constraint templates_retention_days_check CHECK ((retention_days > 0)), constraint templates_workspace_id_not_null NOT NULL workspace_id, constraint templates_template_id_not_null NOT NULL template_id, constraint templates_owner_id_not_null NOT NULL owner_id, constraint templates_name_not_null NOT NULL name, constraint templates_theme_not_null NOT NULL theme, constraint templates_features_not_null NOT NULL features, constraint templates_allowed_origins_not_null NOT NULL allowed_origins, constraint templates_created_at_not_null NOT NULL created_at, constraint templates_updated_at_not_null NOT NULL updated_at, constraint templates_pkey PRIMARY KEY (workspace_id, template_id), constraint templates_template_id_key UNIQUE (template_id), constraint templates_mode_not_null NOT NULL mode, constraint templates_knowledge_ids_not_null NOT NULL knowledge_ids, constraint templates_tools_not_null NOT NULL tools, constraint templates_mode_check CHECK ((mode = ANY (ARRAY['menu'::text, 'agent'::text]))), constraint templates_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES public.workspaces(workspace_id) ON DELETE CASCADE, constraint templates_owner_id_fkey FOREIGN KEY (owner_id) REFERENCES public.users(user_id));
create table public.embed_tokens (workspace_id uuid, token_id uuid, workflow_id uuid, template_id uuid, name text, prefix text, token_hash bytea, allowed_origins text[] default '{}'::text[], require_origin boolean default false, enabled boolean default true, last_used_at timestamp with time zone, created_by uuid, created_at timestamp with time zone default now(), public_token text, constraint embed_tokens_check CHECK (((workflow_id IS NULL) <> (template_id IS NULL))), constraint embed_tokens_workspace_id_not_null NOT NULL workspace_id, constraint embed_tokens_token_id_not_null NOT NULL token_id, constraint embed_tokens_prefix_not_null NOT NULL prefix, constraint embed_tokens_token_hash_not_null NOT NULL token_hash, constraint embed_tokens_allowed_origins_not_null NOT NULL allowed_origins, constraint embed_tokens_require_origin_not_null NOT NULL require_origin, constraint embed_tokens_enabled_not_null NOT NULL enabled, constraint embed_tokens_created_at_not_null NOT NULL created_at, constraint embed_tokens_pkey PRIMARY KEY (workspace_id, token_id), constraint embed_tokens_token_hash_key UNIQUE (token_hash), constraint embed_tokens_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES public.workspaces(workspace_id) ON DELETE CASCADE, constraint embed_tokens_created_by_fkey FOREIGN KEY (created_by) REFERENCES public.users(user_id) ON DELETE SET NULL, constraint embed_tokens_workspace_id_workflow_id_fkey FOREIGN KEY (workspace_id, workflow_id) REFERENCES public.workflows(workspace_id, workflow_id) ON DELETE CASCADE, constraint embed_tokens_workspace_id_template_id_fkey FOREIGN KEY (workspace_id, template_id) REFERENCES public.templates(workspace_id, template_id) ON DELETE CASCADE);
create table public.schedules (workspace_id uuid, workflow_id uuid, cron text, timezone text, input json, next_run_at timestamp with time zone, last_run_at timestamp with time zone, last_execution_id uuid, last_error text, created_by uuid, updated_at timestamp with time zone default now(), schedule_id uuid default gen_random_uuid(), every_s double precision, at timestamp with time zone, overlap text default 'allow'::text, catch_up text default 'last'::text, enabled boolean default true, planned_at timestamp with time zone, created_at timestamp with time zone default now(), constraint schedules_workspace_id_not_null NOT NULL workspace_id, constraint schedules_workflow_id_not_null NOT NULL workflow_id, constraint schedules_timezone_not_null NOT NULL timezone, constraint schedules_updated_at_not_null NOT NULL updated_at, constraint schedules_schedule_id_not_null NOT NULL schedule_id, constraint schedules_overlap_not_null NOT NULL overlap, constraint schedules_catch_up_not_null NOT NULL catch_up, constraint schedules_enabled_not_null NOT NULL enabled, constraint schedules_created_at_not_null NOT NULL created_at, constraint schedules_overlap_check CHECK ((overlap = ANY (ARRAY['allow'::text, 'skip'::text, 'queue'::text, 'cancel'::text]))), constraint schedules_catch_up_check CHECK ((catch_up = ANY (ARRAY['none'::text, 'last'::text, 'all'::text]))), constraint schedules_pkey PRIMARY KEY (workspace_id, schedule_id), constraint schedules_check CHECK ((num_nonnulls(cron, every_s, at) = 1)), constraint schedules_created_by_fkey FOREIGN KEY (created_by) REFERENCES public.users(user_id) ON DELETE SET NULL, constraint schedules_workspace_id_workflow_id_fkey FOREIGN KEY (workspace_id, workflow_id) REFERENCES public.workflows(workspace_id, workflow_id) ON DELETE CASCADE);
create table public.told_failures (workspace_id uuid, execution_id uuid, told_at timestamp with time zone default now(), constraint told_failures_workspace_id_not_null NOT NULL workspace_id, constraint told_failures_execution_id_not_null NOT NULL execution_id, constraint told_failures_told_at_not_null NOT NULL told_at, constraint told_failures_pkey PRIMARY KEY (workspace_id, execution_id), constraint told_failures_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES public.workspaces(workspace_id) ON DELETE CASCADE);
create table public.notify_receipts (workspace_id uuid, key text, user_ids uuid[], at timestamp with time zone default now(), constraint notify_receipts_workspace_id_not_null NOT NULL workspace_id, constraint notify_receipts_key_not_null NOT NULL key, constraint notify_receipts_user_ids_not_null NOT NULL user_ids, constraint notify_receipts_at_not_null NOT NULL at, constraint notify_receipts_pkey PRIMARY KEY (workspace_id, key), constraint notify_receipts_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES public.workspaces(workspace_id) ON DELETE CASCADE);
create table public.approval_requests (workspace_id uuid, request_id uuid, execution_id uuid, workflow_id uuid, version_id uuid, node_path text, node_id text, title text, payload json, payload_sha256 text, policy jsonb, status text default 'open'::text, outcome text, started_by uuid, escalated boolean default false, reminded boolean default false, unsatisfiable boolean default false, due_at timestamp with time zone, opened_at timestamp with time zone default now(), resolved_at timestamp with time zone, initiators jsonb, editable json, asked_sha256 text, edited_by uuid, edited_by_name text, edit_comment text, edits integer default 0, replaces uuid, replaced_by uuid, notified uuid[], constraint approval_requests_status_check CHECK ((status = ANY (ARRAY['open'::text, 'approved'::text, 'rejected'::text, 'expired'::text, 'cancelled'::text]))), constraint approval_requests_outcome_check CHECK ((outcome = ANY (ARRAY['approved'::text, 'rejected'::text]))), constraint approval_requests_workspace_id_not_null NOT NULL workspace_id, constraint approval_requests_request_id_not_null NOT NULL request_id, constraint approval_requests_execution_id_not_null NOT NULL execution_id, constraint approval_requests_node_path_not_null NOT NULL node_path, constraint approval_requests_node_id_not_null NOT NULL node_id, constraint approval_requests_title_not_null NOT NULL title, constraint approval_requests_payload_not_null NOT NULL payload, constraint approval_requests_payload_sha256_not_null NOT NULL payload_sha256, constraint approval_requests_policy_not_null NOT NULL policy, constraint approval_requests_status_not_null NOT NULL status, constraint approval_requests_escalated_not_null NOT NULL escalated, constraint approval_requests_reminded_not_null NOT NULL reminded, constraint approval_requests_unsatisfiable_not_null NOT NULL unsatisfiable, constraint approval_requests_opened_at_not_null NOT NULL opened_at, constraint approval_requests_pkey PRIMARY KEY (workspace_id, request_id), constraint approval_requests_edits_not_null NOT NULL edits, constraint approval_requests_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES public.workspaces(workspace_id) ON DELETE CASCADE);
create table public.approval_approvers (workspace_id uuid, request_id uuid, "position" integer, kind text, ref_id uuid, role text, agent text, agent_name text, instructions text, model text, constraint approval_approvers_kind_check CHECK ((kind = ANY (ARRAY['user'::text, 'team'::text, 'role'::text, 'agent'::text]))), constraint approval_approvers_workspace_id_not_null NOT NULL workspace_id, constraint approval_approvers_request_id_not_null NOT NULL request_id, constraint approval_approvers_position_not_null NOT NULL "position", constraint approval_approvers_kind_not_null NOT NULL kind, constraint approval_approvers_pkey PRIMARY KEY (workspace_id, request_id, "position"), constraint approval_approvers_workspace_id_request_id_fkey FOREIGN KEY (workspace_id, request_id) REFERENCES public.approval_requests(workspace_id, request_id) ON DELETE CASCADE);
create table public.approval_delegations (workspace_id uuid, request_id uuid, from_user uuid, to_user uuid, at timestamp with time zone default now(), constraint approval_delegations_workspace_id_not_null NOT NULL workspace_id, constraint approval_delegations_request_id_not_null NOT NULL request_id, constraint approval_delegations_from_user_not_null NOT NULL from_user, constraint approval_delegations_to_user_not_null NOT NULL to_user, constraint approval_delegations_at_not_null NOT NULL at, constraint approval_delegations_pkey PRIMARY KEY (workspace_id, request_id, from_user), constraint approval_delegations_workspace_id_request_id_fkey FOREIGN KEY (workspace_id, request_id) REFERENCES public.approval_requests(workspace_id, request_id) ON DELETE CASCADE);
create table public.approval_votes (workspace_id uuid, vote_id uuid, request_id uuid, voter_kind text, voter_id text, voter_name text, voter_role text, decision text, comment text, rationale text, confidence double precision, evidence json, usage json, payload_sha256 text, voted_at timestamp with time zone default now(), constraint approval_votes_voter_kind_check CHECK ((voter_kind = ANY (ARRAY['human'::text, 'agent'::text]))), constraint approval_votes_decision_check CHECK ((decision = ANY (ARRAY['approve'::text, 'reject'::text, 'abstain'::text]))), constraint approval_votes_check CHECK (((voter_kind = 'human'::text) OR (rationale IS NOT NULL))), constraint approval_votes_workspace_id_not_null NOT NULL workspace_id, constraint approval_votes_vote_id_not_null NOT NULL vote_id, constraint approval_votes_request_id_not_null NOT NULL request_id, constraint approval_votes_voter_kind_not_null NOT NULL voter_kind, constraint approval_votes_voter_id_not_null NOT NULL voter_id, constraint approval_votes_voter_name_not_null NOT NULL voter_name, constraint approval_votes_decision_not_null NOT NULL decision, constraint approval_votes_payload_sha256_not_null NOT NULL payload_sha256, constraint approval_votes_voted_at_not_null NOT NULL voted_at, constraint approval_votes_pkey PRIMARY KEY (workspace_id, vote_id), constraint approval_votes_workspace_id_request_id_voter_kind_voter_id_key UNIQUE (workspace_id, request_id, voter_kind, voter_id), constraint approval_votes_workspace_id_request_id_fkey FOREIGN KEY (workspace_id, request_id) REFERENCES public.approval_requests(workspace_id, request_id) ON DELETE CASCADE);
create table public.agent_reviews (workspace_id uuid, request_id uuid, agent text, attempts integer default 0, not_before timestamp with time zone default now(), constraint agent_reviews_workspace_id_not_null NOT NULL workspace_id, constraint agent_reviews_request_id_not_null NOT NULL request_id, constraint agent_reviews_agent_not_null NOT NULL agent, constraint agent_reviews_attempts_not_null NOT NULL attempts, constraint agent_reviews_not_before_not_null NOT NULL not_before, constraint agent_reviews_pkey PRIMARY KEY (workspace_id, request_id, agent), constraint agent_reviews_workspace_id_request_id_fkey FOREIGN KEY (workspace_id, request_id) REFERENCES public.approval_requests(workspace_id, request_id) ON DELETE CASCADE);
create table public.agent_agreement (workspace_id uuid, agent text, workflow_id uuid, node_id text, votes integer default 0, agreed integer default 0, constraint agent_agreement_workspace_id_not_null NOT NULL workspace_id, constraint agent_agreement_agent_not_null NOT NULL agent, constraint agent_agreement_workflow_id_not_null NOT NULL workflow_id, constraint agent_agreement_node_id_not_null NOT NULL node_id, constraint agent_agreement_votes_not_null NOT NULL votes, constraint agent_agreement_agreed_not_null NOT NULL agreed, constraint agent_agreement_pkey PRIMARY KEY (workspace_id, agent, workflow_id, node_id), constraint agent_agreement_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES public.workspaces(workspace_id) ON DELETE CASCADE);
create table public.questions (workspace_id uuid, clarification_id uuid, execution_id uuid, workflow_id uuid, node_path text, node_id text, question text, schema json, who jsonb, status text default 'open'::text, on_due text default 'fail'::text, default_answer json, escalated boolean default false, started_by uuid, answer json, answered_by text, answered_by_name text, asked_at timestamp with time zone default now(), due_at timestamp with time zone, answered_at timestamp with time zone, reminded boolean default false, reuse_key bytea, reused_from uuid, withdrawn_at timestamp with time zone, notified uuid[], constraint questions_status_check CHECK ((status = ANY (ARRAY['open'::text, 'answered'::text, 'expired'::text, 'cancelled'::text]))), constraint questions_on_due_check CHECK ((on_due = ANY (ARRAY['fail'::text, 'default'::text, 'escalate'::text]))), constraint questions_workspace_id_not_null NOT NULL workspace_id, constraint questions_clarification_id_not_null NOT NULL clarification_id, constraint questions_execution_id_not_null NOT NULL execution_id, constraint questions_node_path_not_null NOT NULL node_path, constraint questions_node_id_not_null NOT NULL node_id, constraint questions_question_not_null NOT NULL question, constraint questions_schema_not_null NOT NULL schema, constraint questions_status_not_null NOT NULL status, constraint questions_on_due_not_null NOT NULL on_due, constraint questions_escalated_not_null NOT NULL escalated, constraint questions_asked_at_not_null NOT NULL asked_at, constraint questions_pkey PRIMARY KEY (workspace_id, clarification_id), constraint questions_reminded_not_null NOT NULL reminded, constraint questions_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES public.workspaces(workspace_id) ON DELETE CASCADE);
create table public.gate_rechecks (workspace_id uuid, recheck_id bigint generated always as identity, constraint gate_rechecks_workspace_id_not_null NOT NULL workspace_id, constraint gate_rechecks_recheck_id_not_null NOT NULL recheck_id, constraint gate_rechecks_pkey PRIMARY KEY (workspace_id, recheck_id));
create table public.dataset_versions (workspace_id uuid, version_id uuid, state text default 'pending'::text, touched_at timestamp with time zone default now(), constraint dataset_versions_state_check CHECK ((state = ANY (ARRAY['pending'::text, 'current'::text, 'retired'::text]))), constraint dataset_versions_workspace_id_not_null NOT NULL workspace_id, constraint dataset_versions_version_id_not_null NOT NULL version_id, constraint dataset_versions_state_not_null NOT NULL state, constraint dataset_versions_touched_at_not_null NOT NULL touched_at, constraint dataset_versions_pkey PRIMARY KEY (workspace_id, version_id), constraint dataset_versions_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES public.workspaces(workspace_id) ON DELETE CASCADE);
create table public.dataset_chunks (workspace_id uuid, version_id uuid, n integer, first_record integer, record_count integer, body bytea storage external, constraint dataset_chunks_record_count_check CHECK ((record_count > 0)), constraint dataset_chunks_workspace_id_not_null NOT NULL workspace_id, constraint dataset_chunks_version_id_not_null NOT NULL version_id, constraint dataset_chunks_n_not_null NOT NULL n, constraint dataset_chunks_first_record_not_null NOT NULL first_record, constraint dataset_chunks_record_count_not_null NOT NULL record_count, constraint dataset_chunks_body_not_null NOT NULL body, constraint dataset_chunks_pkey PRIMARY KEY (workspace_id, version_id, n), constraint dataset_chunks_workspace_id_version_id_first_record_key UNIQUE (workspace_id, version_id, first_record), constraint dataset_chunks_workspace_id_version_id_fkey FOREIGN KEY (workspace_id, version_id) REFERENCES public.dataset_versions(workspace_id, version_id) ON DELETE CASCADE);
create table public.datasets (workspace_id uuid, dataset_id uuid, version_id uuid, name text, description text, sha256 text, record_count integer, size_bytes bigint, columns jsonb, columns_complete boolean default true, created_by uuid, created_at timestamp with time zone default now(), updated_at timestamp with time zone default now(), constraint datasets_workspace_id_not_null NOT NULL workspace_id, constraint datasets_dataset_id_not_null NOT NULL dataset_id, constraint datasets_version_id_not_null NOT NULL version_id, constraint datasets_name_not_null NOT NULL name, constraint datasets_sha256_not_null NOT NULL sha256, constraint datasets_record_count_not_null NOT NULL record_count, constraint datasets_size_bytes_not_null NOT NULL size_bytes, constraint datasets_columns_not_null NOT NULL columns, constraint datasets_columns_complete_not_null NOT NULL columns_complete, constraint datasets_created_at_not_null NOT NULL created_at, constraint datasets_updated_at_not_null NOT NULL updated_at, constraint datasets_pkey PRIMARY KEY (workspace_id, dataset_id), constraint datasets_dataset_id_key UNIQUE (dataset_id), constraint datasets_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES public.workspaces(workspace_id) ON DELETE CASCADE, constraint datasets_created_by_fkey FOREIGN KEY (created_by) REFERENCES public.users(user_id) ON DELETE SET NULL, constraint datasets_workspace_id_version_id_fkey FOREIGN KEY (workspace_id, version_id) REFERENCES public.dataset_versions(workspace_id, version_id));
create table public.dataset_pins (workspace_id uuid, execution_id uuid, dataset_id uuid, sha256 text, pinned_at timestamp with time zone default now(), constraint dataset_pins_workspace_id_not_null NOT NULL workspace_id, constraint dataset_pins_execution_id_not_null NOT NULL execution_id, constraint dataset_pins_dataset_id_not_null NOT NULL dataset_id, constraint dataset_pins_sha256_not_null NOT NULL sha256, constraint dataset_pins_pinned_at_not_null NOT NULL pinned_at, constraint dataset_pins_pkey PRIMARY KEY (workspace_id, execution_id, dataset_id), constraint dataset_pins_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES public.workspaces(workspace_id) ON DELETE CASCADE);
create table public.dataset_writes (workspace_id uuid, effect_key text, dataset_id uuid, sha256 text, record_count integer, written_at timestamp with time zone default now(), constraint dataset_writes_workspace_id_not_null NOT NULL workspace_id, constraint dataset_writes_effect_key_not_null NOT NULL effect_key, constraint dataset_writes_dataset_id_not_null NOT NULL dataset_id, constraint dataset_writes_sha256_not_null NOT NULL sha256, constraint dataset_writes_record_count_not_null NOT NULL record_count, constraint dataset_writes_written_at_not_null NOT NULL written_at, constraint dataset_writes_pkey PRIMARY KEY (workspace_id, effect_key), constraint dataset_writes_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES public.workspaces(workspace_id) ON DELETE CASCADE);
create table public.org_connection_kinds (org_id uuid, kind text, constraint org_connection_kinds_org_id_not_null NOT NULL org_id, constraint org_connection_kinds_kind_not_null NOT NULL kind, constraint org_connection_kinds_pkey PRIMARY KEY (org_id, kind), constraint org_connection_kinds_org_id_fkey FOREIGN KEY (org_id) REFERENCES public.orgs(org_id) ON DELETE CASCADE);
create table public.connections (workspace_id uuid, connection_id uuid, name text, kind text, config jsonb, status text, problem jsonb, secrets bytea, owner_id uuid, checked_at timestamp with time zone default now(), created_at timestamp with time zone default now(), updated_at timestamp with time zone default now(), allow_write boolean default false, constraint connections_status_check CHECK ((status = ANY (ARRAY['active'::text, 'failing'::text, 'revoked'::text]))), constraint connections_check CHECK (((status = 'revoked'::text) = (secrets IS NULL))), constraint connections_workspace_id_not_null NOT NULL workspace_id, constraint connections_connection_id_not_null NOT NULL connection_id, constraint connections_name_not_null NOT NULL name, constraint connections_kind_not_null NOT NULL kind, constraint connections_config_not_null NOT NULL config, constraint connections_status_not_null NOT NULL status, constraint connections_checked_at_not_null NOT NULL checked_at, constraint connections_created_at_not_null NOT NULL created_at, constraint connections_updated_at_not_null NOT NULL updated_at, constraint connections_pkey PRIMARY KEY (workspace_id, connection_id), constraint connections_connection_id_key UNIQUE (connection_id), constraint connections_allow_write_not_null NOT NULL allow_write, constraint connections_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES public.workspaces(workspace_id) ON DELETE CASCADE, constraint connections_owner_id_fkey FOREIGN KEY (owner_id) REFERENCES public.users(user_id) ON DELETE SET NULL);
create table public.sources (workspace_id uuid, source_id uuid, connection_id uuid, name text, "table" text, query text, created_by uuid, created_at timestamp with time zone default now(), cursor_column text, constraint sources_check CHECK ((num_nonnulls("table", query) = 1)), constraint sources_workspace_id_not_null NOT NULL workspace_id, constraint sources_source_id_not_null NOT NULL source_id, constraint sources_connection_id_not_null NOT NULL connection_id, constraint sources_name_not_null NOT NULL name, constraint sources_created_at_not_null NOT NULL created_at, constraint sources_pkey PRIMARY KEY (workspace_id, source_id), constraint sources_source_id_key UNIQUE (source_id), constraint sources_created_by_fkey FOREIGN KEY (created_by) REFERENCES public.users(user_id) ON DELETE SET NULL, constraint sources_workspace_id_connection_id_fkey FOREIGN KEY (workspace_id, connection_id) REFERENCES public.connections(workspace_id, connection_id) ON DELETE CASCADE);
create table public.job_definitions (workspace_id uuid, definition_id uuid, job_id uuid, trigger_id text, definition json, sha256 text, created_at timestamp with time zone default now(), created_by uuid, constraint job_definitions_workspace_id_not_null NOT NULL workspace_id, constraint job_definitions_definition_id_not_null NOT NULL definition_id, constraint job_definitions_job_id_not_null NOT NULL job_id, constraint job_definitions_trigger_id_not_null NOT NULL trigger_id, constraint job_definitions_definition_not_null NOT NULL definition, constraint job_definitions_sha256_not_null NOT NULL sha256, constraint job_definitions_created_at_not_null NOT NULL created_at, constraint job_definitions_pkey PRIMARY KEY (workspace_id, definition_id), constraint job_definitions_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES public.workspaces(workspace_id) ON DELETE CASCADE, constraint job_definitions_created_by_fkey FOREIGN KEY (created_by) REFERENCES public.users(user_id) ON DELETE SET NULL);
create table public.enrichment_jobs (workspace_id uuid, job_id uuid, name text, owner_id uuid, workflow_id uuid, definition_id uuid, dataset_id uuid, source_id uuid, mapping json, only_if text, output_name text, output_dataset_id uuid, output_bound boolean default false, cron text, timezone text, concurrency integer, stop_on_error_rate double precision, status text default 'idle'::text, paused_reason text, due_at timestamp with time zone, due_full boolean default false, due_by uuid, last_run_id uuid, event_seq integer default 0, created_at timestamp with time zone default now(), updated_at timestamp with time zone default now(), key_column text, retry json default '{"max_attempts": 5, "backoff_s": 0.5, "factor": 2, "max_backoff_s": 60}'::json, max_cost double precision, max_tokens bigint, due_retry_failed boolean default false, due_sample integer, legacy_ledger boolean default false, source_cursor json, output_mode text default 'replace'::text, constraint enrichment_jobs_status_check CHECK ((status = ANY (ARRAY['idle'::text, 'running'::text, 'paused'::text, 'failed'::text]))), constraint enrichment_jobs_check CHECK (((workflow_id IS NULL) <> (definition_id IS NULL))), constraint enrichment_jobs_check1 CHECK (((dataset_id IS NULL) OR (source_id IS NULL))), constraint enrichment_jobs_check2 CHECK (((cron IS NULL) = (timezone IS NULL))), constraint enrichment_jobs_check3 CHECK (((status = 'paused'::text) = (paused_reason IS NOT NULL))), constraint enrichment_jobs_workspace_id_not_null NOT NULL workspace_id, constraint enrichment_jobs_job_id_not_null NOT NULL job_id, constraint enrichment_jobs_name_not_null NOT NULL name, constraint enrichment_jobs_owner_id_not_null NOT NULL owner_id, constraint enrichment_jobs_output_bound_not_null NOT NULL output_bound, constraint enrichment_jobs_concurrency_not_null NOT NULL concurrency, constraint enrichment_jobs_status_not_null NOT NULL status, constraint enrichment_jobs_due_full_not_null NOT NULL due_full, constraint enrichment_jobs_event_seq_not_null NOT NULL event_seq, constraint enrichment_jobs_created_at_not_null NOT NULL created_at, constraint enrichment_jobs_updated_at_not_null NOT NULL updated_at, constraint enrichment_jobs_pkey PRIMARY KEY (workspace_id, job_id), constraint enrichment_jobs_job_id_key UNIQUE (job_id), constraint enrichment_jobs_retry_not_null NOT NULL retry, constraint enrichment_jobs_due_retry_failed_not_null NOT NULL due_retry_failed, constraint enrichment_jobs_legacy_ledger_not_null NOT NULL legacy_ledger, constraint enrichment_jobs_output_mode_not_null NOT NULL output_mode, constraint enrichment_jobs_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES public.workspaces(workspace_id) ON DELETE CASCADE, constraint enrichment_jobs_owner_id_fkey FOREIGN KEY (owner_id) REFERENCES public.users(user_id), constraint enrichment_jobs_due_by_fkey FOREIGN KEY (due_by) REFERENCES public.users(user_id) ON DELETE SET NULL, constraint enrichment_jobs_workspace_id_workflow_id_fkey FOREIGN KEY (workspace_id, workflow_id) REFERENCES public.workflows(workspace_id, workflow_id), constraint enrichment_jobs_workspace_id_definition_id_fkey FOREIGN KEY (workspace_id, definition_id) REFERENCES public.job_definitions(workspace_id, definition_id), constraint enrichment_jobs_workspace_id_dataset_id_fkey FOREIGN KEY (workspace_id, dataset_id) REFERENCES public.datasets(workspace_id, dataset_id) ON DELETE SET NULL (dataset_id), constraint enrichment_jobs_workspace_id_source_id_fkey FOREIGN KEY (workspace_id, source_id) REFERENCES public.sources(workspace_id, source_id) ON DELETE SET NULL (source_id), constraint enrichment_jobs_workspace_id_output_dataset_id_fkey FOREIGN KEY (workspace_id, output_dataset_id) REFERENCES public.datasets(workspace_id, dataset_id) ON DELETE SET NULL (output_dataset_id));
create table public.job_members (workspace_id uuid, job_id uuid, user_id uuid, role text, added_at timestamp with time zone default now(), constraint job_members_role_check CHECK ((role = ANY (ARRAY['owner'::text, 'member'::text, 'viewer'::text]))), constraint job_members_workspace_id_not_null NOT NULL workspace_id, constraint job_members_job_id_not_null NOT NULL job_id, constraint job_members_user_id_not_null NOT NULL user_id, constraint job_members_role_not_null NOT NULL role, constraint job_members_added_at_not_null NOT NULL added_at, constraint job_members_pkey PRIMARY KEY (workspace_id, job_id, user_id), constraint job_members_workspace_id_job_id_fkey FOREIGN KEY (workspace_id, job_id) REFERENCES public.enrichment_jobs(workspace_id, job_id) ON DELETE CASCADE, constraint job_members_workspace_id_user_id_fkey FOREIGN KEY (workspace_id, user_id) REFERENCES public.memberships(workspace_id, user_id) ON DELETE CASCADE);
create table public.job_events (workspace_id uuid, job_id uuid, seq integer, type text, at timestamp with time zone default now(), data json, constraint job_events_workspace_id_not_null NOT NULL workspace_id, constraint job_events_job_id_not_null NOT NULL job_id, constraint job_events_seq_not_null NOT NULL seq, constraint job_events_type_not_null NOT NULL type, constraint job_events_at_not_null NOT NULL at, constraint job_events_data_not_null NOT NULL data, constraint job_events_pkey PRIMARY KEY (workspace_id, job_id, seq), constraint job_events_workspace_id_job_id_fkey FOREIGN KEY (workspace_id, job_id) REFERENCES public.enrichment_jobs(workspace_id, job_id) ON DELETE CASCADE);
create table public.suites (workspace_id uuid, suite_id uuid, workflow_id uuid, name text, dataset_id uuid, mapping json, checks json, created_by uuid, last_run_id uuid, created_at timestamp with time zone default now(), updated_at timestamp with time zone default now(), constraint suites_workspace_id_not_null NOT NULL workspace_id, constraint suites_suite_id_not_null NOT NULL suite_id, constraint suites_workflow_id_not_null NOT NULL workflow_id, constraint suites_name_not_null NOT NULL name, constraint suites_checks_not_null NOT NULL checks, constraint suites_created_at_not_null NOT NULL created_at, constraint suites_updated_at_not_null NOT NULL updated_at, constraint suites_pkey PRIMARY KEY (workspace_id, suite_id), constraint suites_suite_id_key UNIQUE (suite_id), constraint suites_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES public.workspaces(workspace_id) ON DELETE CASCADE, constraint suites_created_by_fkey FOREIGN KEY (created_by) REFERENCES public.users(user_id) ON DELETE SET NULL, constraint suites_workspace_id_workflow_id_fkey FOREIGN KEY (workspace_id, workflow_id) REFERENCES public.workflows(workspace_id, workflow_id), constraint suites_workspace_id_dataset_id_fkey FOREIGN KEY (workspace_id, dataset_id) REFERENCES public.datasets(workspace_id, dataset_id) ON DELETE SET NULL (dataset_id));
create table public.ledger_runs (workspace_id uuid, run_id uuid, job_id uuid, suite_id uuid, status text, is_full boolean default false, recipe_sha256 bytea, mapping json, only_if text, definition_ref text, workflow_id uuid, version_id uuid, concurrency integer, max_attempts smallint, stop_on_error_rate double precision, dataset_id uuid, source_id uuid, captured_version_id uuid, dataset_sha256 text, total integer default 0, planned integer default 0, claimed integer default 0, running integer default 0, succeeded integer default 0, failed integer default 0, skipped integer default 0, cancelling boolean default false, error json, requested_by uuid, output_dataset_id uuid, runner_id uuid, epoch integer default 0, lease_until timestamp with time zone, started_at timestamp with time zone default now(), finished_at timestamp with time zone, recipe_format smallint default 1, legacy_recipe_sha256 bytea, key_column text, retry json, max_cost double precision, max_tokens bigint, retry_failed boolean default false, sample integer, columns json, usage json, filtered integer default 0, failed_before integer default 0, first_succeeded integer default 0, first_failed integer default 0, cursor_from json, cursor_to json, effects text, models text, constraint ledger_runs_status_check CHECK ((status = ANY (ARRAY['starting'::text, 'running'::text, 'writing'::text, 'succeeded'::text, 'failed'::text, 'cancelled'::text]))), constraint ledger_runs_check CHECK (((job_id IS NULL) <> (suite_id IS NULL))), constraint ledger_runs_check1 CHECK (((finished_at IS NULL) = (status = ANY (ARRAY['starting'::text, 'running'::text, 'writing'::text])))), constraint ledger_runs_workspace_id_not_null NOT NULL workspace_id, constraint ledger_runs_run_id_not_null NOT NULL run_id, constraint ledger_runs_status_not_null NOT NULL status, constraint ledger_runs_is_full_not_null NOT NULL is_full, constraint ledger_runs_recipe_sha256_not_null NOT NULL recipe_sha256, constraint ledger_runs_definition_ref_not_null NOT NULL definition_ref, constraint ledger_runs_concurrency_not_null NOT NULL concurrency, constraint ledger_runs_max_attempts_not_null NOT NULL max_attempts, constraint ledger_runs_total_not_null NOT NULL total, constraint ledger_runs_planned_not_null NOT NULL planned, constraint ledger_runs_claimed_not_null NOT NULL claimed, constraint ledger_runs_running_not_null NOT NULL running, constraint ledger_runs_succeeded_not_null NOT NULL succeeded, constraint ledger_runs_failed_not_null NOT NULL failed, constraint ledger_runs_skipped_not_null NOT NULL skipped, constraint ledger_runs_cancelling_not_null NOT NULL cancelling, constraint ledger_runs_epoch_not_null NOT NULL epoch, constraint ledger_runs_started_at_not_null NOT NULL started_at, constraint ledger_runs_pkey PRIMARY KEY (workspace_id, run_id), constraint ledger_runs_recipe_format_not_null NOT NULL recipe_format, constraint ledger_runs_retry_failed_not_null NOT NULL retry_failed, constraint ledger_runs_filtered_not_null NOT NULL filtered, constraint ledger_runs_failed_before_not_null NOT NULL failed_before, constraint ledger_runs_first_succeeded_not_null NOT NULL first_succeeded, constraint ledger_runs_first_failed_not_null NOT NULL first_failed, constraint ledger_runs_effects_check CHECK ((effects = ANY (ARRAY['live'::text, 'pinned'::text, 'mock'::text]))), constraint ledger_runs_models_check CHECK ((models = ANY (ARRAY['live'::text, 'mock'::text]))), constraint ledger_runs_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES public.workspaces(workspace_id) ON DELETE CASCADE, constraint ledger_runs_requested_by_fkey FOREIGN KEY (requested_by) REFERENCES public.users(user_id) ON DELETE SET NULL, constraint ledger_runs_workspace_id_job_id_fkey FOREIGN KEY (workspace_id, job_id) REFERENCES public.enrichment_jobs(workspace_id, job_id) ON DELETE CASCADE, constraint ledger_runs_workspace_id_suite_id_fkey FOREIGN KEY (workspace_id, suite_id) REFERENCES public.suites(workspace_id, suite_id) ON DELETE CASCADE) with (fillfactor=50);
create table public.ledger_records (workspace_id uuid, run_id uuid, "position" integer, record_sha256 bytea, status text, attempt smallint default 0, due_at timestamp with time zone, execution_id uuid, error json, duration_ms integer, usage json, finished_at timestamp with time zone, input_sha256 bytea, record_key text, retried boolean default false, constraint ledger_records_workspace_id_not_null NOT NULL workspace_id, constraint ledger_records_run_id_not_null NOT NULL run_id, constraint ledger_records_position_not_null NOT NULL "position", constraint ledger_records_record_sha256_not_null NOT NULL record_sha256, constraint ledger_records_status_not_null NOT NULL status, constraint ledger_records_attempt_not_null NOT NULL attempt, constraint ledger_records_pkey PRIMARY KEY (workspace_id, run_id, "position"), constraint ledger_records_retried_not_null NOT NULL retried) with (fillfactor=70);
create table public.ledger_results (workspace_id uuid, subject_id uuid, recipe_sha256 bytea, record_sha256 bytea, run_id uuid, result json, result_blob json, finished_at timestamp with time zone default now(), error json, record json, execution_id uuid, constraint ledger_results_workspace_id_not_null NOT NULL workspace_id, constraint ledger_results_subject_id_not_null NOT NULL subject_id, constraint ledger_results_recipe_sha256_not_null NOT NULL recipe_sha256, constraint ledger_results_record_sha256_not_null NOT NULL record_sha256, constraint ledger_results_run_id_not_null NOT NULL run_id, constraint ledger_results_finished_at_not_null NOT NULL finished_at, constraint ledger_results_pkey PRIMARY KEY (workspace_id, subject_id, recipe_sha256, record_sha256));
create table public.suite_outcomes (workspace_id uuid, run_id uuid, "position" integer, outcome text, actual json, checks json, score double precision, recorded json, mocked json, constraint suite_outcomes_outcome_check CHECK ((outcome = ANY (ARRAY['passed'::text, 'failed'::text, 'error'::text, 'unjudged'::text]))), constraint suite_outcomes_workspace_id_not_null NOT NULL workspace_id, constraint suite_outcomes_run_id_not_null NOT NULL run_id, constraint suite_outcomes_position_not_null NOT NULL "position", constraint suite_outcomes_outcome_not_null NOT NULL outcome, constraint suite_outcomes_checks_not_null NOT NULL checks, constraint suite_outcomes_pkey PRIMARY KEY (workspace_id, run_id, "position"), constraint suite_outcomes_workspace_id_run_id_fkey FOREIGN KEY (workspace_id, run_id) REFERENCES public.ledger_runs(workspace_id, run_id) ON DELETE CASCADE);
create table public.ledger_garbage (workspace_id uuid, gone_id uuid, constraint ledger_garbage_workspace_id_not_null NOT NULL workspace_id, constraint ledger_garbage_gone_id_not_null NOT NULL gone_id, constraint ledger_garbage_pkey PRIMARY KEY (workspace_id, gone_id));
create table public.template_workflows (workspace_id uuid, template_id uuid, workflow_id uuid, "position" integer, added_by uuid, constraint template_workflows_workspace_id_not_null NOT NULL workspace_id, constraint template_workflows_template_id_not_null NOT NULL template_id, constraint template_workflows_workflow_id_not_null NOT NULL workflow_id, constraint template_workflows_position_not_null NOT NULL "position", constraint template_workflows_pkey PRIMARY KEY (workspace_id, template_id, workflow_id), constraint template_workflows_added_by_fkey FOREIGN KEY (added_by) REFERENCES public.users(user_id) ON DELETE SET NULL, constraint template_workflows_workspace_id_template_id_fkey FOREIGN KEY (workspace_id, template_id) REFERENCES public.templates(workspace_id, template_id) ON DELETE CASCADE, constraint template_workflows_workspace_id_workflow_id_fkey FOREIGN KEY (workspace_id, workflow_id) REFERENCES public.workflows(workspace_id, workflow_id) ON DELETE CASCADE);
create table public.threads (workspace_id uuid, thread_id uuid, kind text, title text, template_id uuid, workflow_id uuid, visitor_id uuid, config_id uuid, external_id text, created_by uuid, taken_over_by uuid, taken_over_until timestamp with time zone, state json default '{}'::json, turn integer default 0, last_seq integer default 0, created_at timestamp with time zone default now(), updated_at timestamp with time zone default now(), handover_at timestamp with time zone, handover_reason text, last_visitor_seq integer default 0, waiting_since timestamp with time zone, assigned_to uuid, closed_at timestamp with time zone, constraint threads_kind_check CHECK ((kind = ANY (ARRAY['thread'::text, 'embed'::text, 'channel'::text, 'gather'::text]))), constraint threads_check CHECK (((taken_over_by IS NULL) OR (kind = ANY (ARRAY['embed'::text, 'channel'::text])))), constraint threads_check1 CHECK (((kind = ANY (ARRAY['embed'::text, 'gather'::text])) = (visitor_id IS NOT NULL))), constraint threads_check2 CHECK (((kind = 'channel'::text) = ((config_id IS NOT NULL) AND (external_id IS NOT NULL)))), constraint threads_check3 CHECK (((kind = 'gather'::text) = (workflow_id IS NOT NULL))), constraint threads_workspace_id_not_null NOT NULL workspace_id, constraint threads_thread_id_not_null NOT NULL thread_id, constraint threads_kind_not_null NOT NULL kind, constraint threads_state_not_null NOT NULL state, constraint threads_turn_not_null NOT NULL turn, constraint threads_last_seq_not_null NOT NULL last_seq, constraint threads_created_at_not_null NOT NULL created_at, constraint threads_updated_at_not_null NOT NULL updated_at, constraint threads_pkey PRIMARY KEY (workspace_id, thread_id), constraint threads_thread_id_key UNIQUE (thread_id), constraint threads_last_visitor_seq_not_null NOT NULL last_visitor_seq, constraint threads_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES public.workspaces(workspace_id) ON DELETE CASCADE, constraint threads_created_by_fkey FOREIGN KEY (created_by) REFERENCES public.users(user_id) ON DELETE SET NULL, constraint threads_workspace_id_template_id_fkey FOREIGN KEY (workspace_id, template_id) REFERENCES public.templates(workspace_id, template_id) ON DELETE SET NULL (template_id), constraint threads_workspace_id_workflow_id_fkey FOREIGN KEY (workspace_id, workflow_id) REFERENCES public.workflows(workspace_id, workflow_id) ON DELETE CASCADE, constraint threads_workspace_id_taken_over_by_fkey FOREIGN KEY (workspace_id, taken_over_by) REFERENCES public.memberships(workspace_id, user_id) ON DELETE SET NULL (taken_over_by), constraint threads_workspace_id_assigned_to_fkey FOREIGN KEY (workspace_id, assigned_to) REFERENCES public.memberships(workspace_id, user_id) ON DELETE SET NULL (assigned_to));
create table public.thread_members (workspace_id uuid, thread_id uuid, user_id uuid, role text, created_at timestamp with time zone default now(), constraint thread_members_role_check CHECK ((role = ANY (ARRAY['owner'::text, 'member'::text, 'viewer'::text]))), constraint thread_members_workspace_id_not_null NOT NULL workspace_id, constraint thread_members_thread_id_not_null NOT NULL thread_id, constraint thread_members_user_id_not_null NOT NULL user_id, constraint thread_members_role_not_null NOT NULL role, constraint thread_members_created_at_not_null NOT NULL created_at, constraint thread_members_pkey PRIMARY KEY (workspace_id, thread_id, user_id), constraint thread_members_workspace_id_thread_id_fkey FOREIGN KEY (workspace_id, thread_id) REFERENCES public.threads(workspace_id, thread_id) ON DELETE CASCADE, constraint thread_members_workspace_id_user_id_fkey FOREIGN KEY (workspace_id, user_id) REFERENCES public.memberships(workspace_id, user_id) ON DELETE CASCADE);
create table public.messages (workspace_id uuid, message_id uuid, thread_id uuid, seq integer, turn integer, role text, author_id uuid, author_name text, external_author text, text text, audio_id uuid, execution_id uuid, about text, request_key bytea, created_at timestamp with time zone default date_trunc('milliseconds'::text, clock_timestamp()), citations json, constraint messages_role_check CHECK ((role = ANY (ARRAY['assistant'::text, 'visitor'::text, 'user'::text, 'system'::text]))), constraint messages_workspace_id_not_null NOT NULL workspace_id, constraint messages_message_id_not_null NOT NULL message_id, constraint messages_thread_id_not_null NOT NULL thread_id, constraint messages_seq_not_null NOT NULL seq, constraint messages_turn_not_null NOT NULL turn, constraint messages_role_not_null NOT NULL role, constraint messages_text_not_null NOT NULL text, constraint messages_created_at_not_null NOT NULL created_at, constraint messages_pkey PRIMARY KEY (workspace_id, message_id), constraint messages_workspace_id_thread_id_seq_key UNIQUE (workspace_id, thread_id, seq), constraint messages_author_id_fkey FOREIGN KEY (author_id) REFERENCES public.users(user_id) ON DELETE SET NULL, constraint messages_workspace_id_thread_id_fkey FOREIGN KEY (workspace_id, thread_id) REFERENCES public.threads(workspace_id, thread_id) ON DELETE CASCADE);
create table public.forms (workspace_id uuid, form_id uuid, thread_id uuid, kind text, clarification_id uuid, title text, schema json, "values" json default '{}'::json, status text default 'open'::text, turn integer, created_at timestamp with time zone default now(), closed_at timestamp with time zone, constraint forms_kind_check CHECK ((kind = ANY (ARRAY['parameters'::text, 'question'::text]))), constraint forms_status_check CHECK ((status = ANY (ARRAY['open'::text, 'submitted'::text, 'cancelled'::text, 'replaced'::text]))), constraint forms_workspace_id_not_null NOT NULL workspace_id, constraint forms_form_id_not_null NOT NULL form_id, constraint forms_thread_id_not_null NOT NULL thread_id, constraint forms_kind_not_null NOT NULL kind, constraint forms_title_not_null NOT NULL title, constraint forms_schema_not_null NOT NULL schema, constraint forms_values_not_null NOT NULL "values", constraint forms_status_not_null NOT NULL status, constraint forms_turn_not_null NOT NULL turn, constraint forms_created_at_not_null NOT NULL created_at, constraint forms_pkey PRIMARY KEY (workspace_id, form_id), constraint forms_workspace_id_thread_id_fkey FOREIGN KEY (workspace_id, thread_id) REFERENCES public.threads(workspace_id, thread_id) ON DELETE CASCADE);
create table public.thread_executions (workspace_id uuid, execution_id uuid, thread_id uuid, workflow_id uuid, title text, turn integer, created_at timestamp with time zone default now(), constraint thread_executions_workspace_id_not_null NOT NULL workspace_id, constraint thread_executions_execution_id_not_null NOT NULL execution_id, constraint thread_executions_thread_id_not_null NOT NULL thread_id, constraint thread_executions_workflow_id_not_null NOT NULL workflow_id, constraint thread_executions_title_not_null NOT NULL title, constraint thread_executions_turn_not_null NOT NULL turn, constraint thread_executions_created_at_not_null NOT NULL created_at, constraint thread_executions_pkey PRIMARY KEY (workspace_id, execution_id), constraint thread_executions_workspace_id_thread_id_fkey FOREIGN KEY (workspace_id, thread_id) REFERENCES public.threads(workspace_id, thread_id) ON DELETE CASCADE);
create table public.audio_clips (workspace_id uuid, audio_id uuid, thread_id uuid, content_type text, size_bytes bigint, duration_s double precision, message_id uuid, created_at timestamp with time zone default now(), constraint audio_clips_content_type_check CHECK ((content_type = ANY (ARRAY['audio/mpeg'::text, 'audio/wav'::text, 'audio/ogg'::text, 'audio/webm'::text]))), constraint audio_clips_workspace_id_not_null NOT NULL workspace_id, constraint audio_clips_audio_id_not_null NOT NULL audio_id, constraint audio_clips_thread_id_not_null NOT NULL thread_id, constraint audio_clips_content_type_not_null NOT NULL content_type, constraint audio_clips_size_bytes_not_null NOT NULL size_bytes, constraint audio_clips_duration_s_not_null NOT NULL duration_s, constraint audio_clips_created_at_not_null NOT NULL created_at, constraint audio_clips_pkey PRIMARY KEY (workspace_id, audio_id), constraint audio_clips_audio_id_key UNIQUE (audio_id), constraint audio_clips_workspace_id_thread_id_fkey FOREIGN KEY (workspace_id, thread_id) REFERENCES public.threads(workspace_id, thread_id) ON DELETE CASCADE);
create table public.audio_to_remove (workspace_id uuid, audio_id uuid, constraint audio_to_remove_workspace_id_not_null NOT NULL workspace_id, constraint audio_to_remove_audio_id_not_null NOT NULL audio_id, constraint audio_to_remove_pkey PRIMARY KEY (workspace_id, audio_id));
create table public.gateway_channels (workspace_id uuid, config_id uuid, channel text, external_id text, template_id uuid, name text, enabled boolean, credentials bytea, credentials_set text[] default '{}'::text[], problem text, created_by uuid, created_at timestamp with time zone default now(), updated_at timestamp with time zone default now(), changed_by uuid, constraint gateway_channels_channel_check CHECK ((channel = ANY (ARRAY['slack'::text, 'telegram'::text, 'whatsapp'::text, 'discord'::text, 'email'::text, 'webhook'::text]))), constraint gateway_channels_workspace_id_not_null NOT NULL workspace_id, constraint gateway_channels_config_id_not_null NOT NULL config_id, constraint gateway_channels_channel_not_null NOT NULL channel, constraint gateway_channels_external_id_not_null NOT NULL external_id, constraint gateway_channels_enabled_not_null NOT NULL enabled, constraint gateway_channels_credentials_set_not_null NOT NULL credentials_set, constraint gateway_channels_created_at_not_null NOT NULL created_at, constraint gateway_channels_updated_at_not_null NOT NULL updated_at, constraint gateway_channels_pkey PRIMARY KEY (workspace_id, config_id), constraint gateway_channels_config_id_key UNIQUE (config_id), constraint gateway_channels_workspace_id_channel_external_id_key UNIQUE (workspace_id, channel, external_id), constraint gateway_channels_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES public.workspaces(workspace_id) ON DELETE CASCADE, constraint gateway_channels_created_by_fkey FOREIGN KEY (created_by) REFERENCES public.users(user_id) ON DELETE SET NULL, constraint gateway_channels_workspace_id_template_id_fkey FOREIGN KEY (workspace_id, template_id) REFERENCES public.templates(workspace_id, template_id) ON DELETE SET NULL (template_id), constraint gateway_channels_changed_by_fkey FOREIGN KEY (changed_by) REFERENCES public.users(user_id) ON DELETE SET NULL);
create table public.channel_deliveries (workspace_id uuid, config_id uuid, receipt_id uuid, delivery_sha256 bytea, conversation text, sender jsonb, address jsonb, text text, state text default 'waiting'::text, attempts integer default 0, not_before timestamp with time zone default now(), received_at timestamp with time zone default now(), files jsonb default '[]'::jsonb, constraint channel_deliveries_state_check CHECK ((state = ANY (ARRAY['waiting'::text, 'taken'::text, 'parked'::text]))), constraint channel_deliveries_workspace_id_not_null NOT NULL workspace_id, constraint channel_deliveries_config_id_not_null NOT NULL config_id, constraint channel_deliveries_receipt_id_not_null NOT NULL receipt_id, constraint channel_deliveries_delivery_sha256_not_null NOT NULL delivery_sha256, constraint channel_deliveries_conversation_not_null NOT NULL conversation, constraint channel_deliveries_sender_not_null NOT NULL sender, constraint channel_deliveries_address_not_null NOT NULL address, constraint channel_deliveries_state_not_null NOT NULL state, constraint channel_deliveries_attempts_not_null NOT NULL attempts, constraint channel_deliveries_not_before_not_null NOT NULL not_before, constraint channel_deliveries_received_at_not_null NOT NULL received_at, constraint channel_deliveries_pkey PRIMARY KEY (workspace_id, receipt_id), constraint channel_deliveries_workspace_id_config_id_delivery_sha256_key UNIQUE (workspace_id, config_id, delivery_sha256), constraint channel_deliveries_files_not_null NOT NULL files, constraint channel_deliveries_workspace_id_config_id_fkey FOREIGN KEY (workspace_id, config_id) REFERENCES public.gateway_channels(workspace_id, config_id) ON DELETE CASCADE);
create table public.channel_addresses (workspace_id uuid, thread_id uuid, config_id uuid, address jsonb, constraint channel_addresses_workspace_id_not_null NOT NULL workspace_id, constraint channel_addresses_thread_id_not_null NOT NULL thread_id, constraint channel_addresses_config_id_not_null NOT NULL config_id, constraint channel_addresses_address_not_null NOT NULL address, constraint channel_addresses_pkey PRIMARY KEY (workspace_id, thread_id), constraint channel_addresses_workspace_id_thread_id_fkey FOREIGN KEY (workspace_id, thread_id) REFERENCES public.threads(workspace_id, thread_id) ON DELETE CASCADE, constraint channel_addresses_workspace_id_config_id_fkey FOREIGN KEY (workspace_id, config_id) REFERENCES public.gateway_channels(workspace_id, config_id) ON DELETE CASCADE);
create table public.channel_sends (workspace_id uuid, send_id uuid, config_id uuid, lane text, dedupe_key text, address jsonb, text text, state text default 'waiting'::text, attempts integer default 0, not_before timestamp with time zone default now(), problem text, created_at timestamp with time zone default now(), settled_at timestamp with time zone, constraint channel_sends_state_check CHECK ((state = ANY (ARRAY['waiting'::text, 'sent'::text, 'parked'::text]))), constraint channel_sends_workspace_id_not_null NOT NULL workspace_id, constraint channel_sends_send_id_not_null NOT NULL send_id, constraint channel_sends_config_id_not_null NOT NULL config_id, constraint channel_sends_lane_not_null NOT NULL lane, constraint channel_sends_dedupe_key_not_null NOT NULL dedupe_key, constraint channel_sends_address_not_null NOT NULL address, constraint channel_sends_text_not_null NOT NULL text, constraint channel_sends_state_not_null NOT NULL state, constraint channel_sends_attempts_not_null NOT NULL attempts, constraint channel_sends_not_before_not_null NOT NULL not_before, constraint channel_sends_created_at_not_null NOT NULL created_at, constraint channel_sends_pkey PRIMARY KEY (workspace_id, send_id), constraint channel_sends_workspace_id_config_id_dedupe_key_key UNIQUE (workspace_id, config_id, dedupe_key), constraint channel_sends_workspace_id_config_id_fkey FOREIGN KEY (workspace_id, config_id) REFERENCES public.gateway_channels(workspace_id, config_id) ON DELETE CASCADE);
create table public.plans (plan_id uuid, org_id uuid, name text, amount integer, currency text, "interval" text, quotas jsonb default '{}'::jsonb, features jsonb default '[]'::jsonb, trial_days integer default 0, created_at timestamp with time zone default now(), updated_at timestamp with time zone default now(), archived_at timestamp with time zone, usage_prices jsonb default '[]'::jsonb, tax jsonb, coupons jsonb default '[]'::jsonb, constraint plans_amount_check CHECK (((amount >= 0) AND (amount <= 99999999))), constraint plans_currency_check CHECK ((currency ~ '^[a-z]{3}$'::text)), constraint plans_interval_check CHECK (("interval" = ANY (ARRAY['month'::text, 'year'::text]))), constraint plans_trial_days_check CHECK (((trial_days >= 0) AND (trial_days <= 730))), constraint plans_plan_id_not_null NOT NULL plan_id, constraint plans_org_id_not_null NOT NULL org_id, constraint plans_name_not_null NOT NULL name, constraint plans_amount_not_null NOT NULL amount, constraint plans_currency_not_null NOT NULL currency, constraint plans_interval_not_null NOT NULL "interval", constraint plans_quotas_not_null NOT NULL quotas, constraint plans_features_not_null NOT NULL features, constraint plans_trial_days_not_null NOT NULL trial_days, constraint plans_created_at_not_null NOT NULL created_at, constraint plans_updated_at_not_null NOT NULL updated_at, constraint plans_pkey PRIMARY KEY (plan_id), constraint plans_usage_prices_not_null NOT NULL usage_prices, constraint plans_coupons_not_null NOT NULL coupons, constraint plans_org_id_fkey FOREIGN KEY (org_id) REFERENCES public.orgs(org_id));
create table public.billing_customers (workspace_id uuid, provider text, customer_id uuid, provider_ref text, trial_used boolean default false, credit jsonb default '{}'::jsonb, invoice_prefix text, invoices_issued integer default 0, clock_ahead_s bigint default 0, lease text, leased_until timestamp with time zone, attempt integer default 0, attempt_request text, attempt_at timestamp with time zone, reads_begun bigint default 0, read_applied bigint default 0, synced_at timestamp with time zone, created_at timestamp with time zone default now(), constraint billing_customers_provider_check CHECK ((provider = ANY (ARRAY['builtin'::text, 'stripe'::text]))), constraint billing_customers_clock_ahead_s_check CHECK ((clock_ahead_s >= 0)), constraint billing_customers_workspace_id_not_null NOT NULL workspace_id, constraint billing_customers_provider_not_null NOT NULL provider, constraint billing_customers_customer_id_not_null NOT NULL customer_id, constraint billing_customers_trial_used_not_null NOT NULL trial_used, constraint billing_customers_credit_not_null NOT NULL credit, constraint billing_customers_invoice_prefix_not_null NOT NULL invoice_prefix, constraint billing_customers_invoices_issued_not_null NOT NULL invoices_issued, constraint billing_customers_clock_ahead_s_not_null NOT NULL clock_ahead_s, constraint billing_customers_attempt_not_null NOT NULL attempt, constraint billing_customers_reads_begun_not_null NOT NULL reads_begun, constraint billing_customers_read_applied_not_null NOT NULL read_applied, constraint billing_customers_created_at_not_null NOT NULL created_at, constraint billing_customers_pkey PRIMARY KEY (workspace_id, provider), constraint billing_customers_customer_id_key UNIQUE (customer_id), constraint billing_customers_provider_provider_ref_key UNIQUE (provider, provider_ref), constraint billing_customers_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES public.workspaces(workspace_id) ON DELETE CASCADE);
create table public.setup_intents (workspace_id uuid, setup_intent_id uuid, provider text, provider_ref text, status text default 'requires_payment_method'::text, card jsonb, payment_method_id uuid, request_key text, created_at timestamp with time zone default now(), constraint setup_intents_status_check CHECK ((status = ANY (ARRAY['requires_payment_method'::text, 'requires_action'::text, 'succeeded'::text]))), constraint setup_intents_workspace_id_not_null NOT NULL workspace_id, constraint setup_intents_setup_intent_id_not_null NOT NULL setup_intent_id, constraint setup_intents_provider_not_null NOT NULL provider, constraint setup_intents_status_not_null NOT NULL status, constraint setup_intents_request_key_not_null NOT NULL request_key, constraint setup_intents_created_at_not_null NOT NULL created_at, constraint setup_intents_pkey PRIMARY KEY (workspace_id, setup_intent_id), constraint setup_intents_workspace_id_request_key_key UNIQUE (workspace_id, request_key), constraint setup_intents_workspace_id_provider_fkey FOREIGN KEY (workspace_id, provider) REFERENCES public.billing_customers(workspace_id, provider) ON DELETE CASCADE);
create table public.payment_methods (workspace_id uuid, payment_method_id uuid, provider text, provider_ref text, brand text, last4 text, exp_month integer, exp_year integer, is_default boolean default false, charge text default 'pays'::text, created_at timestamp with time zone default now(), constraint payment_methods_charge_check CHECK ((charge = ANY (ARRAY['pays'::text, 'declines'::text]))), constraint payment_methods_workspace_id_not_null NOT NULL workspace_id, constraint payment_methods_payment_method_id_not_null NOT NULL payment_method_id, constraint payment_methods_provider_not_null NOT NULL provider, constraint payment_methods_provider_ref_not_null NOT NULL provider_ref, constraint payment_methods_brand_not_null NOT NULL brand, constraint payment_methods_last4_not_null NOT NULL last4, constraint payment_methods_exp_month_not_null NOT NULL exp_month, constraint payment_methods_exp_year_not_null NOT NULL exp_year, constraint payment_methods_is_default_not_null NOT NULL is_default, constraint payment_methods_charge_not_null NOT NULL charge, constraint payment_methods_created_at_not_null NOT NULL created_at, constraint payment_methods_pkey PRIMARY KEY (workspace_id, payment_method_id), constraint payment_methods_provider_provider_ref_key UNIQUE (provider, provider_ref), constraint payment_methods_workspace_id_provider_fkey FOREIGN KEY (workspace_id, provider) REFERENCES public.billing_customers(workspace_id, provider) ON DELETE CASCADE);
create table public.billing_subscriptions (workspace_id uuid, subscription_id uuid, provider text, provider_ref text, plan_id uuid, status text, anchor_at timestamp with time zone, current_period_start timestamp with time zone, current_period_end timestamp with time zone, cancel_at_period_end boolean default false, first_failed_at timestamp with time zone, next_attempt_at timestamp with time zone, request_key text, created_at timestamp with time zone default now(), ended_at timestamp with time zone, discount jsonb, constraint billing_subscriptions_status_check CHECK ((status = ANY (ARRAY['trialing'::text, 'active'::text, 'past_due'::text, 'cancelled'::text]))), constraint billing_subscriptions_check CHECK ((current_period_end > current_period_start)), constraint billing_subscriptions_workspace_id_not_null NOT NULL workspace_id, constraint billing_subscriptions_subscription_id_not_null NOT NULL subscription_id, constraint billing_subscriptions_provider_not_null NOT NULL provider, constraint billing_subscriptions_provider_ref_not_null NOT NULL provider_ref, constraint billing_subscriptions_plan_id_not_null NOT NULL plan_id, constraint billing_subscriptions_status_not_null NOT NULL status, constraint billing_subscriptions_anchor_at_not_null NOT NULL anchor_at, constraint billing_subscriptions_current_period_start_not_null NOT NULL current_period_start, constraint billing_subscriptions_current_period_end_not_null NOT NULL current_period_end, constraint billing_subscriptions_cancel_at_period_end_not_null NOT NULL cancel_at_period_end, constraint billing_subscriptions_created_at_not_null NOT NULL created_at, constraint billing_subscriptions_pkey PRIMARY KEY (workspace_id, subscription_id), constraint billing_subscriptions_provider_provider_ref_key UNIQUE (provider, provider_ref), constraint billing_subscriptions_plan_id_fkey FOREIGN KEY (plan_id) REFERENCES public.plans(plan_id), constraint billing_subscriptions_workspace_id_provider_fkey FOREIGN KEY (workspace_id, provider) REFERENCES public.billing_customers(workspace_id, provider) ON DELETE CASCADE);
create table public.invoices (workspace_id uuid, invoice_id uuid, provider text, provider_ref text, subscription_id uuid, number text, status text, amount_due integer, amount_paid integer default 0, currency text, lines jsonb, period_start timestamp with time zone, period_end timestamp with time zone, attempts integer default 0, hosted_url text, created_at timestamp with time zone default now(), pdf_url text, constraint invoices_status_check CHECK ((status = ANY (ARRAY['draft'::text, 'open'::text, 'paid'::text, 'void'::text, 'uncollectible'::text]))), constraint invoices_amount_due_check CHECK ((amount_due >= 0)), constraint invoices_amount_paid_check CHECK ((amount_paid >= 0)), constraint invoices_workspace_id_not_null NOT NULL workspace_id, constraint invoices_invoice_id_not_null NOT NULL invoice_id, constraint invoices_provider_not_null NOT NULL provider, constraint invoices_provider_ref_not_null NOT NULL provider_ref, constraint invoices_status_not_null NOT NULL status, constraint invoices_amount_due_not_null NOT NULL amount_due, constraint invoices_amount_paid_not_null NOT NULL amount_paid, constraint invoices_currency_not_null NOT NULL currency, constraint invoices_lines_not_null NOT NULL lines, constraint invoices_period_start_not_null NOT NULL period_start, constraint invoices_period_end_not_null NOT NULL period_end, constraint invoices_attempts_not_null NOT NULL attempts, constraint invoices_created_at_not_null NOT NULL created_at, constraint invoices_pkey PRIMARY KEY (workspace_id, invoice_id), constraint invoices_provider_provider_ref_key UNIQUE (provider, provider_ref), constraint invoices_workspace_id_provider_number_key UNIQUE (workspace_id, provider, number), constraint invoices_workspace_id_provider_fkey FOREIGN KEY (workspace_id, provider) REFERENCES public.billing_customers(workspace_id, provider) ON DELETE CASCADE, constraint invoices_workspace_id_subscription_id_fkey FOREIGN KEY (workspace_id, subscription_id) REFERENCES public.billing_subscriptions(workspace_id, subscription_id));
create table public.usage_counters (workspace_id uuid, quota text, period text, used bigint default 0, constraint usage_counters_workspace_id_not_null NOT NULL workspace_id, constraint usage_counters_quota_not_null NOT NULL quota, constraint usage_counters_period_not_null NOT NULL period, constraint usage_counters_used_not_null NOT NULL used, constraint usage_counters_pkey PRIMARY KEY (workspace_id, quota, period), constraint usage_counters_quota_check CHECK ((quota = ANY (ARRAY['runs_per_month'::text, 'storage_bytes'::text, 'records'::text, 'mails_per_minute'::text, 'outside_recipients_per_day'::text, 'model_tokens_per_minute'::text, 'model_tokens_per_month'::text, 'speech_characters_per_minute'::text, 'transcription_s_per_minute'::text, 'outgoing_requests_per_minute'::text, 'cpu_ms_per_minute'::text]))), constraint usage_counters_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES public.workspaces(workspace_id) ON DELETE CASCADE);
create table public.billing_events (provider text, event_id text, received_at timestamp with time zone default now(), constraint billing_events_provider_not_null NOT NULL provider, constraint billing_events_event_id_not_null NOT NULL event_id, constraint billing_events_received_at_not_null NOT NULL received_at, constraint billing_events_pkey PRIMARY KEY (provider, event_id));
create table public.billing_orphans (provider text, provider_ref text, constraint billing_orphans_provider_not_null NOT NULL provider, constraint billing_orphans_provider_ref_not_null NOT NULL provider_ref, constraint billing_orphans_pkey PRIMARY KEY (provider, provider_ref));
create table public.clock_marks (name text, latest timestamp with time zone, constraint clock_marks_name_not_null NOT NULL name, constraint clock_marks_latest_not_null NOT NULL latest, constraint clock_marks_pkey PRIMARY KEY (name));
create table public.wait_checks (workspace_id uuid, execution_id uuid, noted_at timestamp with time zone default now(), check_at timestamp with time zone default (now() + '00:00:20'::interval), constraint wait_checks_workspace_id_not_null NOT NULL workspace_id, constraint wait_checks_execution_id_not_null NOT NULL execution_id, constraint wait_checks_noted_at_not_null NOT NULL noted_at, constraint wait_checks_check_at_not_null NOT NULL check_at, constraint wait_checks_pkey PRIMARY KEY (workspace_id, execution_id)) with (fillfactor=50);
create table public.platform_waits (workspace_id uuid, execution_id uuid, node_path text, epoch integer, since timestamp with time zone, until timestamp with time zone, error text, constraint platform_waits_workspace_id_not_null NOT NULL workspace_id, constraint platform_waits_execution_id_not_null NOT NULL execution_id, constraint platform_waits_node_path_not_null NOT NULL node_path, constraint platform_waits_epoch_not_null NOT NULL epoch, constraint platform_waits_since_not_null NOT NULL since, constraint platform_waits_until_not_null NOT NULL until, constraint platform_waits_error_not_null NOT NULL error, constraint platform_waits_pkey PRIMARY KEY (workspace_id, execution_id, node_path));
create table public.executions (execution_id uuid, workspace_id uuid, workflow_id uuid, system_slug text, version_id uuid, definition_ref text, status text, input json, results json, results_blob json, error json, waiting_for jsonb default '[]'::jsonb, trigger_kind text, trigger_id text, started_by uuid, retry_of uuid, parent_execution_id uuid, parent_node text, created_at timestamp with time zone default now(), started_at timestamp with time zone, finished_at timestamp with time zone, timeout_s double precision, max_concurrency integer, due_at timestamp with time zone, worker_id uuid, epoch integer default 0, inbox integer default 0, seen integer default 0, snapshot json, snapshot_seq integer default 0, crashes integer default 0, tell_end boolean default false, depth smallint default 0, principal_id uuid, initiated_by json, held boolean, place uuid, stage text, gate uuid, queue_at timestamp with time zone, flow json, priority smallint, tags text[], metadata json, scheduled_at timestamp with time zone, schedule_id uuid, traceparent text, constraint executions_crashes_not_null NOT NULL crashes, constraint executions_created_at_not_null NOT NULL created_at, constraint executions_definition_ref_not_null NOT NULL definition_ref, constraint executions_depth_not_null NOT NULL depth, constraint executions_epoch_not_null NOT NULL epoch, constraint executions_execution_id_not_null NOT NULL execution_id, constraint executions_inbox_not_null NOT NULL inbox, constraint executions_seen_not_null NOT NULL seen, constraint executions_snapshot_seq_not_null NOT NULL snapshot_seq, constraint executions_status_not_null NOT NULL status, constraint executions_tell_end_not_null NOT NULL tell_end, constraint executions_trigger_kind_not_null NOT NULL trigger_kind, constraint executions_waiting_for_not_null NOT NULL waiting_for, constraint executions_workspace_id_not_null NOT NULL workspace_id, constraint executions_check CHECK (((status = 'running'::text) = (worker_id IS NOT NULL))), constraint executions_check1 CHECK (((status = 'waiting'::text) OR (waiting_for = '[]'::jsonb))), constraint executions_status_check CHECK ((status = ANY (ARRAY['queued'::text, 'running'::text, 'waiting'::text, 'succeeded'::text, 'failed'::text, 'cancelled'::text, 'timed_out'::text]))), constraint executions_pkey PRIMARY KEY (workspace_id, execution_id)) partition by RANGE (execution_id);
create table public.executions_default partition of public.executions DEFAULT with (fillfactor=80, autovacuum_vacuum_scale_factor=0.02);
create table public.kept_weeks (start_at timestamp with time zone, constraint kept_weeks_start_at_not_null NOT NULL start_at, constraint kept_weeks_pkey PRIMARY KEY (start_at));
create table public.workflow_transfers (workspace_id uuid, workflow_id uuid, from_user uuid, to_user uuid, created_at timestamp with time zone default now(), constraint workflow_transfers_workspace_id_not_null NOT NULL workspace_id, constraint workflow_transfers_workflow_id_not_null NOT NULL workflow_id, constraint workflow_transfers_from_user_not_null NOT NULL from_user, constraint workflow_transfers_to_user_not_null NOT NULL to_user, constraint workflow_transfers_created_at_not_null NOT NULL created_at, constraint workflow_transfers_pkey PRIMARY KEY (workspace_id, workflow_id), constraint workflow_transfers_workspace_id_workflow_id_fkey FOREIGN KEY (workspace_id, workflow_id) REFERENCES public.workflows(workspace_id, workflow_id) ON DELETE CASCADE, constraint workflow_transfers_workspace_id_from_user_fkey FOREIGN KEY (workspace_id, from_user) REFERENCES public.memberships(workspace_id, user_id) ON DELETE CASCADE, constraint workflow_transfers_workspace_id_to_user_fkey FOREIGN KEY (workspace_id, to_user) REFERENCES public.memberships(workspace_id, user_id) ON DELETE CASCADE);
create table public.pending_sign_ups (token_hash bytea, org_id uuid, email text, name text, password_hash text, workspace_name text, created_at timestamp with time zone default now(), expires_at timestamp with time zone, constraint pending_sign_ups_email_check CHECK ((email = lower(email))), constraint pending_sign_ups_token_hash_not_null NOT NULL token_hash, constraint pending_sign_ups_org_id_not_null NOT NULL org_id, constraint pending_sign_ups_email_not_null NOT NULL email, constraint pending_sign_ups_name_not_null NOT NULL name, constraint pending_sign_ups_password_hash_not_null NOT NULL password_hash, constraint pending_sign_ups_created_at_not_null NOT NULL created_at, constraint pending_sign_ups_expires_at_not_null NOT NULL expires_at, constraint pending_sign_ups_pkey PRIMARY KEY (token_hash), constraint pending_sign_ups_org_id_fkey FOREIGN KEY (org_id) REFERENCES public.orgs(org_id) ON DELETE CASCADE);
create table public.account_tokens (token_hash bytea, user_id uuid, kind text, created_at timestamp with time zone default now(), expires_at timestamp with time zone, constraint account_tokens_kind_check CHECK ((kind = ANY (ARRAY['verify_email'::text, 'reset_password'::text]))), constraint account_tokens_token_hash_not_null NOT NULL token_hash, constraint account_tokens_user_id_not_null NOT NULL user_id, constraint account_tokens_kind_not_null NOT NULL kind, constraint account_tokens_created_at_not_null NOT NULL created_at, constraint account_tokens_expires_at_not_null NOT NULL expires_at, constraint account_tokens_pkey PRIMARY KEY (token_hash), constraint account_tokens_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.users(user_id) ON DELETE CASCADE);
create table public.account_mails (recipient_hash bytea, caller_hash bytea, at timestamp with time zone default now(), constraint account_mails_recipient_hash_not_null NOT NULL recipient_hash, constraint account_mails_caller_hash_not_null NOT NULL caller_hash, constraint account_mails_at_not_null NOT NULL at);
create table public.totp_factors (user_id uuid, secret bytea, last_step bigint default 0, created_at timestamp with time zone default now(), confirmed_at timestamp with time zone, constraint totp_factors_user_id_not_null NOT NULL user_id, constraint totp_factors_secret_not_null NOT NULL secret, constraint totp_factors_last_step_not_null NOT NULL last_step, constraint totp_factors_created_at_not_null NOT NULL created_at, constraint totp_factors_pkey PRIMARY KEY (user_id), constraint totp_factors_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.users(user_id) ON DELETE CASCADE);
create table public.passkeys (passkey_id uuid, user_id uuid, credential_id text, public_key bytea, counter bigint default 0, transports text[] default '{}'::text[], name text, created_at timestamp with time zone default now(), last_used_at timestamp with time zone, constraint passkeys_passkey_id_not_null NOT NULL passkey_id, constraint passkeys_user_id_not_null NOT NULL user_id, constraint passkeys_credential_id_not_null NOT NULL credential_id, constraint passkeys_public_key_not_null NOT NULL public_key, constraint passkeys_counter_not_null NOT NULL counter, constraint passkeys_transports_not_null NOT NULL transports, constraint passkeys_name_not_null NOT NULL name, constraint passkeys_created_at_not_null NOT NULL created_at, constraint passkeys_pkey PRIMARY KEY (passkey_id), constraint passkeys_credential_id_key UNIQUE (credential_id), constraint passkeys_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.users(user_id) ON DELETE CASCADE);
create table public.recovery_codes (user_id uuid, code_hash bytea, used_at timestamp with time zone, constraint recovery_codes_user_id_not_null NOT NULL user_id, constraint recovery_codes_code_hash_not_null NOT NULL code_hash, constraint recovery_codes_pkey PRIMARY KEY (user_id, code_hash), constraint recovery_codes_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.users(user_id) ON DELETE CASCADE);
create table public.factor_challenges (token_hash bytea, user_id uuid, kind text, passkey_challenge text, failures integer default 0, expires_at timestamp with time zone, constraint factor_challenges_token_hash_not_null NOT NULL token_hash, constraint factor_challenges_user_id_not_null NOT NULL user_id, constraint factor_challenges_kind_not_null NOT NULL kind, constraint factor_challenges_failures_not_null NOT NULL failures, constraint factor_challenges_expires_at_not_null NOT NULL expires_at, constraint factor_challenges_pkey PRIMARY KEY (token_hash), constraint factor_challenges_kind_check CHECK ((kind = ANY (ARRAY['sign_in'::text, 'add_passkey'::text, 'spent'::text]))), constraint factor_challenges_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.users(user_id) ON DELETE CASCADE);
create table public.workspace_trust (workspace_id uuid, trusted_by uuid, trusted_at timestamp with time zone default now(), constraint workspace_trust_workspace_id_not_null NOT NULL workspace_id, constraint workspace_trust_trusted_at_not_null NOT NULL trusted_at, constraint workspace_trust_pkey PRIMARY KEY (workspace_id), constraint workspace_trust_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES public.workspaces(workspace_id) ON DELETE CASCADE, constraint workspace_trust_trusted_by_fkey FOREIGN KEY (trusted_by) REFERENCES public.users(user_id) ON DELETE SET NULL);
create table public.team_shares (workspace_id uuid, team_id uuid, workflow_id uuid, template_id uuid, job_id uuid, role text, constraint team_shares_check CHECK ((num_nonnulls(workflow_id, template_id, job_id) = 1)), constraint team_shares_check1 CHECK (
CASE
    WHEN (workflow_id IS NOT NULL) THEN (role = ANY (ARRAY['editor'::text, 'member'::text, 'viewer'::text]))
    WHEN (template_id IS NOT NULL) THEN (role = 'editor'::text)
    ELSE (role = ANY (ARRAY['member'::text, 'viewer'::text]))
END), constraint team_shares_workspace_id_not_null NOT NULL workspace_id, constraint team_shares_team_id_not_null NOT NULL team_id, constraint team_shares_role_not_null NOT NULL role, constraint team_shares_workspace_id_workflow_id_template_id_job_id_tea_key UNIQUE NULLS NOT DISTINCT (workspace_id, workflow_id, template_id, job_id, team_id), constraint team_shares_workspace_id_team_id_fkey FOREIGN KEY (workspace_id, team_id) REFERENCES public.teams(workspace_id, team_id) ON DELETE CASCADE, constraint team_shares_workspace_id_workflow_id_fkey FOREIGN KEY (workspace_id, workflow_id) REFERENCES public.workflows(workspace_id, workflow_id) ON DELETE CASCADE, constraint team_shares_workspace_id_template_id_fkey FOREIGN KEY (workspace_id, template_id) REFERENCES public.templates(workspace_id, template_id) ON DELETE CASCADE, constraint team_shares_workspace_id_job_id_fkey FOREIGN KEY (workspace_id, job_id) REFERENCES public.enrichment_jobs(workspace_id, job_id) ON DELETE CASCADE);
create table public.credentials (workspace_id uuid, credential_id uuid, name text, kind text, service text, hosts text[], config jsonb default '{}'::jsonb, state text, problem text, owner_id uuid, secrets bytea, tokens bytea, token_version integer default 0, token_expires_at timestamp with time zone, refresh_lease uuid, refresh_lease_until timestamp with time zone, expires_at timestamp with time zone, last_used_at timestamp with time zone, last_test jsonb, created_at timestamp with time zone default now(), updated_at timestamp with time zone default now(), renewed_at timestamp with time zone, renew_before_s integer default 60, constraint credentials_hosts_check CHECK ((cardinality(hosts) > 0)), constraint credentials_state_check CHECK ((state = ANY (ARRAY['ready'::text, 'needs_authorization'::text, 'needs_reconnect'::text, 'revoked'::text]))), constraint credentials_check CHECK (((state = 'revoked'::text) = (secrets IS NULL))), constraint credentials_workspace_id_not_null NOT NULL workspace_id, constraint credentials_credential_id_not_null NOT NULL credential_id, constraint credentials_name_not_null NOT NULL name, constraint credentials_kind_not_null NOT NULL kind, constraint credentials_hosts_not_null NOT NULL hosts, constraint credentials_config_not_null NOT NULL config, constraint credentials_state_not_null NOT NULL state, constraint credentials_token_version_not_null NOT NULL token_version, constraint credentials_created_at_not_null NOT NULL created_at, constraint credentials_updated_at_not_null NOT NULL updated_at, constraint credentials_pkey PRIMARY KEY (workspace_id, credential_id), constraint credentials_credential_id_key UNIQUE (credential_id), constraint credentials_kind_check CHECK ((kind = ANY (ARRAY['bearer'::text, 'header'::text, 'query'::text, 'basic'::text, 'oauth2_client'::text, 'oauth2_code'::text, 'aws_sigv4'::text, 'tls_client'::text, 'llm'::text, 'service'::text, 'piece'::text]))), constraint credentials_renew_before_s_not_null NOT NULL renew_before_s, constraint credentials_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES public.workspaces(workspace_id) ON DELETE CASCADE, constraint credentials_owner_id_fkey FOREIGN KEY (owner_id) REFERENCES public.users(user_id) ON DELETE SET NULL);
create table public.credential_shares (workspace_id uuid, credential_id uuid, kind text, user_id uuid, team_id uuid, role text, constraint credential_shares_kind_check CHECK ((kind = ANY (ARRAY['user'::text, 'team'::text, 'workspace'::text]))), constraint credential_shares_role_check CHECK ((role = ANY (ARRAY['use'::text, 'edit'::text]))), constraint credential_shares_check CHECK (((kind = 'user'::text) = (user_id IS NOT NULL))), constraint credential_shares_check1 CHECK (((kind = 'team'::text) = (team_id IS NOT NULL))), constraint credential_shares_workspace_id_not_null NOT NULL workspace_id, constraint credential_shares_credential_id_not_null NOT NULL credential_id, constraint credential_shares_kind_not_null NOT NULL kind, constraint credential_shares_role_not_null NOT NULL role, constraint credential_shares_workspace_id_credential_id_kind_user_id_t_key UNIQUE NULLS NOT DISTINCT (workspace_id, credential_id, kind, user_id, team_id), constraint credential_shares_workspace_id_credential_id_fkey FOREIGN KEY (workspace_id, credential_id) REFERENCES public.credentials(workspace_id, credential_id) ON DELETE CASCADE, constraint credential_shares_workspace_id_user_id_fkey FOREIGN KEY (workspace_id, user_id) REFERENCES public.memberships(workspace_id, user_id) ON DELETE CASCADE, constraint credential_shares_workspace_id_team_id_fkey FOREIGN KEY (workspace_id, team_id) REFERENCES public.teams(workspace_id, team_id) ON DELETE CASCADE);
create table public.credential_authorizations (state_hash bytea, workspace_id uuid, credential_id uuid, session_id uuid, user_id uuid, verifier bytea, redirect_uri text, expires_at timestamp with time zone, constraint credential_authorizations_state_hash_not_null NOT NULL state_hash, constraint credential_authorizations_workspace_id_not_null NOT NULL workspace_id, constraint credential_authorizations_credential_id_not_null NOT NULL credential_id, constraint credential_authorizations_session_id_not_null NOT NULL session_id, constraint credential_authorizations_user_id_not_null NOT NULL user_id, constraint credential_authorizations_verifier_not_null NOT NULL verifier, constraint credential_authorizations_redirect_uri_not_null NOT NULL redirect_uri, constraint credential_authorizations_expires_at_not_null NOT NULL expires_at, constraint credential_authorizations_pkey PRIMARY KEY (state_hash), constraint credential_authorizations_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.users(user_id) ON DELETE CASCADE, constraint credential_authorizations_workspace_id_credential_id_fkey FOREIGN KEY (workspace_id, credential_id) REFERENCES public.credentials(workspace_id, credential_id) ON DELETE CASCADE);
create table public.workspace_models (workspace_id uuid, credential_id uuid, fallback_credential_id uuid, set_by uuid, updated_at timestamp with time zone default now(), constraint workspace_models_workspace_id_not_null NOT NULL workspace_id, constraint workspace_models_updated_at_not_null NOT NULL updated_at, constraint workspace_models_pkey PRIMARY KEY (workspace_id), constraint workspace_models_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES public.workspaces(workspace_id) ON DELETE CASCADE, constraint workspace_models_set_by_fkey FOREIGN KEY (set_by) REFERENCES public.users(user_id) ON DELETE SET NULL, constraint workspace_models_workspace_id_credential_id_fkey FOREIGN KEY (workspace_id, credential_id) REFERENCES public.credentials(workspace_id, credential_id) ON DELETE SET NULL (credential_id), constraint workspace_models_workspace_id_fallback_credential_id_fkey FOREIGN KEY (workspace_id, fallback_credential_id) REFERENCES public.credentials(workspace_id, credential_id) ON DELETE SET NULL (fallback_credential_id));
create table public.variables (workspace_id uuid, name text, value jsonb, description text, created_by uuid, updated_by uuid, created_at timestamp with time zone default now(), updated_at timestamp with time zone default now(), constraint variables_name_check CHECK ((name ~ '^[A-Za-z_][A-Za-z0-9_]{0,63}$'::text)), constraint variables_workspace_id_not_null NOT NULL workspace_id, constraint variables_name_not_null NOT NULL name, constraint variables_value_not_null NOT NULL value, constraint variables_created_at_not_null NOT NULL created_at, constraint variables_updated_at_not_null NOT NULL updated_at, constraint variables_pkey PRIMARY KEY (workspace_id, name), constraint variables_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES public.workspaces(workspace_id) ON DELETE CASCADE, constraint variables_created_by_fkey FOREIGN KEY (created_by) REFERENCES public.users(user_id) ON DELETE SET NULL, constraint variables_updated_by_fkey FOREIGN KEY (updated_by) REFERENCES public.users(user_id) ON DELETE SET NULL);
create table public.key_holders (process_id uuid, keys text[], current text, configured text, source text, seen_at timestamp with time zone default now(), constraint key_holders_source_check CHECK ((source = ANY (ARRAY['file'::text, 'environment'::text]))), constraint key_holders_process_id_not_null NOT NULL process_id, constraint key_holders_keys_not_null NOT NULL keys, constraint key_holders_current_not_null NOT NULL current, constraint key_holders_configured_not_null NOT NULL configured, constraint key_holders_source_not_null NOT NULL source, constraint key_holders_seen_at_not_null NOT NULL seen_at, constraint key_holders_pkey PRIMARY KEY (process_id));
create table public.webhook_deliveries (workspace_id uuid, delivery_id uuid, token_id uuid, received_at timestamp with time zone, method text, status smallint, code text, reason text, content_type text, bytes integer, headers jsonb, execution_id uuid, constraint webhook_deliveries_workspace_id_not_null NOT NULL workspace_id, constraint webhook_deliveries_delivery_id_not_null NOT NULL delivery_id, constraint webhook_deliveries_token_id_not_null NOT NULL token_id, constraint webhook_deliveries_received_at_not_null NOT NULL received_at, constraint webhook_deliveries_method_not_null NOT NULL method, constraint webhook_deliveries_status_not_null NOT NULL status, constraint webhook_deliveries_bytes_not_null NOT NULL bytes, constraint webhook_deliveries_headers_not_null NOT NULL headers, constraint webhook_deliveries_pkey PRIMARY KEY (workspace_id, delivery_id), constraint webhook_deliveries_workspace_id_token_id_fkey FOREIGN KEY (workspace_id, token_id) REFERENCES public.webhook_tokens(workspace_id, token_id) ON DELETE CASCADE);
create table public.webhook_seen (workspace_id uuid, token_id uuid, key_hash bytea, start_key uuid, seen_at timestamp with time zone default now(), constraint webhook_seen_workspace_id_not_null NOT NULL workspace_id, constraint webhook_seen_token_id_not_null NOT NULL token_id, constraint webhook_seen_key_hash_not_null NOT NULL key_hash, constraint webhook_seen_start_key_not_null NOT NULL start_key, constraint webhook_seen_seen_at_not_null NOT NULL seen_at, constraint webhook_seen_pkey PRIMARY KEY (workspace_id, token_id, key_hash), constraint webhook_seen_workspace_id_token_id_fkey FOREIGN KEY (workspace_id, token_id) REFERENCES public.webhook_tokens(workspace_id, token_id) ON DELETE CASCADE);
create table public.event_waits (workspace_id uuid, wait_id uuid, execution_id uuid, workflow_id uuid, node_path text, node_id text, key text, callback_hash bytea, schema json, status text default 'open'::text, on_due text default 'fail'::text, event_id uuid, output json, awaited_at timestamp with time zone default now(), due_at timestamp with time zone, ended_at timestamp with time zone, constraint event_waits_status_check CHECK ((status = ANY (ARRAY['open'::text, 'received'::text, 'expired'::text, 'cancelled'::text]))), constraint event_waits_on_due_check CHECK ((on_due = ANY (ARRAY['fail'::text, 'continue'::text]))), constraint event_waits_workspace_id_not_null NOT NULL workspace_id, constraint event_waits_wait_id_not_null NOT NULL wait_id, constraint event_waits_execution_id_not_null NOT NULL execution_id, constraint event_waits_node_path_not_null NOT NULL node_path, constraint event_waits_node_id_not_null NOT NULL node_id, constraint event_waits_callback_hash_not_null NOT NULL callback_hash, constraint event_waits_schema_not_null NOT NULL schema, constraint event_waits_status_not_null NOT NULL status, constraint event_waits_on_due_not_null NOT NULL on_due, constraint event_waits_awaited_at_not_null NOT NULL awaited_at, constraint event_waits_pkey PRIMARY KEY (workspace_id, wait_id), constraint event_waits_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES public.workspaces(workspace_id) ON DELETE CASCADE);
create table public.incoming_events (workspace_id uuid, event_id uuid, id_hash bytea, key text, name text, execution_id uuid, callback_hash bytea, data json, answer json, keep_until timestamp with time zone, received_at timestamp with time zone default now(), constraint incoming_events_workspace_id_not_null NOT NULL workspace_id, constraint incoming_events_event_id_not_null NOT NULL event_id, constraint incoming_events_received_at_not_null NOT NULL received_at, constraint incoming_events_pkey PRIMARY KEY (workspace_id, event_id), constraint incoming_events_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES public.workspaces(workspace_id) ON DELETE CASCADE);
create table public.event_destinations (workspace_id uuid, destination_id uuid, url text, event_types text[], workflow_id uuid, credential_id uuid, owner_id uuid, enabled boolean default true, off_reason text, off_at timestamp with time zone, told boolean default true, secret bytea, previous_secret bytea, previous_secret_until timestamp with time zone, pending integer default 0, failures integer default 0, blocked_until timestamp with time zone, last_success_at timestamp with time zone, last_failure_at timestamp with time zone, created_at timestamp with time zone default now(), updated_at timestamp with time zone default now(), constraint event_destinations_event_types_check CHECK ((cardinality(event_types) > 0)), constraint event_destinations_off_reason_check CHECK ((off_reason = ANY (ARRAY['manual'::text, 'owner_left'::text, 'no_access'::text, 'failing'::text, 'gone'::text, 'too_many'::text]))), constraint event_destinations_check CHECK ((enabled = (off_reason IS NULL))), constraint event_destinations_check1 CHECK (((previous_secret IS NULL) = (previous_secret_until IS NULL))), constraint event_destinations_workspace_id_not_null NOT NULL workspace_id, constraint event_destinations_destination_id_not_null NOT NULL destination_id, constraint event_destinations_url_not_null NOT NULL url, constraint event_destinations_event_types_not_null NOT NULL event_types, constraint event_destinations_enabled_not_null NOT NULL enabled, constraint event_destinations_told_not_null NOT NULL told, constraint event_destinations_secret_not_null NOT NULL secret, constraint event_destinations_pending_not_null NOT NULL pending, constraint event_destinations_failures_not_null NOT NULL failures, constraint event_destinations_created_at_not_null NOT NULL created_at, constraint event_destinations_updated_at_not_null NOT NULL updated_at, constraint event_destinations_pkey PRIMARY KEY (workspace_id, destination_id), constraint event_destinations_destination_id_key UNIQUE (destination_id), constraint event_destinations_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES public.workspaces(workspace_id) ON DELETE CASCADE, constraint event_destinations_owner_id_fkey FOREIGN KEY (owner_id) REFERENCES public.users(user_id) ON DELETE SET NULL, constraint event_destinations_workspace_id_workflow_id_fkey FOREIGN KEY (workspace_id, workflow_id) REFERENCES public.workflows(workspace_id, workflow_id) ON DELETE CASCADE);
create table public.event_workspaces (workspace_id uuid, journal boolean, generation bigint, constraint event_workspaces_workspace_id_not_null NOT NULL workspace_id, constraint event_workspaces_journal_not_null NOT NULL journal, constraint event_workspaces_generation_not_null NOT NULL generation, constraint event_workspaces_pkey PRIMARY KEY (workspace_id), constraint event_workspaces_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES public.workspaces(workspace_id) ON DELETE CASCADE);
create table public.event_generation (single boolean default true, generation bigint, constraint event_generation_single_check CHECK (single), constraint event_generation_single_not_null NOT NULL single, constraint event_generation_generation_not_null NOT NULL generation, constraint event_generation_pkey PRIMARY KEY (single)) with (fillfactor=10);
create table public.event_outbox (workspace_id uuid, n bigint generated always as identity, type text, at timestamp with time zone default now(), execution_id uuid, seq integer, subject_id uuid, data json, constraint event_outbox_check CHECK (((execution_id IS NULL) = (data IS NOT NULL))), constraint event_outbox_workspace_id_not_null NOT NULL workspace_id, constraint event_outbox_n_not_null NOT NULL n, constraint event_outbox_type_not_null NOT NULL type, constraint event_outbox_at_not_null NOT NULL at, constraint event_outbox_pkey PRIMARY KEY (workspace_id, n)) with (autovacuum_vacuum_scale_factor=0.02);
create table public.event_deliveries (workspace_id uuid, delivery_id uuid, destination_id uuid, type text, event_at timestamp with time zone, execution_id uuid, seq integer, subject_id uuid, data json, status text default 'pending'::text, head boolean, attempts integer default 0, next_at timestamp with time zone default now(), first_attempt_at timestamp with time zone, last_attempt_at timestamp with time zone, answer_status integer, answer_text text, problem text, duration_ms integer, created_at timestamp with time zone default now(), constraint event_deliveries_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'delivered'::text, 'failed'::text]))), constraint event_deliveries_workspace_id_not_null NOT NULL workspace_id, constraint event_deliveries_delivery_id_not_null NOT NULL delivery_id, constraint event_deliveries_destination_id_not_null NOT NULL destination_id, constraint event_deliveries_type_not_null NOT NULL type, constraint event_deliveries_event_at_not_null NOT NULL event_at, constraint event_deliveries_status_not_null NOT NULL status, constraint event_deliveries_head_not_null NOT NULL head, constraint event_deliveries_attempts_not_null NOT NULL attempts, constraint event_deliveries_next_at_not_null NOT NULL next_at, constraint event_deliveries_created_at_not_null NOT NULL created_at, constraint event_deliveries_pkey PRIMARY KEY (workspace_id, delivery_id), constraint event_deliveries_workspace_id_destination_id_fkey FOREIGN KEY (workspace_id, destination_id) REFERENCES public.event_destinations(workspace_id, destination_id) ON DELETE CASCADE) with (fillfactor=80, autovacuum_vacuum_scale_factor=0.02);
create table public.service_accounts (workspace_id uuid, user_id uuid, description text, created_by uuid, disabled_at timestamp with time zone, created_at timestamp with time zone default now(), updated_at timestamp with time zone default now(), constraint service_accounts_workspace_id_not_null NOT NULL workspace_id, constraint service_accounts_user_id_not_null NOT NULL user_id, constraint service_accounts_created_at_not_null NOT NULL created_at, constraint service_accounts_updated_at_not_null NOT NULL updated_at, constraint service_accounts_pkey PRIMARY KEY (workspace_id, user_id), constraint service_accounts_user_id_key UNIQUE (user_id), constraint service_accounts_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.users(user_id) ON DELETE CASCADE, constraint service_accounts_created_by_fkey FOREIGN KEY (created_by) REFERENCES public.users(user_id) ON DELETE SET NULL, constraint service_accounts_workspace_id_user_id_fkey FOREIGN KEY (workspace_id, user_id) REFERENCES public.memberships(workspace_id, user_id) ON DELETE CASCADE);
create table public.flow_rules (workspace_id uuid, workflow_id uuid, rules jsonb, paused_at timestamp with time zone, constraint flow_rules_workspace_id_not_null NOT NULL workspace_id, constraint flow_rules_workflow_id_not_null NOT NULL workflow_id, constraint flow_rules_rules_not_null NOT NULL rules, constraint flow_rules_pkey PRIMARY KEY (workspace_id, workflow_id));
create table public.flow_dirty (workspace_id uuid, dirty_id uuid default gen_random_uuid(), workflow_id uuid, place uuid, after uuid, constraint flow_dirty_workspace_id_not_null NOT NULL workspace_id, constraint flow_dirty_dirty_id_not_null NOT NULL dirty_id, constraint flow_dirty_workflow_id_not_null NOT NULL workflow_id, constraint flow_dirty_pkey PRIMARY KEY (workspace_id, dirty_id));
create table public.flow_marks (workspace_id uuid, mark uuid, n bigint, at timestamp with time zone, until timestamp with time zone, execution_id uuid, constraint flow_marks_workspace_id_not_null NOT NULL workspace_id, constraint flow_marks_mark_not_null NOT NULL mark, constraint flow_marks_n_not_null NOT NULL n, constraint flow_marks_at_not_null NOT NULL at, constraint flow_marks_until_not_null NOT NULL until, constraint flow_marks_execution_id_not_null NOT NULL execution_id, constraint flow_marks_pkey PRIMARY KEY (workspace_id, mark, n));
create table public.execution_bulks (workspace_id uuid, bulk_id uuid, action text, filter jsonb, options jsonb default '{}'::jsonb, status text default 'running'::text, reached uuid default 'ffffffff-ffff-ffff-ffff-ffffffffffff'::uuid, total integer, done integer default 0, refused integer default 0, last_error text, created_by uuid, created_at timestamp with time zone default now(), finished_at timestamp with time zone, constraint execution_bulks_action_check CHECK ((action = ANY (ARRAY['cancel'::text, 'retry'::text]))), constraint execution_bulks_status_check CHECK ((status = ANY (ARRAY['running'::text, 'done'::text]))), constraint execution_bulks_workspace_id_not_null NOT NULL workspace_id, constraint execution_bulks_bulk_id_not_null NOT NULL bulk_id, constraint execution_bulks_action_not_null NOT NULL action, constraint execution_bulks_filter_not_null NOT NULL filter, constraint execution_bulks_options_not_null NOT NULL options, constraint execution_bulks_status_not_null NOT NULL status, constraint execution_bulks_reached_not_null NOT NULL reached, constraint execution_bulks_total_not_null NOT NULL total, constraint execution_bulks_done_not_null NOT NULL done, constraint execution_bulks_refused_not_null NOT NULL refused, constraint execution_bulks_created_by_not_null NOT NULL created_by, constraint execution_bulks_created_at_not_null NOT NULL created_at, constraint execution_bulks_pkey PRIMARY KEY (workspace_id, bulk_id), constraint execution_bulks_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES public.workspaces(workspace_id) ON DELETE CASCADE, constraint execution_bulks_created_by_fkey FOREIGN KEY (created_by) REFERENCES public.users(user_id) ON DELETE CASCADE);
create table public.workflow_state (workspace_id uuid, workflow_id uuid, key text, value jsonb, bytes integer, version bigint, effects text[] default '{}'::text[], execution_id uuid, updated_at timestamp with time zone default now(), constraint workflow_state_key_check CHECK ((key ~ '^[A-Za-z0-9_.:@-]{1,128}$'::text)), constraint workflow_state_workspace_id_not_null NOT NULL workspace_id, constraint workflow_state_workflow_id_not_null NOT NULL workflow_id, constraint workflow_state_key_not_null NOT NULL key, constraint workflow_state_value_not_null NOT NULL value, constraint workflow_state_bytes_not_null NOT NULL bytes, constraint workflow_state_version_not_null NOT NULL version, constraint workflow_state_effects_not_null NOT NULL effects, constraint workflow_state_updated_at_not_null NOT NULL updated_at, constraint workflow_state_pkey PRIMARY KEY (workspace_id, workflow_id, key), constraint workflow_state_workspace_id_workflow_id_fkey FOREIGN KEY (workspace_id, workflow_id) REFERENCES public.workflows(workspace_id, workflow_id) ON DELETE CASCADE);
create table public.workflow_state_totals (workspace_id uuid, bytes bigint default 0, last_version bigint default 0, constraint workflow_state_totals_workspace_id_not_null NOT NULL workspace_id, constraint workflow_state_totals_bytes_not_null NOT NULL bytes, constraint workflow_state_totals_last_version_not_null NOT NULL last_version, constraint workflow_state_totals_pkey PRIMARY KEY (workspace_id), constraint workflow_state_totals_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES public.workspaces(workspace_id) ON DELETE CASCADE);
create table public.request_rates (workspace_id uuid, key text, free_at timestamp with time zone, constraint request_rates_workspace_id_not_null NOT NULL workspace_id, constraint request_rates_key_not_null NOT NULL key, constraint request_rates_free_at_not_null NOT NULL free_at, constraint request_rates_pkey PRIMARY KEY (workspace_id, key), constraint request_rates_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES public.workspaces(workspace_id) ON DELETE CASCADE);
create table public.files (workspace_id uuid, file_id uuid, name text, media_type text, bytes bigint default 0, sha256 text default ''::text, stored boolean default false, created_by uuid, created_at timestamp with time zone default now(), sender_id uuid, constraint files_workspace_id_not_null NOT NULL workspace_id, constraint files_file_id_not_null NOT NULL file_id, constraint files_name_not_null NOT NULL name, constraint files_media_type_not_null NOT NULL media_type, constraint files_bytes_not_null NOT NULL bytes, constraint files_sha256_not_null NOT NULL sha256, constraint files_stored_not_null NOT NULL stored, constraint files_created_at_not_null NOT NULL created_at, constraint files_pkey PRIMARY KEY (workspace_id, file_id), constraint files_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES public.workspaces(workspace_id) ON DELETE CASCADE, constraint files_created_by_fkey FOREIGN KEY (created_by) REFERENCES public.users(user_id) ON DELETE SET NULL);
create table public.file_uses (workspace_id uuid, file_id uuid, execution_id uuid, constraint file_uses_workspace_id_not_null NOT NULL workspace_id, constraint file_uses_file_id_not_null NOT NULL file_id, constraint file_uses_execution_id_not_null NOT NULL execution_id, constraint file_uses_pkey PRIMARY KEY (workspace_id, file_id, execution_id), constraint file_uses_workspace_id_file_id_fkey FOREIGN KEY (workspace_id, file_id) REFERENCES public.files(workspace_id, file_id) ON DELETE CASCADE);
create table public.files_to_remove (workspace_id uuid, file_id uuid, constraint files_to_remove_workspace_id_not_null NOT NULL workspace_id, constraint files_to_remove_file_id_not_null NOT NULL file_id, constraint files_to_remove_pkey PRIMARY KEY (workspace_id, file_id));
create table public.service_triggers (workspace_id uuid, trigger_id uuid, workflow_id uuid, service text, trigger text, args jsonb default '{}'::jsonb, credential_id uuid, every_s integer, enabled boolean default true, seen jsonb, next_poll_at timestamp with time zone default now(), epoch bigint default 0, last_polled_at timestamp with time zone, last_execution_id uuid, last_error text, created_by uuid, created_at timestamp with time zone default now(), store jsonb default '{}'::jsonb, kind text default 'polling'::text, hook_generation bigint default 0, registered boolean default false, busy_until timestamp with time zone, hook_confirmed bigint default 0, expires_at timestamp with time zone, renew_at timestamp with time zone, renewal_error text, hook_exchanges jsonb, unstarted jsonb default '[]'::jsonb, constraint service_triggers_every_s_check CHECK (((every_s >= 60) AND (every_s <= 86400))), constraint service_triggers_workspace_id_not_null NOT NULL workspace_id, constraint service_triggers_trigger_id_not_null NOT NULL trigger_id, constraint service_triggers_workflow_id_not_null NOT NULL workflow_id, constraint service_triggers_service_not_null NOT NULL service, constraint service_triggers_trigger_not_null NOT NULL trigger, constraint service_triggers_args_not_null NOT NULL args, constraint service_triggers_every_s_not_null NOT NULL every_s, constraint service_triggers_enabled_not_null NOT NULL enabled, constraint service_triggers_next_poll_at_not_null NOT NULL next_poll_at, constraint service_triggers_epoch_not_null NOT NULL epoch, constraint service_triggers_created_at_not_null NOT NULL created_at, constraint service_triggers_pkey PRIMARY KEY (workspace_id, trigger_id), constraint service_triggers_store_not_null NOT NULL store, constraint service_triggers_kind_not_null NOT NULL kind, constraint service_triggers_kind_check CHECK ((kind = ANY (ARRAY['polling'::text, 'webhook'::text]))), constraint service_triggers_hook_generation_not_null NOT NULL hook_generation, constraint service_triggers_registered_not_null NOT NULL registered, constraint service_triggers_hook_confirmed_not_null NOT NULL hook_confirmed, constraint service_triggers_unstarted_not_null NOT NULL unstarted, constraint service_triggers_created_by_fkey FOREIGN KEY (created_by) REFERENCES public.users(user_id) ON DELETE SET NULL, constraint service_triggers_workspace_id_workflow_id_fkey FOREIGN KEY (workspace_id, workflow_id) REFERENCES public.workflows(workspace_id, workflow_id) ON DELETE CASCADE);
create table public.trials (workspace_id uuid, trial_id uuid, workflow_id uuid, draft json, definition json, plan json, effects text, created_by uuid, created_at timestamp with time zone default now(), constraint trials_effects_check CHECK ((effects = ANY (ARRAY['live'::text, 'pinned'::text, 'mock'::text]))), constraint trials_workspace_id_not_null NOT NULL workspace_id, constraint trials_trial_id_not_null NOT NULL trial_id, constraint trials_workflow_id_not_null NOT NULL workflow_id, constraint trials_draft_not_null NOT NULL draft, constraint trials_definition_not_null NOT NULL definition, constraint trials_plan_not_null NOT NULL plan, constraint trials_effects_not_null NOT NULL effects, constraint trials_created_at_not_null NOT NULL created_at, constraint trials_pkey PRIMARY KEY (workspace_id, trial_id), constraint trials_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES public.workspaces(workspace_id) ON DELETE CASCADE, constraint trials_created_by_fkey FOREIGN KEY (created_by) REFERENCES public.users(user_id) ON DELETE SET NULL, constraint trials_workspace_id_workflow_id_fkey FOREIGN KEY (workspace_id, workflow_id) REFERENCES public.workflows(workspace_id, workflow_id) ON DELETE CASCADE);
create table public.replays (workspace_id uuid, replay_id uuid, workflow_id uuid, version_id uuid, filter json, wanted integer, execution_ids uuid[], done integer default 0, same integer default 0, different integer default 0, unreplayable integer default 0, mocked integer default 0, usage json, candidate_usage json, duration_ms bigint default 0, candidate_duration_ms bigint default 0, status text default 'queued'::text, error json, requested_by uuid, created_at timestamp with time zone default now(), started_at timestamp with time zone, finished_at timestamp with time zone, epoch integer default 0, lease_until timestamp with time zone default now(), served_at timestamp with time zone default '-infinity'::timestamp with time zone, constraint replays_status_check CHECK ((status = ANY (ARRAY['queued'::text, 'running'::text, 'succeeded'::text, 'failed'::text, 'cancelled'::text]))), constraint replays_check CHECK (((finished_at IS NULL) = (status = ANY (ARRAY['queued'::text, 'running'::text])))), constraint replays_workspace_id_not_null NOT NULL workspace_id, constraint replays_replay_id_not_null NOT NULL replay_id, constraint replays_workflow_id_not_null NOT NULL workflow_id, constraint replays_version_id_not_null NOT NULL version_id, constraint replays_wanted_not_null NOT NULL wanted, constraint replays_execution_ids_not_null NOT NULL execution_ids, constraint replays_done_not_null NOT NULL done, constraint replays_same_not_null NOT NULL same, constraint replays_different_not_null NOT NULL different, constraint replays_unreplayable_not_null NOT NULL unreplayable, constraint replays_mocked_not_null NOT NULL mocked, constraint replays_duration_ms_not_null NOT NULL duration_ms, constraint replays_candidate_duration_ms_not_null NOT NULL candidate_duration_ms, constraint replays_status_not_null NOT NULL status, constraint replays_created_at_not_null NOT NULL created_at, constraint replays_epoch_not_null NOT NULL epoch, constraint replays_lease_until_not_null NOT NULL lease_until, constraint replays_served_at_not_null NOT NULL served_at, constraint replays_pkey PRIMARY KEY (workspace_id, replay_id), constraint replays_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES public.workspaces(workspace_id) ON DELETE CASCADE, constraint replays_requested_by_fkey FOREIGN KEY (requested_by) REFERENCES public.users(user_id) ON DELETE SET NULL, constraint replays_workspace_id_workflow_id_fkey FOREIGN KEY (workspace_id, workflow_id) REFERENCES public.workflows(workspace_id, workflow_id) ON DELETE CASCADE);
create table public.replay_results (workspace_id uuid, replay_id uuid, "position" integer, execution_id uuid, outcome text, reason json, difference json, mocked json, constraint replay_results_outcome_check CHECK ((outcome = ANY (ARRAY['same'::text, 'different'::text, 'unreplayable'::text]))), constraint replay_results_workspace_id_not_null NOT NULL workspace_id, constraint replay_results_replay_id_not_null NOT NULL replay_id, constraint replay_results_position_not_null NOT NULL "position", constraint replay_results_execution_id_not_null NOT NULL execution_id, constraint replay_results_outcome_not_null NOT NULL outcome, constraint replay_results_mocked_not_null NOT NULL mocked, constraint replay_results_pkey PRIMARY KEY (workspace_id, replay_id, "position"), constraint replay_results_workspace_id_replay_id_fkey FOREIGN KEY (workspace_id, replay_id) REFERENCES public.replays(workspace_id, replay_id) ON DELETE CASCADE);
create table public.knowledge_bases (workspace_id uuid, knowledge_id uuid, name text, description text, language text, embedding_credential_id uuid, embedding_model text, owner_id uuid, created_at timestamp with time zone default now(), updated_at timestamp with time zone default now(), embedding_installation boolean default false, constraint knowledge_bases_language_check CHECK ((language = ANY (ARRAY['german'::text, 'english'::text, 'french'::text, 'spanish'::text, 'norwegian'::text, 'simple'::text]))), constraint knowledge_bases_workspace_id_not_null NOT NULL workspace_id, constraint knowledge_bases_knowledge_id_not_null NOT NULL knowledge_id, constraint knowledge_bases_name_not_null NOT NULL name, constraint knowledge_bases_language_not_null NOT NULL language, constraint knowledge_bases_created_at_not_null NOT NULL created_at, constraint knowledge_bases_updated_at_not_null NOT NULL updated_at, constraint knowledge_bases_pkey PRIMARY KEY (workspace_id, knowledge_id), constraint knowledge_bases_embedding_installation_not_null NOT NULL embedding_installation, constraint knowledge_bases_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES public.workspaces(workspace_id) ON DELETE CASCADE, constraint knowledge_bases_owner_id_fkey FOREIGN KEY (owner_id) REFERENCES public.users(user_id) ON DELETE SET NULL, constraint knowledge_bases_workspace_id_embedding_credential_id_fkey FOREIGN KEY (workspace_id, embedding_credential_id) REFERENCES public.credentials(workspace_id, credential_id) ON DELETE SET NULL (embedding_credential_id));
create table public.knowledge_shares (workspace_id uuid, knowledge_id uuid, kind text, user_id uuid, team_id uuid, role text, constraint knowledge_shares_kind_check CHECK ((kind = ANY (ARRAY['user'::text, 'team'::text, 'workspace'::text]))), constraint knowledge_shares_role_check CHECK ((role = ANY (ARRAY['use'::text, 'edit'::text]))), constraint knowledge_shares_check CHECK (((kind = 'user'::text) = (user_id IS NOT NULL))), constraint knowledge_shares_check1 CHECK (((kind = 'team'::text) = (team_id IS NOT NULL))), constraint knowledge_shares_workspace_id_not_null NOT NULL workspace_id, constraint knowledge_shares_knowledge_id_not_null NOT NULL knowledge_id, constraint knowledge_shares_kind_not_null NOT NULL kind, constraint knowledge_shares_role_not_null NOT NULL role, constraint knowledge_shares_workspace_id_knowledge_id_kind_user_id_tea_key UNIQUE NULLS NOT DISTINCT (workspace_id, knowledge_id, kind, user_id, team_id), constraint knowledge_shares_workspace_id_knowledge_id_fkey FOREIGN KEY (workspace_id, knowledge_id) REFERENCES public.knowledge_bases(workspace_id, knowledge_id) ON DELETE CASCADE, constraint knowledge_shares_workspace_id_user_id_fkey FOREIGN KEY (workspace_id, user_id) REFERENCES public.memberships(workspace_id, user_id) ON DELETE CASCADE, constraint knowledge_shares_workspace_id_team_id_fkey FOREIGN KEY (workspace_id, team_id) REFERENCES public.teams(workspace_id, team_id) ON DELETE CASCADE);
create table public.knowledge_documents (workspace_id uuid, knowledge_id uuid, document_id uuid, name text, kind text, source jsonb default '{}'::jsonb, root_id uuid, url text, depth_left integer default 0, status text default 'pending'::text, error jsonb, content text, bytes bigint default 0, revision integer default 1, ready_revision integer, chunk_count integer default 0, attempts integer default 0, due_at timestamp with time zone default now(), created_by uuid, created_at timestamp with time zone default now(), updated_at timestamp with time zone default now(), constraint knowledge_documents_kind_check CHECK ((kind = ANY (ARRAY['text'::text, 'file'::text, 'dataset'::text, 'url'::text]))), constraint knowledge_documents_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'indexing'::text, 'ready'::text, 'failed'::text]))), constraint knowledge_documents_workspace_id_not_null NOT NULL workspace_id, constraint knowledge_documents_knowledge_id_not_null NOT NULL knowledge_id, constraint knowledge_documents_document_id_not_null NOT NULL document_id, constraint knowledge_documents_name_not_null NOT NULL name, constraint knowledge_documents_kind_not_null NOT NULL kind, constraint knowledge_documents_source_not_null NOT NULL source, constraint knowledge_documents_depth_left_not_null NOT NULL depth_left, constraint knowledge_documents_status_not_null NOT NULL status, constraint knowledge_documents_bytes_not_null NOT NULL bytes, constraint knowledge_documents_revision_not_null NOT NULL revision, constraint knowledge_documents_chunk_count_not_null NOT NULL chunk_count, constraint knowledge_documents_attempts_not_null NOT NULL attempts, constraint knowledge_documents_due_at_not_null NOT NULL due_at, constraint knowledge_documents_created_at_not_null NOT NULL created_at, constraint knowledge_documents_updated_at_not_null NOT NULL updated_at, constraint knowledge_documents_pkey PRIMARY KEY (workspace_id, document_id), constraint knowledge_documents_created_by_fkey FOREIGN KEY (created_by) REFERENCES public.users(user_id) ON DELETE SET NULL, constraint knowledge_documents_workspace_id_knowledge_id_fkey FOREIGN KEY (workspace_id, knowledge_id) REFERENCES public.knowledge_bases(workspace_id, knowledge_id) ON DELETE CASCADE, constraint knowledge_documents_workspace_id_root_id_fkey FOREIGN KEY (workspace_id, root_id) REFERENCES public.knowledge_documents(workspace_id, document_id) ON DELETE CASCADE);
create table public.knowledge_chunks (workspace_id uuid, knowledge_id uuid, document_id uuid, revision integer, "position" integer, from_offset integer, to_offset integer, heading text[] default '{}'::text[], body text, words tsvector, embedding bytea, embedding_bits bit varying, constraint knowledge_chunks_workspace_id_not_null NOT NULL workspace_id, constraint knowledge_chunks_knowledge_id_not_null NOT NULL knowledge_id, constraint knowledge_chunks_document_id_not_null NOT NULL document_id, constraint knowledge_chunks_revision_not_null NOT NULL revision, constraint knowledge_chunks_position_not_null NOT NULL "position", constraint knowledge_chunks_from_offset_not_null NOT NULL from_offset, constraint knowledge_chunks_to_offset_not_null NOT NULL to_offset, constraint knowledge_chunks_heading_not_null NOT NULL heading, constraint knowledge_chunks_body_not_null NOT NULL body, constraint knowledge_chunks_words_not_null NOT NULL words, constraint knowledge_chunks_pkey PRIMARY KEY (workspace_id, document_id, revision, "position"), constraint knowledge_chunks_workspace_id_document_id_fkey FOREIGN KEY (workspace_id, document_id) REFERENCES public.knowledge_documents(workspace_id, document_id) ON DELETE CASCADE);
create table public.model_calls (workspace_id uuid, call_id uuid, at timestamp with time zone default now(), execution_id uuid, node_path text, workflow_id uuid, person_id uuid, credential_id uuid, model text, input_tokens bigint, output_tokens bigint, cost numeric, estimated boolean default false, thread_id uuid, constraint model_calls_workspace_id_not_null NOT NULL workspace_id, constraint model_calls_call_id_not_null NOT NULL call_id, constraint model_calls_at_not_null NOT NULL at, constraint model_calls_model_not_null NOT NULL model, constraint model_calls_input_tokens_not_null NOT NULL input_tokens, constraint model_calls_output_tokens_not_null NOT NULL output_tokens, constraint model_calls_estimated_not_null NOT NULL estimated, constraint model_calls_pkey PRIMARY KEY (workspace_id, call_id), constraint model_calls_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES public.workspaces(workspace_id) ON DELETE CASCADE);
create table public.usage_days (workspace_id uuid, day date, workflow_id uuid, model text, person_id uuid, credential_id uuid, calls bigint, unpriced_calls bigint, input_tokens bigint, output_tokens bigint, cost numeric, constraint usage_days_workspace_id_not_null NOT NULL workspace_id, constraint usage_days_day_not_null NOT NULL day, constraint usage_days_model_not_null NOT NULL model, constraint usage_days_calls_not_null NOT NULL calls, constraint usage_days_unpriced_calls_not_null NOT NULL unpriced_calls, constraint usage_days_input_tokens_not_null NOT NULL input_tokens, constraint usage_days_output_tokens_not_null NOT NULL output_tokens, constraint usage_days_cost_not_null NOT NULL cost, constraint usage_days_workspace_id_day_workflow_id_model_person_id_cre_key UNIQUE NULLS NOT DISTINCT (workspace_id, day, workflow_id, model, person_id, credential_id), constraint usage_days_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES public.workspaces(workspace_id) ON DELETE CASCADE);
create table public.model_prices (model text, input numeric, output numeric, updated_at timestamp with time zone default now(), constraint model_prices_input_check CHECK ((input >= (0)::numeric)), constraint model_prices_output_check CHECK ((output >= (0)::numeric)), constraint model_prices_model_not_null NOT NULL model, constraint model_prices_input_not_null NOT NULL input, constraint model_prices_output_not_null NOT NULL output, constraint model_prices_updated_at_not_null NOT NULL updated_at, constraint model_prices_pkey PRIMARY KEY (model));
create table public.run_counts (workspace_id uuid, span "char", at timestamp with time zone, workflow_id uuid, trigger_kind text, status text, error_code text, runs bigint, duration_ms bigint, constraint run_counts_workspace_id_not_null NOT NULL workspace_id, constraint run_counts_span_not_null NOT NULL span, constraint run_counts_at_not_null NOT NULL at, constraint run_counts_trigger_kind_not_null NOT NULL trigger_kind, constraint run_counts_status_not_null NOT NULL status, constraint run_counts_runs_not_null NOT NULL runs, constraint run_counts_duration_ms_not_null NOT NULL duration_ms, constraint run_counts_workspace_id_span_at_workflow_id_trigger_kind_st_key UNIQUE NULLS NOT DISTINCT (workspace_id, span, at, workflow_id, trigger_kind, status, error_code), constraint run_counts_span_check CHECK ((span = ANY (ARRAY['m'::"char", 'h'::"char", 'd'::"char", 'H'::"char", 'D'::"char"]))), constraint run_counts_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES public.workspaces(workspace_id) ON DELETE CASCADE);
create table public.run_times (workspace_id uuid, span "char", at timestamp with time zone, workflow_id uuid, measure text, bucket smallint, runs bigint, constraint run_times_workspace_id_not_null NOT NULL workspace_id, constraint run_times_span_not_null NOT NULL span, constraint run_times_at_not_null NOT NULL at, constraint run_times_measure_not_null NOT NULL measure, constraint run_times_bucket_not_null NOT NULL bucket, constraint run_times_runs_not_null NOT NULL runs, constraint run_times_workspace_id_span_at_workflow_id_measure_bucket_key UNIQUE NULLS NOT DISTINCT (workspace_id, span, at, workflow_id, measure, bucket), constraint run_times_measure_check CHECK ((measure = ANY (ARRAY['duration'::text, 'people'::text, 'job_duration'::text, 'job_people'::text]))), constraint run_times_span_check CHECK ((span = ANY (ARRAY['m'::"char", 'h'::"char", 'd'::"char", 'H'::"char", 'D'::"char"]))), constraint run_times_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES public.workspaces(workspace_id) ON DELETE CASCADE);
create table public.step_days (workspace_id uuid, at timestamp with time zone, workflow_id uuid, node_id text, type text, runs bigint, failed bigint, duration_ms bigint, max_ms bigint, of_jobs boolean default false, constraint step_days_workspace_id_not_null NOT NULL workspace_id, constraint step_days_at_not_null NOT NULL at, constraint step_days_workflow_id_not_null NOT NULL workflow_id, constraint step_days_node_id_not_null NOT NULL node_id, constraint step_days_type_not_null NOT NULL type, constraint step_days_runs_not_null NOT NULL runs, constraint step_days_failed_not_null NOT NULL failed, constraint step_days_duration_ms_not_null NOT NULL duration_ms, constraint step_days_max_ms_not_null NOT NULL max_ms, constraint step_days_of_jobs_not_null NOT NULL of_jobs, constraint step_days_pkey PRIMARY KEY (workspace_id, at, workflow_id, node_id, type, of_jobs), constraint step_days_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES public.workspaces(workspace_id) ON DELETE CASCADE);
create table public.budgets (workspace_id uuid, scope_kind text, scope_id uuid, per text, amount numeric, hard boolean, warned_on date, exceeded_on date, updated_at timestamp with time zone default now(), constraint budgets_scope_kind_check CHECK ((scope_kind = ANY (ARRAY['workspace'::text, 'workflow'::text, 'person'::text, 'credential'::text]))), constraint budgets_check CHECK (((scope_id IS NULL) = (scope_kind = 'workspace'::text))), constraint budgets_per_check CHECK ((per = ANY (ARRAY['day'::text, 'month'::text]))), constraint budgets_amount_check CHECK ((amount >= (0)::numeric)), constraint budgets_workspace_id_not_null NOT NULL workspace_id, constraint budgets_scope_kind_not_null NOT NULL scope_kind, constraint budgets_per_not_null NOT NULL per, constraint budgets_amount_not_null NOT NULL amount, constraint budgets_hard_not_null NOT NULL hard, constraint budgets_updated_at_not_null NOT NULL updated_at, constraint budgets_workspace_id_scope_kind_scope_id_per_key UNIQUE NULLS NOT DISTINCT (workspace_id, scope_kind, scope_id, per), constraint budgets_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES public.workspaces(workspace_id) ON DELETE CASCADE);
create table public.alert_rules (workspace_id uuid, rule_id uuid, name text, kind text, workflow_id uuid, threshold double precision, window_s integer, min_runs integer, people uuid[], mail boolean, config_id uuid, channel_to text, enabled boolean default true, silenced_until timestamp with time zone, created_by uuid, created_at timestamp with time zone default now(), updated_at timestamp with time zone default now(), state text default 'ok'::text, since timestamp with time zone default now(), value double precision, told boolean default false, number integer default 0, checked_at timestamp with time zone, next_check_at timestamp with time zone default now(), channel_by uuid, constraint alert_rules_kind_check CHECK ((kind = ANY (ARRAY['failure_rate'::text, 'duration'::text, 'queue_age'::text, 'silence'::text, 'budget'::text]))), constraint alert_rules_state_check CHECK ((state = ANY (ARRAY['ok'::text, 'firing'::text]))), constraint alert_rules_check CHECK (((config_id IS NULL) = (channel_to IS NULL))), constraint alert_rules_workspace_id_not_null NOT NULL workspace_id, constraint alert_rules_rule_id_not_null NOT NULL rule_id, constraint alert_rules_name_not_null NOT NULL name, constraint alert_rules_kind_not_null NOT NULL kind, constraint alert_rules_threshold_not_null NOT NULL threshold, constraint alert_rules_window_s_not_null NOT NULL window_s, constraint alert_rules_min_runs_not_null NOT NULL min_runs, constraint alert_rules_people_not_null NOT NULL people, constraint alert_rules_mail_not_null NOT NULL mail, constraint alert_rules_enabled_not_null NOT NULL enabled, constraint alert_rules_created_at_not_null NOT NULL created_at, constraint alert_rules_updated_at_not_null NOT NULL updated_at, constraint alert_rules_state_not_null NOT NULL state, constraint alert_rules_since_not_null NOT NULL since, constraint alert_rules_told_not_null NOT NULL told, constraint alert_rules_number_not_null NOT NULL number, constraint alert_rules_next_check_at_not_null NOT NULL next_check_at, constraint alert_rules_pkey PRIMARY KEY (workspace_id, rule_id), constraint alert_rules_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES public.workspaces(workspace_id) ON DELETE CASCADE, constraint alert_rules_created_by_fkey FOREIGN KEY (created_by) REFERENCES public.users(user_id) ON DELETE SET NULL, constraint alert_rules_workspace_id_workflow_id_fkey FOREIGN KEY (workspace_id, workflow_id) REFERENCES public.workflows(workspace_id, workflow_id) ON DELETE CASCADE, constraint alert_rules_channel_by_fkey FOREIGN KEY (channel_by) REFERENCES public.users(user_id) ON DELETE SET NULL);
create table public.alert_messages (workspace_id uuid, rule_id uuid, number integer, way text, subject text, body text, attempts integer default 0, next_at timestamp with time zone default now(), constraint alert_messages_way_check CHECK ((way = ANY (ARRAY['mail'::text, 'channel'::text]))), constraint alert_messages_workspace_id_not_null NOT NULL workspace_id, constraint alert_messages_rule_id_not_null NOT NULL rule_id, constraint alert_messages_number_not_null NOT NULL number, constraint alert_messages_way_not_null NOT NULL way, constraint alert_messages_subject_not_null NOT NULL subject, constraint alert_messages_body_not_null NOT NULL body, constraint alert_messages_attempts_not_null NOT NULL attempts, constraint alert_messages_next_at_not_null NOT NULL next_at, constraint alert_messages_pkey PRIMARY KEY (workspace_id, rule_id, number, way), constraint alert_messages_workspace_id_rule_id_fkey FOREIGN KEY (workspace_id, rule_id) REFERENCES public.alert_rules(workspace_id, rule_id) ON DELETE CASCADE);
create table public.run_labels (workspace_id uuid, label text, execution_id uuid, constraint run_labels_workspace_id_not_null NOT NULL workspace_id, constraint run_labels_label_not_null NOT NULL label, constraint run_labels_execution_id_not_null NOT NULL execution_id, constraint run_labels_pkey PRIMARY KEY (workspace_id, label, execution_id));
create table public.imported_services (workspace_id uuid, service_id uuid, service text, kind text, title text, description text, version text, base_url text, reference text, source_url text, sha256 text, auth jsonb default '[]'::jsonb, credential_required boolean, action_count integer, created_by uuid, created_at timestamp with time zone default now(), updated_at timestamp with time zone default now(), package jsonb, triggers jsonb default '[]'::jsonb, lock jsonb, constraint imported_services_workspace_id_not_null NOT NULL workspace_id, constraint imported_services_service_id_not_null NOT NULL service_id, constraint imported_services_service_not_null NOT NULL service, constraint imported_services_kind_not_null NOT NULL kind, constraint imported_services_title_not_null NOT NULL title, constraint imported_services_description_not_null NOT NULL description, constraint imported_services_version_not_null NOT NULL version, constraint imported_services_base_url_not_null NOT NULL base_url, constraint imported_services_sha256_not_null NOT NULL sha256, constraint imported_services_auth_not_null NOT NULL auth, constraint imported_services_credential_required_not_null NOT NULL credential_required, constraint imported_services_action_count_not_null NOT NULL action_count, constraint imported_services_created_at_not_null NOT NULL created_at, constraint imported_services_updated_at_not_null NOT NULL updated_at, constraint imported_services_pkey PRIMARY KEY (workspace_id, service_id), constraint imported_services_workspace_id_service_key UNIQUE (workspace_id, service), constraint imported_services_kind_check CHECK ((kind = ANY (ARRAY['openapi'::text, 'mcp'::text, 'piece'::text, 'mcp_program'::text]))), constraint imported_services_triggers_not_null NOT NULL triggers, constraint imported_services_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES public.workspaces(workspace_id) ON DELETE CASCADE, constraint imported_services_created_by_fkey FOREIGN KEY (created_by) REFERENCES public.users(user_id) ON DELETE SET NULL);
create table public.imported_actions (workspace_id uuid, service_id uuid, name text, title text, description text, effect text, method text, path text, action jsonb, constraint imported_actions_effect_check CHECK ((effect = ANY (ARRAY['read'::text, 'idempotent'::text, 'write'::text]))), constraint imported_actions_workspace_id_not_null NOT NULL workspace_id, constraint imported_actions_service_id_not_null NOT NULL service_id, constraint imported_actions_name_not_null NOT NULL name, constraint imported_actions_title_not_null NOT NULL title, constraint imported_actions_description_not_null NOT NULL description, constraint imported_actions_effect_not_null NOT NULL effect, constraint imported_actions_method_not_null NOT NULL method, constraint imported_actions_path_not_null NOT NULL path, constraint imported_actions_action_not_null NOT NULL action, constraint imported_actions_pkey PRIMARY KEY (workspace_id, service_id, name), constraint imported_actions_workspace_id_service_id_fkey FOREIGN KEY (workspace_id, service_id) REFERENCES public.imported_services(workspace_id, service_id) ON DELETE CASCADE);
create table public.assistant_turns (workspace_id uuid, turn_id uuid, thread_id uuid, seq integer, turn integer, status text default 'open'::text, asked json, runner uuid, lease_until timestamp with time zone default now(), attempts integer default 0, created_at timestamp with time zone default now(), done_at timestamp with time zone, draft text default ''::text, draft_round integer default 0, constraint assistant_turns_status_check CHECK ((status = ANY (ARRAY['open'::text, 'done'::text]))), constraint assistant_turns_workspace_id_not_null NOT NULL workspace_id, constraint assistant_turns_turn_id_not_null NOT NULL turn_id, constraint assistant_turns_thread_id_not_null NOT NULL thread_id, constraint assistant_turns_seq_not_null NOT NULL seq, constraint assistant_turns_turn_not_null NOT NULL turn, constraint assistant_turns_status_not_null NOT NULL status, constraint assistant_turns_asked_not_null NOT NULL asked, constraint assistant_turns_lease_until_not_null NOT NULL lease_until, constraint assistant_turns_attempts_not_null NOT NULL attempts, constraint assistant_turns_created_at_not_null NOT NULL created_at, constraint assistant_turns_pkey PRIMARY KEY (workspace_id, turn_id), constraint assistant_turns_workspace_id_thread_id_seq_key UNIQUE (workspace_id, thread_id, seq), constraint assistant_turns_draft_not_null NOT NULL draft, constraint assistant_turns_draft_round_not_null NOT NULL draft_round, constraint assistant_turns_workspace_id_thread_id_fkey FOREIGN KEY (workspace_id, thread_id) REFERENCES public.threads(workspace_id, thread_id) ON DELETE CASCADE);
create table public.assistant_steps (workspace_id uuid, turn_id uuid, name text, result json, created_at timestamp with time zone default now(), constraint assistant_steps_workspace_id_not_null NOT NULL workspace_id, constraint assistant_steps_turn_id_not_null NOT NULL turn_id, constraint assistant_steps_name_not_null NOT NULL name, constraint assistant_steps_result_not_null NOT NULL result, constraint assistant_steps_created_at_not_null NOT NULL created_at, constraint assistant_steps_pkey PRIMARY KEY (workspace_id, turn_id, name), constraint assistant_steps_workspace_id_turn_id_fkey FOREIGN KEY (workspace_id, turn_id) REFERENCES public.assistant_turns(workspace_id, turn_id) ON DELETE CASCADE);
create table public.assistant_memories (workspace_id uuid, template_id uuid, subject text, summary text default ''::text, covered_until timestamp with time zone, updated_at timestamp with time zone default now(), constraint assistant_memories_workspace_id_not_null NOT NULL workspace_id, constraint assistant_memories_template_id_not_null NOT NULL template_id, constraint assistant_memories_subject_not_null NOT NULL subject, constraint assistant_memories_summary_not_null NOT NULL summary, constraint assistant_memories_covered_until_not_null NOT NULL covered_until, constraint assistant_memories_updated_at_not_null NOT NULL updated_at, constraint assistant_memories_pkey PRIMARY KEY (workspace_id, template_id, subject), constraint assistant_memories_workspace_id_template_id_fkey FOREIGN KEY (workspace_id, template_id) REFERENCES public.templates(workspace_id, template_id) ON DELETE CASCADE);
create table public.suite_recordings (workspace_id uuid, suite_id uuid, node_path text, key bytea, output json, port text, error json, usage json, duration_ms bigint default 0, recorded_at timestamp with time zone default now(), constraint suite_recordings_check CHECK (((output IS NULL) <> (error IS NULL))), constraint suite_recordings_workspace_id_not_null NOT NULL workspace_id, constraint suite_recordings_suite_id_not_null NOT NULL suite_id, constraint suite_recordings_node_path_not_null NOT NULL node_path, constraint suite_recordings_key_not_null NOT NULL key, constraint suite_recordings_duration_ms_not_null NOT NULL duration_ms, constraint suite_recordings_recorded_at_not_null NOT NULL recorded_at, constraint suite_recordings_pkey PRIMARY KEY (workspace_id, suite_id, node_path, key), constraint suite_recordings_workspace_id_suite_id_fkey FOREIGN KEY (workspace_id, suite_id) REFERENCES public.suites(workspace_id, suite_id) ON DELETE CASCADE);
create table public.suite_answers (workspace_id uuid, suite_id uuid, execution_id uuid, node_path text, node_type text, reason text, usage json, duration_ms bigint default 0, at timestamp with time zone default now(), constraint suite_answers_reason_check CHECK ((reason = ANY (ARRAY['arguments_differ'::text, 'not_recorded'::text]))), constraint suite_answers_workspace_id_not_null NOT NULL workspace_id, constraint suite_answers_suite_id_not_null NOT NULL suite_id, constraint suite_answers_execution_id_not_null NOT NULL execution_id, constraint suite_answers_node_path_not_null NOT NULL node_path, constraint suite_answers_node_type_not_null NOT NULL node_type, constraint suite_answers_duration_ms_not_null NOT NULL duration_ms, constraint suite_answers_at_not_null NOT NULL at, constraint suite_answers_pkey PRIMARY KEY (workspace_id, execution_id, node_path), constraint suite_answers_workspace_id_suite_id_fkey FOREIGN KEY (workspace_id, suite_id) REFERENCES public.suites(workspace_id, suite_id) ON DELETE CASCADE);
create table public.run_logs (workspace_id uuid, execution_id uuid, node_path text, key text, n integer, batch_id uuid, level text, message text, at timestamp with time zone default now(), constraint run_logs_level_check CHECK ((level = ANY (ARRAY['debug'::text, 'info'::text, 'warn'::text, 'error'::text]))), constraint run_logs_workspace_id_not_null NOT NULL workspace_id, constraint run_logs_execution_id_not_null NOT NULL execution_id, constraint run_logs_node_path_not_null NOT NULL node_path, constraint run_logs_key_not_null NOT NULL key, constraint run_logs_n_not_null NOT NULL n, constraint run_logs_batch_id_not_null NOT NULL batch_id, constraint run_logs_level_not_null NOT NULL level, constraint run_logs_message_not_null NOT NULL message, constraint run_logs_at_not_null NOT NULL at, constraint run_logs_pkey PRIMARY KEY (workspace_id, execution_id, node_path, key, n), constraint run_logs_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES public.workspaces(workspace_id) ON DELETE CASCADE);
create table public.run_blocks (workspace_id uuid, block_id uuid default gen_random_uuid(), first_id uuid, last_id uuid, runs integer, pairs integer, ids bytea storage external, samples bytea storage external, dir bytea storage external, data bytea storage external, constraint run_blocks_runs_check CHECK (((runs >= 1) AND (runs <= 65535))), constraint run_blocks_workspace_id_not_null NOT NULL workspace_id, constraint run_blocks_block_id_not_null NOT NULL block_id, constraint run_blocks_first_id_not_null NOT NULL first_id, constraint run_blocks_last_id_not_null NOT NULL last_id, constraint run_blocks_runs_not_null NOT NULL runs, constraint run_blocks_pairs_not_null NOT NULL pairs, constraint run_blocks_ids_not_null NOT NULL ids, constraint run_blocks_samples_not_null NOT NULL samples, constraint run_blocks_dir_not_null NOT NULL dir, constraint run_blocks_data_not_null NOT NULL data, constraint run_blocks_pkey PRIMARY KEY (workspace_id, block_id), constraint run_blocks_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES public.workspaces(workspace_id) ON DELETE CASCADE);
create table public.run_index_open (workspace_id uuid, execution_id uuid, indexed boolean default false, constraint run_index_open_workspace_id_not_null NOT NULL workspace_id, constraint run_index_open_execution_id_not_null NOT NULL execution_id, constraint run_index_open_pkey PRIMARY KEY (workspace_id, execution_id), constraint run_index_open_indexed_not_null NOT NULL indexed, constraint run_index_open_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES public.workspaces(workspace_id) ON DELETE CASCADE);
create table public.run_index_state (one boolean default true, covered_from uuid, covered_to uuid, leased_until timestamp with time zone default '-infinity'::timestamp with time zone, constraint run_index_state_one_check CHECK (one), constraint run_index_state_one_not_null NOT NULL one, constraint run_index_state_covered_from_not_null NOT NULL covered_from, constraint run_index_state_covered_to_not_null NOT NULL covered_to, constraint run_index_state_leased_until_not_null NOT NULL leased_until, constraint run_index_state_pkey PRIMARY KEY (one));
create table public.usage_charges (workspace_id uuid, charge_id uuid default gen_random_uuid(), subscription_id uuid, plan_id uuid, meter text, at timestamp with time zone default now(), quantity bigint, model text, execution_id uuid, node_path text, workflow_id uuid, person_id uuid, invoice_id uuid, batch_id uuid, reported_at timestamp with time zone, constraint usage_charges_meter_check CHECK ((meter = ANY (ARRAY['model_tokens'::text, 'model_cost'::text]))), constraint usage_charges_quantity_check CHECK ((quantity > 0)), constraint usage_charges_workspace_id_not_null NOT NULL workspace_id, constraint usage_charges_charge_id_not_null NOT NULL charge_id, constraint usage_charges_subscription_id_not_null NOT NULL subscription_id, constraint usage_charges_plan_id_not_null NOT NULL plan_id, constraint usage_charges_meter_not_null NOT NULL meter, constraint usage_charges_at_not_null NOT NULL at, constraint usage_charges_quantity_not_null NOT NULL quantity, constraint usage_charges_model_not_null NOT NULL model, constraint usage_charges_pkey PRIMARY KEY (workspace_id, charge_id), constraint usage_charges_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES public.workspaces(workspace_id) ON DELETE CASCADE, constraint usage_charges_plan_id_fkey FOREIGN KEY (plan_id) REFERENCES public.plans(plan_id), constraint usage_charges_workspace_id_subscription_id_fkey FOREIGN KEY (workspace_id, subscription_id) REFERENCES public.billing_subscriptions(workspace_id, subscription_id) ON DELETE CASCADE, constraint usage_charges_workspace_id_invoice_id_fkey FOREIGN KEY (workspace_id, invoice_id) REFERENCES public.invoices(workspace_id, invoice_id) ON DELETE CASCADE);
create table public.notification_preferences (workspace_id uuid, user_id uuid, kind text, app boolean, mail boolean, channel boolean, constraint notification_preferences_workspace_id_not_null NOT NULL workspace_id, constraint notification_preferences_user_id_not_null NOT NULL user_id, constraint notification_preferences_kind_not_null NOT NULL kind, constraint notification_preferences_app_not_null NOT NULL app, constraint notification_preferences_mail_not_null NOT NULL mail, constraint notification_preferences_pkey PRIMARY KEY (workspace_id, user_id, kind), constraint notification_preferences_workspace_id_user_id_fkey FOREIGN KEY (workspace_id, user_id) REFERENCES public.memberships(workspace_id, user_id) ON DELETE CASCADE);
create table public.channel_identities (workspace_id uuid, identity_id uuid, config_id uuid, user_id uuid, sender_id text, sender_name text, address json, created_at timestamp with time zone default now(), constraint channel_identities_workspace_id_not_null NOT NULL workspace_id, constraint channel_identities_identity_id_not_null NOT NULL identity_id, constraint channel_identities_config_id_not_null NOT NULL config_id, constraint channel_identities_user_id_not_null NOT NULL user_id, constraint channel_identities_sender_id_not_null NOT NULL sender_id, constraint channel_identities_sender_name_not_null NOT NULL sender_name, constraint channel_identities_address_not_null NOT NULL address, constraint channel_identities_created_at_not_null NOT NULL created_at, constraint channel_identities_pkey PRIMARY KEY (workspace_id, identity_id), constraint channel_identities_workspace_id_config_id_sender_id_key UNIQUE (workspace_id, config_id, sender_id), constraint channel_identities_workspace_id_config_id_user_id_key UNIQUE (workspace_id, config_id, user_id), constraint channel_identities_workspace_id_config_id_fkey FOREIGN KEY (workspace_id, config_id) REFERENCES public.gateway_channels(workspace_id, config_id) ON DELETE CASCADE, constraint channel_identities_workspace_id_user_id_fkey FOREIGN KEY (workspace_id, user_id) REFERENCES public.memberships(workspace_id, user_id) ON DELETE CASCADE);
create table public.reach_messages (workspace_id uuid, message_id uuid, user_id uuid, kind text, matter text, title text, body text, link text, state text default 'due'::text, attempts integer default 0, next_at timestamp with time zone default now(), created_at timestamp with time zone default now(), sent_at timestamp with time zone, expires_at timestamp with time zone default (now() + '14 days'::interval), payload_sha256 text, used_at timestamp with time zone, codes_sent integer default 0, code_hash bytea, code_expires_at timestamp with time zone, code_tries integer default 0, identity_id uuid, sent_ref text, outcome text, constraint reach_messages_state_check CHECK ((state = ANY (ARRAY['due'::text, 'sent'::text, 'done'::text]))), constraint reach_messages_workspace_id_not_null NOT NULL workspace_id, constraint reach_messages_message_id_not_null NOT NULL message_id, constraint reach_messages_user_id_not_null NOT NULL user_id, constraint reach_messages_kind_not_null NOT NULL kind, constraint reach_messages_title_not_null NOT NULL title, constraint reach_messages_state_not_null NOT NULL state, constraint reach_messages_attempts_not_null NOT NULL attempts, constraint reach_messages_next_at_not_null NOT NULL next_at, constraint reach_messages_created_at_not_null NOT NULL created_at, constraint reach_messages_expires_at_not_null NOT NULL expires_at, constraint reach_messages_codes_sent_not_null NOT NULL codes_sent, constraint reach_messages_code_tries_not_null NOT NULL code_tries, constraint reach_messages_pkey PRIMARY KEY (workspace_id, message_id), constraint reach_messages_workspace_id_user_id_fkey FOREIGN KEY (workspace_id, user_id) REFERENCES public.memberships(workspace_id, user_id) ON DELETE CASCADE, constraint reach_messages_workspace_id_identity_id_fkey FOREIGN KEY (workspace_id, identity_id) REFERENCES public.channel_identities(workspace_id, identity_id) ON DELETE CASCADE);
create table public.mail_leaves (one boolean default true, leaves boolean, constraint mail_leaves_one_check CHECK (one), constraint mail_leaves_one_not_null NOT NULL one, constraint mail_leaves_leaves_not_null NOT NULL leaves, constraint mail_leaves_pkey PRIMARY KEY (one));
create table public.service_trigger_events (workspace_id uuid, event_id uuid, trigger_id uuid, delivery text, payload jsonb, attempts integer default 0, received_at timestamp with time zone default now(), done_at timestamp with time zone, constraint service_trigger_events_workspace_id_not_null NOT NULL workspace_id, constraint service_trigger_events_event_id_not_null NOT NULL event_id, constraint service_trigger_events_trigger_id_not_null NOT NULL trigger_id, constraint service_trigger_events_attempts_not_null NOT NULL attempts, constraint service_trigger_events_received_at_not_null NOT NULL received_at, constraint service_trigger_events_pkey PRIMARY KEY (workspace_id, event_id), constraint service_trigger_events_workspace_id_trigger_id_fkey FOREIGN KEY (workspace_id, trigger_id) REFERENCES public.service_triggers(workspace_id, trigger_id) ON DELETE CASCADE);
create table public.service_trigger_removals (workspace_id uuid, removal_id uuid, service text, trigger text, args jsonb, store jsonb, credential_id uuid, principal_id uuid, attempts integer default 0, next_at timestamp with time zone default now(), unconfirmed_trigger_id uuid, registered boolean default true, exchanges jsonb, constraint service_trigger_removals_workspace_id_not_null NOT NULL workspace_id, constraint service_trigger_removals_removal_id_not_null NOT NULL removal_id, constraint service_trigger_removals_service_not_null NOT NULL service, constraint service_trigger_removals_trigger_not_null NOT NULL trigger, constraint service_trigger_removals_args_not_null NOT NULL args, constraint service_trigger_removals_store_not_null NOT NULL store, constraint service_trigger_removals_attempts_not_null NOT NULL attempts, constraint service_trigger_removals_next_at_not_null NOT NULL next_at, constraint service_trigger_removals_pkey PRIMARY KEY (workspace_id, removal_id), constraint service_trigger_removals_registered_not_null NOT NULL registered, constraint service_trigger_removals_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES public.workspaces(workspace_id) ON DELETE CASCADE);
create table public.workflow_comments (workspace_id uuid, comment_id uuid, workflow_id uuid, node_id text, body text, mentions uuid[] default '{}'::uuid[], author_id uuid, resolved_at timestamp with time zone, resolved_by uuid, created_at timestamp with time zone default now(), updated_at timestamp with time zone default now(), constraint workflow_comments_workspace_id_not_null NOT NULL workspace_id, constraint workflow_comments_comment_id_not_null NOT NULL comment_id, constraint workflow_comments_workflow_id_not_null NOT NULL workflow_id, constraint workflow_comments_body_not_null NOT NULL body, constraint workflow_comments_mentions_not_null NOT NULL mentions, constraint workflow_comments_created_at_not_null NOT NULL created_at, constraint workflow_comments_updated_at_not_null NOT NULL updated_at, constraint workflow_comments_pkey PRIMARY KEY (workspace_id, comment_id), constraint workflow_comments_author_id_fkey FOREIGN KEY (author_id) REFERENCES public.users(user_id) ON DELETE SET NULL, constraint workflow_comments_resolved_by_fkey FOREIGN KEY (resolved_by) REFERENCES public.users(user_id) ON DELETE SET NULL, constraint workflow_comments_workspace_id_workflow_id_fkey FOREIGN KEY (workspace_id, workflow_id) REFERENCES public.workflows(workspace_id, workflow_id) ON DELETE CASCADE);
create table public.conversation_reads (workspace_id uuid, thread_id uuid, user_id uuid, seq integer, constraint conversation_reads_workspace_id_not_null NOT NULL workspace_id, constraint conversation_reads_thread_id_not_null NOT NULL thread_id, constraint conversation_reads_user_id_not_null NOT NULL user_id, constraint conversation_reads_seq_not_null NOT NULL seq, constraint conversation_reads_pkey PRIMARY KEY (workspace_id, thread_id, user_id), constraint conversation_reads_workspace_id_thread_id_fkey FOREIGN KEY (workspace_id, thread_id) REFERENCES public.threads(workspace_id, thread_id) ON DELETE CASCADE, constraint conversation_reads_workspace_id_user_id_fkey FOREIGN KEY (workspace_id, user_id) REFERENCES public.memberships(workspace_id, user_id) ON DELETE CASCADE);
create table public.conversation_notes (workspace_id uuid, note_id uuid, thread_id uuid, author_id uuid, text text, created_at timestamp with time zone default now(), updated_at timestamp with time zone default now(), constraint conversation_notes_workspace_id_not_null NOT NULL workspace_id, constraint conversation_notes_note_id_not_null NOT NULL note_id, constraint conversation_notes_thread_id_not_null NOT NULL thread_id, constraint conversation_notes_text_not_null NOT NULL text, constraint conversation_notes_created_at_not_null NOT NULL created_at, constraint conversation_notes_updated_at_not_null NOT NULL updated_at, constraint conversation_notes_pkey PRIMARY KEY (workspace_id, note_id), constraint conversation_notes_author_id_fkey FOREIGN KEY (author_id) REFERENCES public.users(user_id) ON DELETE SET NULL, constraint conversation_notes_workspace_id_thread_id_fkey FOREIGN KEY (workspace_id, thread_id) REFERENCES public.threads(workspace_id, thread_id) ON DELETE CASCADE);
create table public.canned_answers (workspace_id uuid, answer_id uuid, name text, text text, created_by uuid, created_at timestamp with time zone default now(), updated_at timestamp with time zone default now(), constraint canned_answers_workspace_id_not_null NOT NULL workspace_id, constraint canned_answers_answer_id_not_null NOT NULL answer_id, constraint canned_answers_name_not_null NOT NULL name, constraint canned_answers_text_not_null NOT NULL text, constraint canned_answers_created_at_not_null NOT NULL created_at, constraint canned_answers_updated_at_not_null NOT NULL updated_at, constraint canned_answers_pkey PRIMARY KEY (workspace_id, answer_id), constraint canned_answers_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES public.workspaces(workspace_id) ON DELETE CASCADE, constraint canned_answers_created_by_fkey FOREIGN KEY (created_by) REFERENCES public.users(user_id) ON DELETE SET NULL);
create table public.opening_hours (workspace_id uuid, hours_id uuid, template_id uuid, hours json, updated_at timestamp with time zone default now(), constraint opening_hours_workspace_id_not_null NOT NULL workspace_id, constraint opening_hours_hours_id_not_null NOT NULL hours_id, constraint opening_hours_hours_not_null NOT NULL hours, constraint opening_hours_updated_at_not_null NOT NULL updated_at, constraint opening_hours_pkey PRIMARY KEY (workspace_id, hours_id), constraint opening_hours_workspace_id_template_id_key UNIQUE NULLS NOT DISTINCT (workspace_id, template_id), constraint opening_hours_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES public.workspaces(workspace_id) ON DELETE CASCADE, constraint opening_hours_workspace_id_template_id_fkey FOREIGN KEY (workspace_id, template_id) REFERENCES public.templates(workspace_id, template_id) ON DELETE CASCADE);
create table public.oauth_tokens (workspace_id uuid, token_hash bytea, grant_id uuid, kind text, code_challenge text, redirect_uri text, expires_at timestamp with time zone, used_at timestamp with time zone, constraint oauth_tokens_kind_check CHECK ((kind = ANY (ARRAY['code'::text, 'refresh'::text]))), constraint oauth_tokens_workspace_id_not_null NOT NULL workspace_id, constraint oauth_tokens_token_hash_not_null NOT NULL token_hash, constraint oauth_tokens_grant_id_not_null NOT NULL grant_id, constraint oauth_tokens_kind_not_null NOT NULL kind, constraint oauth_tokens_expires_at_not_null NOT NULL expires_at, constraint oauth_tokens_pkey PRIMARY KEY (workspace_id, token_hash), constraint oauth_tokens_token_hash_key UNIQUE (token_hash), constraint oauth_tokens_workspace_id_grant_id_fkey FOREIGN KEY (workspace_id, grant_id) REFERENCES public.oauth_grants(workspace_id, grant_id) ON DELETE CASCADE);
create table public.channel_link_codes (workspace_id uuid, user_id uuid, config_id uuid, code_hash bytea, expires_at timestamp with time zone, constraint channel_link_codes_workspace_id_not_null NOT NULL workspace_id, constraint channel_link_codes_user_id_not_null NOT NULL user_id, constraint channel_link_codes_config_id_not_null NOT NULL config_id, constraint channel_link_codes_code_hash_not_null NOT NULL code_hash, constraint channel_link_codes_expires_at_not_null NOT NULL expires_at, constraint channel_link_codes_pkey PRIMARY KEY (workspace_id, user_id), constraint channel_link_codes_workspace_id_config_id_fkey FOREIGN KEY (workspace_id, config_id) REFERENCES public.gateway_channels(workspace_id, config_id) ON DELETE CASCADE, constraint channel_link_codes_workspace_id_user_id_fkey FOREIGN KEY (workspace_id, user_id) REFERENCES public.memberships(workspace_id, user_id) ON DELETE CASCADE);
create table public.service_errors (workspace_id uuid, execution_id uuid, step text, error_id uuid, workflow_id uuid, service text, action text, node_id text, code text, message text, failures bigint, failed_at timestamp with time zone, constraint service_errors_workspace_id_not_null NOT NULL workspace_id, constraint service_errors_execution_id_not_null NOT NULL execution_id, constraint service_errors_step_not_null NOT NULL step, constraint service_errors_error_id_not_null NOT NULL error_id, constraint service_errors_service_not_null NOT NULL service, constraint service_errors_action_not_null NOT NULL action, constraint service_errors_node_id_not_null NOT NULL node_id, constraint service_errors_code_not_null NOT NULL code, constraint service_errors_message_not_null NOT NULL message, constraint service_errors_failures_not_null NOT NULL failures, constraint service_errors_failed_at_not_null NOT NULL failed_at, constraint service_errors_pkey PRIMARY KEY (workspace_id, execution_id, step), constraint service_errors_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES public.workspaces(workspace_id) ON DELETE CASCADE);
create table public.saved_views (workspace_id uuid, user_id uuid, views jsonb, constraint saved_views_workspace_id_not_null NOT NULL workspace_id, constraint saved_views_user_id_not_null NOT NULL user_id, constraint saved_views_views_not_null NOT NULL views, constraint saved_views_pkey PRIMARY KEY (workspace_id, user_id), constraint saved_views_workspace_id_user_id_fkey FOREIGN KEY (workspace_id, user_id) REFERENCES public.memberships(workspace_id, user_id) ON DELETE CASCADE);
create table public.workspace_suspensions (workspace_id uuid, reason text, suspended_by uuid, suspended_at timestamp with time zone default now(), constraint workspace_suspensions_reason_check CHECK (((length(reason) >= 1) AND (length(reason) <= 500))), constraint workspace_suspensions_workspace_id_not_null NOT NULL workspace_id, constraint workspace_suspensions_reason_not_null NOT NULL reason, constraint workspace_suspensions_suspended_at_not_null NOT NULL suspended_at, constraint workspace_suspensions_pkey PRIMARY KEY (workspace_id), constraint workspace_suspensions_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES public.workspaces(workspace_id) ON DELETE CASCADE, constraint workspace_suspensions_suspended_by_fkey FOREIGN KEY (suspended_by) REFERENCES public.users(user_id) ON DELETE SET NULL);
CREATE OR REPLACE FUNCTION public.app_workspace()
 RETURNS uuid
 LANGUAGE sql
 STABLE PARALLEL SAFE
RETURN (NULLIF(current_setting('app.ws'::text, true), ''::text))::uuid
;
CREATE OR REPLACE FUNCTION public.app_user()
 RETURNS uuid
 LANGUAGE sql
 STABLE PARALLEL SAFE
RETURN (NULLIF(current_setting('app.user'::text, true), ''::text))::uuid
;
CREATE OR REPLACE FUNCTION public.app_bound()
 RETURNS uuid
 LANGUAGE sql
 STABLE PARALLEL SAFE
RETURN (NULLIF(current_setting('app.bound'::text, true), ''::text))::uuid
;
CREATE OR REPLACE FUNCTION public.typeid(prefix text, id uuid)
 RETURNS text
 LANGUAGE plpgsql
 IMMUTABLE PARALLEL SAFE
AS $function$
declare
  hex text := replace(id::text, '-', '');
  alphabet constant text := '0123456789abcdefghjkmnpqrstvwxyz';
  bits bit varying := ('x' || hex)::bit(128)::bit varying;
  encoded text := '';
begin
  bits := B'00' || bits;
  for letter in 0..25 loop
    encoded := encoded || substr(alphabet, substring(bits from letter * 5 + 1 for 5)::bit(5)::integer + 1, 1);
  end loop;
  return prefix || '_' || encoded;
end $function$
;
CREATE OR REPLACE FUNCTION public.ensure_idempotency_days()
 RETURNS void
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public'
AS $function$
declare
  wanted date;
  old record;
begin
  perform pg_advisory_xact_lock(hashtext('idempotency_days'));
  foreach wanted in array array[current_date, current_date + 1] loop
    execute format('create table if not exists %I partition of idempotency_keys for values in (%L)',
      'idempotency_keys_' || to_char(wanted, 'YYYYMMDD'), wanted);
  end loop;
  for old in select c.relname from pg_inherits i join pg_class c on c.oid = i.inhrelid
    where i.inhparent = 'idempotency_keys'::regclass
      and c.relname < 'idempotency_keys_' || to_char(current_date - 1, 'YYYYMMDD') loop
    execute format('drop table %I', old.relname);
  end loop;
end $function$
;
CREATE OR REPLACE FUNCTION public.is_member(workspace uuid)
 RETURNS boolean
 LANGUAGE sql
 STABLE SECURITY DEFINER
 SET search_path TO 'public'
RETURN (EXISTS (SELECT FROM public.memberships WHERE ((memberships.workspace_id = is_member.workspace) AND (memberships.user_id = public.app_user()))))
;
CREATE OR REPLACE FUNCTION public.reaches_company(company uuid)
 RETURNS boolean
 LANGUAGE sql
 STABLE SECURITY DEFINER
 SET search_path TO 'public'
RETURN (EXISTS (SELECT FROM (public.workspaces JOIN public.memberships USING (workspace_id)) WHERE ((workspaces.company_id = reaches_company.company) AND (memberships.user_id = public.app_user()) AND (memberships.role <> 'guest'::text) AND ((public.app_bound() IS NULL) OR (workspaces.workspace_id = public.app_bound())))))
;
CREATE OR REPLACE FUNCTION public.shares_workspace(person uuid)
 RETURNS boolean
 LANGUAGE sql
 STABLE SECURITY DEFINER
 SET search_path TO 'public'
RETURN (EXISTS (SELECT FROM (public.memberships mine JOIN public.memberships theirs USING (workspace_id)) WHERE ((mine.user_id = public.app_user()) AND (theirs.user_id = shares_workspace.person) AND ((public.app_bound() IS NULL) OR (mine.workspace_id = public.app_bound())))))
;
CREATE OR REPLACE FUNCTION public.identify_session(token bytea, wanted uuid)
 RETURNS TABLE(session_id uuid, user_id uuid, org_id uuid, email text, name text, last_seen_at timestamp with time zone, workspace_id uuid, role text)
 LANGUAGE sql
 STABLE SECURITY DEFINER
 SET search_path TO 'public'
BEGIN ATOMIC
 SELECT s.session_id,
     u.user_id,
     u.org_id,
     u.email,
     u.name,
     s.last_seen_at,
     m.workspace_id,
     m.role
    FROM ((public.sessions s
      JOIN public.users u ON ((u.user_id = s.user_id)))
      LEFT JOIN LATERAL ( SELECT m_1.workspace_id,
             m_1.role
            FROM public.memberships m_1
           WHERE ((m_1.user_id = u.user_id) AND ((identify_session.wanted IS NULL) OR (m_1.workspace_id = identify_session.wanted)))
           ORDER BY (m_1.workspace_id = s.selected_workspace_id) DESC NULLS LAST, m_1.joined_at, m_1.workspace_id
          LIMIT 1) m ON (true))
   WHERE ((s.token_hash = identify_session.token) AND (s.expires_at > now()));
END
;
CREATE OR REPLACE FUNCTION public.identify_key(token bytea, wanted uuid)
 RETURNS TABLE(key_id uuid, key_workspace_id uuid, user_id uuid, org_id uuid, email text, name text, last_used_at timestamp with time zone, workspace_id uuid, role text)
 LANGUAGE sql
 STABLE SECURITY DEFINER
 SET search_path TO 'public'
BEGIN ATOMIC
 SELECT k.key_id,
     k.workspace_id,
     u.user_id,
     u.org_id,
     u.email,
     u.name,
     k.last_used_at,
     m.workspace_id,
     m.role
    FROM ((public.api_keys k
      JOIN public.users u ON ((u.user_id = k.user_id)))
      LEFT JOIN LATERAL ( SELECT m_1.workspace_id,
             m_1.role
            FROM public.memberships m_1
           WHERE ((m_1.user_id = u.user_id) AND (m_1.workspace_id = COALESCE(identify_key.wanted, k.workspace_id, m_1.workspace_id)) AND ((k.workspace_id IS NULL) OR (m_1.workspace_id = k.workspace_id)))
           ORDER BY m_1.joined_at, m_1.workspace_id
          LIMIT 1) m ON (true))
   WHERE ((k.token_hash = identify_key.token) AND ((k.expires_at IS NULL) OR (k.expires_at > now())) AND (k.scopes IS NULL) AND (u.kind = 'person'::text));
END
;
CREATE OR REPLACE FUNCTION public.credentials_of(org uuid, address text)
 RETURNS TABLE(user_id uuid, name text, password_hash text)
 LANGUAGE sql
 STABLE SECURITY DEFINER
 SET search_path TO 'public'
BEGIN ATOMIC
 SELECT u.user_id,
     u.name,
     u.password_hash
    FROM public.users u
   WHERE ((u.org_id = credentials_of.org) AND (u.email = credentials_of.address) AND (u.kind = 'person'::text));
END
;
CREATE OR REPLACE FUNCTION public.identify_oidc(org uuid, oidc_issuer text, oidc_subject text)
 RETURNS TABLE(user_id uuid, email text, name text)
 LANGUAGE sql
 STABLE SECURITY DEFINER
 SET search_path TO 'public'
BEGIN ATOMIC
 SELECT u.user_id,
     u.email,
     u.name
    FROM (public.oidc_identities i
      JOIN public.users u USING (user_id))
   WHERE ((i.org_id = identify_oidc.org) AND (i.issuer = identify_oidc.oidc_issuer) AND (i.subject = identify_oidc.oidc_subject));
END
;
CREATE OR REPLACE FUNCTION public.find_invitation(token bytea)
 RETURNS TABLE(invitation_id uuid, workspace_id uuid, workspace_name text, org_id uuid, email text, role text, resource_kind text, resource_id uuid, invited_by uuid, invited_by_name text, expires_at timestamp with time zone)
 LANGUAGE sql
 STABLE SECURITY DEFINER
 SET search_path TO 'public'
BEGIN ATOMIC
 SELECT i.invitation_id,
     w.workspace_id,
     w.name,
     w.org_id,
     i.email,
     i.role,
     i.resource_kind,
     i.resource_id,
     i.invited_by,
     u.name,
     i.expires_at
    FROM ((public.invitations i
      JOIN public.workspaces w USING (workspace_id))
      LEFT JOIN public.users u ON ((u.user_id = i.invited_by)))
   WHERE ((i.token_hash = find_invitation.token) AND (i.accepted_at IS NULL) AND (i.expires_at > now()));
END
;
CREATE OR REPLACE FUNCTION public.is_invited(org uuid, address text)
 RETURNS boolean
 LANGUAGE sql
 STABLE SECURITY DEFINER
 SET search_path TO 'public'
RETURN (EXISTS (SELECT FROM (public.invitations i JOIN public.workspaces w USING (workspace_id)) WHERE ((w.org_id = is_invited.org) AND (i.email = is_invited.address) AND (i.accepted_at IS NULL) AND (i.expires_at > now()))))
;
CREATE OR REPLACE FUNCTION public.use_operator_claim(address text, token bytea)
 RETURNS boolean
 LANGUAGE sql
 SECURITY DEFINER
 SET search_path TO 'public'
BEGIN ATOMIC
 WITH used AS (
          DELETE FROM public.operator_claims
           WHERE ((operator_claims.email = use_operator_claim.address) AND (operator_claims.token_hash = use_operator_claim.token))
           RETURNING 1 AS "?column?"
         )
  SELECT (EXISTS ( SELECT
            FROM used)) AS "exists";
END
;
CREATE OR REPLACE FUNCTION public.touch_session(session uuid)
 RETURNS void
 LANGUAGE sql
 SECURITY DEFINER
 SET search_path TO 'public'
BEGIN ATOMIC
 UPDATE public.sessions SET last_seen_at = now()
   WHERE (sessions.session_id = touch_session.session);
END
;
CREATE OR REPLACE FUNCTION public.touch_key(key uuid)
 RETURNS void
 LANGUAGE sql
 SECURITY DEFINER
 SET search_path TO 'public'
BEGIN ATOMIC
 UPDATE public.api_keys SET last_used_at = now()
   WHERE (api_keys.key_id = touch_key.key);
END
;
CREATE OR REPLACE FUNCTION public.deliver_event(workspace uuid, event_kind text, event_title text, event_body text, event_data jsonb, event_link text, recipients uuid[], notification_ids uuid[])
 RETURNS SETOF uuid
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
declare
  one record;
  about text := coalesce(event_data ->> 'request_id', event_data ->> 'clarification_id');
  asks boolean := asks_for_an_answer(event_kind);
  mails boolean := (select l.leaves from mail_leaves l);
begin
  for one in select m.user_id, (array_agg(wanted.id))[1] as notification_id, bool_and(coalesce(p.app, true)) as app,
      bool_and(u.kind = 'person' and coalesce(p.mail, asks and mails)) as mail,
      bool_and(u.kind = 'person' and coalesce(p.channel, asks)) as channel
    from unnest(recipients, notification_ids) as wanted (user_id, id)
    join memberships m on m.user_id = wanted.user_id
    join users u on u.user_id = m.user_id
    left join notification_preferences p on p.workspace_id = workspace and p.user_id = m.user_id and p.kind = event_kind
    where m.workspace_id = workspace group by m.user_id order by m.user_id loop
    if one.app then
      insert into notifications (notification_id, user_id, workspace_id, kind, title, body, data, link, matter)
        values (one.notification_id, one.user_id, workspace, event_kind, event_title, event_body, coalesce(event_data, '{}'), event_link,
          case when asks then about end);
      perform append_feed(one.user_id, 'notification.created', jsonb_build_object('notification_id', one.notification_id));
      return next one.user_id;
    end if;
    if one.mail then
      insert into reach_messages (workspace_id, message_id, user_id, kind, matter, title, body, link)
        values (workspace, gen_random_uuid(), one.user_id, event_kind, case when asks then about end, event_title, event_body, event_link);
    end if;
    if one.channel then
      insert into reach_messages (workspace_id, message_id, user_id, kind, matter, title, body, link, identity_id)
        select workspace, gen_random_uuid(), one.user_id, event_kind, case when asks then about end, event_title, event_body, event_link,
          i.identity_id
        from channel_identities i where i.workspace_id = workspace and i.user_id = one.user_id;
    end if;
  end loop;
end $function$
;
CREATE OR REPLACE FUNCTION public.append_feed(recipient uuid, entry_type text, entry_data jsonb)
 RETURNS bigint
 LANGUAGE sql
 SECURITY DEFINER
 SET search_path TO 'public'
AS $function$
  with counter as (
    insert into feed_counters (user_id, last_seq) values (recipient, 1)
    on conflict (user_id) do update set last_seq = feed_counters.last_seq + 1 returning last_seq
  )
  insert into feed_entries (user_id, seq, type, data) select recipient, last_seq, entry_type, entry_data from counter
  returning seq;
$function$
;
CREATE OR REPLACE FUNCTION public.append_own_feed(entry_type text, entry_data jsonb)
 RETURNS void
 LANGUAGE sql
 SECURITY DEFINER
 SET search_path TO 'public'
AS $function$
  select append_feed(app_user(), entry_type, entry_data);
$function$
;
CREATE OR REPLACE FUNCTION public.has_second_factor(person uuid)
 RETURNS boolean
 LANGUAGE sql
 STABLE SECURITY DEFINER
 SET search_path TO 'public'
RETURN ((EXISTS (SELECT FROM public.totp_factors WHERE ((totp_factors.user_id = has_second_factor.person) AND (totp_factors.confirmed_at IS NOT NULL)))) OR (EXISTS (SELECT FROM public.passkeys WHERE (passkeys.user_id = has_second_factor.person))) OR (EXISTS (SELECT FROM public.users WHERE ((users.user_id = has_second_factor.person) AND (users.kind = 'service_account'::text)))))
;
CREATE OR REPLACE FUNCTION public.read_feeds(recipients uuid[], positions bigint[], most integer)
 RETURNS TABLE(request bigint, last_seq bigint, seq bigint, type text, at timestamp with time zone, subject_id uuid, notification_id uuid, user_id uuid, workspace_id uuid, kind text, title text, body text, data jsonb, link text, read_at timestamp with time zone, created_at timestamp with time zone)
 LANGUAGE sql
 STABLE SECURITY DEFINER
 SET search_path TO 'public'
BEGIN ATOMIC
 SELECT r.request,
     COALESCE(c.last_seq, (0)::bigint) AS "coalesce",
     e.seq,
     e.type,
     e.at,
     ((e.data ->> 'notification_id'::text))::uuid AS uuid,
     n.notification_id,
     n.user_id,
     n.workspace_id,
     n.kind,
     n.title,
     n.body,
     n.data,
     n.link,
     n.read_at,
     n.created_at
    FROM (((UNNEST(read_feeds.recipients, read_feeds.positions) WITH ORDINALITY r(user_id, after, request)
      LEFT JOIN public.feed_counters c ON ((c.user_id = r.user_id)))
      LEFT JOIN LATERAL ( SELECT e_1.user_id,
             e_1.seq,
             e_1.type,
             e_1.data,
             e_1.at
            FROM public.feed_entries e_1
           WHERE ((e_1.user_id = r.user_id) AND (e_1.seq > r.after) AND (c.last_seq > r.after))
           ORDER BY e_1.seq
          LIMIT read_feeds.most) e ON (true))
      LEFT JOIN public.notifications n ON (((n.notification_id = ((e.data ->> 'notification_id'::text))::uuid) AND (n.user_id = r.user_id) AND ((n.workspace_id IS NULL) OR (EXISTS ( SELECT
            FROM (public.memberships m
              JOIN public.workspaces w ON ((w.workspace_id = m.workspace_id)))
           WHERE ((m.workspace_id = n.workspace_id) AND (m.user_id = r.user_id) AND ((NOT w.require_second_factor) OR public.has_second_factor(r.user_id)))))))))
   WHERE (COALESCE(c.last_seq, (0)::bigint) <> r.after)
   ORDER BY r.request, e.seq;
END
;
CREATE OR REPLACE FUNCTION public.prune_feeds(older_than timestamp with time zone, most integer)
 RETURNS integer
 LANGUAGE sql
 SECURITY DEFINER
 SET search_path TO 'public'
AS $function$
  with old as (select ctid from feed_entries where at < older_than order by at limit most),
    gone as (delete from feed_entries where ctid = any(array(select ctid from old)) returning 1)
  select count(*)::integer from gone;
$function$
;
CREATE OR REPLACE FUNCTION public.prune_tickets()
 RETURNS void
 LANGUAGE sql
 SECURITY DEFINER
 SET search_path TO 'public'
BEGIN ATOMIC
 DELETE FROM public.tickets
   WHERE (tickets.expires_at < now());
END
;
CREATE OR REPLACE FUNCTION public.redeem_ticket(token bytea)
 RETURNS TABLE(kind text, user_id uuid, workspace_id uuid, resource_id uuid, credential_kind text, credential_id uuid)
 LANGUAGE sql
 SECURITY DEFINER
 SET search_path TO 'public'
AS $function$
  with used as (delete from tickets where token_hash = token returning *)
  select kind, user_id, workspace_id, resource_id, credential_kind, credential_id from used where expires_at > now();
$function$
;
CREATE OR REPLACE FUNCTION public.tickets_hold(people uuid[], workspaces uuid[], credential_kinds text[], credentials uuid[])
 RETURNS SETOF boolean
 LANGUAGE sql
 STABLE SECURITY DEFINER
 SET search_path TO 'public'
BEGIN ATOMIC
 SELECT (((t.workspace_id IS NULL) OR (EXISTS ( SELECT
            FROM (public.memberships m
              JOIN public.workspaces w ON ((w.workspace_id = m.workspace_id)))
           WHERE ((m.workspace_id = t.workspace_id) AND (m.user_id = t.user_id) AND ((NOT w.require_second_factor) OR public.has_second_factor(t.user_id)))))) AND
         CASE t.credential_kind
             WHEN 'session'::text THEN (EXISTS ( SELECT
                FROM public.sessions s
               WHERE ((s.session_id = t.credential_id) AND (s.user_id = t.user_id) AND (s.expires_at > now()))))
             ELSE (EXISTS ( SELECT
                FROM public.api_keys k
               WHERE ((k.key_id = t.credential_id) AND (k.user_id = t.user_id) AND ((k.expires_at IS NULL) OR (k.expires_at > now())))))
         END AND (NOT (EXISTS ( SELECT
            FROM public.service_accounts s
           WHERE ((s.user_id = t.user_id) AND (s.disabled_at IS NOT NULL))))))
    FROM UNNEST(tickets_hold.people, tickets_hold.workspaces, tickets_hold.credential_kinds, tickets_hold.credentials) WITH ORDINALITY t(user_id, workspace_id, credential_kind, credential_id, "position")
   ORDER BY t."position";
END
;
CREATE OR REPLACE FUNCTION public.hint_access()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public'
AS $function$
begin
  perform pg_notify('access', old.user_id::text);
  return null;
end $function$
;
CREATE OR REPLACE FUNCTION public.hold_colleagues(workspace uuid, people uuid[])
 RETURNS SETOF uuid
 LANGUAGE sql
 SECURITY DEFINER
 SET search_path TO 'public'
AS $function$
  select user_id from memberships
  where workspace_id = workspace and user_id = any(people) and role <> 'guest' and is_member(workspace)
  order by user_id for key share;
$function$
;
CREATE OR REPLACE FUNCTION public.pass_company_on(workspace uuid, leaver uuid, remover uuid)
 RETURNS TABLE(company_id uuid, name text, owner_id uuid)
 LANGUAGE sql
 SECURITY DEFINER
 SET search_path TO 'public'
AS $function$
  update companies c set owner_id = heir.user_id, updated_at = now()
  from workspaces w, lateral (
    select m.user_id from memberships m where m.workspace_id = w.workspace_id and m.role = 'owner' and m.user_id <> leaver
    order by m.user_id = remover desc, m.joined_at, m.user_id limit 1) heir
  where w.workspace_id = workspace and c.company_id = w.company_id and c.owner_id = leaver and is_member(workspace)
    and not exists (select from workspaces o join memberships m on m.workspace_id = o.workspace_id
      where o.company_id = c.company_id and o.workspace_id <> workspace and m.user_id = leaver and m.role <> 'guest')
  returning c.company_id, c.name, c.owner_id;
$function$
;
CREATE OR REPLACE FUNCTION engine.may_touch(p_workspace uuid)
 RETURNS boolean
 LANGUAGE sql
 STABLE
RETURN ((p_workspace = (NULLIF(current_setting('app.ws'::text, true), ''::text))::uuid) OR pg_has_role(SESSION_USER, 'heddle_engine'::name, 'member'::text))
;
CREATE OR REPLACE FUNCTION engine.signal(p_workspace uuid, p_execution uuid, p_key text, p_payload json)
 RETURNS text
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
declare
  v_status text;
  v_number integer;
begin
  if not engine.may_touch(p_workspace) then return 'unknown'; end if;
  select status, inbox + 1 into v_status, v_number from executions
    where workspace_id = p_workspace and execution_id = p_execution for no key update;
  if not found then return 'unknown'; end if;
  if v_status not in ('queued', 'running', 'waiting') then
    return case when exists (select from inbox where execution_id = p_execution and key = p_key) then 'duplicate' else 'ended' end;
  end if;
  insert into inbox (workspace_id, execution_id, n, key, payload)
    values (p_workspace, p_execution, v_number, p_key, p_payload) on conflict (execution_id, key) do nothing;
  if not found then return 'duplicate'; end if;
  if v_status = 'waiting' then
    update executions set inbox = v_number, status = 'queued', due_at = now(), waiting_for = '[]'
      where workspace_id = p_workspace and execution_id = p_execution;
  else
    update executions set inbox = v_number where workspace_id = p_workspace and execution_id = p_execution;
  end if;
  return 'accepted';
end $function$
;
CREATE OR REPLACE FUNCTION engine.cancel(p_workspace uuid, p_execution uuid, p_by text)
 RETURNS text
 LANGUAGE sql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
RETURN engine.signal(p_workspace, p_execution, 'cancel'::text, json_build_object('type', 'cancel', 'by', p_by))
;
CREATE OR REPLACE FUNCTION engine.release(p_workspace uuid, p_execution uuid)
 RETURNS text
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
begin
  if not engine.may_touch(p_workspace) then return 'unknown'; end if;
  update executions set status = 'queued', due_at = now(), waiting_for = '[]', crashes = 4
    where workspace_id = p_workspace and execution_id = p_execution and status = 'waiting'
      and waiting_for @> '[{"kind": "slot", "reason": "poison"}]';
  if found then return 'accepted'; end if;
  return case when exists (select from executions where workspace_id = p_workspace and execution_id = p_execution)
    then 'not_poison' else 'unknown' end;
end $function$
;
CREATE OR REPLACE FUNCTION engine.start(p_workspace uuid, p_execution uuid, p_input json, p_start json, p_queue_limit integer DEFAULT 100000)
 RETURNS text
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
declare
  v_queued integer;
  v_gated boolean := p_start ->> 'stage' is not null;
  v_due timestamptz := coalesce(to_timestamp((p_start ->> 'start_at')::double precision / 1000),
    now() + (p_start ->> 'start_in')::double precision * interval '1 second');
begin
  if v_due <= now() then v_due := null; end if;
  if not engine.may_touch(p_workspace) then return 'unknown'; end if;
  if exists (select from gone_workspaces where workspace_id = p_workspace) then return 'unknown'; end if;
  select count(*) into v_queued from (
    select from executions where workspace_id = p_workspace and status = 'queued' limit p_queue_limit) as queued;
  if v_queued >= p_queue_limit then return 'queue_full'; end if;
  if v_gated then
    select count(*) into v_queued from (
      select from executions where workspace_id = p_workspace and status = 'waiting' and held = false limit 2 * p_queue_limit) as gated;
    if v_queued >= 2 * p_queue_limit then return 'queue_full'; end if;
  end if;
  if p_start->>'key_hash' is not null then
    insert into start_keys (credential_hash, key_hash, body_sha256, workspace_id, execution_id)
      values (decode(p_start->>'credential_hash', 'hex'), decode(p_start->>'key_hash', 'hex'),
        decode(p_start->>'body_sha256', 'hex'), p_workspace, p_execution)
      on conflict (credential_hash, key_hash) do update set body_sha256 = excluded.body_sha256,
        workspace_id = excluded.workspace_id, execution_id = excluded.execution_id, created_at = now()
        where start_keys.created_at < now() - interval '24 hours';
    if not found then return 'duplicate'; end if;
  end if;
  insert into executions (execution_id, workspace_id, workflow_id, system_slug, version_id, definition_ref, status, input,
      trigger_kind, trigger_id, started_by, retry_of, parent_execution_id, parent_node, timeout_s, max_concurrency,
      snapshot, due_at, tell_end, depth, principal_id, initiated_by, waiting_for, held, place, stage, gate, queue_at, flow,
      priority, tags, metadata, scheduled_at, schedule_id)
    values (p_execution, p_workspace, (p_start->>'workflow_id')::uuid, p_start->>'system_slug',
      (p_start->>'version_id')::uuid, p_start->>'definition_ref',
      case when v_gated or v_due is not null then 'waiting' else 'queued' end, p_input,
      p_start->>'trigger_kind', p_start->>'trigger_id', (p_start->>'started_by')::uuid, (p_start->>'retry_of')::uuid,
      (p_start->>'parent_execution_id')::uuid, p_start->>'parent_node', (p_start->>'timeout_s')::double precision,
      (p_start->>'max_concurrency')::integer, nullif(p_start->>'snapshot', '')::json,
      case when v_due is not null then v_due when v_gated then null
        else now() - coalesce((p_start->>'priority')::integer, 0) * interval '1 hour' end,
      coalesce((p_start->>'tell_end')::boolean, false),
      coalesce((p_start->>'depth')::smallint, 0), (p_start->>'principal_id')::uuid, p_start->'initiated_by',
      case when v_due is not null then engine.start_wait(v_due) else coalesce((p_start->'waiting_for')::jsonb, '[]') end,
      case when v_gated then false end, (p_start->>'place')::uuid,
      case when v_gated and v_due is not null then 'later' else p_start->>'stage' end, (p_start->>'gate')::uuid,
      case when v_gated then now() - coalesce((p_start->>'priority')::integer, 0) * interval '1 hour' end, p_start->'flow',
      (p_start->>'priority')::smallint,
      case when p_start->>'tags' is not null then array(select json_array_elements_text(p_start->'tags')) end, p_start->'metadata',
      to_timestamp((p_start->>'scheduled_at')::double precision / 1000), (p_start->>'schedule_id')::uuid)
    on conflict do nothing;
  if not found then return 'duplicate'; end if;
  if v_gated and v_due is null then
    insert into flow_dirty (workspace_id, workflow_id, place)
      values (p_workspace, (p_start->>'workflow_id')::uuid, (p_start->>'place')::uuid);
  end if;
  return 'accepted';
end $function$
;
CREATE OR REPLACE FUNCTION engine.claimed()
 RETURNS TABLE(execution_id uuid, snapshot_seq integer, seen integer)
 LANGUAGE sql
 STABLE ROWS 16
AS $function$
  select split_part(one, ' ', 1)::uuid, split_part(one, ' ', 2)::integer, split_part(one, ' ', 3)::integer
  from string_to_table(current_setting('engine.claimed', true), ',') as one
  where one <> ''
$function$
;
CREATE OR REPLACE FUNCTION engine.grant_slots(p_limit integer)
 RETURNS integer
 LANGUAGE plpgsql
AS $function$
declare
  v_group record;
  v_free integer;
  v_granted integer := 0;
  v_chosen uuid;
begin
  for v_group in
    select workspace_id, workflow_id, min(max_concurrency) as most from (
      select workspace_id, workflow_id, max_concurrency from executions
        where status = 'waiting' and waiting_for @> '[{"kind": "slot"}]' and max_concurrency is not null
        order by workspace_id, workflow_id, execution_id limit p_limit) as waiting
    group by workspace_id, workflow_id
  loop
    select v_group.most - count(*) into v_free from executions
      where workspace_id = v_group.workspace_id and workflow_id = v_group.workflow_id and status = 'running';
    for v_chosen in
      select execution_id from executions
        where status = 'waiting' and waiting_for @> '[{"kind": "slot"}]' and workspace_id = v_group.workspace_id
          and workflow_id = v_group.workflow_id and max_concurrency is not null and crashes < 5
        order by execution_id limit greatest(v_free, 0) for no key update skip locked
    loop
      update executions set status = 'queued', due_at = now(), waiting_for = '[]'
        where workspace_id = v_group.workspace_id and execution_id = v_chosen;
      v_granted := v_granted + 1;
    end loop;
  end loop;
  return v_granted;
end $function$
;
CREATE OR REPLACE FUNCTION engine.bury(p_worker uuid, p_crashed boolean DEFAULT true)
 RETURNS integer
 LANGUAGE plpgsql
AS $function$
declare
  v_workspaces uuid[];
  v_executions uuid[];
begin
  perform from workers where worker_id = p_worker and not dead for update;
  if not found then return 0; end if;
  with released as (
    update executions set worker_id = null, epoch = epoch + 1,
        crashes = crashes + p_crashed::integer,
        status = case when crashes + p_crashed::integer >= 5 then 'waiting' else 'queued' end,
        -- Before whatever has not begun yet: what was under way goes on first.
        due_at = case when crashes + p_crashed::integer >= 5 then null else coalesce(started_at, created_at) end,
        waiting_for = case when crashes + p_crashed::integer >= 5
          then jsonb_build_array(jsonb_build_object('kind', 'slot', 'reason', 'poison', 'since', now(),
            'crashes', crashes + 1)) else '[]' end
      where status = 'running' and worker_id = p_worker
      returning workspace_id, execution_id)
  select array_agg(workspace_id), array_agg(execution_id) into v_workspaces, v_executions from released;
  update workers set dead = true,
      counted_workspaces = case when p_crashed then v_workspaces end,
      counted_executions = case when p_crashed then v_executions end
    where worker_id = p_worker;
  return coalesce(cardinality(v_executions), 0);
end $function$
;
CREATE OR REPLACE FUNCTION engine.wake_due(p_limit integer)
 RETURNS integer
 LANGUAGE plpgsql
AS $function$
declare
  v_due record;
  v_woken integer := 0;
begin
  for v_due in
    select workspace_id, execution_id from executions
      where status = 'waiting' and due_at <= now() order by due_at limit p_limit for no key update skip locked
  loop
    update executions set status = 'queued', waiting_for = '[]', due_at = now()
      where workspace_id = v_due.workspace_id and execution_id = v_due.execution_id;
    v_woken := v_woken + 1;
  end loop;
  return v_woken;
end $function$
;
CREATE OR REPLACE FUNCTION engine.first_id(p_at timestamp with time zone)
 RETURNS uuid
 LANGUAGE sql
 IMMUTABLE
RETURN ((lpad(to_hex(((EXTRACT(epoch FROM p_at) * (1000)::numeric))::bigint), 12, '0'::text) || '00000000000000000000'::text))::uuid
;
CREATE OR REPLACE FUNCTION engine.close_partition(p_name text)
 RETURNS void
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
begin
  execute format('alter table %I enable row level security', p_name);
  execute format('alter table %I force row level security', p_name);
  execute format('create policy owner_all on %I to heddle_owner using (true) with check (true)', p_name);
end $function$
;
CREATE OR REPLACE FUNCTION engine.ensure_week(p_start timestamp with time zone)
 RETURNS void
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
begin
  perform engine.add_week('executions', p_start, 'with (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.02)');
  perform engine.add_week('events', p_start, '');
end $function$
;
CREATE OR REPLACE FUNCTION engine.ensure_partitions(p_weeks integer DEFAULT 4)
 RETURNS void
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
begin
  perform pg_advisory_xact_lock(7101);
  for v_week in 0..p_weeks loop
    perform engine.ensure_week(date_trunc('week', now() at time zone 'utc') at time zone 'utc' + v_week * interval '7 days');
  end loop;
end $function$
;
CREATE OR REPLACE FUNCTION engine.drop_week(p_start timestamp with time zone, p_days integer, OUT gone integer, OUT kept boolean)
 RETURNS record
 LANGUAGE sql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
RETURN ROW(0, true)
;
CREATE OR REPLACE FUNCTION engine.weeks()
 RETURNS TABLE(start_at timestamp with time zone)
 LANGUAGE sql
 STABLE SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
BEGIN ATOMIC
 SELECT DISTINCT ((to_date("right"((c.relname)::text, 8), 'YYYYMMDD'::text))::timestamp without time zone AT TIME ZONE 'utc'::text) AS timezone
    FROM pg_class c
   WHERE ((c.relnamespace = ('public'::regnamespace)::oid) AND (c.relkind = 'r'::"char") AND (c.relname ~ '^(executions|events)_[0-9]{8}$'::text))
   ORDER BY (((to_date("right"((c.relname)::text, 8), 'YYYYMMDD'::text))::timestamp without time zone AT TIME ZONE 'utc'::text));
END
;
CREATE OR REPLACE FUNCTION public.uuid_of_typeid(id text)
 RETURNS uuid
 LANGUAGE plpgsql
 IMMUTABLE PARALLEL SAFE STRICT
AS $function$
declare
  alphabet constant text := '0123456789abcdefghjkmnpqrstvwxyz';
  letters constant text := right(id, 26);
  bits bit varying := B'';
  hex text := '';
begin
  for letter in 1..26 loop
    bits := bits || (strpos(alphabet, substr(letters, letter, 1)) - 1)::bit(5);
  end loop;
  for digit in 0..31 loop
    hex := hex || to_hex(substring(bits from digit * 4 + 3 for 4)::bit(4)::integer);
  end loop;
  return hex::uuid;
end $function$
;
create view engine.wait_faults as  SELECT e.workspace_id,
    e.execution_id,
    (w.value ->> 'node_id'::text) AS node_path,
    false AS is_left,
    'it waits for a gate that is not open'::text AS why
   FROM (public.executions e
     CROSS JOIN LATERAL jsonb_array_elements(e.waiting_for) w(value))
  WHERE ((e.status = 'waiting'::text) AND ((w.value ->> 'kind'::text) = 'approval'::text) AND (w.value ? 'request_id'::text) AND (NOT (EXISTS ( SELECT
           FROM public.approval_requests g
          WHERE ((g.workspace_id = e.workspace_id) AND (g.execution_id = e.execution_id) AND (g.node_path = (w.value ->> 'node_id'::text)) AND (g.status = 'open'::text))))))
UNION ALL
 SELECT e.workspace_id,
    e.execution_id,
    (w.value ->> 'node_id'::text) AS node_path,
    false AS is_left,
    'it waits for a question that is not open'::text AS why
   FROM (public.executions e
     CROSS JOIN LATERAL jsonb_array_elements(e.waiting_for) w(value))
  WHERE ((e.status = 'waiting'::text) AND ((w.value ->> 'kind'::text) = 'clarification'::text) AND (w.value ? 'clarification_id'::text) AND (NOT (EXISTS ( SELECT
           FROM public.questions q
          WHERE ((q.workspace_id = e.workspace_id) AND (q.execution_id = e.execution_id) AND (q.node_path = (w.value ->> 'node_id'::text)) AND (q.status = 'open'::text))))))
UNION ALL
 SELECT e.workspace_id,
    e.execution_id,
    (w.value ->> 'node_id'::text) AS node_path,
    false AS is_left,
    'it waits for an execution that has ended or is not there'::text AS why
   FROM (public.executions e
     CROSS JOIN LATERAL jsonb_array_elements(e.waiting_for) w(value))
  WHERE ((e.status = 'waiting'::text) AND ((w.value ->> 'kind'::text) = 'execution'::text) AND (w.value ? 'execution_id'::text) AND (NOT (EXISTS ( SELECT
           FROM public.executions c
          WHERE ((c.workspace_id = e.workspace_id) AND (c.execution_id = public.uuid_of_typeid((w.value ->> 'execution_id'::text))) AND ((c.finished_at IS NULL) OR (c.finished_at > (now() - '00:00:15'::interval))))))))
UNION ALL
 SELECT e.workspace_id,
    e.execution_id,
    g.node_path,
    true AS is_left,
    'it does not wait for a gate of its own that is open'::text AS why
   FROM (public.executions e
     JOIN public.approval_requests g ON (((g.workspace_id = e.workspace_id) AND (g.execution_id = e.execution_id))))
  WHERE ((e.status = 'waiting'::text) AND (g.status = 'open'::text) AND ((e.waiting_for -> 0) ? 'node_id'::text) AND (jsonb_array_length(e.waiting_for) < 1000) AND (NOT (e.waiting_for @> jsonb_build_array(jsonb_build_object('node_id', g.node_path)))))
UNION ALL
 SELECT e.workspace_id,
    e.execution_id,
    q.node_path,
    true AS is_left,
    'it does not wait for a question of its own that is open'::text AS why
   FROM (public.executions e
     JOIN public.questions q ON (((q.workspace_id = e.workspace_id) AND (q.execution_id = e.execution_id))))
  WHERE ((e.status = 'waiting'::text) AND (q.status = 'open'::text) AND ((e.waiting_for -> 0) ? 'node_id'::text) AND (jsonb_array_length(e.waiting_for) < 1000) AND (NOT (e.waiting_for @> jsonb_build_array(jsonb_build_object('node_id', q.node_path)))))
UNION ALL
 SELECT e.workspace_id,
    e.execution_id,
    (w.value ->> 'node_id'::text) AS node_path,
    false AS is_left,
    'it waits for an event that is not awaited'::text AS why
   FROM (public.executions e
     CROSS JOIN LATERAL jsonb_array_elements(e.waiting_for) w(value))
  WHERE ((e.status = 'waiting'::text) AND ((w.value ->> 'kind'::text) = 'event'::text) AND (w.value ? 'wait_id'::text) AND (NOT (EXISTS ( SELECT
           FROM public.event_waits v
          WHERE ((v.workspace_id = e.workspace_id) AND (v.execution_id = e.execution_id) AND (v.node_path = (w.value ->> 'node_id'::text)) AND (v.status = 'open'::text))))))
UNION ALL
 SELECT e.workspace_id,
    e.execution_id,
    v.node_path,
    true AS is_left,
    'it does not wait for an event that is awaited for it'::text AS why
   FROM (public.executions e
     JOIN public.event_waits v ON (((v.workspace_id = e.workspace_id) AND (v.execution_id = e.execution_id))))
  WHERE ((e.status = 'waiting'::text) AND (v.status = 'open'::text) AND ((e.waiting_for -> 0) ? 'node_id'::text) AND (jsonb_array_length(e.waiting_for) < 1000) AND (NOT (e.waiting_for @> jsonb_build_array(jsonb_build_object('node_id', v.node_path)))));
CREATE OR REPLACE FUNCTION engine.unaccounted()
 RETURNS TABLE(execution_id uuid, workspace_id uuid, status text, why text)
 LANGUAGE sql
 STABLE SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
BEGIN ATOMIC
 SELECT e.execution_id,
     e.workspace_id,
     e.status,
     'its worker is dead'::text
    FROM public.executions e
   WHERE ((e.status = 'running'::text) AND (NOT (EXISTS ( SELECT
            FROM public.workers w
           WHERE ((w.worker_id = e.worker_id) AND (NOT w.dead))))))
 UNION ALL
  SELECT e.execution_id,
     e.workspace_id,
     e.status,
     'it waits for nothing'::text
    FROM public.executions e
   WHERE ((e.status = 'waiting'::text) AND ((e.waiting_for = '[]'::jsonb) OR ((e.due_at IS NULL) AND (e.waiting_for @> '[{"kind": "timer"}]'::jsonb))))
 UNION ALL
  SELECT e.execution_id,
     e.workspace_id,
     e.status,
     'its time has passed'::text
    FROM public.executions e
   WHERE ((e.status = 'waiting'::text) AND (e.due_at < (now() - '00:00:30'::interval)))
 UNION ALL
  SELECT e.execution_id,
     e.workspace_id,
     e.status,
     'a message to it was not read'::text
    FROM public.executions e
   WHERE ((e.status = 'waiting'::text) AND (e.inbox > e.seen) AND ((e.waiting_for -> 0) ? 'node_id'::text))
 UNION ALL
  SELECT f.execution_id,
     f.workspace_id,
     'waiting'::text,
     f.why
    FROM engine.wait_faults f
 UNION ALL
  SELECT e.execution_id,
     e.workspace_id,
     e.status,
     'it has ended, and a gate of its own is open'::text
    FROM (public.approval_requests g
      JOIN public.executions e ON (((e.workspace_id = g.workspace_id) AND (e.execution_id = g.execution_id))))
   WHERE ((g.status = 'open'::text) AND (e.finished_at < (now() - '00:00:30'::interval)))
 UNION ALL
  SELECT e.execution_id,
     e.workspace_id,
     e.status,
     'it has ended, and a question of its own is open'::text
    FROM (public.questions q
      JOIN public.executions e ON (((e.workspace_id = q.workspace_id) AND (e.execution_id = q.execution_id))))
   WHERE ((q.status = 'open'::text) AND (e.finished_at < (now() - '00:00:30'::interval)))
 UNION ALL
  SELECT e.execution_id,
     e.workspace_id,
     e.status,
     'it has ended, and an event is awaited for it'::text
    FROM (public.event_waits v
      JOIN public.executions e ON (((e.workspace_id = v.workspace_id) AND (e.execution_id = v.execution_id))))
   WHERE ((v.status = 'open'::text) AND (e.finished_at < (now() - '00:00:30'::interval)));
END
;
CREATE OR REPLACE FUNCTION engine.end_workspace(p_workspace uuid)
 RETURNS integer
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
declare
  v_ended integer;
begin
  with live as materialized (
    select e.execution_id, e.status, e.inbox from executions e
      where e.workspace_id = p_workspace and e.status in ('queued', 'running', 'waiting') order by e.execution_id for no key update),
  ended as (
    update executions e set status = 'cancelled', finished_at = now(), due_at = null, waiting_for = '[]', snapshot = null,
        snapshot_seq = 0, tell_end = false, epoch = e.epoch + 1
      from live l where e.workspace_id = p_workspace and e.execution_id = l.execution_id and l.status <> 'running'
      returning 1),
  told as (
    insert into inbox (workspace_id, execution_id, n, key, payload)
      select p_workspace, l.execution_id, l.inbox + 1, 'cancel',
        json_build_object('type', 'cancel', 'by', null, 'reason', 'the workspace was deleted')
      from live l where l.status = 'running'
      on conflict (execution_id, key) do nothing returning execution_id),
  counted as (
    update executions e set inbox = e.inbox + 1 from told t
      where e.workspace_id = p_workspace and e.execution_id = t.execution_id)
  select count(*) into v_ended from ended;
  return v_ended;
end $function$
;
CREATE OR REPLACE FUNCTION engine.workspace_gone()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
begin
  insert into gone_workspaces (workspace_id) values (old.workspace_id) on conflict do nothing;
  perform engine.end_workspace(old.workspace_id);
  return null;
end $function$
;
CREATE OR REPLACE FUNCTION engine.sweep_workspace(p_workspace uuid, p_limit integer)
 RETURNS integer
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
declare v_ids uuid[];
begin
  if exists (select from workspaces where workspace_id = p_workspace) then return 0; end if;
  v_ids := array(select execution_id from executions
    where workspace_id = p_workspace and status not in ('queued', 'running', 'waiting') limit p_limit);
  delete from events where execution_id = any (v_ids);
  delete from map_items where execution_id = any (v_ids);
  delete from inbox where execution_id = any (v_ids);
  delete from executions where workspace_id = p_workspace and execution_id = any (v_ids);
  return cardinality(v_ids);
end $function$
;
CREATE OR REPLACE FUNCTION public.identify_webhook_token(token bytea)
 RETURNS TABLE(token_id uuid, org_id uuid, workspace_id uuid, workflow_id uuid, enabled boolean, expired boolean, version_id uuid, inputs json, settings jsonb)
 LANGUAGE sql
 STABLE SECURITY DEFINER
 SET search_path TO 'public'
BEGIN ATOMIC
 SELECT t.token_id,
     s.org_id,
     t.workspace_id,
     t.workflow_id,
     t.enabled,
     COALESCE((t.expires_at <= now()), false) AS "coalesce",
     v.version_id,
     (v.definition -> 'inputs'::text),
     w.settings
    FROM (((public.webhook_tokens t
      JOIN public.workspaces s ON ((s.workspace_id = t.workspace_id)))
      JOIN public.workflows w ON (((w.workspace_id = t.workspace_id) AND (w.workflow_id = t.workflow_id) AND (w.deleted_at IS NULL))))
      LEFT JOIN public.workflow_versions v ON (((v.workspace_id = t.workspace_id) AND (v.workflow_id = t.workflow_id) AND v.active)))
   WHERE ((t.token_hash = identify_webhook_token.token) AND (t.auth = 'bearer'::text));
END
;
CREATE OR REPLACE FUNCTION public.identify_embed_token(token bytea)
 RETURNS TABLE(token_id uuid, org_id uuid, workspace_id uuid, workflow_id uuid, template_id uuid, enabled boolean, allowed_origins text[], require_origin boolean)
 LANGUAGE sql
 STABLE SECURITY DEFINER
 SET search_path TO 'public'
BEGIN ATOMIC
 SELECT t.token_id,
     s.org_id,
     t.workspace_id,
     t.workflow_id,
     t.template_id,
     t.enabled,
     t.allowed_origins,
     t.require_origin
    FROM ((public.embed_tokens t
      JOIN public.workspaces s ON ((s.workspace_id = t.workspace_id)))
      LEFT JOIN public.workflows w ON (((w.workspace_id = t.workspace_id) AND (w.workflow_id = t.workflow_id))))
   WHERE ((t.token_hash = identify_embed_token.token) AND ((t.workflow_id IS NULL) OR (w.deleted_at IS NULL)));
END
;
CREATE OR REPLACE FUNCTION public.touch_tokens(webhook uuid[], embed uuid[])
 RETURNS void
 LANGUAGE sql
 SECURITY DEFINER
 SET search_path TO 'public'
BEGIN ATOMIC
 UPDATE public.webhook_tokens SET last_used_at = now()
   WHERE (webhook_tokens.token_id = ANY (touch_tokens.webhook));
 UPDATE public.embed_tokens SET last_used_at = now()
   WHERE (embed_tokens.token_id = ANY (touch_tokens.embed));
END
;
CREATE OR REPLACE FUNCTION public.due_schedules(most integer)
 RETURNS TABLE(workspace_id uuid, workflow_id uuid)
 LANGUAGE sql
 STABLE SECURITY DEFINER
 SET search_path TO 'public'
BEGIN ATOMIC
 SELECT s.workspace_id,
     s.workflow_id
    FROM public.schedules s
   WHERE (s.next_run_at <= now())
   ORDER BY s.next_run_at
  LIMIT due_schedules.most;
END
;
CREATE OR REPLACE FUNCTION public.next_schedule_at()
 RETURNS timestamp with time zone
 LANGUAGE sql
 STABLE SECURITY DEFINER
 SET search_path TO 'public'
RETURN (SELECT min(schedules.next_run_at) AS min FROM public.schedules WHERE (schedules.next_run_at IS NOT NULL))
;
CREATE OR REPLACE FUNCTION public.definition_of_version(workspace uuid, version uuid)
 RETURNS json
 LANGUAGE sql
 STABLE SECURITY DEFINER
 SET search_path TO 'public'
RETURN (SELECT workflow_versions.definition FROM public.workflow_versions WHERE ((workflow_versions.workspace_id = definition_of_version.workspace) AND (workflow_versions.version_id = definition_of_version.version)))
;
CREATE OR REPLACE FUNCTION public.told_recently(recipient uuid, event_kind text, workflow text)
 RETURNS boolean
 LANGUAGE sql
 STABLE SECURITY DEFINER
 SET search_path TO 'public'
RETURN (EXISTS (SELECT FROM public.notifications WHERE ((notifications.user_id = told_recently.recipient) AND (notifications.kind = told_recently.event_kind) AND (notifications.created_at > (now() - '01:00:00'::interval)) AND ((notifications.data ->> 'workflow_id'::text) = told_recently.workflow))))
;
CREATE OR REPLACE FUNCTION public.roles_in_jobs(people uuid[], spaces uuid[], jobs uuid[])
 RETURNS TABLE(role text)
 LANGUAGE sql
 STABLE SECURITY DEFINER
 SET search_path TO 'public'
BEGIN ATOMIC
 SELECT
         CASE
             WHEN (j.job_id IS NULL) THEN NULL::text
             WHEN (f.workflow_id IS NOT NULL) THEN
             CASE
                 WHEN (f.owner_id = w.person) THEN 'owner'::text
                 ELSE COALESCE(( SELECT min(p.role) AS min
                    FROM ( SELECT m.role
                            FROM public.workflow_members m
                           WHERE ((m.workspace_id = f.workspace_id) AND (m.workflow_id = f.workflow_id) AND (m.user_id = w.person))
                         UNION ALL
                          SELECT s.role
                            FROM (public.team_shares s
                              JOIN public.team_members t ON (((t.workspace_id = s.workspace_id) AND (t.team_id = s.team_id))))
                           WHERE ((s.workspace_id = f.workspace_id) AND (s.workflow_id = f.workflow_id) AND (t.user_id = w.person))) p), ''::text)
             END
             ELSE COALESCE(( SELECT p.role
                FROM ( SELECT m.role
                        FROM public.job_members m
                       WHERE ((m.workspace_id = j.workspace_id) AND (m.job_id = j.job_id) AND (m.user_id = w.person))
                     UNION ALL
                      SELECT s.role
                        FROM (public.team_shares s
                          JOIN public.team_members t ON (((t.workspace_id = s.workspace_id) AND (t.team_id = s.team_id))))
                       WHERE ((s.workspace_id = j.workspace_id) AND (s.job_id = j.job_id) AND (t.user_id = w.person))) p
               ORDER BY (array_position(ARRAY['owner'::text, 'member'::text, 'viewer'::text], p.role))
              LIMIT 1), ''::text)
         END AS "coalesce"
    FROM ((UNNEST(roles_in_jobs.people, roles_in_jobs.spaces, roles_in_jobs.jobs) WITH ORDINALITY w(person, space, job, n)
      LEFT JOIN public.enrichment_jobs j ON (((j.workspace_id = w.space) AND (j.job_id = w.job))))
      LEFT JOIN public.workflows f ON (((f.workspace_id = j.workspace_id) AND (f.workflow_id = j.workflow_id) AND (f.deleted_at IS NULL))))
   ORDER BY w.n;
END
;
CREATE OR REPLACE FUNCTION public.watchable_executions(people uuid[], spaces uuid[], watched uuid[])
 RETURNS TABLE(allowed boolean)
 LANGUAGE sql
 STABLE SECURITY DEFINER
 SET search_path TO 'public'
BEGIN ATOMIC
 SELECT
         CASE
             WHEN (e.execution_id IS NULL) THEN NULL::boolean
             ELSE ((NOT (e.started_by IS DISTINCT FROM w.person)) OR (EXISTS ( SELECT
                FROM public.workflows f
               WHERE ((f.workspace_id = e.workspace_id) AND (f.workflow_id = e.workflow_id) AND (f.deleted_at IS NULL) AND ((f.owner_id = w.person) OR (EXISTS ( SELECT
                        FROM public.workflow_members m
                       WHERE ((m.workspace_id = f.workspace_id) AND (m.workflow_id = f.workflow_id) AND (m.user_id = w.person)))) OR (EXISTS ( SELECT
                        FROM (public.team_shares s
                          JOIN public.team_members t ON (((t.workspace_id = s.workspace_id) AND (t.team_id = s.team_id))))
                       WHERE ((s.workspace_id = f.workspace_id) AND (s.workflow_id = f.workflow_id) AND (t.user_id = w.person)))))))) OR ((e.definition_ref ~~ 'adhoc:%'::text) AND (EXISTS ( SELECT
                FROM public.job_definitions d,
                 LATERAL public.roles_in_jobs(ARRAY[w.person], ARRAY[d.workspace_id], ARRAY[d.job_id]) r(role)
               WHERE ((d.workspace_id = e.workspace_id) AND (d.definition_id = (substr(e.definition_ref, 7))::uuid) AND (r.role <> ''::text))))))
         END AS "case"
    FROM (UNNEST(watchable_executions.people, watchable_executions.spaces, watchable_executions.watched) WITH ORDINALITY w(person, space, execution, n)
      LEFT JOIN public.executions e ON (((e.workspace_id = w.space) AND (e.execution_id = w.execution))))
   ORDER BY w.n;
END
;
CREATE OR REPLACE FUNCTION public.unpacked(p_seq integer, p_at timestamp with time zone, p_type text, p_data json)
 RETURNS TABLE(seq integer, at timestamp with time zone, type text, data json)
 LANGUAGE sql
 IMMUTABLE
BEGIN ATOMIC
 SELECT unpacked.p_seq AS p_seq,
     unpacked.p_at AS p_at,
     unpacked.p_type AS p_type,
     unpacked.p_data AS p_data
   WHERE (unpacked.p_type <> ALL (ARRAY['p'::text, 'packed'::text]))
 UNION ALL
  SELECT ((unpacked.p_seq + (e.n)::integer) - 1),
     (unpacked.p_at + (((e.part[2])::text)::double precision * '00:00:00.001'::interval)),
         CASE (e.part[1])::text
             WHEN '"b"'::text THEN 'node.started'::text
             WHEN '"s"'::text THEN 'node.succeeded'::text
             WHEN '"k"'::text THEN 'node.skipped'::text
             WHEN '"t"'::text THEN 'execution.started'::text
             WHEN '"e"'::text THEN 'execution.succeeded'::text
             ELSE btrim((e.part[1])::text, '"'::text)
         END AS btrim,
         CASE (e.part[1])::text
             WHEN '"b"'::text THEN (format('{"node_id":%s,"attempt":1}'::text, e.part[3]))::json
             WHEN '"s"'::text THEN (format('{"node_id":%s,"attempt":1,"output":%s}'::text, e.part[3], e.part[4]))::json
             WHEN '"k"'::text THEN (format('{"node_id":%s}'::text, e.part[3]))::json
             WHEN '"t"'::text THEN (format('{"trigger":%s}'::text, e.part[3]))::json
             WHEN '"e"'::text THEN (format('{"results":%s}'::text, e.part[3]))::json
             ELSE e.part[3]
         END AS part
    FROM ( SELECT x.n,
             ARRAY( SELECT json_array_elements(x.event) AS json_array_elements) AS part
            FROM json_array_elements(
                 CASE
                     WHEN (unpacked.p_type = ANY (ARRAY['p'::text, 'packed'::text])) THEN unpacked.p_data
                     ELSE '[]'::json
                 END) WITH ORDINALITY x(event, n)
          OFFSET 0) e;
END
;
CREATE OR REPLACE FUNCTION public.read_execution_feeds(watched uuid[], after integer[], most integer)
 RETURNS TABLE(request bigint, seq integer, type text, at timestamp with time zone, data json)
 LANGUAGE sql
 STABLE SECURITY DEFINER
 SET search_path TO 'public'
BEGIN ATOMIC
 SELECT w.n,
     u.seq,
     u.type,
     u.at,
     u.data
    FROM UNNEST(read_execution_feeds.watched, read_execution_feeds.after) WITH ORDINALITY w(execution, after, n),
     LATERAL ( SELECT u_1.seq,
             u_1.type,
             u_1.at,
             u_1.data
            FROM (( SELECT e_1.execution_id,
                     e_1.seq,
                     e_1.workspace_id,
                     e_1.at,
                     e_1.type,
                     e_1.data
                    FROM public.events e_1
                   WHERE ((e_1.execution_id = w.execution) AND (e_1.seq > (w.after - 16)))
                   ORDER BY e_1.seq
                  LIMIT (read_execution_feeds.most + 16)) e
              CROSS JOIN LATERAL public.unpacked(e.seq, e.at, e.type, e.data) u_1(seq, at, type, data))
           WHERE (u_1.seq > w.after)
           ORDER BY u_1.seq
          LIMIT read_execution_feeds.most) u
   ORDER BY w.n, u.seq;
END
;
CREATE OR REPLACE FUNCTION public.forget_old()
 RETURNS void
 LANGUAGE sql
 SECURITY DEFINER
 SET search_path TO 'public'
BEGIN ATOMIC
 DELETE FROM public.told_failures
   WHERE (told_failures.told_at < (now() - '30 days'::interval));
 DELETE FROM public.notify_receipts
   WHERE (notify_receipts.at < (now() - '30 days'::interval));
 DELETE FROM public.sessions
   WHERE (sessions.expires_at < now());
 DELETE FROM public.invitations
   WHERE (invitations.expires_at < (now() - '30 days'::interval));
 DELETE FROM public.presence
   WHERE (presence.expires_at < (now() - '1 day'::interval));
 DELETE FROM public.mail_outbox
   WHERE (mail_outbox.created_at < (now() - '30 days'::interval));
END
;
CREATE OR REPLACE FUNCTION public.forget_history(kept_days integer, most integer)
 RETURNS integer
 LANGUAGE sql
 SECURITY DEFINER
 SET search_path TO 'public'
BEGIN ATOMIC
 WITH old_read AS (
          DELETE FROM public.notifications
           WHERE (notifications.notification_id IN ( SELECT n.notification_id
                    FROM public.notifications n
                   WHERE ((n.notification_id < engine.first_id((now() - make_interval(days => forget_history.kept_days)))) AND (n.read_at IS NOT NULL))
                  LIMIT forget_history.most))
           RETURNING 1 AS "?column?"
         ), old_entries AS (
          DELETE FROM public.audit_log
           WHERE (audit_log.entry_id IN ( SELECT a.entry_id
                    FROM public.audit_log a
                   WHERE (a.entry_id < engine.first_id((now() - make_interval(days => forget_history.kept_days))))
                  LIMIT forget_history.most))
           RETURNING 1 AS "?column?"
         )
  SELECT (GREATEST(( SELECT count(*) AS count
            FROM old_read), ( SELECT count(*) AS count
            FROM old_entries)))::integer AS "greatest";
END
;
CREATE OR REPLACE FUNCTION public.workflow_retentions()
 RETURNS TABLE(workspace_id uuid, workflow_id uuid, retention_days integer)
 LANGUAGE sql
 STABLE SECURITY DEFINER
 SET search_path TO 'public'
BEGIN ATOMIC
 SELECT w.workspace_id,
     w.workflow_id,
     ((w.settings ->> 'retention_days'::text))::integer AS int4
    FROM public.workflows w
   WHERE ((w.settings ->> 'retention_days'::text) IS NOT NULL);
END
;
CREATE OR REPLACE FUNCTION engine.forget_ended(p_workspace uuid, p_workflow uuid, p_days integer, p_limit integer)
 RETURNS TABLE(execution_id uuid, left_blobs boolean)
 LANGUAGE plpgsql
AS $function$
declare
  v_before timestamptz := now() - p_days * interval '1 day';
  v_ids uuid[];
begin
  v_ids := array(select e.execution_id from executions e
    where e.workspace_id = p_workspace and e.workflow_id = p_workflow and e.trigger_kind <> 'job'
      and e.execution_id < engine.first_id(v_before) and e.finished_at < v_before and not e.tell_end
    order by e.execution_id limit p_limit for no key update skip locked);
  v_ids := v_ids || array(select e.execution_id from executions e
    where e.workspace_id = p_workspace and e.workflow_id = p_workflow and e.trigger_kind = 'job'
      and e.execution_id < engine.first_id(v_before) and e.finished_at < v_before and not e.tell_end
    order by e.execution_id limit p_limit - cardinality(v_ids) for no key update skip locked);
  return query select e.execution_id, e.results_blob is not null or exists (
      select from events v where v.execution_id = e.execution_id and strpos(v.data::text, '"blob":') > 0)
      or exists (select from map_items m where m.execution_id = e.execution_id and strpos(m.state::text, '"blob":') > 0)
    from executions e where e.workspace_id = p_workspace and e.execution_id = any (v_ids);
  delete from events v where v.execution_id = any (v_ids);
  delete from map_items m where m.execution_id = any (v_ids);
  delete from inbox i where i.execution_id = any (v_ids);
  delete from executions e where e.workspace_id = p_workspace and e.execution_id = any (v_ids);
end $function$
;
CREATE OR REPLACE FUNCTION public.recheck_gates()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public'
AS $function$
begin
  insert into gate_rechecks (workspace_id) values (case when tg_op = 'INSERT' then new.workspace_id else old.workspace_id end);
  return null;
end $function$
;
CREATE OR REPLACE FUNCTION public.due_agent_reviews(most integer, most_of_one integer)
 RETURNS TABLE(workspace_id uuid, request_id uuid, agent text)
 LANGUAGE sql
 STABLE SECURITY DEFINER
 SET search_path TO 'public'
BEGIN ATOMIC
 WITH RECURSIVE spaces AS (
         ( SELECT r.workspace_id
            FROM public.agent_reviews r
           ORDER BY r.workspace_id
          LIMIT 1)
         UNION ALL
          SELECT ( SELECT r.workspace_id
                    FROM public.agent_reviews r
                   WHERE (r.workspace_id > s_1.workspace_id)
                   ORDER BY r.workspace_id
                  LIMIT 1) AS workspace_id
            FROM spaces s_1
           WHERE (s_1.workspace_id IS NOT NULL)
         )
  SELECT d.workspace_id,
     d.request_id,
     d.agent
    FROM (spaces s
      CROSS JOIN LATERAL ( SELECT r.workspace_id,
             r.request_id,
             r.agent,
             r.attempts,
             r.not_before
            FROM public.agent_reviews r
           WHERE ((r.workspace_id = s.workspace_id) AND (r.not_before <= now()))
           ORDER BY r.not_before
          LIMIT due_agent_reviews.most_of_one) d)
   ORDER BY d.not_before
  LIMIT due_agent_reviews.most;
END
;
CREATE OR REPLACE FUNCTION public.workspaces_to_recheck(most integer)
 RETURNS SETOF uuid
 LANGUAGE sql
 STABLE SECURITY DEFINER
 SET search_path TO 'public'
BEGIN ATOMIC
 SELECT DISTINCT gate_rechecks.workspace_id
    FROM public.gate_rechecks
  LIMIT workspaces_to_recheck.most;
END
;
CREATE OR REPLACE FUNCTION public.candidates_of_gates(workspace uuid, requests uuid[])
 RETURNS TABLE(request_id uuid, user_id uuid, name text, role text, excluded boolean)
 LANGUAGE sql
 STABLE SECURITY DEFINER
 SET search_path TO 'public'
BEGIN ATOMIC
 WITH named AS (
          SELECT a.request_id,
             a.ref_id AS user_id
            FROM public.approval_approvers a
           WHERE ((a.workspace_id = candidates_of_gates.workspace) AND (a.request_id = ANY (candidates_of_gates.requests)) AND (a.kind = 'user'::text))
         UNION
          SELECT a.request_id,
             t.user_id
            FROM (public.approval_approvers a
              JOIN public.team_members t ON (((t.workspace_id = a.workspace_id) AND (t.team_id = a.ref_id))))
           WHERE ((a.workspace_id = candidates_of_gates.workspace) AND (a.request_id = ANY (candidates_of_gates.requests)) AND (a.kind = 'team'::text) AND (NOT (EXISTS ( SELECT
                    FROM public.service_accounts s
                   WHERE ((s.workspace_id = candidates_of_gates.workspace) AND (s.user_id = t.user_id))))))
         UNION
          SELECT a.request_id,
             m_1.user_id
            FROM (public.approval_approvers a
              JOIN public.memberships m_1 ON (((m_1.workspace_id = a.workspace_id) AND (m_1.role = a.role))))
           WHERE ((a.workspace_id = candidates_of_gates.workspace) AND (a.request_id = ANY (candidates_of_gates.requests)) AND (a.kind = 'role'::text) AND (NOT (EXISTS ( SELECT
                    FROM public.service_accounts s
                   WHERE ((s.workspace_id = candidates_of_gates.workspace) AND (s.user_id = m_1.user_id))))))
         ), delegated AS (
          SELECT d.request_id,
             d.from_user,
             d.to_user
            FROM public.approval_delegations d
           WHERE ((d.workspace_id = candidates_of_gates.workspace) AND (d.request_id = ANY (candidates_of_gates.requests)) AND ((EXISTS ( SELECT
                    FROM public.memberships m_1
                   WHERE ((m_1.workspace_id = candidates_of_gates.workspace) AND (m_1.user_id = d.to_user)))) OR (EXISTS ( SELECT
                    FROM public.approval_votes v
                   WHERE ((v.workspace_id = candidates_of_gates.workspace) AND (v.request_id = d.request_id) AND (v.voter_kind = 'human'::text) AND (v.voter_id = (d.to_user)::text))))))
         ), handed AS (
          SELECT n.request_id,
             n.user_id
            FROM named n
           WHERE (NOT (EXISTS ( SELECT
                    FROM delegated d
                   WHERE ((d.request_id = n.request_id) AND (d.from_user = n.user_id)))))
         UNION
          SELECT d.request_id,
             d.to_user
            FROM (delegated d
              JOIN named n ON (((n.request_id = d.request_id) AND (n.user_id = d.from_user))))
         )
  SELECT h.request_id,
     h.user_id,
     u.name,
     m.role,
     (((g.policy -> 'allow_self'::text) IS DISTINCT FROM 'true'::jsonb) AND ((NOT (h.user_id IS DISTINCT FROM g.started_by)) OR COALESCE((g.initiators @> jsonb_build_array(jsonb_build_object('user_id', h.user_id))), false)))
    FROM (((handed h
      JOIN public.memberships m ON (((m.workspace_id = candidates_of_gates.workspace) AND (m.user_id = h.user_id))))
      JOIN public.users u ON ((u.user_id = h.user_id)))
      JOIN public.approval_requests g ON (((g.workspace_id = candidates_of_gates.workspace) AND (g.request_id = h.request_id))))
   WHERE (candidates_of_gates.workspace = public.app_workspace());
END
;
CREATE OR REPLACE FUNCTION public.voters_of_gates(workspace uuid, requests uuid[])
 RETURNS TABLE(request_id uuid, user_id uuid, name text, role text)
 LANGUAGE sql
 STABLE SECURITY DEFINER
 SET search_path TO 'public'
BEGIN ATOMIC
 SELECT c.request_id,
     c.user_id,
     c.name,
     c.role
    FROM public.candidates_of_gates(voters_of_gates.workspace, voters_of_gates.requests) c(request_id, user_id, name, role, excluded)
   WHERE (NOT c.excluded);
END
;
create view public.workflow_people as  SELECT m.workspace_id,
    m.workflow_id,
    m.user_id,
    m.role
   FROM public.workflow_members m
  WHERE (m.workspace_id = public.app_workspace())
UNION ALL
 SELECT s.workspace_id,
    s.workflow_id,
    t.user_id,
    s.role
   FROM (public.team_shares s
     JOIN public.team_members t ON (((t.workspace_id = s.workspace_id) AND (t.team_id = s.team_id))))
  WHERE ((s.workspace_id = public.app_workspace()) AND (s.workflow_id IS NOT NULL));
CREATE OR REPLACE FUNCTION public.question_answerers(workspace uuid, asked_id uuid)
 RETURNS TABLE(user_id uuid)
 LANGUAGE sql
 STABLE SECURITY DEFINER
 SET search_path TO 'public'
BEGIN ATOMIC
 WITH asked AS (
          SELECT q.workspace_id,
             q.clarification_id,
             q.execution_id,
             q.workflow_id,
             q.node_path,
             q.node_id,
             q.question,
             q.schema,
             q.who,
             q.status,
             q.on_due,
             q.default_answer,
             q.escalated,
             q.started_by,
             q.answer,
             q.answered_by,
             q.answered_by_name,
             q.asked_at,
             q.due_at,
             q.answered_at
            FROM public.questions q
           WHERE ((q.workspace_id = question_answerers.workspace) AND (q.clarification_id = question_answerers.asked_id) AND (question_answerers.workspace = public.app_workspace()))
         ), named AS (
          SELECT (line.value ->> 'kind'::text) AS kind,
             (line.value ->> 'id'::text) AS id,
             ((line.value ->> 'ref'::text))::uuid AS ref
            FROM asked,
             LATERAL jsonb_array_elements(COALESCE(asked.who, '[]'::jsonb)) line(value)
         ), people AS (
          SELECT m_1.user_id
            FROM (named n
              JOIN public.memberships m_1 ON (((m_1.workspace_id = question_answerers.workspace) AND (n.kind = 'user'::text) AND (n.ref = m_1.user_id))))
         UNION
          SELECT t.user_id
            FROM (named n
              JOIN public.team_members t ON (((t.workspace_id = question_answerers.workspace) AND (n.kind = 'team'::text) AND (n.ref = t.team_id))))
         UNION
          SELECT m_1.user_id
            FROM (named n
              JOIN public.memberships m_1 ON (((m_1.workspace_id = question_answerers.workspace) AND (n.kind = 'role'::text) AND (n.id = m_1.role))))
         UNION
          SELECT w.owner_id
            FROM (asked
              JOIN public.workflows w ON (((w.workspace_id = question_answerers.workspace) AND (w.workflow_id = asked.workflow_id))))
           WHERE (asked.who IS NULL)
         UNION
          SELECT wp.user_id
            FROM (asked
              JOIN public.workflow_people wp ON (((wp.workspace_id = question_answerers.workspace) AND (wp.workflow_id = asked.workflow_id) AND (wp.role = ANY (ARRAY['editor'::text, 'member'::text])))))
           WHERE (asked.who IS NULL)
         UNION
          SELECT asked.started_by
            FROM asked
           WHERE ((asked.who IS NULL) AND (asked.started_by IS NOT NULL))
         UNION
          SELECT m_1.user_id
            FROM (asked
              JOIN public.memberships m_1 ON (((m_1.workspace_id = question_answerers.workspace) AND (m_1.role = 'owner'::text))))
           WHERE asked.escalated
         )
  SELECT p.user_id
    FROM (people p
      JOIN public.memberships m ON (((m.workspace_id = question_answerers.workspace) AND (m.user_id = p.user_id))));
END
;
CREATE OR REPLACE FUNCTION public.forget_said()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
begin
  delete from approval_requests r using gone where r.workspace_id = gone.workspace_id and r.execution_id = gone.execution_id;
  delete from questions q using gone where q.workspace_id = gone.workspace_id and q.execution_id = gone.execution_id;
  return null;
end $function$
;
CREATE OR REPLACE FUNCTION public.sweep_datasets()
 RETURNS integer
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public'
AS $function$
declare
  swept integer;
begin
  if not pg_try_advisory_xact_lock(hashtext('sweep_datasets')) then return 0; end if;
  delete from dataset_versions v
  where (state = 'retired' and touched_at < now() - interval '15 minutes')
     or (state = 'pending' and touched_at < now() - interval '1 hour');
  get diagnostics swept = row_count;
  delete from dataset_pins p where pinned_at < now() - interval '1 hour' and not exists (
    select from executions e where e.execution_id = p.execution_id and e.status in ('queued', 'running', 'waiting'));
  delete from dataset_writes where written_at < now() - interval '90 days';
  return swept;
end $function$
;
CREATE OR REPLACE FUNCTION public.workspaces_among(wanted uuid[])
 RETURNS SETOF uuid
 LANGUAGE sql
 STABLE SECURITY DEFINER
 SET search_path TO 'public'
BEGIN ATOMIC
 SELECT workspaces.workspace_id
    FROM public.workspaces
   WHERE (workspaces.workspace_id = ANY (workspaces_among.wanted));
END
;
CREATE OR REPLACE FUNCTION public.note_ledger_garbage()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public'
AS $function$
begin
  insert into ledger_garbage (workspace_id, gone_id) values (old.workspace_id,
    case tg_table_name when 'ledger_runs' then (to_jsonb(old) ->> 'run_id')::uuid
      when 'suites' then (to_jsonb(old) ->> 'suite_id')::uuid else (to_jsonb(old) ->> 'job_id')::uuid end)
  on conflict do nothing;
  return null;
end $function$
;
create view public.journal with (security_invoker=true) as  SELECT e.workspace_id,
    e.execution_id,
    e.seq AS row_seq,
    u.seq,
    u.at,
    u.type,
    u.data
   FROM (public.events e
     CROSS JOIN LATERAL public.unpacked(e.seq, e.at, e.type, e.data) u(seq, at, type, data));
CREATE OR REPLACE FUNCTION public.usage_of_execution(space uuid, execution uuid)
 RETURNS json
 LANGUAGE sql
 STABLE
 SET search_path TO 'public'
BEGIN ATOMIC
 WITH RECURSIVE its(execution_id) AS (
          SELECT usage_of_execution.execution AS execution
         UNION ALL
          SELECT e.execution_id
            FROM its,
             public.executions e
           WHERE ((e.workspace_id = usage_of_execution.space) AND (e.parent_execution_id = its.execution_id))
         )
  SELECT json_object_agg(u.key, u.total) AS json_object_agg
    FROM ( SELECT x.key,
             sum((x.value)::numeric) AS total
            FROM its,
             LATERAL ( SELECT
                         CASE v_1.type
                             WHEN 'node.succeeded'::text THEN (v_1.data -> 'usage'::text)
                             ELSE (v_1.data #> '{error,details,usage}'::text[])
                         END AS usage
                    FROM public.journal v_1
                   WHERE ((v_1.execution_id = its.execution_id) AND (v_1.type = ANY (ARRAY['node.succeeded'::text, 'node.failed'::text, 'node.retrying'::text])))
                 UNION ALL
                  SELECT i.usage
                    FROM public.map_items i
                   WHERE ((i.execution_id = its.execution_id) AND (i.usage IS NOT NULL))) v,
             LATERAL json_each_text(
                 CASE
                     WHEN (json_typeof(v.usage) = 'object'::text) THEN v.usage
                     ELSE '{}'::json
                 END) x(key, value)
           WHERE (x.value ~ '^[0-9]+(\.[0-9]+)?$'::text)
           GROUP BY x.key) u;
END
;
CREATE OR REPLACE FUNCTION public.sum_of_usage(one json, other json)
 RETURNS json
 LANGUAGE sql
 IMMUTABLE
RETURN (SELECT json_object_agg(u.key, u.total) AS json_object_agg FROM (SELECT x.key, sum((x.value)::numeric) AS total FROM (SELECT json_each_text.key, json_each_text.value FROM json_each_text(COALESCE(sum_of_usage.one, '{}'::json)) json_each_text(key, value) UNION ALL SELECT json_each_text.key, json_each_text.value FROM json_each_text(COALESCE(sum_of_usage.other, '{}'::json)) json_each_text(key, value)) x GROUP BY x.key) u)
;
CREATE OR REPLACE FUNCTION public.sweep_ledger(most integer DEFAULT 10000)
 RETURNS boolean
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public'
AS $function$
declare
  one ledger_garbage;
  removed integer;
begin
  if not pg_try_advisory_xact_lock(hashtext('sweep_ledger')) then return false; end if;
  delete from ledger_runs r where r.finished_at < now() - interval '30 days' and (
    select count(*) from (select from ledger_runs n where n.workspace_id = r.workspace_id
      and coalesce(n.job_id, n.suite_id) = coalesce(r.job_id, r.suite_id) and n.run_id > r.run_id limit 10) newer) >= 10;
  -- Results under a recipe that no kept run used.
  delete from ledger_results x where ctid = any (array(
    select x.ctid from ledger_results x where x.finished_at < now() - interval '30 days' and not exists (
      select from ledger_runs r where r.workspace_id = x.workspace_id and coalesce(r.job_id, r.suite_id) = x.subject_id
        and r.recipe_sha256 = x.recipe_sha256) limit most));
  -- Definitions that no job points at, no kept run used, and no execution that is kept was made of.
  delete from job_definitions d where d.created_at < now() - interval '1 day'
    and not exists (select from enrichment_jobs j where j.workspace_id = d.workspace_id and j.definition_id = d.definition_id)
    and not exists (select from ledger_runs r where r.workspace_id = d.workspace_id and r.job_id = d.job_id
      and r.definition_ref = 'adhoc:' || d.definition_id)
    and not exists (select from ledger_garbage g where g.workspace_id = d.workspace_id and g.gone_id = d.job_id)
    and not exists (select from executions e where e.workspace_id = d.workspace_id and e.trigger_kind = 'job'
      and e.trigger_id = d.trigger_id and e.definition_ref = 'adhoc:' || d.definition_id);
  select * into one from ledger_garbage limit 1;
  if not found then return false; end if;
  delete from ledger_records where ctid = any (array(select ctid from ledger_records
    where workspace_id = one.workspace_id and run_id = one.gone_id limit most));
  get diagnostics removed = row_count;
  if removed < most then
    delete from ledger_results where ctid = any (array(select ctid from ledger_results
      where workspace_id = one.workspace_id and subject_id = one.gone_id limit most));
    get diagnostics removed = row_count;
    if removed < most then
      delete from ledger_garbage where workspace_id = one.workspace_id and gone_id = one.gone_id;
    end if;
  end if;
  return true;
end $function$
;
CREATE OR REPLACE FUNCTION public.due_jobs(most integer, "full" uuid[])
 RETURNS TABLE(workspace_id uuid, job_id uuid)
 LANGUAGE sql
 STABLE SECURITY DEFINER
 SET search_path TO 'public'
BEGIN ATOMIC
 SELECT j.workspace_id,
     j.job_id
    FROM public.enrichment_jobs j
   WHERE ((j.status = ANY (ARRAY['idle'::text, 'failed'::text])) AND (j.due_at <= now()) AND (j.workspace_id <> ALL (due_jobs."full")))
   ORDER BY (row_number() OVER (PARTITION BY j.workspace_id ORDER BY j.due_at)), j.due_at
  LIMIT due_jobs.most;
END
;
CREATE OR REPLACE FUNCTION public.free_runs(most integer, "full" uuid[])
 RETURNS TABLE(workspace_id uuid, run_id uuid)
 LANGUAGE sql
 STABLE SECURITY DEFINER
 SET search_path TO 'public'
BEGIN ATOMIC
 SELECT r.workspace_id,
     r.run_id
    FROM public.ledger_runs r
   WHERE ((r.finished_at IS NULL) AND (r.lease_until <= now()) AND (r.workspace_id <> ALL (free_runs."full")))
   ORDER BY (row_number() OVER (PARTITION BY r.workspace_id ORDER BY r.lease_until)), r.lease_until
  LIMIT free_runs.most;
END
;
CREATE OR REPLACE FUNCTION public.next_ledger_work_at()
 RETURNS timestamp with time zone
 LANGUAGE sql
 STABLE SECURITY DEFINER
 SET search_path TO 'public'
RETURN LEAST((SELECT min(enrichment_jobs.due_at) AS min FROM public.enrichment_jobs WHERE ((enrichment_jobs.status = ANY (ARRAY['idle'::text, 'failed'::text])) AND (enrichment_jobs.due_at IS NOT NULL))), (SELECT min(ledger_runs.lease_until) AS min FROM public.ledger_runs WHERE (ledger_runs.finished_at IS NULL)))
;
CREATE OR REPLACE FUNCTION public.read_job_feeds(watched uuid[], after integer[], most integer)
 RETURNS TABLE(request bigint, last_seq integer, seq integer, type text, at timestamp with time zone, data json)
 LANGUAGE sql
 STABLE SECURITY DEFINER
 SET search_path TO 'public'
BEGIN ATOMIC
 SELECT w.n,
     j.event_seq,
     e.seq,
     e.type,
     e.at,
     e.data
    FROM ((UNNEST(read_job_feeds.watched, read_job_feeds.after) WITH ORDINALITY w(job, after, n)
      JOIN public.enrichment_jobs j ON ((j.job_id = w.job)))
      LEFT JOIN LATERAL ( SELECT x.workspace_id,
             x.job_id,
             x.seq,
             x.type,
             x.at,
             x.data
            FROM public.job_events x
           WHERE ((x.workspace_id = j.workspace_id) AND (x.job_id = j.job_id) AND (x.seq > w.after))
           ORDER BY x.seq
          LIMIT read_job_feeds.most) e ON (true))
   ORDER BY w.n, e.seq;
END
;
CREATE OR REPLACE FUNCTION public.embed_origins(template uuid, workflow uuid)
 RETURNS SETOF text
 LANGUAGE sql
 STABLE SECURITY DEFINER
 SET search_path TO 'public'
BEGIN ATOMIC
 SELECT unnest(t.allowed_origins) AS unnest
    FROM (public.embed_tokens t
      LEFT JOIN public.workflows w ON (((w.workspace_id = t.workspace_id) AND (w.workflow_id = t.workflow_id))))
   WHERE (((t.template_id = embed_origins.template) OR (t.workflow_id = embed_origins.workflow)) AND ((t.workflow_id IS NULL) OR (w.deleted_at IS NULL)))
 UNION
  SELECT unnest(p.allowed_origins) AS unnest
    FROM public.templates p
   WHERE (p.template_id = embed_origins.template);
END
;
CREATE OR REPLACE FUNCTION public.forget_conversations(usual_days integer, most integer)
 RETURNS integer
 LANGUAGE sql
 SECURITY DEFINER
 SET search_path TO 'public'
BEGIN ATOMIC
 WITH old AS (
          SELECT t.workspace_id,
             t.thread_id
            FROM ((public.threads t
              LEFT JOIN public.templates p ON (((p.workspace_id = t.workspace_id) AND (p.template_id = t.template_id))))
              LEFT JOIN public.workflows w ON (((w.workspace_id = t.workspace_id) AND (w.workflow_id = t.workflow_id))))
           WHERE ((t.kind <> 'thread'::text) AND (COALESCE(json_array_length((t.state -> 'running'::text)), 0) = 0) AND (t.updated_at < (now() - make_interval(days => COALESCE(p.retention_days, ((w.settings ->> 'retention_days'::text))::integer, forget_conversations.usual_days)))))
          LIMIT forget_conversations.most
          FOR UPDATE OF t SKIP LOCKED
         ), forgotten AS (
          DELETE FROM public.threads t
            USING old
           WHERE ((t.workspace_id = old.workspace_id) AND (t.thread_id = old.thread_id))
           RETURNING 1 AS "?column?"
         )
  SELECT (count(*))::integer AS count
    FROM forgotten;
END
;
CREATE OR REPLACE FUNCTION public.note_removed_audio()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public'
AS $function$
begin
  insert into audio_to_remove values (old.workspace_id, old.audio_id) on conflict do nothing;
  return old;
end $function$
;
CREATE OR REPLACE FUNCTION public.gateway_channel_of(config uuid, kind text)
 RETURNS TABLE(workspace_id uuid, config_id uuid, channel text, external_id text, template_id uuid, enabled boolean, credentials bytea)
 LANGUAGE sql
 STABLE SECURITY DEFINER
 SET search_path TO 'public'
BEGIN ATOMIC
 SELECT g.workspace_id,
     g.config_id,
     g.channel,
     g.external_id,
     g.template_id,
     g.enabled,
     g.credentials
    FROM public.gateway_channels g
   WHERE ((g.config_id = gateway_channel_of.config) AND (g.channel = gateway_channel_of.kind));
END
;
CREATE OR REPLACE FUNCTION public.due_channel_deliveries(most integer)
 RETURNS TABLE(workspace_id uuid, receipt_id uuid)
 LANGUAGE sql
 STABLE SECURITY DEFINER
 SET search_path TO 'public'
BEGIN ATOMIC
 SELECT d.workspace_id,
     d.receipt_id
    FROM public.channel_deliveries d
   WHERE ((d.state = 'waiting'::text) AND (d.not_before <= now()) AND (NOT (EXISTS ( SELECT
            FROM public.channel_deliveries e
           WHERE ((e.workspace_id = d.workspace_id) AND (e.config_id = d.config_id) AND (e.conversation = d.conversation) AND (e.state = 'waiting'::text) AND (e.receipt_id < d.receipt_id))))))
   ORDER BY d.not_before
  LIMIT due_channel_deliveries.most;
END
;
CREATE OR REPLACE FUNCTION public.due_channel_sends(most integer)
 RETURNS TABLE(workspace_id uuid, send_id uuid)
 LANGUAGE sql
 STABLE SECURITY DEFINER
 SET search_path TO 'public'
BEGIN ATOMIC
 SELECT s.workspace_id,
     s.send_id
    FROM public.channel_sends s
   WHERE ((s.state = 'waiting'::text) AND (s.not_before <= now()) AND (NOT (EXISTS ( SELECT
            FROM public.channel_sends e
           WHERE ((e.workspace_id = s.workspace_id) AND (e.config_id = s.config_id) AND (e.lane = s.lane) AND (e.state = 'waiting'::text) AND (e.send_id < s.send_id))))))
   ORDER BY s.not_before
  LIMIT due_channel_sends.most;
END
;
CREATE OR REPLACE FUNCTION public.forget_channel_work()
 RETURNS void
 LANGUAGE sql
 SECURITY DEFINER
 SET search_path TO 'public'
BEGIN ATOMIC
 DELETE FROM public.channel_deliveries
   WHERE ((channel_deliveries.state <> 'waiting'::text) AND (channel_deliveries.received_at < (now() - '8 days'::interval)));
 DELETE FROM public.channel_sends
   WHERE ((channel_sends.state <> 'waiting'::text) AND (channel_sends.settled_at < (now() - '30 days'::interval)));
END
;
CREATE OR REPLACE FUNCTION public.audio_left_over(most integer)
 RETURNS TABLE(workspace_id uuid, audio_id uuid)
 LANGUAGE sql
 SECURITY DEFINER
 SET search_path TO 'public'
BEGIN ATOMIC
 DELETE FROM public.audio_clips c
   WHERE ((c.message_id IS NULL) AND (c.created_at < (now() - '1 day'::interval)));
 SELECT r.workspace_id,
     r.audio_id
    FROM public.audio_to_remove r
  LIMIT audio_left_over.most;
END
;
CREATE OR REPLACE FUNCTION public.keep_orphaned_subscription()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public'
AS $function$
begin
  if old.provider <> 'builtin' and old.status <> 'cancelled' then
    insert into billing_orphans (provider, provider_ref) values (old.provider, old.provider_ref) on conflict do nothing;
  end if;
  return old;
end $function$
;
CREATE OR REPLACE FUNCTION public.billing_workspace_of(wanted_provider text, wanted_ref text)
 RETURNS uuid
 LANGUAGE sql
 STABLE SECURITY DEFINER
 SET search_path TO 'public'
RETURN (SELECT billing_customers.workspace_id FROM public.billing_customers WHERE ((billing_customers.provider = billing_workspace_of.wanted_provider) AND (billing_customers.provider_ref = billing_workspace_of.wanted_ref)))
;
CREATE OR REPLACE FUNCTION public.billing_parties(workspace uuid)
 RETURNS TABLE(seller text, buyer text)
 LANGUAGE sql
 STABLE SECURITY DEFINER
 SET search_path TO 'public'
BEGIN ATOMIC
 SELECT o.name,
     ((c.name || ', '::text) || w.name)
    FROM ((public.workspaces w
      JOIN public.companies c USING (company_id))
      JOIN public.orgs o ON ((o.org_id = w.org_id)))
   WHERE ((w.workspace_id = billing_parties.workspace) AND (w.workspace_id = public.app_workspace()));
END
;
CREATE OR REPLACE FUNCTION public.billing_due(at timestamp with time zone, most integer)
 RETURNS SETOF uuid
 LANGUAGE sql
 STABLE SECURITY DEFINER
 SET search_path TO 'public'
BEGIN ATOMIC
 SELECT s.workspace_id
    FROM (public.billing_subscriptions s
      JOIN public.billing_customers c USING (workspace_id, provider))
   WHERE ((s.provider = 'builtin'::text) AND (s.status <> 'cancelled'::text) AND (
         CASE
             WHEN (s.status = 'past_due'::text) THEN s.next_attempt_at
             ELSE s.current_period_end
         END <= (billing_due.at + make_interval(secs => (c.clock_ahead_s)::double precision))))
   ORDER BY s.workspace_id
  LIMIT billing_due.most;
END
;
CREATE OR REPLACE FUNCTION public.billing_stale(wanted_provider text, before timestamp with time zone, most integer)
 RETURNS SETOF uuid
 LANGUAGE sql
 STABLE SECURITY DEFINER
 SET search_path TO 'public'
BEGIN ATOMIC
 SELECT billing_customers.workspace_id
    FROM public.billing_customers
   WHERE ((billing_customers.provider = billing_stale.wanted_provider) AND (billing_customers.provider_ref IS NOT NULL) AND ((billing_customers.synced_at IS NULL) OR (billing_customers.synced_at < billing_stale.before)))
   ORDER BY billing_customers.synced_at NULLS FIRST
  LIMIT billing_stale.most;
END
;
CREATE OR REPLACE FUNCTION public.plan_has_subscribers(plan uuid)
 RETURNS boolean
 LANGUAGE sql
 STABLE SECURITY DEFINER
 SET search_path TO 'public'
RETURN (EXISTS (SELECT FROM public.billing_subscriptions WHERE ((billing_subscriptions.plan_id = plan_has_subscribers.plan) AND (billing_subscriptions.status <> 'cancelled'::text))))
;
CREATE OR REPLACE FUNCTION public.workspace_quotas(workspace uuid, wanted_provider text, month text)
 RETURNS TABLE(plan_id uuid, name text, quotas jsonb, executions bigint)
 LANGUAGE sql
 STABLE SECURITY DEFINER
 SET search_path TO 'public'
BEGIN ATOMIC
 SELECT p.plan_id,
     p.name,
         CASE
             WHEN (h.workspace_id IS NULL) THEN COALESCE(p.quotas, '{}'::jsonb)
             ELSE ((COALESCE(p.quotas, '{}'::jsonb) || jsonb_build_object('suspended', h.reason)) || '{"members": 0, "runs_per_month": 0, "mails_per_minute": 0, "event_destinations": 0, "knowledge_documents": 0, "model_tokens_per_minute": 0, "outside_recipients_per_day": 0, "transcription_s_per_minute": 0, "outgoing_requests_per_minute": 0, "speech_characters_per_minute": 0}'::jsonb)
         END AS "case",
     COALESCE(u.used, (0)::bigint) AS "coalesce"
    FROM ((((public.workspaces w
      LEFT JOIN public.workspace_suspensions h ON ((h.workspace_id = w.workspace_id)))
      LEFT JOIN public.billing_subscriptions s ON (((s.workspace_id = w.workspace_id) AND (s.provider = workspace_quotas.wanted_provider) AND (s.status <> 'cancelled'::text))))
      LEFT JOIN LATERAL ( SELECT plan.plan_id,
             plan.name,
             plan.quotas
            FROM public.plans plan
           WHERE ((plan.plan_id = s.plan_id) OR ((s.plan_id IS NULL) AND (plan.org_id = w.org_id) AND (plan.amount = 0) AND (plan.archived_at IS NULL)))
           ORDER BY plan.plan_id
          LIMIT 1) p ON (true))
      LEFT JOIN public.usage_counters u ON (((u.workspace_id = w.workspace_id) AND (u.quota = 'runs_per_month'::text) AND (u.period = workspace_quotas.month))))
   WHERE (w.workspace_id = workspace_quotas.workspace);
END
;
CREATE OR REPLACE FUNCTION public.add_usage(workspaces_ uuid[], quotas_ text[], periods text[], amounts bigint[])
 RETURNS void
 LANGUAGE sql
 SECURITY DEFINER
 SET search_path TO 'public'
BEGIN ATOMIC
 INSERT INTO public.usage_counters AS present (workspace_id, quota, period, used)  SELECT n.workspace_id,
             n.quota,
             n.period,
             (sum(n.amount))::bigint AS sum
            FROM UNNEST(add_usage.workspaces_, add_usage.quotas_, add_usage.periods, add_usage.amounts) n(workspace_id, quota, period, amount)
           WHERE (EXISTS ( SELECT
                    FROM public.workspaces w
                   WHERE (w.workspace_id = n.workspace_id)))
           GROUP BY n.workspace_id, n.quota, n.period
           ORDER BY n.workspace_id, n.quota, n.period ON CONFLICT(workspace_id, quota, period) DO UPDATE SET used = GREATEST((present.used + excluded.used), (0)::bigint);
END
;
CREATE OR REPLACE FUNCTION public.count_dataset()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public'
AS $function$
declare
  workspace uuid := coalesce(new.workspace_id, old.workspace_id);
  more_records bigint := coalesce(new.record_count, 0) - coalesce(old.record_count, 0);
  more_bytes bigint := coalesce(new.size_bytes, 0) - coalesce(old.size_bytes, 0);
  limits jsonb;
  over text;
begin
  if more_records = 0 and more_bytes = 0 then return null; end if;
  perform add_usage(array[workspace, workspace], array['records', 'storage_bytes'], array['', ''], array[more_records, more_bytes]);
  if more_records <= 0 and more_bytes <= 0 then return null; end if;
  select p.quotas into limits from workspaces w
    left join lateral (select plan_id from billing_subscriptions s where s.workspace_id = w.workspace_id and s.status <> 'cancelled'
      order by s.subscription_id desc limit 1) s on true
    join lateral (select plan.quotas from plans plan where plan.plan_id = s.plan_id
      or (s.plan_id is null and plan.org_id = w.org_id and plan.amount = 0 and plan.archived_at is null)
      order by plan.plan_id limit 1) p on true
    where w.workspace_id = workspace;
  select format('The quota %s is used up: the plan allows %s. Remove something, or change the plan.', u.quota, limits ->> u.quota) into over
    from usage_counters u where u.workspace_id = workspace and u.period = '' and u.used > (limits ->> u.quota)::bigint
      and case u.quota when 'records' then more_records else more_bytes end > 0
    limit 1;
  if over is not null then raise exception using errcode = 'HQ001', message = over; end if;
  return null;
end $function$
;
CREATE OR REPLACE FUNCTION public.clock_was_put_back(planner text)
 RETURNS boolean
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
declare seen timestamptz;
begin
  select latest into seen from clock_marks where name = planner;
  if seen > now() + interval '2 seconds' then return true; end if;
  if seen is null or seen < now() - interval '10 seconds' then
    insert into clock_marks (name, latest) values (planner, now())
      on conflict (name) do update set latest = excluded.latest where clock_marks.latest < excluded.latest;
  end if;
  return false;
end $function$
;
CREATE OR REPLACE FUNCTION public.accept_clock(planner text)
 RETURNS void
 LANGUAGE sql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
BEGIN ATOMIC
 UPDATE public.clock_marks SET latest = now()
   WHERE (clock_marks.name = accept_clock.planner);
END
;
CREATE OR REPLACE FUNCTION public.planned_schedules(after_workspace uuid, after_id uuid, most integer)
 RETURNS TABLE(workspace_id uuid, id uuid, cron text, timezone text, next timestamp with time zone, now timestamp with time zone)
 LANGUAGE sql
 STABLE SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
BEGIN ATOMIC
 SELECT s.workspace_id,
     s.workflow_id,
     s.cron,
     s.timezone,
     s.next_run_at,
     now() AS now
    FROM public.schedules s
   WHERE ((ROW(s.workspace_id, s.workflow_id) > ROW(planned_schedules.after_workspace, planned_schedules.after_id)) AND (s.next_run_at > now()))
   ORDER BY s.workspace_id, s.workflow_id
  LIMIT planned_schedules.most;
END
;
CREATE OR REPLACE FUNCTION public.planned_jobs(after_workspace uuid, after_id uuid, most integer)
 RETURNS TABLE(workspace_id uuid, id uuid, cron text, timezone text, next timestamp with time zone, now timestamp with time zone)
 LANGUAGE sql
 STABLE SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
BEGIN ATOMIC
 SELECT j.workspace_id,
     j.job_id,
     j.cron,
     j.timezone,
     j.due_at,
     now() AS now
    FROM public.enrichment_jobs j
   WHERE ((ROW(j.workspace_id, j.job_id) > ROW(planned_jobs.after_workspace, planned_jobs.after_id)) AND (j.cron IS NOT NULL) AND (j.due_at > now()))
   ORDER BY j.workspace_id, j.job_id
  LIMIT planned_jobs.most;
END
;
CREATE OR REPLACE FUNCTION engine.wake_some(p_after uuid, p_limit integer, p_of_one integer, OUT woken integer, OUT last uuid)
 RETURNS record
 LANGUAGE plpgsql
AS $function$
begin
  perform set_config('synchronous_commit', 'off', true);
  if (select count(*) from (select from executions where status = 'waiting' and due_at <= now() limit p_limit + 1) f) <= p_limit then
    with due as materialized (
      select e.workspace_id, e.execution_id from executions e where e.status = 'waiting' and e.due_at <= now()
      order by e.due_at limit p_limit for no key update skip locked
    ),
    changed as (
      update executions e set status = 'queued', waiting_for = '[]', due_at = engine.queue_time(e.started_at, e.priority)
      from due d where e.workspace_id = d.workspace_id and e.execution_id = d.execution_id
      returning e.workspace_id
    )
    select count(*)::integer, (array_agg(workspace_id))[1] from changed into woken, last;
    return;
  end if;
  with recursive behind as (
    (select workspace_id from executions where status = 'waiting' and due_at is not null and workspace_id > p_after
      order by workspace_id limit 1)
    union all
    select (select e.workspace_id from executions e
        where e.status = 'waiting' and e.due_at is not null and e.workspace_id > s.workspace_id order by e.workspace_id limit 1)
      from behind s where s.workspace_id is not null
  ),
  before as (
    (select workspace_id from executions where status = 'waiting' and due_at is not null and workspace_id <= p_after
      order by workspace_id limit 1)
    union all
    select (select e.workspace_id from executions e where e.status = 'waiting' and e.due_at is not null
        and e.workspace_id > s.workspace_id and e.workspace_id <= p_after order by e.workspace_id limit 1)
      from before s where s.workspace_id is not null
  ),
  due as materialized (
    select d.*, row_number() over () as n from (select * from behind union all select * from before) s
      cross join lateral (
        select e.workspace_id, e.execution_id from executions e
        where e.workspace_id = s.workspace_id and e.status = 'waiting' and e.due_at <= now()
        order by e.due_at limit p_of_one for no key update skip locked) d
    limit p_limit
  ),
  changed as (
    update executions e set status = 'queued', waiting_for = '[]', due_at = engine.queue_time(e.started_at, e.priority)
    from due d where e.workspace_id = d.workspace_id and e.execution_id = d.execution_id
    returning 1
  )
  select (select count(*)::integer from changed), (select workspace_id from due order by n desc limit 1) into woken, last;
end $function$
;
CREATE OR REPLACE FUNCTION engine.note_wait()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
begin
  insert into wait_checks (workspace_id, execution_id) values (new.workspace_id, new.execution_id)
    on conflict (workspace_id, execution_id) do update set noted_at = excluded.noted_at,
      check_at = least(wait_checks.check_at, excluded.check_at);
  return null;
end $function$
;
CREATE OR REPLACE FUNCTION engine.check_waits(p_limit integer)
 RETURNS TABLE(workspace_id uuid, execution_id uuid, status text, is_told boolean, faults json)
 LANGUAGE sql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
  with due as (
    select c.workspace_id, c.execution_id from wait_checks c where c.check_at <= now() order by c.check_at limit p_limit
      for update skip locked
  ),
  later as (
    update wait_checks c set check_at = now() + least(greatest(now() - c.noted_at, interval '30 seconds'), interval '5 minutes')
    from due d where c.workspace_id = d.workspace_id and c.execution_id = d.execution_id
    returning c.workspace_id, c.execution_id
  )
  select l.workspace_id, l.execution_id, e.status, not e.tell_end, coalesce(
    case when e.status = 'waiting' then (
      select json_agg(f) from engine.wait_faults f where f.workspace_id = l.workspace_id and f.execution_id = l.execution_id)
    when e.finished_at is not null then (
      select json_agg(o) from (
        select node_path, true as is_left, 'it has ended, and a gate of its own is open' as why from approval_requests g
          where g.workspace_id = l.workspace_id and g.execution_id = l.execution_id and g.status = 'open'
        union all
        select node_path, true, 'it has ended, and a question of its own is open' from questions q
          where q.workspace_id = l.workspace_id and q.execution_id = l.execution_id and q.status = 'open'
        union all
        select node_path, true, 'it has ended, and an event is awaited for it' from event_waits v
          where v.workspace_id = l.workspace_id and v.execution_id = l.execution_id and v.status = 'open') o)
    end, '[]')
  from later l left join executions e on e.workspace_id = l.workspace_id and e.execution_id = l.execution_id
$function$
;
CREATE OR REPLACE FUNCTION engine.waits_are_right(p_workspaces uuid[], p_executions uuid[])
 RETURNS void
 LANGUAGE sql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
  with gone as (
    delete from wait_checks c using unnest(p_workspaces, p_executions) as r (workspace_id, execution_id)
    where c.workspace_id = r.workspace_id and c.execution_id = r.execution_id and c.noted_at < now() - interval '15 seconds'
  )
  update wait_checks c set check_at = c.noted_at + interval '20 seconds'
  from unnest(p_workspaces, p_executions) as r (workspace_id, execution_id)
  where c.workspace_id = r.workspace_id and c.execution_id = r.execution_id and c.noted_at >= now() - interval '15 seconds'
$function$
;
CREATE OR REPLACE FUNCTION engine.release_orphans()
 RETURNS integer
 LANGUAGE sql
AS $function$
  with orphans as (
    update executions e set status = 'queued', worker_id = null, epoch = epoch + 1, due_at = now()
    where e.status = 'running' and not exists (select from workers w where w.worker_id = e.worker_id and not w.dead)
    returning 1
  )
  select count(*)::integer from orphans
$function$
;
CREATE OR REPLACE FUNCTION engine.shown_waits(p_workspace uuid, p_execution uuid, p_status text, p_epoch integer, p_waiting_for jsonb)
 RETURNS jsonb
 LANGUAGE sql
 STABLE
RETURN CASE WHEN (p_status <> 'running'::text) THEN p_waiting_for ELSE COALESCE((SELECT jsonb_agg(jsonb_strip_nulls(jsonb_build_object('kind', 'platform', 'node_id', NULLIF(p.node_path, ''::text), 'since', to_char((p.since AT TIME ZONE 'utc'::text), 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'::text), 'until', to_char((p.until AT TIME ZONE 'utc'::text), 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'::text), 'error', p.error)) ORDER BY p.node_path) AS jsonb_agg FROM (SELECT w.workspace_id, w.execution_id, w.node_path, w.epoch, w.since, w.until, w.error FROM public.platform_waits w WHERE ((w.workspace_id = shown_waits.p_workspace) AND (w.execution_id = shown_waits.p_execution) AND (w.epoch = shown_waits.p_epoch)) ORDER BY w.node_path LIMIT 100) p), p_waiting_for) END
;
CREATE OR REPLACE FUNCTION engine.claim_some(p_worker uuid, p_after uuid, p_total integer, p_per_workspace integer, p_workspace_limit integer, p_suspects integer)
 RETURNS TABLE(claimed json)
 LANGUAGE plpgsql
AS $function$
declare
  v_workspace uuid := p_after;
  v_wrapped boolean := false;
  v_one record;
  v_chosen uuid[];
  v_taken integer := 0;
  v_room integer;
  v_suspects integer := 0;
  v_claimed text[] := '{}';
begin
  perform set_config('engine.claimed', '', false);
  perform from workers where worker_id = p_worker and not dead for share;
  if not found then return; end if;
  -- A claim that is lost with the database is made again. Whatever the worker then writes is flushed together with it.
  perform set_config('synchronous_commit', 'off', true);
  loop
    select workspace_id into v_workspace from executions
      where status = 'queued' and workspace_id > v_workspace order by workspace_id limit 1;
    if not found then
      exit when v_wrapped or p_after = '00000000-0000-0000-0000-000000000000';
      v_wrapped := true;
      v_workspace := '00000000-0000-0000-0000-000000000000';
      continue;
    end if;
    exit when v_wrapped and v_workspace > p_after;
    select p_workspace_limit - count(*) into v_room from (
      select from executions where workspace_id = v_workspace and status = 'running' limit p_workspace_limit) as running;
    v_chosen := '{}';
    for v_one in
      select execution_id, workflow_id, crashes, max_concurrency from executions
        where workspace_id = v_workspace and status = 'queued' and (crashes < 2 or v_suspects < p_suspects)
        order by due_at limit greatest(0, least(v_room, p_per_workspace, p_total - v_taken)) for no key update skip locked
    loop
      -- One that may have killed its workers runs with no other of that kind beside it, so that only it is blamed.
      -- They are due before the others: while one runs the rest are passed over, or a workspace with many would have nothing claimed.
      if v_one.crashes >= 2 then
        if v_suspects >= p_suspects then continue; end if;
        v_suspects := v_suspects + 1;
      end if;
      if v_one.max_concurrency is not null and v_one.workflow_id is not null then
        -- Such claims are serialised per workflow, so the limit is exact. Those chosen here count already.
        perform pg_advisory_xact_lock(hashtextextended(v_one.workflow_id::text, 7100));
        if (select count(*) from executions where workspace_id = v_workspace and workflow_id = v_one.workflow_id
              and status = 'running')
            + (select count(*) from executions where workspace_id = v_workspace and execution_id = any (v_chosen)
              and workflow_id = v_one.workflow_id) >= v_one.max_concurrency then
          update executions set status = 'waiting', due_at = null,
              waiting_for = jsonb_build_array(jsonb_build_object('kind', 'slot', 'since', now()))
            where workspace_id = v_workspace and execution_id = v_one.execution_id and status = 'queued';
          continue;
        end if;
      end if;
      v_chosen := v_chosen || v_one.execution_id;
    end loop;
    if cardinality(v_chosen) > 0 then
      for v_one in
        with taken as (
          update executions e set status = 'running', worker_id = p_worker, due_at = null,
              started_at = coalesce(e.started_at, now())
            from unnest(v_chosen) as c (execution_id)
            where e.workspace_id = v_workspace and e.execution_id = c.execution_id and e.status = 'queued'
            returning e.*)
        select row_to_json(t) as claimed, format('%s %s %s', t.execution_id, t.snapshot_seq, t.seen) as name from taken t
      loop
        v_taken := v_taken + 1;
        v_claimed := v_claimed || v_one.name;
        claimed := v_one.claimed;
        return next;
      end loop;
    end if;
    exit when v_taken >= p_total;
  end loop;
  perform set_config('engine.claimed', array_to_string(v_claimed, ','), false);
end $function$
;
CREATE OR REPLACE FUNCTION engine.acquit(p_worker uuid)
 RETURNS integer
 LANGUAGE plpgsql
AS $function$
declare
  v_counted record;
  v_acquitted integer;
begin
  select counted_workspaces, counted_executions into v_counted from workers
    where worker_id = p_worker and dead and counted_executions is not null for update;
  if not found then return 0; end if;
  update workers set counted_workspaces = null, counted_executions = null where worker_id = p_worker;
  update executions e set crashes = e.crashes - 1,
      status = case when e.status = 'waiting' then 'queued' else e.status end,
      due_at = case when e.status = 'waiting' then coalesce(e.started_at, e.created_at) else e.due_at end,
      waiting_for = case when e.status = 'waiting' then '[]' else e.waiting_for end
    from unnest(v_counted.counted_workspaces, v_counted.counted_executions) as c (workspace_id, execution_id)
    where e.workspace_id = c.workspace_id and e.execution_id = c.execution_id and e.crashes > 0
      and (e.status in ('queued', 'running')
        or e.status = 'waiting' and e.waiting_for @> '[{"kind": "slot", "reason": "poison"}]');
  get diagnostics v_acquitted = row_count;
  return v_acquitted;
end $function$
;
CREATE OR REPLACE FUNCTION engine.suspicion(p_crashes integer)
 RETURNS integer
 LANGUAGE sql
 IMMUTABLE
RETURN CASE WHEN (p_crashes < 2) THEN (0)::double precision WHEN (p_crashes >= 4) THEN (16)::double precision ELSE ((4)::double precision ^ ((p_crashes - 2))::double precision) END
;
CREATE OR REPLACE FUNCTION engine.claim_more(p_worker uuid, p_after uuid, p_total integer, p_per_workspace integer, p_workspace_limit integer, p_suspects integer)
 RETURNS TABLE(claimed json)
 LANGUAGE plpgsql
AS $function$
declare
  v_workspace uuid := p_after;
  v_wrapped boolean := false;
  v_one record;
  v_chosen uuid[];
  v_taken integer := 0;
  v_room integer;
  v_suspects integer := 0;
  v_claimed text[] := '{}';
begin
  perform set_config('engine.claimed', '', false);
  perform from workers where worker_id = p_worker and not dead for share;
  if not found then return; end if;
  -- A claim that is lost with the database is made again. Whatever the worker then writes is flushed together with it.
  perform set_config('synchronous_commit', 'off', true);
  loop
    select workspace_id into v_workspace from executions
      where status = 'queued' and workspace_id > v_workspace order by workspace_id limit 1;
    if not found then
      exit when v_wrapped or p_after = '00000000-0000-0000-0000-000000000000';
      v_wrapped := true;
      v_workspace := '00000000-0000-0000-0000-000000000000';
      continue;
    end if;
    exit when v_wrapped and v_workspace > p_after;
    select p_workspace_limit - count(*) into v_room from (
      select from executions where workspace_id = v_workspace and status = 'running' limit p_workspace_limit) as running;
    v_chosen := '{}';
    for v_one in
      select execution_id, workflow_id, crashes, max_concurrency from executions
        where workspace_id = v_workspace and status = 'queued' and v_suspects + engine.suspicion(crashes) <= p_suspects
        order by due_at limit greatest(0, least(v_room, p_per_workspace, p_total - v_taken)) for no key update skip locked
    loop
      -- They are due before the others: those that do not fit are passed over, or a workspace with many would have nothing claimed.
      if v_one.crashes >= 2 then
        if v_suspects + engine.suspicion(v_one.crashes) > p_suspects then continue; end if;
        v_suspects := v_suspects + engine.suspicion(v_one.crashes);
      end if;
      if v_one.max_concurrency is not null and v_one.workflow_id is not null then
        -- Such claims are serialised per workflow, so the limit is exact. Those chosen here count already.
        perform pg_advisory_xact_lock(hashtextextended(v_one.workflow_id::text, 7100));
        if (select count(*) from executions where workspace_id = v_workspace and workflow_id = v_one.workflow_id
              and status = 'running')
            + (select count(*) from executions where workspace_id = v_workspace and execution_id = any (v_chosen)
              and workflow_id = v_one.workflow_id) >= v_one.max_concurrency then
          update executions set status = 'waiting', due_at = null,
              waiting_for = jsonb_build_array(jsonb_build_object('kind', 'slot', 'since', now()))
            where workspace_id = v_workspace and execution_id = v_one.execution_id and status = 'queued';
          continue;
        end if;
      end if;
      v_chosen := v_chosen || v_one.execution_id;
    end loop;
    if cardinality(v_chosen) > 0 then
      for v_one in
        with taken as (
          update executions e set status = 'running', worker_id = p_worker, due_at = null,
              started_at = coalesce(e.started_at, now())
            from unnest(v_chosen) as c (execution_id)
            where e.workspace_id = v_workspace and e.execution_id = c.execution_id and e.status = 'queued'
            returning e.*)
        select row_to_json(t) as claimed, format('%s %s %s', t.execution_id, t.snapshot_seq, t.seen) as name from taken t
      loop
        v_taken := v_taken + 1;
        v_claimed := v_claimed || v_one.name;
        claimed := v_one.claimed;
        return next;
      end loop;
    end if;
    exit when v_taken >= p_total;
  end loop;
  perform set_config('engine.claimed', array_to_string(v_claimed, ','), false);
end $function$
;
CREATE OR REPLACE FUNCTION engine.claim(p_worker uuid, p_after uuid, p_total integer, p_per_workspace integer, p_workspace_limit integer, p_suspects integer)
 RETURNS SETOF public.executions
 LANGUAGE plpgsql
AS $function$
declare
  v_workspace uuid := p_after;
  v_wrapped boolean := false;
  v_row executions;
  v_taken integer := 0;
  v_room integer;
  v_suspects integer := 0;
  v_claimed text[] := '{}';
begin
  perform set_config('engine.claimed', '', false);
  perform from workers where worker_id = p_worker and not dead for share;
  if not found then return; end if;
  -- A claim that is lost with the database is made again. Whatever the worker then writes is flushed together with it.
  perform set_config('synchronous_commit', 'off', true);
  loop
    select workspace_id into v_workspace from executions
      where status = 'queued' and workspace_id > v_workspace order by workspace_id limit 1;
    if not found then
      exit when v_wrapped or p_after = '00000000-0000-0000-0000-000000000000';
      v_wrapped := true;
      v_workspace := '00000000-0000-0000-0000-000000000000';
      continue;
    end if;
    exit when v_wrapped and v_workspace > p_after;
    select p_workspace_limit - count(*) into v_room from (
      select from executions where workspace_id = v_workspace and status = 'running' limit p_workspace_limit) as running;
    for v_row in
      select * from executions where workspace_id = v_workspace and status = 'queued'
        order by due_at limit greatest(0, least(v_room, p_per_workspace, p_total - v_taken)) for no key update skip locked
    loop
      -- One that may have killed its workers runs with no other of that kind beside it, so that only it is blamed.
      if v_row.crashes >= 2 then
        if v_suspects >= p_suspects then continue; end if;
        v_suspects := v_suspects + 1;
      end if;
      if v_row.max_concurrency is not null and v_row.workflow_id is not null then
        perform pg_advisory_xact_lock(hashtextextended(v_row.workflow_id::text, 7100));
        if (select count(*) from executions where workspace_id = v_workspace and workflow_id = v_row.workflow_id
              and status = 'running') >= v_row.max_concurrency then
          update executions set status = 'waiting', due_at = null,
              waiting_for = jsonb_build_array(jsonb_build_object('kind', 'slot', 'since', now()))
            where workspace_id = v_workspace and execution_id = v_row.execution_id and status = 'queued';
          continue;
        end if;
      end if;
      update executions set status = 'running', worker_id = p_worker, due_at = null,
          started_at = coalesce(started_at, now())
        where workspace_id = v_workspace and execution_id = v_row.execution_id and status = 'queued' returning * into v_row;
      v_taken := v_taken + 1;
      v_claimed := v_claimed || format('%s %s %s', v_row.execution_id, v_row.snapshot_seq, v_row.seen);
      return next v_row;
    end loop;
    exit when v_taken >= p_total;
  end loop;
  perform set_config('engine.claimed', array_to_string(v_claimed, ','), false);
end $function$
;
CREATE OR REPLACE FUNCTION engine.week_name(p_table text, p_start timestamp with time zone)
 RETURNS text
 LANGUAGE sql
 IMMUTABLE
RETURN ((p_table || '_'::text) || to_char((p_start AT TIME ZONE 'utc'::text), 'YYYYMMDD'::text))
;
CREATE OR REPLACE FUNCTION engine.before_end()
 RETURNS uuid
 LANGUAGE sql
 STABLE SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
RETURN (SELECT ("substring"(pg_get_expr(c.relpartbound, c.oid), 'TO \(''([0-9a-f-]{36})''\)'::text))::uuid AS "substring" FROM pg_class c WHERE ((c.oid = (to_regclass('public.executions_before'::text))::oid) AND c.relispartition))
;
CREATE OR REPLACE FUNCTION engine.add_week(p_table text, p_start timestamp with time zone, p_options text)
 RETURNS void
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
 SET lock_timeout TO '100ms'
AS $function$
declare
  v_name text := engine.week_name(p_table, p_start);
  v_from uuid := engine.first_id(p_start);
  v_to uuid := engine.first_id(p_start + interval '7 days');
  v_in_default boolean;
begin
  if to_regclass(v_name) is not null then return; end if;
  if p_table = 'executions' and v_from < engine.before_end() then return; end if;
  -- An id from that week came before its partition, which can then not be attached: the week stays in the default one.
  execute format('select exists (select from %I where execution_id >= %L and execution_id < %L)',
    p_table || '_default', v_from, v_to) into v_in_default;
  if v_in_default then return; end if;
  execute format('create table %I (like %I including defaults including constraints) %s', v_name, p_table, p_options);
  perform engine.close_partition(v_name);
  execute format('alter table %I attach partition %I for values from (%L) to (%L)', p_table, v_name, v_from, v_to);
end $function$
;
CREATE OR REPLACE FUNCTION engine.seal_week(p_start timestamp with time zone)
 RETURNS boolean
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
 SET lock_timeout TO '100ms'
AS $function$
declare
  v_name text := engine.week_name('executions', p_start);
  v_live boolean;
begin
  if p_start > now() - interval '21 days' or not exists (select from pg_class where oid = to_regclass(v_name) and relispartition) then
    return false;
  end if;
  if exists (select from pg_constraint where conrelid = to_regclass(v_name) and conname = 'all_ended' and convalidated) then
    return false;
  end if;
  execute format('select exists (select from %1$I where status = ''queued'') or exists (select from %1$I where status = ''running'')
    or exists (select from %1$I where status = ''waiting'') or exists (select from %1$I where tell_end and finished_at is not null)',
    v_name) into v_live;
  if v_live then return false; end if;
  if not exists (select from pg_constraint where conrelid = to_regclass(v_name) and conname = 'all_ended') then
    execute format('alter table %I add constraint all_ended check (status in (''succeeded'', ''failed'', ''cancelled'', ''timed_out'')
      and not tell_end) not valid', v_name);
  end if;
  return true;
end $function$
;
CREATE OR REPLACE FUNCTION engine.confirm_seal(p_start timestamp with time zone)
 RETURNS void
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
 SET lock_timeout TO '100ms'
AS $function$
begin
  execute format('alter table %I validate constraint all_ended', engine.week_name('executions', p_start));
end $function$
;
CREATE OR REPLACE FUNCTION engine.forget_some(p_partition text, p_days integer, p_journal boolean, p_limit integer)
 RETURNS TABLE(workspace_id uuid, execution_id uuid)
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
declare v_spaces uuid[]; v_ids uuid[];
begin
  if to_regclass(p_partition) is null or p_partition !~ '^executions_[a-z0-9]+$' then return; end if;
  execute format('select array_agg(workspace_id), array_agg(execution_id) from (select workspace_id, execution_id from %I
    where finished_at < now() - $1 * interval ''1 day'' and not tell_end limit $2) as portion', p_partition)
    into v_spaces, v_ids using p_days, p_limit;
  if v_ids is null then return; end if;
  if p_journal then delete from events e where e.execution_id = any (v_ids); end if;
  delete from map_items m where m.execution_id = any (v_ids);
  delete from inbox i where i.execution_id = any (v_ids);
  delete from executions e using unnest(v_spaces, v_ids) as x (w, id) where e.workspace_id = x.w and e.execution_id = x.id;
  return query select * from unnest(v_spaces, v_ids);
end $function$
;
CREATE OR REPLACE FUNCTION engine.clear_week(p_start timestamp with time zone, p_days integer)
 RETURNS void
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
declare
  v_name text := engine.week_name('executions', p_start);
  v_table text;
begin
  if to_regclass(v_name) is null then return; end if;
  foreach v_table in array array['approval_requests', 'questions', 'map_items', 'inbox'] loop
    execute format('delete from %I t using %I x where t.workspace_id = x.workspace_id and t.execution_id = x.execution_id
      and t.execution_id >= %L and t.execution_id < %L and x.finished_at < now() - $1 * interval ''1 day'' and not x.tell_end',
      v_table, v_name, engine.first_id(p_start), engine.first_id(p_start + interval '7 days')) using p_days;
  end loop;
end $function$
;
CREATE OR REPLACE FUNCTION engine.detach_week(p_start timestamp with time zone, p_days integer, p_most integer)
 RETURNS integer
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
 SET lock_timeout TO '100ms'
AS $function$
declare
  v_executions text := engine.week_name('executions', p_start);
  v_events text := engine.week_name('events', p_start);
  v_from uuid := engine.first_id(p_start);
  v_to uuid := engine.first_id(p_start + interval '7 days');
  v_whole boolean := exists (select from pg_class where oid = to_regclass(v_executions) and relispartition);
  v_spaces uuid[];
  v_ids uuid[];
  v_table text := case when v_whole then v_executions else 'executions' end;
  v_started boolean;
begin
  perform pg_advisory_xact_lock(7101);
  -- An ended execution stays ended: who need not be kept now need not be kept when the tables are locked.
  execute format('select coalesce(array_agg(workspace_id), ''{}''), coalesce(array_agg(execution_id), ''{}'') from (
      select workspace_id, execution_id from %I where execution_id >= %L and execution_id < %L
        and (finished_at is null or finished_at >= now() - $1 * interval ''1 day'' or tell_end) limit $2 + 1) as kept',
    v_table, v_from, v_to) into v_spaces, v_ids using p_days, p_most;
  if cardinality(v_ids) > p_most then return null; end if;
  lock table executions, events in access exclusive mode;
  -- Started since: a job that was paused for long goes on with ids of the time of its run. The week then stays, and its ended executions go one by one.
  execute format('select exists (select from %1$I where execution_id >= %2$L and execution_id < %3$L and status = ''queued'' and execution_id <> all ($1))
    or exists (select from %1$I where execution_id >= %2$L and execution_id < %3$L and status = ''running'' and execution_id <> all ($1))
    or exists (select from %1$I where execution_id >= %2$L and execution_id < %3$L and status = ''waiting'' and execution_id <> all ($1))',
    v_table, v_from, v_to) into v_started using v_ids;
  if v_started then return null; end if;
  if v_whole then
    execute format('alter table executions detach partition %I', v_executions);
    execute format('insert into executions select x.* from unnest($1, $2) as k (w, id)
      join %I x on x.workspace_id = k.w and x.execution_id = k.id', v_executions) using v_spaces, v_ids;
  end if;
  if exists (select from pg_class where oid = to_regclass(v_events) and relispartition) then
    execute format('alter table events detach partition %I', v_events);
    execute format('insert into events select e.* from unnest($1) as k (id) join %I e on e.execution_id = k.id', v_events) using v_ids;
  end if;
  if cardinality(v_ids) > 0 then insert into kept_weeks values (p_start) on conflict do nothing; end if;
  return cardinality(v_ids);
end $function$
;
CREATE OR REPLACE FUNCTION engine.remove_week(p_start timestamp with time zone, OUT gone integer)
 RETURNS integer
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
declare v_table text;
begin
  gone := 0;
  foreach v_table in array array[engine.week_name('executions', p_start), engine.week_name('events', p_start)] loop
    continue when not exists (select from pg_class where oid = to_regclass(v_table) and not relispartition);
    if v_table like 'executions%' then
      execute format('select count(*) from %I', v_table) into gone;
    end if;
    execute format('drop table %I', v_table);
  end loop;
end $function$
;
CREATE OR REPLACE FUNCTION engine.remove_before()
 RETURNS void
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
 SET lock_timeout TO '100ms'
AS $function$
declare v_left boolean;
begin
  if engine.before_end() is null or engine.before_end() > engine.first_id(now()) then return; end if;
  select exists (select from executions_before) into v_left;
  if not v_left then drop table executions_before; end if;
end $function$
;
CREATE OR REPLACE FUNCTION engine.open_week(p_partition text)
 RETURNS void
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
 SET lock_timeout TO '100ms'
AS $function$
begin
  if p_partition !~ '^executions_[0-9]{8}$' then return; end if;
  execute format('alter table if exists %I drop constraint if exists all_ended', p_partition);
end $function$
;
CREATE OR REPLACE FUNCTION public.principal_of_version(workspace uuid, version uuid)
 RETURNS uuid
 LANGUAGE sql
 STABLE SECURITY DEFINER
 SET search_path TO 'public'
RETURN (SELECT COALESCE(v.activated_by, v.created_by, w.owner_id) AS "coalesce" FROM (public.workflow_versions v JOIN public.workflows w ON (((w.workspace_id = v.workspace_id) AND (w.workflow_id = v.workflow_id)))) WHERE ((v.workspace_id = principal_of_version.workspace) AND (v.version_id = principal_of_version.version)))
;
CREATE OR REPLACE FUNCTION public.authority_of_webhook(workspace uuid, token uuid, version uuid)
 RETURNS TABLE(created_by uuid, principal_id uuid, activation_required boolean)
 LANGUAGE sql
 STABLE SECURITY DEFINER
 SET search_path TO 'public'
BEGIN ATOMIC
 SELECT t.created_by,
     public.principal_of_version(authority_of_webhook.workspace, authority_of_webhook.version) AS principal_of_version,
     w.activation_required
    FROM (public.webhook_tokens t
      JOIN public.workflows w ON (((w.workspace_id = t.workspace_id) AND (w.workflow_id = t.workflow_id))))
   WHERE ((t.workspace_id = authority_of_webhook.workspace) AND (t.token_id = authority_of_webhook.token));
END
;
CREATE OR REPLACE FUNCTION public.hold_plan(plan uuid)
 RETURNS TABLE(plan_id uuid, name text, amount integer, currency text, "interval" text, trial_days integer)
 LANGUAGE sql
 SECURITY DEFINER
 SET search_path TO 'public'
AS $function$
  select p.plan_id, p.name, p.amount, p.currency, p."interval", p.trial_days from plans p where p.plan_id = plan for share;
$function$
;
CREATE OR REPLACE FUNCTION public.find_sign_up(token bytea)
 RETURNS TABLE(org_id uuid, email text, name text, password_hash text, workspace_name text)
 LANGUAGE sql
 STABLE SECURITY DEFINER
 SET search_path TO 'public'
BEGIN ATOMIC
 SELECT p.org_id,
     p.email,
     p.name,
     p.password_hash,
     p.workspace_name
    FROM public.pending_sign_ups p
   WHERE ((p.token_hash = find_sign_up.token) AND (p.expires_at > now()));
END
;
CREATE OR REPLACE FUNCTION public.use_sign_up(token bytea)
 RETURNS boolean
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public'
AS $function$
declare
  used record;
begin
  delete from pending_sign_ups p where p.token_hash = token and p.expires_at > now() returning p.org_id, p.email into used;
  if not found then return false; end if;
  delete from pending_sign_ups p where p.org_id = used.org_id and p.email = used.email;
  return true;
end $function$
;
CREATE OR REPLACE FUNCTION public.prune_sign_ups()
 RETURNS void
 LANGUAGE sql
 SECURITY DEFINER
 SET search_path TO 'public'
AS $function$
  delete from pending_sign_ups where token_hash in (
    select token_hash from pending_sign_ups where expires_at < now() limit 100 for update skip locked);
$function$
;
CREATE OR REPLACE FUNCTION public.find_account_token(token bytea, wanted text)
 RETURNS TABLE(user_id uuid, org_id uuid, email text, name text, is_verified boolean)
 LANGUAGE sql
 STABLE SECURITY DEFINER
 SET search_path TO 'public'
BEGIN ATOMIC
 SELECT u.user_id,
     u.org_id,
     u.email,
     u.name,
     (u.email_verified_at IS NOT NULL)
    FROM (public.account_tokens t
      JOIN public.users u ON ((u.user_id = t.user_id)))
   WHERE ((t.token_hash = find_account_token.token) AND (t.kind = find_account_token.wanted) AND (t.expires_at > now()));
END
;
CREATE OR REPLACE FUNCTION public.find_factor_challenge(token bytea)
 RETURNS TABLE(user_id uuid, org_id uuid, email text, name text, passkey_challenge text, failures integer, expires_at timestamp with time zone)
 LANGUAGE sql
 STABLE SECURITY DEFINER
 SET search_path TO 'public'
BEGIN ATOMIC
 SELECT u.user_id,
     u.org_id,
     u.email,
     u.name,
     c.passkey_challenge,
     c.failures,
     c.expires_at
    FROM (public.factor_challenges c
      JOIN public.users u ON ((u.user_id = c.user_id)))
   WHERE ((c.token_hash = find_factor_challenge.token) AND (c.kind = 'sign_in'::text) AND (c.expires_at > now()));
END
;
CREATE OR REPLACE FUNCTION public.factor_satisfied(workspace uuid)
 RETURNS boolean
 LANGUAGE sql
 STABLE SECURITY DEFINER
 SET search_path TO 'public'
RETURN ((public.app_user() IS NULL) OR (NOT (EXISTS (SELECT FROM public.workspaces w WHERE ((w.workspace_id = factor_satisfied.workspace) AND w.require_second_factor)))) OR public.has_second_factor(public.app_user()))
;
CREATE OR REPLACE FUNCTION public.identify_session_factor(token bytea, wanted uuid)
 RETURNS TABLE(session_id uuid, user_id uuid, org_id uuid, email text, name text, last_seen_at timestamp with time zone, workspace_id uuid, role text, factor_missing boolean)
 LANGUAGE sql
 STABLE SECURITY DEFINER
 SET search_path TO 'public'
BEGIN ATOMIC
 SELECT i.session_id,
     i.user_id,
     i.org_id,
     i.email,
     i.name,
     i.last_seen_at,
     i.workspace_id,
     i.role,
     (COALESCE(w.require_second_factor, false) AND (NOT public.has_second_factor(i.user_id)))
    FROM (public.identify_session(identify_session_factor.token, identify_session_factor.wanted) i(session_id, user_id, org_id, email, name, last_seen_at, workspace_id, role)
      LEFT JOIN public.workspaces w ON ((w.workspace_id = i.workspace_id)));
END
;
CREATE OR REPLACE FUNCTION public.identify_key_factor(token bytea, wanted uuid)
 RETURNS TABLE(key_id uuid, key_workspace_id uuid, user_id uuid, org_id uuid, email text, name text, last_used_at timestamp with time zone, workspace_id uuid, role text, factor_missing boolean)
 LANGUAGE sql
 STABLE SECURITY DEFINER
 SET search_path TO 'public'
BEGIN ATOMIC
 SELECT i.key_id,
     i.key_workspace_id,
     i.user_id,
     i.org_id,
     i.email,
     i.name,
     i.last_used_at,
     i.workspace_id,
     i.role,
     (COALESCE(w.require_second_factor, false) AND (NOT public.has_second_factor(i.user_id)))
    FROM (public.identify_key(identify_key_factor.token, identify_key_factor.wanted) i(key_id, key_workspace_id, user_id, org_id, email, name, last_used_at, workspace_id, role)
      LEFT JOIN public.workspaces w ON ((w.workspace_id = i.workspace_id)));
END
;
CREATE OR REPLACE FUNCTION public.prune_usage()
 RETURNS void
 LANGUAGE sql
 SECURITY DEFINER
 SET search_path TO 'public'
AS $function$
  delete from usage_counters where ctid = any(array(
    select ctid from usage_counters where length(period) > 7
      and period < to_char(now() at time zone 'utc' - case when length(period) > 10 then interval '1 hour' else interval '40 days' end,
        'YYYY-MM-DD"T"HH24:MI')
    limit 5000));
$function$
;
CREATE OR REPLACE FUNCTION public.usage_of(workspace uuid, periods text[])
 RETURNS TABLE(quota text, used bigint)
 LANGUAGE sql
 STABLE SECURITY DEFINER
 SET search_path TO 'public'
BEGIN ATOMIC
 SELECT u.quota,
     u.used
    FROM public.usage_counters u
   WHERE ((u.workspace_id = usage_of.workspace) AND (u.period = ANY (usage_of.periods)));
END
;
CREATE OR REPLACE FUNCTION public.mail_standing(workspace uuid, recipients text[])
 RETURNS TABLE(is_trusted boolean, has_verified_owner boolean, outside integer)
 LANGUAGE sql
 STABLE SECURITY DEFINER
 SET search_path TO 'public'
BEGIN ATOMIC
 SELECT (EXISTS ( SELECT
            FROM public.workspace_trust t
           WHERE (t.workspace_id = mail_standing.workspace))) AS "exists",
     (EXISTS ( SELECT
            FROM (public.memberships m
              JOIN public.users u ON ((u.user_id = m.user_id)))
           WHERE ((m.workspace_id = mail_standing.workspace) AND (m.role = 'owner'::text) AND (u.email_verified_at IS NOT NULL)))) AS "exists",
     ( SELECT (count(*))::integer AS count
            FROM unnest(mail_standing.recipients) wanted(address)
           WHERE (NOT (EXISTS ( SELECT
                    FROM (public.memberships m
                      JOIN public.users u ON ((u.user_id = m.user_id)))
                   WHERE ((m.workspace_id = mail_standing.workspace) AND (u.email = lower(wanted.address))))))) AS count;
END
;
CREATE OR REPLACE FUNCTION engine.brief_waits(waits jsonb)
 RETURNS jsonb
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN ((waits IS NULL) OR (pg_column_size(waits) < 1900) OR (octet_length((waits)::text) <= 32768)) THEN waits ELSE (SELECT jsonb_agg(((SELECT jsonb_object_agg(f.key, f.value) AS jsonb_object_agg FROM jsonb_each(w.wait) f(key, value) WHERE (octet_length((f.value)::text) <= 2048)) || COALESCE((SELECT jsonb_build_object('left_out', jsonb_agg(f.key ORDER BY f.key)) AS jsonb_build_object FROM jsonb_each(w.wait) f(key, value) WHERE (octet_length((f.value)::text) > 2048) HAVING (count(*) > 0)), '{}'::jsonb)) ORDER BY w.at) AS jsonb_agg FROM jsonb_array_elements(brief_waits.waits) WITH ORDINALITY w(wait, at)) END
;
CREATE OR REPLACE FUNCTION public.edits_template(in_workspace uuid, wanted uuid, person uuid)
 RETURNS boolean
 LANGUAGE sql
 STABLE SECURITY DEFINER
 SET search_path TO 'public'
RETURN (EXISTS (SELECT FROM (public.team_shares s JOIN public.team_members t ON (((t.workspace_id = s.workspace_id) AND (t.team_id = s.team_id)))) WHERE ((s.workspace_id = edits_template.in_workspace) AND (edits_template.in_workspace = public.app_workspace()) AND (s.template_id = edits_template.wanted) AND (t.user_id = edits_template.person))))
;
CREATE OR REPLACE FUNCTION public.credential_role(in_workspace uuid, wanted uuid, person uuid)
 RETURNS text
 LANGUAGE sql
 STABLE SECURITY DEFINER
 SET search_path TO 'public'
BEGIN ATOMIC
 SELECT
         CASE
             WHEN (m.role = 'guest'::text) THEN NULL::text
             WHEN (m.role = 'viewer'::text) THEN
             CASE
                 WHEN (r.role IS NULL) THEN NULL::text
                 ELSE 'see'::text
             END
             WHEN (r.role IS NOT NULL) THEN r.role
             WHEN (m.role = 'owner'::text) THEN 'manage'::text
             ELSE NULL::text
         END AS "case"
    FROM ((public.credentials c
      JOIN public.memberships m ON (((m.workspace_id = c.workspace_id) AND (m.user_id = credential_role.person))))
      CROSS JOIN LATERAL ( SELECT
                 CASE
                     WHEN (c.owner_id = credential_role.person) THEN 'owner'::text
                     ELSE ( SELECT min(s.role) AS min
                        FROM public.credential_shares s
                       WHERE ((s.workspace_id = c.workspace_id) AND (s.credential_id = c.credential_id) AND ((s.kind = 'workspace'::text) OR (s.user_id = credential_role.person) OR (EXISTS ( SELECT
                                FROM public.team_members t
                               WHERE ((t.workspace_id = s.workspace_id) AND (t.team_id = s.team_id) AND (t.user_id = credential_role.person)))))))
                 END AS role) r)
   WHERE ((c.workspace_id = credential_role.in_workspace) AND (c.credential_id = credential_role.wanted) AND (credential_role.in_workspace = public.app_workspace()));
END
;
CREATE OR REPLACE FUNCTION public.note_credentials_used(workspaces uuid[], wanted uuid[], at timestamp with time zone[])
 RETURNS void
 LANGUAGE sql
 SECURITY DEFINER
 SET search_path TO 'public'
BEGIN ATOMIC
 UPDATE public.credentials c SET last_used_at = GREATEST(c.last_used_at, u.at)
    FROM UNNEST(note_credentials_used.workspaces, note_credentials_used.wanted, note_credentials_used.at) u(workspace_id, credential_id, at)
   WHERE ((c.workspace_id = u.workspace_id) AND (c.credential_id = u.credential_id));
END
;
CREATE OR REPLACE FUNCTION public.take_credential_authorization(wanted bytea, in_session uuid)
 RETURNS TABLE(workspace_id uuid, credential_id uuid, user_id uuid, verifier bytea, redirect_uri text)
 LANGUAGE sql
 SECURITY DEFINER
 SET search_path TO 'public'
BEGIN ATOMIC
 WITH taken AS (
          DELETE FROM public.credential_authorizations a
           WHERE ((a.state_hash = take_credential_authorization.wanted) AND (a.session_id = take_credential_authorization.in_session))
           RETURNING a.state_hash,
             a.workspace_id,
             a.credential_id,
             a.session_id,
             a.user_id,
             a.verifier,
             a.redirect_uri,
             a.expires_at
         )
  SELECT t.workspace_id,
     t.credential_id,
     t.user_id,
     t.verifier,
     t.redirect_uri
    FROM taken t
   WHERE (t.expires_at > now());
END
;
CREATE OR REPLACE FUNCTION public.any_model_stored()
 RETURNS boolean
 LANGUAGE sql
 STABLE SECURITY DEFINER
 SET search_path TO 'public'
BEGIN ATOMIC
 SELECT (EXISTS ( SELECT
            FROM public.credentials
           WHERE ((credentials.kind = 'llm'::text) AND (credentials.state = 'ready'::text)))) AS "exists";
END
;
CREATE OR REPLACE FUNCTION public.identify_inbound_token(token bytea, id uuid)
 RETURNS TABLE(token_id uuid, org_id uuid, workspace_id uuid, workflow_id uuid, enabled boolean, expired boolean, version_id uuid, inputs json, settings jsonb, created_by uuid, principal_id uuid, activation_required boolean, auth text, auth_config jsonb, secret bytea, methods text[], input text, respond text, respond_timeout_s integer, challenge text, dedupe jsonb)
 LANGUAGE sql
 STABLE SECURITY DEFINER
 SET search_path TO 'public'
BEGIN ATOMIC
 WITH called AS (
          SELECT webhook_tokens.workspace_id,
             webhook_tokens.token_id,
             webhook_tokens.workflow_id,
             webhook_tokens.name,
             webhook_tokens.prefix,
             webhook_tokens.token_hash,
             webhook_tokens.enabled,
             webhook_tokens.expires_at,
             webhook_tokens.last_used_at,
             webhook_tokens.created_by,
             webhook_tokens.created_at,
             webhook_tokens.auth,
             webhook_tokens.auth_config,
             webhook_tokens.secret,
             webhook_tokens.methods,
             webhook_tokens.input,
             webhook_tokens.respond,
             webhook_tokens.respond_timeout_s,
             webhook_tokens.challenge,
             webhook_tokens.dedupe
            FROM public.webhook_tokens
           WHERE ((webhook_tokens.token_hash = identify_inbound_token.token) AND (webhook_tokens.auth = 'url'::text))
         UNION ALL
          SELECT webhook_tokens.workspace_id,
             webhook_tokens.token_id,
             webhook_tokens.workflow_id,
             webhook_tokens.name,
             webhook_tokens.prefix,
             webhook_tokens.token_hash,
             webhook_tokens.enabled,
             webhook_tokens.expires_at,
             webhook_tokens.last_used_at,
             webhook_tokens.created_by,
             webhook_tokens.created_at,
             webhook_tokens.auth,
             webhook_tokens.auth_config,
             webhook_tokens.secret,
             webhook_tokens.methods,
             webhook_tokens.input,
             webhook_tokens.respond,
             webhook_tokens.respond_timeout_s,
             webhook_tokens.challenge,
             webhook_tokens.dedupe
            FROM public.webhook_tokens
           WHERE ((webhook_tokens.token_id = identify_inbound_token.id) AND (webhook_tokens.auth = ANY (ARRAY['basic'::text, 'hmac'::text])))
         )
  SELECT t.token_id,
     s.org_id,
     t.workspace_id,
     t.workflow_id,
     t.enabled,
     COALESCE((t.expires_at <= now()), false) AS "coalesce",
     v.version_id,
     (v.definition -> 'inputs'::text),
     w.settings,
     t.created_by,
     public.principal_of_version(t.workspace_id, v.version_id) AS principal_of_version,
     w.activation_required,
     t.auth,
     t.auth_config,
     t.secret,
     t.methods,
     t.input,
     t.respond,
     t.respond_timeout_s,
     t.challenge,
     t.dedupe
    FROM (((called t
      JOIN public.workspaces s ON ((s.workspace_id = t.workspace_id)))
      JOIN public.workflows w ON (((w.workspace_id = t.workspace_id) AND (w.workflow_id = t.workflow_id) AND (w.deleted_at IS NULL))))
      LEFT JOIN public.workflow_versions v ON (((v.workspace_id = t.workspace_id) AND (v.workflow_id = t.workflow_id) AND v.active)));
END
;
CREATE OR REPLACE FUNCTION public.forget_events(most integer)
 RETURNS integer
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
declare
  v_events integer;
  v_waits integer;
begin
  delete from incoming_events where (workspace_id, event_id) in (
    select workspace_id, event_id from incoming_events where received_at < now() - interval '1 day' order by received_at limit most);
  get diagnostics v_events = row_count;
  delete from event_waits where (workspace_id, wait_id) in (
    select v.workspace_id, v.wait_id from event_waits v where v.status <> 'open' and v.ended_at < now() - interval '1 day'
      and not exists (select from executions e where e.workspace_id = v.workspace_id and e.execution_id = v.execution_id
        and e.finished_at is null) order by v.ended_at limit most);
  get diagnostics v_waits = row_count;
  return greatest(v_events, v_waits);
end $function$
;
CREATE OR REPLACE FUNCTION public.watch_workspace(wanted uuid, wants_journal boolean)
 RETURNS void
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
declare
  v_generation bigint;
begin
  if wanted is distinct from app_workspace() then raise exception 'not the workspace of the caller'; end if;
  if exists (select from event_workspaces w where w.workspace_id = wanted and (w.journal or not wants_journal)) then return; end if;
  update event_generation set generation = generation + 1 returning generation into v_generation;
  insert into event_workspaces (workspace_id, journal, generation) values (wanted, wants_journal, v_generation)
  on conflict (workspace_id) do update set journal = event_workspaces.journal or excluded.journal, generation = excluded.generation;
end $function$
;
CREATE OR REPLACE FUNCTION public.event_visible(workspace uuid, person uuid, kind text, execution uuid, subject uuid)
 RETURNS boolean
 LANGUAGE sql
 STABLE SECURITY DEFINER
 SET search_path TO 'public'
BEGIN ATOMIC
 SELECT (EXISTS ( SELECT
            FROM public.memberships m
           WHERE ((m.workspace_id = event_visible.workspace) AND (m.user_id = event_visible.person) AND (m.role <> 'guest'::text) AND
                 CASE
                     WHEN (event_visible.execution IS NOT NULL) THEN COALESCE(( SELECT w.allowed
                        FROM public.watchable_executions(ARRAY[event_visible.person], ARRAY[event_visible.workspace], ARRAY[event_visible.execution]) w(allowed)), false)
                     WHEN (event_visible.kind ~~ 'job.%'::text) THEN (EXISTS ( SELECT
                        FROM public.roles_in_jobs(ARRAY[event_visible.person], ARRAY[event_visible.workspace], ARRAY[event_visible.subject]) r(role)
                       WHERE (r.role <> ''::text)))
                     WHEN (event_visible.kind ~~ 'credential.%'::text) THEN ((m.role = 'owner'::text) OR (EXISTS ( SELECT
                        FROM public.credentials c
                       WHERE ((c.workspace_id = event_visible.workspace) AND (c.credential_id = event_visible.subject) AND (c.owner_id = event_visible.person)))))
                     WHEN (event_visible.kind = 'destination.test'::text) THEN true
                     ELSE (m.role = 'owner'::text)
                 END))) AS "exists";
END
;
CREATE OR REPLACE FUNCTION public.execution_is_quiet(e public.executions)
 RETURNS boolean
 LANGUAGE sql
 IMMUTABLE
RETURN (((e).trigger_kind = 'trial'::text) OR (COALESCE((e).trigger_id, ''::text) ~~ 'suite\_%'::text) OR COALESCE((((e).initiated_by)::jsonb @> '[{"kind": "suite"}]'::jsonb), false))
;
CREATE OR REPLACE FUNCTION public.new_delivery_id()
 RETURNS uuid
 LANGUAGE sql
RETURN (OVERLAY(OVERLAY(replace((gen_random_uuid())::text, '-'::text, ''::text) PLACING lpad(to_hex(((EXTRACT(epoch FROM clock_timestamp()) * (1000)::numeric))::bigint), 12, '0'::text) FROM 1 FOR 12) PLACING '7'::text FROM 13 FOR 1))::uuid
;
CREATE OR REPLACE FUNCTION public.fan_out_events(p_of_one integer, p_limit integer, p_most_pending integer)
 RETURNS integer
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
declare
  v_events event_outbox[];
begin
  if not pg_try_advisory_xact_lock(850, 1) then return -1; end if;
  with recursive spaces as (
    (select o.workspace_id from event_outbox o order by o.workspace_id limit 1)
    union all
    select (select o.workspace_id from event_outbox o where o.workspace_id > s.workspace_id order by o.workspace_id limit 1)
    from spaces s where s.workspace_id is not null
  ),
  taken as (
    delete from event_outbox o using (
      select t.workspace_id, t.n from spaces s cross join lateral (
        select x.workspace_id, x.n from event_outbox x where x.workspace_id = s.workspace_id order by x.n limit p_of_one) t
      limit p_limit) chosen
    where o.workspace_id = chosen.workspace_id and o.n = chosen.n
    returning o
  )
  select array_agg(taken.o order by (taken.o).n) into v_events from taken;
  if v_events is null then return 0; end if;

  perform from event_destinations d where d.enabled and d.workspace_id in (select o.workspace_id from unnest(v_events) o)
    order by d.destination_id for no key update;
  with wanted as (
    select d.destination_id, o.*, coalesce(o.execution_id, o.subject_id) as about
    from unnest(v_events) o
    join event_destinations d on d.workspace_id = o.workspace_id and d.enabled
      and (o.type = any (d.event_types) or split_part(o.type, '.', 1) || '.*' = any (d.event_types))
    left join executions e on e.workspace_id = o.workspace_id and e.execution_id = o.execution_id
    where (o.execution_id is null or (e.execution_id is not null and not execution_is_quiet(e)))
      and (d.workflow_id is null or e.workflow_id = d.workflow_id)
      and event_visible(o.workspace_id, d.owner_id, o.type, o.execution_id, o.subject_id)
  ),
  made as (
    insert into event_deliveries (workspace_id, delivery_id, destination_id, type, event_at, execution_id, seq, subject_id, data, head)
    select w.workspace_id, new_delivery_id(), w.destination_id, w.type, w.at, w.execution_id, w.seq, w.subject_id, w.data,
      w.seq is null or (row_number() over (partition by w.destination_id, w.about order by w.seq) = 1
        and not exists (select from event_deliveries p where p.destination_id = w.destination_id
          and coalesce(p.execution_id, p.subject_id) = w.about and p.status = 'pending'))
    from wanted w order by w.n
    returning destination_id
  )
  update event_destinations d set pending = d.pending + m.count,
    enabled = d.pending + m.count <= p_most_pending,
    off_reason = case when d.pending + m.count > p_most_pending then 'too_many' end,
    off_at = case when d.pending + m.count > p_most_pending then now() end,
    told = d.pending + m.count <= p_most_pending
  from (select destination_id, count(*)::integer as count from made group by destination_id) m
  where d.destination_id = m.destination_id;
  return cardinality(v_events);
end $function$
;
CREATE OR REPLACE FUNCTION public.claim_deliveries(p_after uuid, p_limit integer, p_of_one integer, p_lease_s integer, p_full_destinations uuid[], p_full_workspaces uuid[])
 RETURNS TABLE(workspace_id uuid, destination_id uuid, delivery_id uuid)
 LANGUAGE sql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
  with recursive places as (
    (select d.destination_id from event_deliveries d where d.status = 'pending' and d.head order by d.destination_id limit 1)
    union all
    select (select d.destination_id from event_deliveries d where d.status = 'pending' and d.head
        and d.destination_id > p.destination_id order by d.destination_id limit 1)
    from places p where p.destination_id is not null
  ),
  due as materialized (
    select t.workspace_id, t.delivery_id from places p
    join event_destinations e on e.destination_id = p.destination_id and e.enabled
      and coalesce(e.blocked_until <= now(), true) and e.destination_id <> all (p_full_destinations)
      and e.workspace_id <> all (p_full_workspaces)
    cross join lateral (
      select d.workspace_id, d.delivery_id from event_deliveries d
      where d.destination_id = p.destination_id and d.status = 'pending' and d.head and d.next_at <= now()
      order by d.next_at limit p_of_one for no key update skip locked) t
    order by p.destination_id > p_after desc, p.destination_id
    limit p_limit
  )
  update event_deliveries d set next_at = now() + make_interval(secs => p_lease_s)
  from due where d.workspace_id = due.workspace_id and d.delivery_id = due.delivery_id
  returning d.workspace_id, d.destination_id, d.delivery_id
$function$
;
CREATE OR REPLACE FUNCTION public.stop_destinations()
 RETURNS TABLE(workspace_id uuid, destination_id uuid)
 LANGUAGE sql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
  with stopped as (
    update event_destinations d set enabled = false, off_at = now(), told = false, updated_at = now(),
      off_reason = case when m.user_id is null then 'owner_left' else 'no_access' end
    from event_destinations x
    left join memberships m on m.workspace_id = x.workspace_id and m.user_id = x.owner_id and m.role <> 'guest'
    where d.destination_id = x.destination_id and d.enabled and (m.user_id is null
      or (x.workflow_id is not null and not exists (select from workflows w where w.workspace_id = x.workspace_id
        and w.workflow_id = x.workflow_id and w.deleted_at is null and (w.owner_id = x.owner_id
          or exists (select from workflow_members f where f.workspace_id = w.workspace_id and f.workflow_id = w.workflow_id
            and f.user_id = x.owner_id)
          or exists (select from team_shares s join team_members t on t.workspace_id = s.workspace_id and t.team_id = s.team_id
            where s.workspace_id = w.workspace_id and s.workflow_id = w.workflow_id and t.user_id = x.owner_id)))))
    returning d.workspace_id, d.destination_id
  )
  select * from stopped
  union select d.workspace_id, d.destination_id from event_destinations d where not d.told
$function$
;
CREATE OR REPLACE FUNCTION public.forget_deliveries(p_kept_days integer, p_limit integer)
 RETURNS integer
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
declare
  v_ended integer;
  v_left integer;
begin
  delete from event_deliveries where (workspace_id, delivery_id) in (
    select d.workspace_id, d.delivery_id from event_deliveries d
    where d.status <> 'pending' and d.last_attempt_at < now() - make_interval(days => p_kept_days) limit p_limit);
  get diagnostics v_ended = row_count;
  with gone as (
    delete from event_deliveries where (workspace_id, delivery_id) in (
      select d.workspace_id, d.delivery_id from event_destinations e
      join event_deliveries d on d.workspace_id = e.workspace_id and d.destination_id = e.destination_id and d.status = 'pending'
      where not e.enabled and e.off_at < now() - make_interval(days => p_kept_days) limit p_limit)
    returning destination_id)
  update event_destinations e set pending = e.pending - g.count
  from (select destination_id, count(*)::integer as count from gone group by destination_id) g
  where e.destination_id = g.destination_id;
  get diagnostics v_left = row_count;
  return v_ended + v_left;
end $function$
;
CREATE OR REPLACE FUNCTION public.find_passkey(org uuid, credential text)
 RETURNS TABLE(user_id uuid, email text, name text, credential_id text, public_key bytea, counter bigint, transports text[])
 LANGUAGE sql
 STABLE SECURITY DEFINER
 SET search_path TO 'public'
BEGIN ATOMIC
 SELECT u.user_id,
     u.email,
     u.name,
     p.credential_id,
     p.public_key,
     p.counter,
     p.transports
    FROM (public.passkeys p
      JOIN public.users u ON ((u.user_id = p.user_id)))
   WHERE ((p.credential_id = find_passkey.credential) AND (u.org_id = find_passkey.org));
END
;
CREATE OR REPLACE FUNCTION public.identify_scoped_key(token bytea, wanted uuid)
 RETURNS TABLE(key_id uuid, key_workspace_id uuid, user_id uuid, org_id uuid, email text, name text, last_used_at timestamp with time zone, workspace_id uuid, role text, factor_missing boolean, scopes text[], is_service_account boolean)
 LANGUAGE sql
 STABLE SECURITY DEFINER
 SET search_path TO 'public'
BEGIN ATOMIC
 SELECT k.key_id,
     k.workspace_id,
     u.user_id,
     u.org_id,
     u.email,
     u.name,
     k.last_used_at,
     m.workspace_id,
     m.role,
     (COALESCE(w.require_second_factor, false) AND (NOT public.has_second_factor(u.user_id))),
     k.scopes,
     (u.kind = 'service_account'::text)
    FROM (((public.api_keys k
      JOIN public.users u ON ((u.user_id = k.user_id)))
      LEFT JOIN LATERAL ( SELECT m_1.workspace_id,
             m_1.role
            FROM public.memberships m_1
           WHERE ((m_1.user_id = u.user_id) AND (m_1.workspace_id = COALESCE(identify_scoped_key.wanted, k.workspace_id, m_1.workspace_id)) AND ((k.workspace_id IS NULL) OR (m_1.workspace_id = k.workspace_id)))
           ORDER BY m_1.joined_at, m_1.workspace_id
          LIMIT 1) m ON (true))
      LEFT JOIN public.workspaces w ON ((w.workspace_id = m.workspace_id)))
   WHERE ((k.token_hash = identify_scoped_key.token) AND ((k.expires_at IS NULL) OR (k.expires_at > now())) AND ((u.kind = 'person'::text) OR (EXISTS ( SELECT
            FROM public.service_accounts s
           WHERE ((s.workspace_id = k.workspace_id) AND (s.user_id = u.user_id) AND (s.disabled_at IS NULL))))));
END
;
CREATE OR REPLACE FUNCTION engine.flow_wait(p_reason text, p_until timestamp with time zone)
 RETURNS jsonb
 LANGUAGE sql
 STABLE
RETURN jsonb_build_array(jsonb_strip_nulls(jsonb_build_object('kind', 'slot', 'reason', p_reason, 'since', now(), 'until', p_until)))
;
CREATE OR REPLACE FUNCTION engine.start_wait(p_until timestamp with time zone)
 RETURNS jsonb
 LANGUAGE sql
 STABLE
RETURN jsonb_build_array(jsonb_build_object('kind', 'timer', 'reason', 'start_at', 'since', now(), 'until', p_until))
;
CREATE OR REPLACE FUNCTION engine.shown_flow(p_workspace uuid, p_workflow uuid, p_status text, p_held boolean, p_waiting_for jsonb)
 RETURNS jsonb
 LANGUAGE sql
 STABLE
RETURN CASE WHEN ((p_held IS DISTINCT FROM false) OR (p_status <> 'waiting'::text)) THEN p_waiting_for ELSE COALESCE((SELECT jsonb_build_array(jsonb_build_object('kind', 'slot', 'reason', 'paused', 'since', r.paused_at)) AS jsonb_build_array FROM public.flow_rules r WHERE ((r.workspace_id = shown_flow.p_workspace) AND (r.workflow_id = shown_flow.p_workflow) AND (r.paused_at IS NOT NULL))), p_waiting_for) END
;
CREATE OR REPLACE FUNCTION engine.flow_left()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  if new.status = 'waiting' then
    if exists (select from flow_rules r where r.workspace_id = new.workspace_id and r.workflow_id = new.workflow_id
        and r.rules -> 'concurrency' ->> 'count' = 'live') then
      return null;
    end if;
    update executions set held = false where workspace_id = new.workspace_id and execution_id = new.execution_id and status = 'waiting';
  end if;
  insert into flow_dirty (workspace_id, workflow_id, place) values (new.workspace_id, new.workflow_id, new.place);
  return null;
end $function$
;
CREATE OR REPLACE FUNCTION engine.set_flow(p_workspace uuid, p_workflow uuid, p_settings jsonb)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
declare
  v_rules jsonb := jsonb_strip_nulls(jsonb_build_object(
    'concurrency', coalesce(p_settings -> 'concurrency', case when p_settings ? 'max_concurrency'
      then jsonb_build_object('limit', p_settings -> 'max_concurrency', 'count', 'running', 'when_full', 'queue') end),
    'debounce', p_settings -> 'debounce', 'rate', p_settings -> 'rate', 'dedupe', p_settings -> 'dedupe'));
  v_paused timestamptz := (p_settings ->> 'paused_at')::timestamptz;
  v_old flow_rules;
begin
  select * into v_old from flow_rules where workspace_id = p_workspace and workflow_id = p_workflow for update;
  if v_rules = coalesce(v_old.rules, '{}') and v_paused is not distinct from v_old.paused_at then return; end if;
  if v_rules = '{}' and v_paused is null then
    delete from flow_rules where workspace_id = p_workspace and workflow_id = p_workflow;
  else
    insert into flow_rules (workspace_id, workflow_id, rules, paused_at) values (p_workspace, p_workflow, v_rules, v_paused)
      on conflict (workspace_id, workflow_id) do update set rules = excluded.rules, paused_at = excluded.paused_at;
  end if;
  if v_paused is not null and v_old.paused_at is null then
    delete from flow_marks m using executions e where e.workspace_id = p_workspace and e.workflow_id = p_workflow
      and e.status = 'waiting' and e.stage = 'rate' and m.workspace_id = p_workspace and m.execution_id = e.execution_id
      and m.n > 0 and m.at > now();
    update executions e set status = 'waiting', held = false, stage = 'arrive', gate = '00000000-0000-0000-0000-000000000000',
        due_at = null, place = coalesce(e.place, e.workflow_id), queue_at = coalesce(e.queue_at, e.created_at),
        waiting_for = engine.flow_wait('paused', null)
      where e.workspace_id = p_workspace and e.workflow_id = p_workflow and e.started_at is null
        and (e.status = 'queued' or (e.status = 'waiting' and e.stage = 'rate'))
        and not exists (select from inbox i where i.execution_id = e.execution_id and i.key = 'cancel');
    -- Those that are to start later come to the rules when their time has come.
    update executions e set held = false, stage = 'later', place = coalesce(e.place, e.workflow_id), queue_at = coalesce(e.queue_at, e.created_at)
      where e.workspace_id = p_workspace and e.workflow_id = p_workflow and e.status = 'waiting' and e.started_at is null
        and e.held is null and e.waiting_for @> '[{"kind": "timer", "reason": "start_at"}]';
  end if;
  insert into flow_dirty (workspace_id, workflow_id) values (p_workspace, p_workflow);
end $function$
;
CREATE OR REPLACE FUNCTION public.note_flow()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
begin
  if tg_op = 'DELETE' then
    delete from flow_rules where workspace_id = old.workspace_id and workflow_id = old.workflow_id;
  else
    perform engine.set_flow(new.workspace_id, new.workflow_id, case when new.deleted_at is null then new.settings else '{}' end);
  end if;
  return null;
end $function$
;
CREATE OR REPLACE FUNCTION engine.flow_cancel(p_workspace uuid, p_execution uuid, p_code text, p_message text, p_other uuid)
 RETURNS void
 LANGUAGE sql
AS $function$
  select engine.signal(p_workspace, p_execution, 'cancel', json_build_object('type', 'cancel', 'by', null, 'reason', p_message,
    'rule', json_build_object('code', p_code, 'message', p_message, 'other', p_other)))
$function$
;
CREATE OR REPLACE FUNCTION engine.flow_permit(p_workspace uuid, p_mark uuid, p_limit integer, p_per_s double precision, p_execution uuid)
 RETURNS timestamp with time zone
 LANGUAGE plpgsql
AS $function$
declare
  v_last flow_marks;
  v_before timestamptz;
  v_at timestamptz;
begin
  select * into v_last from flow_marks where workspace_id = p_workspace and mark = p_mark order by n desc limit 1;
  select at into v_before from flow_marks where workspace_id = p_workspace and mark = p_mark and n = v_last.n + 1 - p_limit and n > 0;
  v_at := greatest(now(), v_last.at, v_before + make_interval(secs => p_per_s));
  insert into flow_marks (workspace_id, mark, n, at, until, execution_id)
    values (p_workspace, p_mark, coalesce(v_last.n, 0) + 1, v_at, v_at + make_interval(secs => p_per_s), p_execution);
  return v_at;
end $function$
;
CREATE OR REPLACE FUNCTION engine.flow_when_full(p_workspace uuid, p_workflow uuid, p_execution uuid, p_place uuid, p_rule jsonb)
 RETURNS uuid[]
 LANGUAGE plpgsql
AS $function$
declare
  v_limit integer := (p_rule ->> 'limit')::integer;
  v_others uuid[];
begin
  v_others := array(select o.execution_id from (
      select e.execution_id, e.queue_at from executions e
        where e.workspace_id = p_workspace and e.place = p_place and e.held and e.status in ('queued', 'running', 'waiting')
      union all
      select e.execution_id, e.queue_at from executions e where e.workspace_id = p_workspace and e.workflow_id = p_workflow
        and e.status = 'waiting' and e.held = false and e.stage in ('place', 'again') and e.gate = p_place and e.execution_id <> p_execution) o
    where not exists (select from inbox i where i.execution_id = o.execution_id and i.key = 'cancel')
    order by o.queue_at, o.execution_id);
  if cardinality(v_others) < v_limit then return '{}'; end if;
  if p_rule ->> 'when_full' = 'skip' then
    perform engine.flow_cancel(p_workspace, p_execution, 'skipped',
      'as many executions as the concurrency setting allows were under way', v_others[1]);
    return array[p_execution];
  end if;
  v_others := v_others[1 : cardinality(v_others) - v_limit + 1];
  perform engine.flow_cancel(p_workspace, other, 'replaced', 'a newer execution took its place', p_execution)
    from unnest(v_others) as other;
  return v_others;
end $function$
;
CREATE OR REPLACE FUNCTION engine.flow_grant(p_workspace uuid, p_workflow uuid, p_place uuid, p_rules jsonb, p_most integer, OUT granted integer, OUT queued integer)
 RETURNS record
 LANGUAGE plpgsql
 SET enable_sort TO 'off'
 SET enable_bitmapscan TO 'off'
AS $function$
declare
  v_limit integer := (p_rules -> 'concurrency' ->> 'limit')::integer;
  v_free integer := p_most;
  v_ids uuid[];
  v_permits timestamptz[];
begin
  granted := 0;
  queued := 0;
  if v_limit is not null then
    select least(p_most, v_limit - count(*)) into v_free from (select from executions
      where workspace_id = p_workspace and place = p_place and held and status in ('queued', 'running', 'waiting') limit v_limit) as held;
  end if;
  if v_free <= 0 then return; end if;
  with chosen as (
    select execution_id, queue_at, flow, started_at from executions
    where workspace_id = p_workspace and workflow_id = p_workflow and status = 'waiting' and held = false and stage = 'place'
      and gate = p_place
    order by queue_at, execution_id limit v_free for no key update)
  select array_agg(execution_id order by queue_at, execution_id),
      array_agg(case when p_rules ? 'rate' and started_at is null then engine.flow_permit(p_workspace,
        coalesce((flow ->> 'rate')::uuid, p_workflow), (p_rules -> 'rate' ->> 'limit')::integer,
        (p_rules -> 'rate' ->> 'per_s')::double precision, execution_id) end order by queue_at, execution_id)
    into v_ids, v_permits from chosen;
  if v_ids is null then return; end if;
  granted := cardinality(v_ids);
  update executions e set held = true, gate = null,
      status = case when v_permits[array_position(v_ids, e.execution_id)] > now() then 'waiting' else 'queued' end,
      stage = case when v_permits[array_position(v_ids, e.execution_id)] > now() then 'rate' end,
      due_at = case when v_permits[array_position(v_ids, e.execution_id)] > now() then v_permits[array_position(v_ids, e.execution_id)]
        else now() - coalesce(e.priority, 0) * interval '1 hour' end,
      waiting_for = case when v_permits[array_position(v_ids, e.execution_id)] > now()
        then engine.flow_wait('rate', v_permits[array_position(v_ids, e.execution_id)]) else '[]' end
    where e.workspace_id = p_workspace and e.execution_id = any (v_ids) and e.status = 'waiting';
  select count(*) into queued from unnest(v_permits) as p (permit) where p.permit is null or p.permit <= now();
end $function$
;
CREATE OR REPLACE FUNCTION engine.flow_decide(p_workspace uuid, p_workflow uuid, p_most integer, OUT busy boolean, OUT more boolean, OUT queued integer, OUT cancelled uuid[])
 RETURNS record
 LANGUAGE plpgsql
 SET enable_sort TO 'off'
 SET enable_bitmapscan TO 'off'
AS $function$
declare
  c_nowhere constant uuid := '00000000-0000-0000-0000-000000000000';
  v_rules jsonb;
  v_paused timestamptz;
  v_places uuid[];
  v_walk uuid;
  v_place uuid;
  v_one record;
  v_other uuid;
  v_left integer := p_most;
  v_visits integer := 0;
  v_granted record;
  v_stages text[];
begin
  busy := not pg_try_advisory_xact_lock(hashtextextended(p_workflow::text, 7102));
  more := false;
  queued := 0;
  cancelled := '{}';
  if busy then return; end if;
  perform set_config('synchronous_commit', 'off', true);
  with gone as (delete from flow_dirty d where d.workspace_id = p_workspace and d.workflow_id = p_workflow returning d.place, d.after)
    select coalesce(array_agg(distinct g.place) filter (where g.place is not null), '{}'),
      (array_agg(coalesce(g.after, c_nowhere) order by coalesce(g.after, c_nowhere)) filter (where g.place is null))[1]
    into v_places, v_walk from gone g;
  -- After that: the one who changed the rules marked them in the same transaction. Read before, they could be the old ones, and the mark gone.
  select r.rules, r.paused_at into v_rules, v_paused from flow_rules r where r.workspace_id = p_workspace and r.workflow_id = p_workflow;
  v_rules := coalesce(v_rules, '{}');
  -- A pause keeps executions from starting. Those that have started get their place again.
  v_stages := case when v_paused is null then array['again', 'place'] else array['again'] end;
  if v_paused is null and not v_rules ?| array['dedupe', 'debounce'] and coalesce(v_rules -> 'concurrency' ->> 'when_full', 'queue') = 'queue' then
    -- None of them is sent away, so all go on to the place in one statement.
    with moved as (
      update executions e set stage = 'place', gate = e.place, waiting_for = engine.flow_wait('concurrency', null)
      where e.workspace_id = p_workspace and e.status = 'waiting'
        and e.execution_id = any (array(select c.execution_id from engine.flow_came(p_workspace, p_workflow, p_most) c))
      returning e.place)
    select array(select distinct m.place from moved m union select unnest(v_places)), (select count(*) from moved) >= p_most
      into v_places, more;
    if more then
      insert into flow_dirty (workspace_id, workflow_id, place) values (p_workspace, p_workflow, c_nowhere);
    end if;
  end if;
  for v_one in
    select c.execution_id, c.stage, c.place, c.flow, c.started_at from engine.flow_came(p_workspace, p_workflow, p_most) c
      where not more and v_paused is null
  loop
    v_left := v_left - 1;
    if v_one.stage = 'enter' and v_rules ? 'dedupe' and v_one.flow ->> 'dedupe' is not null then
      insert into flow_marks as m (workspace_id, mark, n, at, until, execution_id)
        values (p_workspace, (v_one.flow ->> 'dedupe')::uuid, 0, now(),
          now() + make_interval(secs => (v_rules -> 'dedupe' ->> 'window_s')::double precision), v_one.execution_id)
        on conflict (workspace_id, mark, n) do update set at = excluded.at, until = excluded.until, execution_id = excluded.execution_id
          where m.until <= now();
      if not found then
        select m.execution_id into v_other from flow_marks m
          where m.workspace_id = p_workspace and m.mark = (v_one.flow ->> 'dedupe')::uuid and m.n = 0;
        perform engine.flow_cancel(p_workspace, v_one.execution_id, 'duplicate', 'an execution with the same dedupe key came before it', v_other);
        cancelled := cancelled || v_one.execution_id;
        continue;
      end if;
    end if;
    if v_one.stage = 'enter' and v_rules ? 'debounce' and v_one.flow ->> 'debounce' is not null then
      for v_other in
        select e.execution_id from executions e where e.workspace_id = p_workspace and e.workflow_id = p_workflow
          and e.status = 'waiting' and e.held = false and e.stage = 'debounce' and e.gate = (v_one.flow ->> 'debounce')::uuid
      loop
        perform engine.flow_cancel(p_workspace, v_other, 'debounced', 'a newer execution came within the debounce window', v_one.execution_id);
        cancelled := cancelled || v_other;
      end loop;
      update executions e set stage = 'debounce', gate = (v_one.flow ->> 'debounce')::uuid,
          due_at = now() + make_interval(secs => (v_rules -> 'debounce' ->> 'window_s')::double precision),
          waiting_for = engine.flow_wait('debounce', now() + make_interval(secs => (v_rules -> 'debounce' ->> 'window_s')::double precision))
        where e.workspace_id = p_workspace and e.execution_id = v_one.execution_id and e.status = 'waiting';
      continue;
    end if;
    update executions e set stage = 'place', gate = e.place, waiting_for = engine.flow_wait('concurrency', null)
      where e.workspace_id = p_workspace and e.execution_id = v_one.execution_id and e.status = 'waiting';
    if v_one.started_at is null and v_rules -> 'concurrency' ->> 'when_full' in ('skip', 'cancel_oldest') then
      cancelled := cancelled || engine.flow_when_full(p_workspace, p_workflow, v_one.execution_id, v_one.place, v_rules -> 'concurrency');
    end if;
    -- At once, so that the next one finds the place taken or free.
    select * into v_granted from engine.flow_grant(p_workspace, p_workflow, v_one.place, v_rules, greatest(v_left, 1), v_stages);
    queued := queued + v_granted.queued;
  end loop;
  if v_left <= 0 then
    more := true;
    insert into flow_dirty (workspace_id, workflow_id, place) values (p_workspace, p_workflow, c_nowhere);
  end if;
  foreach v_place in array v_places loop
    if v_left <= 0 then
      insert into flow_dirty (workspace_id, workflow_id, place) values (p_workspace, p_workflow, v_place);
      more := true;
      continue;
    end if;
    select * into v_granted from engine.flow_grant(p_workspace, p_workflow, v_place, v_rules, v_left, v_stages);
    queued := queued + v_granted.queued;
    v_left := v_left - v_granted.granted;
    if v_left <= 0 then
      insert into flow_dirty (workspace_id, workflow_id, place) values (p_workspace, p_workflow, v_place);
      more := true;
    end if;
  end loop;
  while v_walk is not null loop
    if v_left <= 0 or v_visits >= p_most then
      insert into flow_dirty (workspace_id, workflow_id, after) values (p_workspace, p_workflow, v_walk);
      more := true;
      exit;
    end if;
    select g.gate into v_place from unnest(v_stages) as s (stage)
      cross join lateral (
        select e.gate from executions e where e.workspace_id = p_workspace and e.workflow_id = p_workflow
          and e.status = 'waiting' and e.held = false and e.stage = s.stage and e.gate > v_walk order by e.gate limit 1) as g
      order by g.gate limit 1;
    exit when not found;
    v_visits := v_visits + 1;
    select * into v_granted from engine.flow_grant(p_workspace, p_workflow, v_place, v_rules, v_left, v_stages);
    queued := queued + v_granted.queued;
    v_left := v_left - v_granted.granted;
    -- A group of which only a part was looked at comes again.
    if v_left > 0 then v_walk := v_place; end if;
  end loop;
end $function$
;
CREATE OR REPLACE FUNCTION engine.claim_placed(p_worker uuid, p_after uuid, p_total integer, p_per_workspace integer, p_workspace_limit integer, p_suspects integer)
 RETURNS TABLE(claimed json)
 LANGUAGE plpgsql
AS $function$
declare
  v_workspace uuid := p_after;
  v_wrapped boolean := false;
  v_one record;
  v_chosen uuid[];
  v_taken integer := 0;
  v_room integer;
  v_suspects integer := 0;
  v_claimed text[] := '{}';
begin
  perform set_config('engine.claimed', '', false);
  perform from workers where worker_id = p_worker and not dead for share;
  if not found then return; end if;
  -- A claim that is lost with the database is made again. Whatever the worker then writes is flushed together with it.
  perform set_config('synchronous_commit', 'off', true);
  loop
    select workspace_id into v_workspace from executions
      where status = 'queued' and workspace_id > v_workspace order by workspace_id limit 1;
    if not found then
      exit when v_wrapped or p_after = '00000000-0000-0000-0000-000000000000';
      v_wrapped := true;
      v_workspace := '00000000-0000-0000-0000-000000000000';
      continue;
    end if;
    exit when v_wrapped and v_workspace > p_after;
    select p_workspace_limit - count(*) into v_room from (
      select from executions where workspace_id = v_workspace and status = 'running' limit p_workspace_limit) as running;
    v_chosen := '{}';
    for v_one in
      select execution_id, workflow_id, crashes, max_concurrency, held, place, stage, started_at,
          started_at + timeout_s * interval '1 second' as deadline from executions
        where workspace_id = v_workspace and status = 'queued' and v_suspects + engine.suspicion(crashes) <= p_suspects
        order by due_at limit greatest(0, least(v_room, p_per_workspace, p_total - v_taken)) for no key update skip locked
    loop
      if (v_one.held = false or (v_one.held is null and v_one.max_concurrency is not null and v_one.workflow_id is not null))
          and not exists (select from inbox i where i.execution_id = v_one.execution_id and i.key = 'cancel')
          and not coalesce(v_one.deadline <= now(), false) then
        update executions e set status = 'waiting', due_at = v_one.deadline, held = false,
            stage = case when v_one.started_at is not null then 'again' when v_one.stage = 'later' then 'enter' else 'arrive' end,
            gate = case when v_one.started_at is not null then coalesce(e.place, e.workflow_id)
              else '00000000-0000-0000-0000-000000000000' end,
            place = coalesce(e.place, e.workflow_id),
            queue_at = coalesce(e.queue_at, e.created_at), waiting_for = engine.flow_wait('concurrency', null)
          where e.workspace_id = v_workspace and e.execution_id = v_one.execution_id and e.status = 'queued';
        insert into flow_dirty (workspace_id, workflow_id, place)
          values (v_workspace, v_one.workflow_id, coalesce(v_one.place, v_one.workflow_id));
        claimed := json_build_object('routed', true, 'workspace_id', v_workspace, 'workflow_id', v_one.workflow_id);
        return next;
        continue;
      end if;
      -- They are due before the others: those that do not fit are passed over, or a workspace with many would have nothing claimed.
      if v_one.crashes >= 2 then
        if v_suspects + engine.suspicion(v_one.crashes) > p_suspects then continue; end if;
        v_suspects := v_suspects + engine.suspicion(v_one.crashes);
      end if;
      v_chosen := v_chosen || v_one.execution_id;
    end loop;
    if cardinality(v_chosen) > 0 then
      for v_one in
        with taken as (
          update executions e set status = 'running', worker_id = p_worker, due_at = null,
              started_at = coalesce(e.started_at, now())
            from unnest(v_chosen) as c (execution_id)
            where e.workspace_id = v_workspace and e.execution_id = c.execution_id and e.status = 'queued'
            returning e.*)
        select row_to_json(t) as claimed, format('%s %s %s', t.execution_id, t.snapshot_seq, t.seen) as name from taken t
      loop
        v_taken := v_taken + 1;
        v_claimed := v_claimed || v_one.name;
        claimed := v_one.claimed;
        return next;
      end loop;
    end if;
    exit when v_taken >= p_total;
  end loop;
  perform set_config('engine.claimed', array_to_string(v_claimed, ','), false);
end $function$
;
CREATE OR REPLACE FUNCTION public.schedules_due_now(most integer)
 RETURNS TABLE(workspace_id uuid, schedule_id uuid)
 LANGUAGE sql
 STABLE SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
BEGIN ATOMIC
 SELECT s.workspace_id,
     s.schedule_id
    FROM public.schedules s
   WHERE (s.next_run_at <= now())
   ORDER BY s.next_run_at
  LIMIT schedules_due_now.most;
END
;
CREATE OR REPLACE FUNCTION public.schedules_ahead(after_workspace uuid, after_id uuid, most integer)
 RETURNS TABLE(workspace_id uuid, id uuid, cron text, every_s double precision, at timestamp with time zone, timezone text, anchor timestamp with time zone, next timestamp with time zone, now timestamp with time zone)
 LANGUAGE sql
 STABLE SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
BEGIN ATOMIC
 SELECT s.workspace_id,
     s.schedule_id,
     s.cron,
     s.every_s,
     s.at,
     s.timezone,
     s.created_at,
     s.next_run_at,
     now() AS now
    FROM public.schedules s
   WHERE ((ROW(s.workspace_id, s.schedule_id) > ROW(schedules_ahead.after_workspace, schedules_ahead.after_id)) AND (s.next_run_at > now()))
   ORDER BY s.workspace_id, s.schedule_id
  LIMIT schedules_ahead.most;
END
;
CREATE OR REPLACE FUNCTION public.bulks_under_way(most integer)
 RETURNS TABLE(workspace_id uuid, bulk_id uuid)
 LANGUAGE sql
 STABLE SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
BEGIN ATOMIC
 SELECT b.workspace_id,
     b.bulk_id
    FROM public.execution_bulks b
   WHERE (b.status = 'running'::text)
   ORDER BY b.created_at
  LIMIT bulks_under_way.most;
END
;
CREATE OR REPLACE FUNCTION public.note_removed_file()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
begin
  insert into files_to_remove values (old.workspace_id, old.file_id) on conflict do nothing;
  return old;
end $function$
;
CREATE OR REPLACE FUNCTION public.count_file()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
begin
  perform count_storage(coalesce(new.workspace_id, old.workspace_id), coalesce(new.bytes, 0) - coalesce(old.bytes, 0));
  return null;
end $function$
;
CREATE OR REPLACE FUNCTION public.files_left_over(most integer)
 RETURNS TABLE(workspace_id uuid, file_id uuid)
 LANGUAGE sql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
BEGIN ATOMIC
 DELETE FROM public.files f
   WHERE ((f.workspace_id, f.file_id) IN ( SELECT o.workspace_id,
             o.file_id
            FROM public.files o
           WHERE ((o.created_at < (now() - '1 day'::interval)) AND ((NOT o.stored) OR (NOT (EXISTS ( SELECT
                    FROM (public.file_uses u
                      JOIN public.executions e ON (((e.workspace_id = u.workspace_id) AND (e.execution_id = u.execution_id))))
                   WHERE ((u.workspace_id = o.workspace_id) AND (u.file_id = o.file_id)))))))
           ORDER BY o.created_at
          LIMIT files_left_over.most));
 SELECT r.workspace_id,
     r.file_id
    FROM public.files_to_remove r
  LIMIT files_left_over.most;
END
;
CREATE OR REPLACE FUNCTION public.file_reaches(p_workspace uuid, p_file uuid, p_execution uuid)
 RETURNS boolean
 LANGUAGE sql
 STABLE
 SET search_path TO 'public', 'pg_temp'
BEGIN ATOMIC
 WITH RECURSIVE line(execution_id, depth) AS (
          SELECT file_reaches.p_execution AS p_execution,
             0 AS "?column?"
         UNION
          SELECT up.execution_id,
             (l.depth + 1)
            FROM ((line l
              JOIN public.executions e ON (((e.workspace_id = file_reaches.p_workspace) AND (e.execution_id = l.execution_id))))
              CROSS JOIN LATERAL ( VALUES (e.parent_execution_id), (e.retry_of)) up(execution_id))
           WHERE ((up.execution_id IS NOT NULL) AND (l.depth < 20))
         )
  SELECT (EXISTS ( SELECT
            FROM public.file_uses u
           WHERE ((u.workspace_id = file_reaches.p_workspace) AND (u.file_id = file_reaches.p_file) AND ((u.execution_id IN ( SELECT l.execution_id
                    FROM line l)) OR (EXISTS ( SELECT
                    FROM public.executions c
                   WHERE ((c.workspace_id = file_reaches.p_workspace) AND (c.execution_id = u.execution_id) AND (c.parent_execution_id = file_reaches.p_execution)))))))) AS "exists";
END
;
CREATE OR REPLACE FUNCTION public.due_service_triggers(most integer)
 RETURNS TABLE(workspace_id uuid, trigger_id uuid)
 LANGUAGE sql
 STABLE SECURITY DEFINER
 SET search_path TO 'public'
BEGIN ATOMIC
 SELECT t.workspace_id,
     t.trigger_id
    FROM public.service_triggers t
   WHERE (t.enabled AND (t.kind = 'polling'::text) AND (t.next_poll_at <= now()))
   ORDER BY t.next_poll_at
  LIMIT due_service_triggers.most;
END
;
CREATE OR REPLACE FUNCTION public.forget_trials(most integer)
 RETURNS integer
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
declare
  forgotten integer;
begin
  delete from trials t where (t.workspace_id, t.trial_id) in (
    select o.workspace_id, o.trial_id from trials o where o.created_at < now() - interval '1 day'
      and not exists (select from executions e where e.workspace_id = o.workspace_id and e.execution_id = o.trial_id)
      and not exists (select from ledger_runs r where r.workspace_id = o.workspace_id and r.run_id = o.trial_id)
    order by o.created_at limit most);
  get diagnostics forgotten = row_count;
  return forgotten;
end $function$
;
CREATE OR REPLACE FUNCTION public.claim_replay(lease_s integer)
 RETURNS TABLE(workspace_id uuid, replay_id uuid, epoch integer)
 LANGUAGE sql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
BEGIN ATOMIC
 UPDATE public.replays r SET epoch = (r.epoch + 1), lease_until = (now() + make_interval(secs => (claim_replay.lease_s)::double precision)), served_at = clock_timestamp(), status = 'running'::text, started_at = COALESCE(r.started_at, now())
   WHERE ((r.workspace_id, r.replay_id) = ( SELECT c.workspace_id,
             c.replay_id
            FROM public.replays c
           WHERE ((c.finished_at IS NULL) AND (c.lease_until <= now()))
           ORDER BY ( SELECT max(s.served_at) AS max
                    FROM public.replays s
                   WHERE ((s.workspace_id = c.workspace_id) AND (s.finished_at IS NULL))), c.replay_id
          LIMIT 1
          FOR UPDATE OF c SKIP LOCKED))
   RETURNING r.workspace_id,
     r.replay_id,
     r.epoch;
END
;
CREATE OR REPLACE FUNCTION public.forget_replays(kept_days integer, most integer)
 RETURNS integer
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
declare
  forgotten integer;
begin
  delete from replays r where (r.workspace_id, r.replay_id) in (
    select o.workspace_id, o.replay_id from replays o where o.finished_at < now() - make_interval(days => kept_days)
    order by o.finished_at limit most);
  get diagnostics forgotten = row_count;
  return forgotten;
end $function$
;
CREATE OR REPLACE FUNCTION public.knowledge_role(in_workspace uuid, wanted uuid, person uuid)
 RETURNS text
 LANGUAGE sql
 STABLE SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
BEGIN ATOMIC
 SELECT
         CASE
             WHEN (m.role = 'guest'::text) THEN NULL::text
             WHEN ((m.role = 'viewer'::text) AND (r.role IS NOT NULL)) THEN 'use'::text
             WHEN (r.role IS NOT NULL) THEN r.role
             WHEN (m.role = 'owner'::text) THEN 'manage'::text
             ELSE NULL::text
         END AS "case"
    FROM ((public.knowledge_bases b
      JOIN public.memberships m ON (((m.workspace_id = b.workspace_id) AND (m.user_id = knowledge_role.person))))
      CROSS JOIN LATERAL ( SELECT
                 CASE
                     WHEN (b.owner_id = knowledge_role.person) THEN 'owner'::text
                     ELSE ( SELECT min(s.role) AS min
                        FROM public.knowledge_shares s
                       WHERE ((s.workspace_id = b.workspace_id) AND (s.knowledge_id = b.knowledge_id) AND ((s.kind = 'workspace'::text) OR (s.user_id = knowledge_role.person) OR (EXISTS ( SELECT
                                FROM public.team_members t
                               WHERE ((t.workspace_id = s.workspace_id) AND (t.team_id = s.team_id) AND (t.user_id = knowledge_role.person)))))))
                 END AS role) r)
   WHERE ((b.workspace_id = knowledge_role.in_workspace) AND (b.knowledge_id = knowledge_role.wanted) AND (knowledge_role.in_workspace = public.app_workspace()));
END
;
CREATE OR REPLACE FUNCTION public.claim_knowledge_document(p_after uuid, p_busy uuid[], p_lease_s integer)
 RETURNS TABLE(workspace_id uuid, knowledge_id uuid, document_id uuid)
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
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
end $function$
;
CREATE OR REPLACE FUNCTION public.search_knowledge(in_workspace uuid, wanted uuid, config regconfig, query text, most integer)
 RETURNS TABLE(document_id uuid, "position" integer, score double precision, words text)
 LANGUAGE plpgsql
 STABLE SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
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
end $function$
;
CREATE OR REPLACE FUNCTION public.count_knowledge()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
begin
  perform count_storage(coalesce(new.workspace_id, old.workspace_id), coalesce(new.bytes, 0) - coalesce(old.bytes, 0));
  return null;
end $function$
;
CREATE OR REPLACE FUNCTION public.append_own_feed_entries(entry_type text, notifications uuid[])
 RETURNS void
 LANGUAGE sql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
  with counter as (
    insert into feed_counters (user_id, last_seq) values (app_user(), cardinality(notifications))
    on conflict (user_id) do update set last_seq = feed_counters.last_seq + cardinality(notifications) returning last_seq
  )
  insert into feed_entries (user_id, seq, type, data)
  select app_user(), c.last_seq - cardinality(notifications) + n.at, entry_type, jsonb_build_object('notification_id', n.id)
  from counter c, unnest(notifications) with ordinality as n (id, at);
$function$
;
CREATE OR REPLACE FUNCTION public.price_of(names text[])
 RETURNS TABLE(input double precision, output double precision)
 LANGUAGE sql
 STABLE SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
BEGIN ATOMIC
 SELECT (p.input)::double precision AS input,
     (p.output)::double precision AS output
    FROM public.model_prices p
   WHERE (p.model = ANY (price_of.names))
   ORDER BY (array_position(price_of.names, p.model))
  LIMIT 1;
END
;
CREATE OR REPLACE FUNCTION public.model_usage_of(workspace uuid, execution uuid)
 RETURNS json
 LANGUAGE sql
 STABLE
BEGIN ATOMIC
 SELECT json_agg(json_build_object('node_id', u.node_id, 'input_tokens', u.input_tokens, 'output_tokens', u.output_tokens, 'cost', u.cost, 'calls', u.calls, 'unpriced_calls', u.unpriced_calls)) AS json_agg
    FROM ( SELECT "substring"(c.node_path, '^[^\[#]+'::text) AS node_id,
             (sum(c.input_tokens))::bigint AS input_tokens,
             (sum(c.output_tokens))::bigint AS output_tokens,
             (sum(c.cost))::double precision AS cost,
             count(*) AS calls,
             count(*) FILTER (WHERE (c.cost IS NULL)) AS unpriced_calls
            FROM public.model_calls c
           WHERE ((c.workspace_id = model_usage_of.workspace) AND (c.execution_id = model_usage_of.execution))
           GROUP BY ("substring"(c.node_path, '^[^\[#]+'::text))) u;
END
;
CREATE OR REPLACE FUNCTION public.forget_usage(kept_days integer, kept_sums_days integer, most integer)
 RETURNS integer
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
declare
  forgotten integer;
begin
  delete from usage_days where ctid = any(array(
    select ctid from usage_days where day < (now() at time zone 'utc')::date - kept_sums_days limit most));
  delete from model_calls where ctid = any(array(
    select ctid from model_calls where at < now() - make_interval(days => kept_days) order by at limit most));
  get diagnostics forgotten = row_count;
  return forgotten;
end $function$
;
CREATE OR REPLACE FUNCTION public.add_run_figures(counts json, times json, steps json)
 RETURNS void
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
begin
  insert into run_counts as f (workspace_id, span, at, workflow_id, trigger_kind, status, error_code, runs, duration_ms)
  select r.workspace_id, r.span, to_timestamp(r.at / 1000), r.workflow_id, r.trigger_kind, r.status, r.error_code, r.runs, r.duration_ms
  from json_to_recordset(counts) as r (workspace_id uuid, span text, at double precision, workflow_id uuid, trigger_kind text,
    status text, error_code text, runs bigint, duration_ms bigint)
  where exists (select from workspaces w where w.workspace_id = r.workspace_id)
  order by 1, 2, 3, 4, 5, 6, 7
  on conflict (workspace_id, span, at, workflow_id, trigger_kind, status, error_code)
    do update set runs = f.runs + excluded.runs, duration_ms = f.duration_ms + excluded.duration_ms;

  insert into run_times as f (workspace_id, span, at, workflow_id, measure, bucket, runs)
  select r.workspace_id, r.span, to_timestamp(r.at / 1000), r.workflow_id, r.measure, r.bucket, r.runs
  from json_to_recordset(times) as r (workspace_id uuid, span text, at double precision, workflow_id uuid, measure text,
    bucket smallint, runs bigint)
  where exists (select from workspaces w where w.workspace_id = r.workspace_id)
  order by 1, 2, 3, 4, 5, 6
  on conflict (workspace_id, span, at, workflow_id, measure, bucket) do update set runs = f.runs + excluded.runs;

  insert into step_days as f (workspace_id, at, workflow_id, node_id, type, of_jobs, runs, failed, duration_ms, max_ms)
  select r.workspace_id, to_timestamp(r.at / 1000), r.workflow_id, r.node_id, r.type, coalesce(r.of_jobs, false), r.runs, r.failed,
    r.duration_ms, r.max_ms
  from json_to_recordset(steps) as r (workspace_id uuid, at double precision, workflow_id uuid, node_id text, type text,
    of_jobs boolean, runs bigint, failed bigint, duration_ms bigint, max_ms bigint)
  where exists (select from workspaces w where w.workspace_id = r.workspace_id)
  order by 1, 2, 3, 4, 5, 6
  on conflict (workspace_id, at, workflow_id, node_id, type, of_jobs) do update set runs = f.runs + excluded.runs,
    failed = f.failed + excluded.failed, duration_ms = f.duration_ms + excluded.duration_ms,
    max_ms = greatest(f.max_ms, excluded.max_ms);
end $function$
;
CREATE OR REPLACE FUNCTION public.forget_run_figures(kept_hours_days integer, kept_days integer, most integer)
 RETURNS integer
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
declare
  one record;
  forgotten integer := 0;
  removed integer;
begin
  for one in select * from (values ('m'::"char", 2), ('h', kept_hours_days), ('H', kept_hours_days), ('d', kept_days), ('D', kept_days)) as v (span, days) loop
    delete from run_counts where ctid = any(array(
      select ctid from run_counts where span = one.span and at < now() - make_interval(days => one.days) limit most));
    get diagnostics removed = row_count;
    forgotten := greatest(forgotten, removed);
    delete from run_times where ctid = any(array(
      select ctid from run_times where span = one.span and at < now() - make_interval(days => one.days) limit most));
    get diagnostics removed = row_count;
    forgotten := greatest(forgotten, removed);
  end loop;
  delete from step_days where ctid = any(array(select ctid from step_days where at < now() - make_interval(days => kept_days) limit most));
  get diagnostics removed = row_count;
  return greatest(forgotten, removed);
end $function$
;
CREATE OR REPLACE FUNCTION public.due_alert_rules(most integer)
 RETURNS TABLE(workspace_id uuid, rule_id uuid)
 LANGUAGE sql
 STABLE SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
BEGIN ATOMIC
 SELECT r.workspace_id,
     r.rule_id
    FROM public.alert_rules r
   WHERE (r.enabled AND (r.next_check_at <= now()))
   ORDER BY r.next_check_at
  LIMIT due_alert_rules.most;
END
;
CREATE OR REPLACE FUNCTION public.take_alert_messages(most integer)
 RETURNS TABLE(workspace_id uuid, rule_id uuid, number integer, way text)
 LANGUAGE sql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
BEGIN ATOMIC
 UPDATE public.alert_messages m SET next_at = (now() + '00:01:00'::interval), attempts = (m.attempts + 1)
   WHERE ((m.workspace_id, m.rule_id, m.number, m.way) IN ( SELECT d.workspace_id,
             d.rule_id,
             d.number,
             d.way
            FROM public.alert_messages d
           WHERE (d.next_at <= now())
           ORDER BY d.next_at
          LIMIT take_alert_messages.most
          FOR UPDATE OF d SKIP LOCKED))
   RETURNING m.workspace_id,
     m.rule_id,
     m.number,
     m.way;
END
;
CREATE OR REPLACE FUNCTION public.label_run()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
begin
  insert into run_labels (workspace_id, label, execution_id)
  select new.workspace_id, l.label, new.execution_id from (
    select 'tag:' || t.tag as label from unnest(new.tags) as t (tag) where tg_op = 'INSERT'
    union select left('metadata:' || m.key || '=' || m.value, 1200) from json_each_text(coalesce(new.metadata, '{}')) as m where tg_op = 'INSERT'
    union select left('error:' || (new.error ->> 'code'), 200)
    union select left('node:' || (new.error ->> 'node_id'), 600)) as l
  where l.label is not null
  on conflict do nothing;
  return null;
exception when data_exception then
  return null;
end $function$
;
CREATE OR REPLACE FUNCTION public.forget_run_labels(before uuid, most integer)
 RETURNS integer
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
declare
  forgotten integer;
begin
  delete from run_labels where ctid = any(array(select ctid from run_labels where execution_id < before order by execution_id limit most));
  get diagnostics forgotten = row_count;
  return forgotten;
end $function$
;
CREATE OR REPLACE FUNCTION public.due_assistant_turns(most integer)
 RETURNS TABLE(workspace_id uuid, turn_id uuid)
 LANGUAGE sql
 STABLE SECURITY DEFINER
 SET search_path TO 'public'
BEGIN ATOMIC
 SELECT t.workspace_id,
     t.turn_id
    FROM public.assistant_turns t
   WHERE ((t.status = 'open'::text) AND (t.lease_until < now()) AND (NOT (EXISTS ( SELECT
            FROM public.assistant_turns e
           WHERE ((e.workspace_id = t.workspace_id) AND (e.thread_id = t.thread_id) AND (e.status = 'open'::text) AND (e.seq < t.seq))))))
   ORDER BY t.lease_until
  LIMIT due_assistant_turns.most;
END
;
CREATE OR REPLACE FUNCTION public.forget_assistant_memories(usual_days integer, most integer)
 RETURNS integer
 LANGUAGE sql
 SECURITY DEFINER
 SET search_path TO 'public'
BEGIN ATOMIC
 WITH old AS (
          SELECT m.workspace_id,
             m.template_id,
             m.subject
            FROM (public.assistant_memories m
              JOIN public.templates p ON (((p.workspace_id = m.workspace_id) AND (p.template_id = m.template_id))))
           WHERE (m.updated_at < (now() - make_interval(days => COALESCE(p.retention_days, forget_assistant_memories.usual_days))))
          LIMIT forget_assistant_memories.most
          FOR UPDATE OF m SKIP LOCKED
         ), forgotten AS (
          DELETE FROM public.assistant_memories m
            USING old
           WHERE ((m.workspace_id = old.workspace_id) AND (m.template_id = old.template_id) AND (m.subject = old.subject))
           RETURNING 1 AS "?column?"
         )
  SELECT (count(*))::integer AS count
    FROM forgotten;
END
;
CREATE OR REPLACE FUNCTION public.template_colleagues(in_workspace uuid, wanted uuid)
 RETURNS TABLE(user_id uuid)
 LANGUAGE sql
 STABLE SECURITY DEFINER
 SET search_path TO 'public'
BEGIN ATOMIC
 SELECT p.owner_id
    FROM public.templates p
   WHERE ((p.workspace_id = template_colleagues.in_workspace) AND (p.template_id = template_colleagues.wanted) AND (template_colleagues.in_workspace = public.app_workspace()))
 UNION
  SELECT m.user_id
    FROM (public.team_shares s
      JOIN public.team_members m ON (((m.workspace_id = s.workspace_id) AND (m.team_id = s.team_id))))
   WHERE ((s.workspace_id = template_colleagues.in_workspace) AND (s.template_id = template_colleagues.wanted) AND (template_colleagues.in_workspace = public.app_workspace()));
END
;
CREATE OR REPLACE FUNCTION public.take_deliveries(p_after uuid, p_limit integer, p_of_destination integer, p_of_workspace integer, p_lease_s integer, p_under_way uuid[])
 RETURNS TABLE(workspace_id uuid, destination_id uuid, delivery_id uuid)
 LANGUAGE sql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
  with recursive places as (
    (select d.destination_id from event_deliveries d where d.status = 'pending' and d.head order by d.destination_id limit 1)
    union all
    select (select d.destination_id from event_deliveries d where d.status = 'pending' and d.head
        and d.destination_id > p.destination_id order by d.destination_id limit 1)
    from places p where p.destination_id is not null
  ),
  busy as materialized (
    select u.destination_id, e.workspace_id, count(*)::integer as count
    from unnest(p_under_way) u (destination_id) join event_destinations e on e.destination_id = u.destination_id
    group by u.destination_id, e.workspace_id
  ),
  found as materialized (
    select p.destination_id, t.workspace_id, t.delivery_id, t.next_at from places p
    join event_destinations e on e.destination_id = p.destination_id and e.enabled and coalesce(e.blocked_until <= now(), true)
    cross join lateral (
      select d.workspace_id, d.delivery_id, d.next_at from event_deliveries d
      where d.destination_id = p.destination_id and d.status = 'pending' and d.head and d.next_at <= now()
      order by d.next_at
      limit greatest(0, p_of_destination - coalesce((select b.count from busy b where b.destination_id = p.destination_id), 0))
      for no key update skip locked) t
  ),
  due as (
    select f.workspace_id, f.delivery_id from (
      select n.*, row_number() over (partition by n.workspace_id order by n.destination_id > p_after desc, n.destination_id, n.next_at)
      from found n) f
    where f.row_number <= p_of_workspace
      - coalesce((select sum(b.count) from busy b where b.workspace_id = f.workspace_id), 0)
    order by f.destination_id > p_after desc, f.destination_id
    limit p_limit
  )
  update event_deliveries d set next_at = now() + make_interval(secs => p_lease_s)
  from due where d.workspace_id = due.workspace_id and d.delivery_id = due.delivery_id
  returning d.workspace_id, d.destination_id, d.delivery_id
$function$
;
CREATE OR REPLACE FUNCTION engine.flow_came(p_workspace uuid, p_workflow uuid, p_most integer)
 RETURNS TABLE(execution_id uuid, stage text, place uuid, flow json, started_at timestamp with time zone)
 LANGUAGE plpgsql
 ROWS 1
 SET enable_sort TO 'off'
 SET enable_bitmapscan TO 'off'
AS $function$
begin
  return query
    select c.execution_id, c.stage, c.place, c.flow, c.started_at
    from unnest(array['enter', 'arrive']) as s (stage)
    cross join lateral (
      select e.execution_id, e.stage, e.place, e.flow, e.started_at, e.queue_at from executions e
      where e.workspace_id = p_workspace and e.workflow_id = p_workflow and e.status = 'waiting' and e.held = false
        and e.stage = s.stage and e.gate = '00000000-0000-0000-0000-000000000000'
      order by e.queue_at, e.execution_id limit p_most for no key update) as c
    order by c.queue_at, c.execution_id limit p_most;
end $function$
;
CREATE OR REPLACE FUNCTION public.forget_log_of_run()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
begin
  delete from run_logs where workspace_id = old.workspace_id and execution_id = old.execution_id;
  delete from service_errors where workspace_id = old.workspace_id and execution_id = old.execution_id;
  return null;
end $function$
;
CREATE OR REPLACE FUNCTION public.forget_run_logs(before uuid, most integer)
 RETURNS integer
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
declare
  forgotten integer;
begin
  delete from run_logs where ctid = any(array(select ctid from run_logs where execution_id < before order by execution_id limit most));
  get diagnostics forgotten = row_count;
  return forgotten;
end $function$
;
CREATE OR REPLACE FUNCTION engine.signal_and_claim(p_worker uuid, p_workspace uuid, p_execution uuid, p_key text, p_payload json)
 RETURNS json
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
 SET enable_seqscan TO 'off'
AS $function$
declare
  v_status text;
  v_number integer;
  v_free boolean;
  v_claimed json;
begin
  if not engine.may_touch(p_workspace) then return null; end if;
  select status, inbox + 1, crashes = 0 and held is not false and (max_concurrency is null or held) into v_status, v_number, v_free
    from executions where workspace_id = p_workspace and execution_id = p_execution for no key update;
  if not found or v_status not in ('queued', 'running', 'waiting') then return null; end if;
  insert into inbox (workspace_id, execution_id, n, key, payload)
    values (p_workspace, p_execution, v_number, p_key, p_payload) on conflict (execution_id, key) do nothing;
  if not found then return null; end if;
  if v_status = 'running' then
    update executions set inbox = v_number where workspace_id = p_workspace and execution_id = p_execution;
    return null;
  end if;
  if v_free then perform from workers where worker_id = p_worker and not dead for share skip locked; end if;
  if not coalesce(v_free, false) or not found then
    update executions set inbox = v_number, status = 'queued', due_at = case when v_status = 'waiting' then now() else due_at end,
        waiting_for = case when v_status = 'waiting' then '[]' else waiting_for end
      where workspace_id = p_workspace and execution_id = p_execution;
    return null;
  end if;
  update executions e set inbox = v_number, status = 'running', worker_id = p_worker, due_at = null,
      waiting_for = case when v_status = 'waiting' then '[]' else waiting_for end, started_at = coalesce(e.started_at, now())
    where workspace_id = p_workspace and execution_id = p_execution and status in ('queued', 'waiting')
    returning json_build_object(
      'row', json_build_object('execution_id', execution_id, 'workspace_id', workspace_id, 'workflow_id', workflow_id,
        'system_slug', system_slug, 'version_id', version_id, 'definition_ref', definition_ref, 'status', status, 'input', input,
        'trigger_kind', trigger_kind, 'trigger_id', trigger_id, 'started_by', started_by, 'initiated_by', initiated_by,
        'principal_id', principal_id, 'parent_execution_id', parent_execution_id, 'parent_node', parent_node,
        'started_at', started_at, 'timeout_s', timeout_s, 'held', held, 'scheduled_at', scheduled_at, 'epoch', epoch,
        'inbox', inbox, 'seen', seen, 'snapshot', snapshot, 'snapshot_seq', snapshot_seq, 'crashes', crashes,
        'tell_end', tell_end, 'depth', depth, 'traceparent', traceparent),
      'events', (select json_agg(json_build_array(v.type, extract(epoch from v.at) * 1000, v.data) order by v.seq)
        from journal v where v.execution_id = p_execution and v.row_seq > e.snapshot_seq - 16 and v.seq > e.snapshot_seq),
      'messages', (select json_agg(json_build_object('n', i.n, 'payload', i.payload) order by i.n)
        from inbox i where i.execution_id = p_execution and i.n > e.seen)) into v_claimed;
  return v_claimed;
end $function$
;
CREATE OR REPLACE FUNCTION public.covered_runs()
 RETURNS TABLE(covered_from uuid, covered_to uuid)
 LANGUAGE sql
 STABLE SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
BEGIN ATOMIC
 SELECT s.covered_from,
     s.covered_to
    FROM public.run_index_state s;
END
;
CREATE OR REPLACE FUNCTION public.cover_runs(from_id uuid, to_id uuid)
 RETURNS void
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
begin
  update run_index_state set covered_from = least(covered_from, from_id), covered_to = greatest(covered_to, to_id);
end $function$
;
CREATE OR REPLACE FUNCTION public.lease_run_sweep(seconds integer)
 RETURNS boolean
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
begin
  update run_index_state set leased_until = now() + make_interval(secs => seconds) where seconds = 0 or leased_until < now();
  return found;
end $function$
;
CREATE OR REPLACE FUNCTION public.add_run_blocks(workspaces_ uuid[], firsts uuid[], lasts uuid[], runs_ integer[], pairs_ integer[], ids_ bytea[], samples_ bytea[], dirs bytea[], datas bytea[])
 RETURNS void
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
begin
  insert into run_blocks (workspace_id, first_id, last_id, runs, pairs, ids, samples, dir, data)
  select b.* from unnest(workspaces_, firsts, lasts, runs_, pairs_, ids_, samples_, dirs, datas)
    as b (workspace_id, first_id, last_id, runs, pairs, ids, samples, dir, data)
  where exists (select from workspaces w where w.workspace_id = b.workspace_id);
end $function$
;
CREATE OR REPLACE FUNCTION public.close_indexed_runs(workspaces_ uuid[], ids_ uuid[])
 RETURNS void
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
begin
  delete from run_index_open where (workspace_id, execution_id) in (select * from unnest(workspaces_, ids_));
end $function$
;
CREATE OR REPLACE FUNCTION public.runs_between(from_id uuid, to_id uuid, after_workspace uuid, after_id uuid, most integer)
 RETURNS TABLE(workspace_id uuid, execution_id uuid, finished_at timestamp with time zone)
 LANGUAGE sql
 STABLE SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
BEGIN ATOMIC
 SELECT w.workspace_id,
     e.execution_id,
     e.finished_at
    FROM (public.workspaces w
      CROSS JOIN LATERAL ( SELECT x.execution_id,
             x.finished_at
            FROM public.executions x
           WHERE ((x.workspace_id = w.workspace_id) AND (x.execution_id >= runs_between.from_id) AND (x.execution_id < runs_between.to_id) AND ((w.workspace_id > runs_between.after_workspace) OR (x.execution_id > runs_between.after_id)))
           ORDER BY x.execution_id
          LIMIT runs_between.most) e)
   WHERE (w.workspace_id >= runs_between.after_workspace)
   ORDER BY w.workspace_id, e.execution_id
  LIMIT runs_between.most;
END
;
CREATE OR REPLACE FUNCTION public.newest_run_before(id uuid)
 RETURNS uuid
 LANGUAGE sql
 STABLE SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
BEGIN ATOMIC
 SELECT x.execution_id
    FROM (public.workspaces w
      CROSS JOIN LATERAL ( SELECT e.execution_id
            FROM public.executions e
           WHERE ((e.workspace_id = w.workspace_id) AND (e.execution_id < newest_run_before.id))
           ORDER BY e.execution_id DESC
          LIMIT 1) x)
   ORDER BY x.execution_id DESC
  LIMIT 1;
END
;
CREATE OR REPLACE FUNCTION public.ended_open_runs(before timestamp with time zone, most integer)
 RETURNS TABLE(workspace_id uuid, execution_id uuid)
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
begin
  delete from run_index_open o where not exists (
    select from executions e where e.workspace_id = o.workspace_id and e.execution_id = o.execution_id);
  return query select o.workspace_id, o.execution_id from run_index_open o
    join executions e on e.workspace_id = o.workspace_id and e.execution_id = o.execution_id
    where e.finished_at < before order by 1, 2 limit most;
end $function$
;
CREATE OR REPLACE FUNCTION public.workspaces_with_small_blocks(at_least integer, most integer)
 RETURNS SETOF uuid
 LANGUAGE sql
 STABLE SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
BEGIN ATOMIC
 SELECT b.workspace_id
    FROM public.run_blocks b
   WHERE (b.runs < 4096)
   GROUP BY b.workspace_id
  HAVING (count(*) >= workspaces_with_small_blocks.at_least)
  LIMIT workspaces_with_small_blocks.most;
END
;
CREATE OR REPLACE FUNCTION public.forget_run_blocks(before uuid, most integer)
 RETURNS integer
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
declare
  forgotten integer;
begin
  delete from run_blocks where ctid = any(array(select ctid from run_blocks where last_id < before order by last_id limit most));
  get diagnostics forgotten = row_count;
  return forgotten;
end $function$
;
CREATE OR REPLACE FUNCTION public.charge_model_call()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
begin
  insert into usage_charges (workspace_id, subscription_id, plan_id, meter, at, quantity, model, execution_id, node_path, workflow_id, person_id)
  select new.workspace_id, s.subscription_id, s.plan_id, price.meter, new.at, used.quantity, new.model, new.execution_id, new.node_path,
    new.workflow_id, new.person_id
  from billing_subscriptions s join plans p on p.plan_id = s.plan_id
    cross join jsonb_to_recordset(p.usage_prices) as price (meter text)
    cross join lateral (select case price.meter when 'model_tokens' then new.input_tokens + new.output_tokens
      else ceil(new.cost * 1000000)::bigint end as quantity) as used
  where s.workspace_id = new.workspace_id and s.status in ('active', 'past_due') and used.quantity > 0;
  return null;
end $function$
;
CREATE OR REPLACE FUNCTION public.unreported_charges(wanted_provider text, most integer)
 RETURNS SETOF uuid
 LANGUAGE sql
 STABLE SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
BEGIN ATOMIC
 SELECT DISTINCT u.workspace_id
    FROM (public.usage_charges u
      JOIN public.billing_subscriptions s USING (workspace_id, subscription_id))
   WHERE ((u.reported_at IS NULL) AND (s.provider = unreported_charges.wanted_provider))
  LIMIT unreported_charges.most;
END
;
CREATE OR REPLACE FUNCTION public.note_mail_leaves(now_leaves boolean)
 RETURNS void
 LANGUAGE sql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
BEGIN ATOMIC
 UPDATE public.mail_leaves SET leaves = note_mail_leaves.now_leaves
   WHERE (mail_leaves.leaves <> note_mail_leaves.now_leaves);
END
;
CREATE OR REPLACE FUNCTION public.asks_for_an_answer(event_kind text)
 RETURNS boolean
 LANGUAGE sql
 IMMUTABLE
BEGIN ATOMIC
 SELECT (event_kind = ANY (ARRAY['approval.requested'::text, 'approval.reminder'::text, 'approval.escalated'::text, 'approval.delegated'::text, 'clarification.asked'::text, 'clarification.reminder'::text, 'clarification.escalated'::text]));
END
;
CREATE OR REPLACE FUNCTION public.settle_matters(workspace uuid, matters text[], outcome text, only_user uuid)
 RETURNS SETOF uuid
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
#variable_conflict use_variable
declare
  one record;
begin
  if workspace is distinct from app_workspace() then return; end if;
  -- A later call in this transaction may settle the notices of everyone who was asked. All feeds are locked now, in one order, because the votes
  -- of two people on two gates would deadlock otherwise. Notices are locked before feeds, as in all other writes.
  perform from notifications n where n.workspace_id = workspace and n.matter = any (matters) and n.resolved_at is null
    order by n.user_id, n.notification_id for update;
  perform from feed_counters c
    where c.user_id in (select n.user_id from notifications n where n.workspace_id = workspace and n.matter = any (matters) and n.resolved_at is null)
    order by c.user_id for no key update;
  update reach_messages r set
      state = case when r.sent_ref is not null then 'due' else 'done' end,
      outcome = settle_matters.outcome, attempts = 0, next_at = now()
    where r.workspace_id = workspace and r.matter = any (matters) and r.state in ('due', 'sent') and (only_user is null or r.user_id = only_user);
  for one in select n.notification_id, n.user_id from notifications n
    where n.workspace_id = workspace and n.matter = any (matters) and n.resolved_at is null and (only_user is null or n.user_id = only_user)
    order by n.user_id, n.notification_id for update loop
    update notifications set resolved_at = now(), read_at = coalesce(read_at, now()),
        data = data || jsonb_build_object('resolution', settle_matters.outcome,
          'resolved_at', to_char(now() at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))
      where notification_id = one.notification_id;
    perform append_feed(one.user_id, 'notification.updated', jsonb_build_object('notification_id', one.notification_id));
    return next one.user_id;
  end loop;
end $function$
;
CREATE OR REPLACE FUNCTION public.take_reach_messages(most integer, most_of_one integer)
 RETURNS TABLE(workspace_id uuid, message_id uuid)
 LANGUAGE sql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
BEGIN ATOMIC
 WITH RECURSIVE spaces AS (
         ( SELECT r.workspace_id
            FROM public.reach_messages r
           WHERE (r.state = 'due'::text)
           ORDER BY r.workspace_id
          LIMIT 1)
         UNION ALL
          SELECT ( SELECT r.workspace_id
                    FROM public.reach_messages r
                   WHERE ((r.state = 'due'::text) AND (r.workspace_id > s.workspace_id))
                   ORDER BY r.workspace_id
                  LIMIT 1) AS workspace_id
            FROM spaces s
           WHERE (s.workspace_id IS NOT NULL)
         ), wanted AS (
          SELECT d.workspace_id,
             d.message_id
            FROM (spaces s
              CROSS JOIN LATERAL ( SELECT r.workspace_id,
                     r.message_id,
                     r.next_at
                    FROM public.reach_messages r
                   WHERE ((r.workspace_id = s.workspace_id) AND (r.state = 'due'::text) AND (r.next_at <= now()))
                   ORDER BY r.next_at
                  LIMIT take_reach_messages.most_of_one) d)
           ORDER BY d.next_at
          LIMIT take_reach_messages.most
         )
  UPDATE public.reach_messages m SET next_at = (now() + '00:01:00'::interval), attempts = (m.attempts + 1)
    FROM wanted w
   WHERE ((m.workspace_id = w.workspace_id) AND (m.message_id = w.message_id) AND (m.next_at <= now()) AND (m.state = 'due'::text))
   RETURNING m.workspace_id,
     m.message_id;
END
;
CREATE OR REPLACE FUNCTION public.forget_reach_messages(most integer)
 RETURNS integer
 LANGUAGE sql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
BEGIN ATOMIC
 WITH old AS (
          SELECT r.workspace_id,
             r.message_id
            FROM public.reach_messages r
           WHERE (r.expires_at < now())
           ORDER BY r.expires_at
          LIMIT forget_reach_messages.most
         ), gone AS (
          DELETE FROM public.reach_messages r
            USING old
           WHERE ((r.workspace_id = old.workspace_id) AND (r.message_id = old.message_id))
           RETURNING 1 AS "?column?"
         )
  SELECT (count(*))::integer AS count
    FROM gone;
END
;
CREATE OR REPLACE FUNCTION public.due_webhook_triggers(most integer)
 RETURNS TABLE(workspace_id uuid, trigger_id uuid)
 LANGUAGE sql
 STABLE SECURITY DEFINER
 SET search_path TO 'public'
BEGIN ATOMIC
 SELECT t.workspace_id,
     t.trigger_id
    FROM public.service_triggers t
   WHERE (t.enabled AND (t.kind = 'webhook'::text) AND (t.next_poll_at <= now()))
   ORDER BY t.next_poll_at
  LIMIT due_webhook_triggers.most;
END
;
CREATE OR REPLACE FUNCTION public.due_trigger_removals(most integer)
 RETURNS TABLE(workspace_id uuid, removal_id uuid)
 LANGUAGE sql
 STABLE SECURITY DEFINER
 SET search_path TO 'public'
BEGIN ATOMIC
 SELECT r.workspace_id,
     r.removal_id
    FROM public.service_trigger_removals r
   WHERE (r.next_at <= now())
   ORDER BY r.next_at
  LIMIT due_trigger_removals.most;
END
;
CREATE OR REPLACE FUNCTION public.wake_webhook_triggers()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'public'
AS $function$
begin
  -- Where a process is at work on it, that one looks before it is done whether it is still wanted.
  update service_triggers t set next_poll_at = case when t.busy_until > now() then t.next_poll_at else now() end
    where t.workspace_id = new.workspace_id and t.workflow_id = new.workflow_id and t.kind = 'webhook';
  return null;
end $function$
;
CREATE OR REPLACE FUNCTION public.register_oauth_client(id uuid, title text, uris text[], most integer)
 RETURNS boolean
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public'
AS $function$
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
end $function$
;
CREATE OR REPLACE FUNCTION public.find_oauth_client(id uuid)
 RETURNS TABLE(client_id uuid, name text, redirect_uris text[])
 LANGUAGE sql
 STABLE SECURITY DEFINER
 SET search_path TO 'public'
BEGIN ATOMIC
 SELECT c.client_id,
     c.name,
     c.redirect_uris
    FROM public.oauth_clients c
   WHERE (c.client_id = find_oauth_client.id);
END
;
CREATE OR REPLACE FUNCTION public.use_oauth_token(token bytea, wanted text)
 RETURNS TABLE(workspace_id uuid, grant_id uuid, client_id uuid, user_id uuid, resource text, code_challenge text, redirect_uri text)
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public'
AS $function$
#variable_conflict use_column
declare
  held oauth_tokens;
begin
  select * into held from oauth_tokens t where t.token_hash = token and t.kind = wanted for update;
  if not found then return; end if;
  if held.used_at is not null then
    delete from oauth_grants g where g.grant_id = held.grant_id;
    return;
  end if;
  update oauth_tokens t set used_at = now() where t.token_hash = token;
  if held.expires_at <= now() then return; end if;
  return query select g.workspace_id, g.grant_id, g.client_id, g.user_id, g.resource, held.code_challenge, held.redirect_uri
    from oauth_grants g where g.grant_id = held.grant_id;
end $function$
;
CREATE OR REPLACE FUNCTION public.revoke_oauth_token(token bytea, client uuid)
 RETURNS boolean
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public'
AS $function$
declare
  ended integer;
begin
  delete from oauth_grants g where g.client_id = client and g.grant_id in (
    select t.grant_id from oauth_tokens t where t.token_hash = token
    union all select k.grant_id from api_keys k where k.token_hash = token and k.grant_id is not null);
  get diagnostics ended = row_count;
  return ended > 0;
end $function$
;
CREATE OR REPLACE FUNCTION public.forget_oauth_tokens(most integer)
 RETURNS integer
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public'
AS $function$
declare
  forgotten integer;
begin
  delete from api_keys k where k.key_id in (
    select o.key_id from api_keys o where o.grant_id is not null and o.expires_at < now() limit most);
  delete from oauth_grants g where g.grant_id in (
    select o.grant_id from oauth_grants o where o.created_at < now() - interval '1 hour'
      and not exists (select from oauth_tokens t where t.workspace_id = o.workspace_id and t.grant_id = o.grant_id
        and t.used_at is null and t.expires_at > now())
      and not exists (select from api_keys k where k.grant_id = o.grant_id and k.expires_at > now()) limit most);
  get diagnostics forgotten = row_count;
  return forgotten;
end $function$
;
CREATE OR REPLACE FUNCTION public.count_storage(workspace uuid, more bigint)
 RETURNS void
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
declare
  most bigint;
begin
  if more = 0 then return; end if;
  perform add_usage(array[workspace], array['storage_bytes'], array[''], array[more]);
  if more < 0 then return; end if;
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
end $function$
;
CREATE OR REPLACE FUNCTION public.count_recording()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
begin
  perform count_storage(coalesce(new.workspace_id, old.workspace_id),
    coalesce(octet_length(new.output::text), octet_length(new.error::text), 0)
      - coalesce(octet_length(old.output::text), octet_length(old.error::text), 0));
  return null;
end $function$
;
CREATE OR REPLACE FUNCTION public.open_runs_to_index(most integer)
 RETURNS TABLE(workspace_id uuid, execution_id uuid)
 LANGUAGE sql
 STABLE SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
BEGIN ATOMIC
 SELECT o.workspace_id,
     o.execution_id
    FROM public.run_index_open o
   WHERE (NOT o.indexed)
   ORDER BY o.workspace_id, o.execution_id
  LIMIT open_runs_to_index.most;
END
;
CREATE OR REPLACE FUNCTION public.add_service_errors(errors json, kept integer)
 RETURNS void
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
begin
  insert into service_errors as f (workspace_id, execution_id, step, error_id, workflow_id, service, action, node_id, code, message, failures, failed_at)
  select r.workspace_id, r.execution_id, r.step, r.error_id, r.workflow_id, r.service, r.action, r.node_id, r.code, r.message, r.failures,
    to_timestamp(r.failed_at / 1000)
  from json_to_recordset(errors) as r (workspace_id uuid, execution_id uuid, step text, error_id uuid, workflow_id uuid, service text,
    action text, node_id text, code text, message text, failures bigint, failed_at double precision)
  where exists (select from workspaces w where w.workspace_id = r.workspace_id)
  order by 1, 2, 3
  on conflict (workspace_id, execution_id, step) do update set error_id = excluded.error_id, node_id = excluded.node_id,
    code = excluded.code, message = excluded.message, failures = f.failures + excluded.failures, failed_at = excluded.failed_at;

  -- Rows that another process removes at this moment are left to it.
  delete from service_errors where ctid = any(array(
    select e.ctid from service_errors e join (
      select g.workspace_id, g.service, g.workflow_id, (
        select n.error_id from service_errors n where n.workspace_id = g.workspace_id and n.service = g.service
          and coalesce(n.workflow_id, '00000000-0000-0000-0000-000000000000') = g.workflow_id
        order by n.error_id desc offset kept limit 1) as last_id
      from (select distinct r.workspace_id, r.service, coalesce(r.workflow_id, '00000000-0000-0000-0000-000000000000') as workflow_id
        from json_to_recordset(errors) as r (workspace_id uuid, service text, workflow_id uuid)) g) old
      on e.workspace_id = old.workspace_id and e.service = old.service
        and coalesce(e.workflow_id, '00000000-0000-0000-0000-000000000000') = old.workflow_id and e.error_id <= old.last_id
    for update of e skip locked));
end $function$
;
CREATE OR REPLACE FUNCTION public.forget_service_errors(before uuid, most integer)
 RETURNS integer
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
declare
  forgotten integer;
begin
  delete from service_errors where ctid = any(array(select ctid from service_errors where execution_id < before order by execution_id limit most));
  get diagnostics forgotten = row_count;
  return forgotten;
end $function$
;
CREATE OR REPLACE FUNCTION public.text_grams(workspace uuid, body text)
 RETURNS bigint[]
 LANGUAGE plpgsql
 IMMUTABLE PARALLEL SAFE COST 5000
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
begin
  return array(
    select distinct hashtextextended(c || c2 || c3, hashtextextended(workspace::text, 0))
    from (select c, lead(c) over (order by n) as c2, lead(c, 2) over (order by n) as c3
      from string_to_table(lower(left(body, 2000)), null) with ordinality as t (c, n)) g
    where c3 is not null);
end $function$
;
CREATE OR REPLACE FUNCTION public.find_in_conversations(wanted text, most integer, OUT thread_ids uuid[], OUT is_cut boolean)
 RETURNS record
 LANGUAGE plpgsql
 STABLE SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
 SET enable_seqscan TO 'off'
 SET work_mem TO '32MB'
AS $function$
declare
  grams bigint[] := (text_grams(app_workspace(), wanted))[1:16];
begin
  with candidates as materialized (
      select m.thread_id, m.text from messages m
      where m.workspace_id = app_workspace() and text_grams(m.workspace_id, m.text) @> grams limit most + 1),
    titled as (
      select t.thread_id from threads t
      where t.workspace_id = app_workspace() and t.kind <> 'thread' and t.title is not null
        and text_grams(t.workspace_id, t.title) @> grams and strpos(lower(t.title), lower(wanted)) > 0 limit most)
  select array(select c.thread_id from candidates c where strpos(lower(c.text), lower(wanted)) > 0 union select t.thread_id from titled t),
    (select count(*) from candidates) > most
  into thread_ids, is_cut;
end $function$
;
CREATE OR REPLACE FUNCTION public.due_trigger_work(p_kind text, p_limit integer, p_of_workspace integer, p_of_service integer, p_under_way jsonb)
 RETURNS TABLE(workspace_id uuid, id uuid, service text)
 LANGUAGE sql
 STABLE SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
BEGIN ATOMIC
 WITH busy AS MATERIALIZED (
          SELECT u.workspace_id,
             u.id,
             u.service
            FROM jsonb_to_recordset(due_trigger_work.p_under_way) u(workspace_id uuid, id uuid, service text)
         ), due AS (
          SELECT t.workspace_id,
             t.trigger_id AS id,
             t.service,
             t.next_poll_at AS at
            FROM public.service_triggers t
           WHERE (t.enabled AND (t.kind = due_trigger_work.p_kind) AND (t.next_poll_at <= now()))
         UNION ALL
          SELECT t.workspace_id,
             t.trigger_id,
             t.service,
             t.next_poll_at
            FROM public.service_triggers t
           WHERE ((due_trigger_work.p_kind = 'ending'::text) AND (NOT t.enabled) AND (t.registered OR (t.hook_generation > t.hook_confirmed)) AND (t.next_poll_at <= now()))
         UNION ALL
          SELECT r.workspace_id,
             r.removal_id,
             r.service,
             r.next_at
            FROM public.service_trigger_removals r
           WHERE ((due_trigger_work.p_kind = 'removal'::text) AND (r.next_at <= now()))
         ), of_service AS (
          SELECT d.workspace_id,
             d.id,
             d.service,
             d.at,
             (row_number() OVER (PARTITION BY d.workspace_id, d.service ORDER BY d.at) + ( SELECT count(*) AS count
                    FROM busy b
                   WHERE ((b.workspace_id = d.workspace_id) AND (b.service = d.service)))) AS place
            FROM due d
           WHERE (NOT (EXISTS ( SELECT
                    FROM busy b
                   WHERE ((b.workspace_id = d.workspace_id) AND (b.id = d.id)))))
         ), of_workspace AS (
          SELECT s.workspace_id,
             s.id,
             s.service,
             s.at,
             (row_number() OVER (PARTITION BY s.workspace_id ORDER BY s.place, s.at) + ( SELECT count(*) AS count
                    FROM busy b
                   WHERE (b.workspace_id = s.workspace_id))) AS place
            FROM of_service s
           WHERE (s.place <= due_trigger_work.p_of_service)
         )
  SELECT w.workspace_id,
     w.id,
     w.service
    FROM of_workspace w
   WHERE (w.place <= due_trigger_work.p_of_workspace)
   ORDER BY w.place, w.at
  LIMIT due_trigger_work.p_limit;
END
;
CREATE OR REPLACE FUNCTION public.journal_page(p_workspace uuid, p_execution uuid, p_after integer, p_most integer)
 RETURNS TABLE(seq integer, at timestamp with time zone, type text, data json)
 LANGUAGE sql
 STABLE
BEGIN ATOMIC
 SELECT u.seq,
     u.at,
     u.type,
     u.data
    FROM (( SELECT e_1.execution_id,
             e_1.seq,
             e_1.workspace_id,
             e_1.at,
             e_1.type,
             e_1.data
            FROM public.events e_1
           WHERE ((e_1.workspace_id = journal_page.p_workspace) AND (e_1.execution_id = journal_page.p_execution) AND (e_1.seq > (journal_page.p_after - 16)))
           ORDER BY e_1.seq
          LIMIT (journal_page.p_most + 16)) e
      CROSS JOIN LATERAL public.unpacked(e.seq, e.at, e.type, e.data) u(seq, at, type, data))
   WHERE (u.seq > journal_page.p_after)
   ORDER BY u.seq
  LIMIT journal_page.p_most;
END
;
CREATE OR REPLACE FUNCTION engine.flow_grant(p_workspace uuid, p_workflow uuid, p_place uuid, p_rules jsonb, p_most integer, p_stages text[], OUT granted integer, OUT queued integer)
 RETURNS record
 LANGUAGE plpgsql
 SET enable_sort TO 'off'
 SET enable_bitmapscan TO 'off'
AS $function$
declare
  v_limit integer := (p_rules -> 'concurrency' ->> 'limit')::integer;
  v_free integer := p_most;
  v_ids uuid[];
  v_permits timestamptz[];
begin
  granted := 0;
  queued := 0;
  if v_limit is not null then
    select least(p_most, v_limit - count(*)) into v_free from (select from executions
      where workspace_id = p_workspace and place = p_place and held and status in ('queued', 'running', 'waiting') limit v_limit) as held;
  end if;
  if v_free <= 0 then return; end if;
  with chosen as (
    select c.* from unnest(p_stages) as s (stage)
    cross join lateral (
      select e.execution_id, e.queue_at, e.flow, e.started_at from executions e
      where e.workspace_id = p_workspace and e.workflow_id = p_workflow and e.status = 'waiting' and e.held = false
        and e.stage = s.stage and e.gate = p_place
      order by e.queue_at, e.execution_id limit v_free for no key update) as c
    order by c.queue_at, c.execution_id limit v_free)
  select array_agg(execution_id order by queue_at, execution_id),
      array_agg(case when p_rules ? 'rate' and started_at is null then engine.flow_permit(p_workspace,
        coalesce((flow ->> 'rate')::uuid, p_workflow), (p_rules -> 'rate' ->> 'limit')::integer,
        (p_rules -> 'rate' ->> 'per_s')::double precision, execution_id) end order by queue_at, execution_id)
    into v_ids, v_permits from chosen;
  if v_ids is null then return; end if;
  granted := cardinality(v_ids);
  update executions e set held = true, gate = null,
      status = case when v_permits[array_position(v_ids, e.execution_id)] > now() then 'waiting' else 'queued' end,
      stage = case when v_permits[array_position(v_ids, e.execution_id)] > now() then 'rate' end,
      due_at = case when v_permits[array_position(v_ids, e.execution_id)] > now() then v_permits[array_position(v_ids, e.execution_id)]
        else now() - coalesce(e.priority, 0) * interval '1 hour' end,
      waiting_for = case when v_permits[array_position(v_ids, e.execution_id)] > now()
        then engine.flow_wait('rate', v_permits[array_position(v_ids, e.execution_id)]) else '[]' end
    where e.workspace_id = p_workspace and e.execution_id = any (v_ids) and e.status = 'waiting';
  select count(*) into queued from unnest(v_permits) as p (permit) where p.permit is null or p.permit <= now();
end $function$
;
CREATE OR REPLACE FUNCTION public.due_channel_deliveries(most integer, "full" uuid[])
 RETURNS TABLE(workspace_id uuid, receipt_id uuid)
 LANGUAGE sql
 STABLE SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
BEGIN ATOMIC
 SELECT d.workspace_id,
     d.receipt_id
    FROM public.channel_deliveries d
   WHERE ((d.state = 'waiting'::text) AND (d.not_before <= now()) AND (d.workspace_id <> ALL (due_channel_deliveries."full")) AND (NOT (EXISTS ( SELECT
            FROM public.channel_deliveries e
           WHERE ((e.workspace_id = d.workspace_id) AND (e.config_id = d.config_id) AND (e.conversation = d.conversation) AND (e.state = 'waiting'::text) AND (e.receipt_id < d.receipt_id))))))
   ORDER BY d.not_before
  LIMIT due_channel_deliveries.most;
END
;
CREATE OR REPLACE FUNCTION public.due_channel_sends(most integer, "full" uuid[])
 RETURNS TABLE(workspace_id uuid, send_id uuid)
 LANGUAGE sql
 STABLE SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
BEGIN ATOMIC
 SELECT s.workspace_id,
     s.send_id
    FROM public.channel_sends s
   WHERE ((s.state = 'waiting'::text) AND (s.not_before <= now()) AND (s.workspace_id <> ALL (due_channel_sends."full")) AND (NOT (EXISTS ( SELECT
            FROM public.channel_sends e
           WHERE ((e.workspace_id = s.workspace_id) AND (e.config_id = s.config_id) AND (e.lane = s.lane) AND (e.state = 'waiting'::text) AND (e.send_id < s.send_id))))))
   ORDER BY s.not_before
  LIMIT due_channel_sends.most;
END
;
CREATE OR REPLACE FUNCTION engine.shown_flow(p_workspace uuid, p_workflow uuid, p_status text, p_held boolean, p_waiting_for jsonb, p_created timestamp with time zone)
 RETURNS jsonb
 LANGUAGE sql
 STABLE
RETURN CASE WHEN ((p_held IS DISTINCT FROM false) OR (p_status <> 'waiting'::text)) THEN p_waiting_for ELSE COALESCE((SELECT jsonb_build_array(jsonb_build_object('kind', 'slot', 'reason', 'paused', 'since', GREATEST(r.paused_at, shown_flow.p_created))) AS jsonb_build_array FROM public.flow_rules r WHERE ((r.workspace_id = shown_flow.p_workspace) AND (r.workflow_id = shown_flow.p_workflow) AND (r.paused_at IS NOT NULL))), CASE WHEN ((((p_waiting_for -> 0) ->> 'since'::text))::timestamp with time zone < p_created) THEN jsonb_set(p_waiting_for, '{0,since}'::text[], to_jsonb(p_created)) ELSE NULL::jsonb END, p_waiting_for) END
;
CREATE OR REPLACE FUNCTION engine.cancel_workflow(p_workspace uuid, p_workflow uuid, p_by text, p_reason text DEFAULT NULL::text)
 RETURNS SETOF uuid
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
begin
  if not engine.may_touch(p_workspace) then return; end if;
  return query
    with found as materialized (
      select f.execution_id from executions f where f.workspace_id = p_workspace and f.workflow_id = p_workflow and f.status = 'queued'
      union all select f.execution_id from executions f where f.workspace_id = p_workspace and f.workflow_id = p_workflow and f.status = 'running'
      union all select f.execution_id from executions f where f.workspace_id = p_workspace and f.workflow_id = p_workflow and f.status = 'waiting'),
    live as materialized (
      select e.execution_id, e.inbox + 1 as n from found f join executions e using (execution_id)
        where e.workspace_id = p_workspace and e.status in ('queued', 'running', 'waiting')
          and not exists (select from inbox i where i.execution_id = e.execution_id and i.key = 'cancel')
        order by e.execution_id for no key update of e),
    told as (
      insert into inbox (workspace_id, execution_id, n, key, payload)
        select p_workspace, l.execution_id, l.n, 'cancel',
          case when p_reason is null then json_build_object('type', 'cancel', 'by', p_by)
            else json_build_object('type', 'cancel', 'by', p_by, 'reason', p_reason) end
        from live l
        on conflict (execution_id, key) do nothing returning inbox.execution_id, inbox.n)
    update executions e set inbox = t.n, status = case e.status when 'waiting' then 'queued' else e.status end,
        due_at = case e.status when 'waiting' then now() else e.due_at end,
        waiting_for = case e.status when 'waiting' then '[]' else e.waiting_for end
      from told t where e.workspace_id = p_workspace and e.execution_id = t.execution_id
      returning e.execution_id;
end $function$
;
CREATE OR REPLACE FUNCTION public.workflows_deleted_since(since interval)
 RETURNS TABLE(workspace_id uuid, workflow_id uuid)
 LANGUAGE sql
 STABLE SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
BEGIN ATOMIC
 SELECT w.workspace_id,
     w.workflow_id
    FROM public.workflows w
   WHERE (w.deleted_at > (now() - workflows_deleted_since.since))
   ORDER BY w.deleted_at;
END
;
CREATE OR REPLACE FUNCTION engine.queue_time(p_started timestamp with time zone, p_priority smallint)
 RETURNS timestamp with time zone
 LANGUAGE sql
 STABLE
RETURN (now() - ((CASE WHEN (p_started IS NULL) THEN COALESCE((p_priority)::integer, 0) ELSE 0 END)::double precision * '01:00:00'::interval))
;
create view public.job_people as  SELECT m.workspace_id,
    m.job_id,
    m.user_id,
    m.role
   FROM public.job_members m
  WHERE (m.workspace_id = public.app_workspace())
UNION ALL
 SELECT s.workspace_id,
    s.job_id,
    t.user_id,
    s.role
   FROM (public.team_shares s
     JOIN public.team_members t ON (((t.workspace_id = s.workspace_id) AND (t.team_id = s.team_id))))
  WHERE ((s.workspace_id = public.app_workspace()) AND (s.job_id IS NOT NULL));
alter table public.connections add constraint connections_kind_check CHECK ((kind = ANY (ARRAY['postgres'::text, 'redshift'::text, 'snowflake'::text, 'bigquery'::text, 'databricks'::text, 'clickhouse'::text, 'duckdb'::text, 'mysql'::text, 'sqlserver'::text]))) NOT VALID;
alter table public.ledger_records add constraint ledger_records_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'running'::text, 'succeeded'::text, 'failed'::text, 'skipped'::text, 'filtered'::text]))) NOT VALID;
CREATE INDEX oidc_identities_by_user ON public.oidc_identities USING btree (user_id);
CREATE INDEX sign_in_failures_by_age ON public.sign_in_failures USING btree (last_at);
CREATE INDEX companies_by_owner ON public.companies USING btree (owner_id);
CREATE INDEX workspaces_by_company ON public.workspaces USING btree (company_id);
CREATE INDEX memberships_by_user ON public.memberships USING btree (user_id, joined_at, workspace_id);
CREATE INDEX sessions_by_user ON public.sessions USING btree (user_id);
CREATE INDEX api_keys_by_user ON public.api_keys USING btree (user_id);
CREATE INDEX invitations_by_workspace ON public.invitations USING btree (workspace_id, invitation_id);
CREATE INDEX notifications_by_user ON public.notifications USING btree (user_id, notification_id DESC);
CREATE INDEX notifications_unread ON public.notifications USING btree (user_id, notification_id DESC) WHERE (read_at IS NULL);
CREATE INDEX presence_by_user ON public.presence USING btree (user_id, presence_id DESC);
CREATE INDEX feed_entries_by_time ON public.feed_entries USING btree (at);
CREATE INDEX audit_log_by_workspace ON public.audit_log USING btree (workspace_id, entry_id DESC);
CREATE INDEX start_keys_by_age ON public.start_keys USING btree (created_at);
CREATE INDEX workflows_by_owner ON public.workflows USING btree (workspace_id, owner_id, workflow_id DESC) WHERE (deleted_at IS NULL);
CREATE INDEX workflow_members_by_user ON public.workflow_members USING btree (workspace_id, user_id, workflow_id);
CREATE UNIQUE INDEX workflow_versions_one_active ON public.workflow_versions USING btree (workspace_id, workflow_id) WHERE active;
CREATE INDEX webhook_tokens_by_workflow ON public.webhook_tokens USING btree (workspace_id, workflow_id, token_id DESC);
CREATE INDEX embed_tokens_by_workflow ON public.embed_tokens USING btree (workspace_id, workflow_id, token_id DESC);
CREATE INDEX embed_tokens_by_template ON public.embed_tokens USING btree (workspace_id, template_id, token_id DESC);
CREATE INDEX schedules_due ON public.schedules USING btree (next_run_at) WHERE (next_run_at IS NOT NULL);
CREATE UNIQUE INDEX approval_requests_one_open ON public.approval_requests USING btree (workspace_id, execution_id, node_path) WHERE (status = 'open'::text);
CREATE INDEX approval_requests_by_execution ON public.approval_requests USING btree (workspace_id, execution_id, request_id);
CREATE INDEX approval_requests_by_node ON public.approval_requests USING btree (workspace_id, execution_id, node_path, request_id);
CREATE INDEX approval_requests_open ON public.approval_requests USING btree (workspace_id, due_at, request_id) WHERE (status = 'open'::text);
CREATE INDEX approval_approvers_by_ref ON public.approval_approvers USING btree (workspace_id, kind, ref_id);
CREATE INDEX agent_reviews_due ON public.agent_reviews USING btree (workspace_id, not_before);
CREATE UNIQUE INDEX questions_one_open ON public.questions USING btree (workspace_id, execution_id, node_path) WHERE (status = 'open'::text);
CREATE INDEX questions_by_execution ON public.questions USING btree (workspace_id, execution_id, clarification_id);
CREATE INDEX questions_by_node ON public.questions USING btree (workspace_id, execution_id, node_path, clarification_id);
CREATE INDEX questions_open ON public.questions USING btree (workspace_id, due_at, clarification_id) WHERE (status = 'open'::text);
CREATE INDEX approval_requests_inbox ON public.approval_requests USING btree (workspace_id, COALESCE(due_at, 'infinity'::timestamp with time zone), request_id) WHERE (status = 'open'::text);
CREATE INDEX questions_inbox ON public.questions USING btree (workspace_id, COALESCE(due_at, 'infinity'::timestamp with time zone), clarification_id) WHERE (status = 'open'::text);
CREATE INDEX dataset_versions_to_sweep ON public.dataset_versions USING btree (touched_at) WHERE (state <> 'current'::text);
CREATE INDEX datasets_by_version ON public.datasets USING btree (workspace_id, version_id);
CREATE INDEX datasets_by_name ON public.datasets USING btree (workspace_id, name, dataset_id DESC);
CREATE INDEX dataset_pins_to_sweep ON public.dataset_pins USING btree (pinned_at);
CREATE INDEX dataset_writes_to_sweep ON public.dataset_writes USING btree (written_at);
CREATE INDEX sources_by_connection ON public.sources USING btree (workspace_id, connection_id, source_id);
CREATE INDEX enrichment_jobs_due ON public.enrichment_jobs USING btree (due_at) WHERE ((status = ANY (ARRAY['idle'::text, 'failed'::text])) AND (due_at IS NOT NULL));
CREATE INDEX enrichment_jobs_by_workflow ON public.enrichment_jobs USING btree (workspace_id, workflow_id, job_id) WHERE (workflow_id IS NOT NULL);
CREATE INDEX enrichment_jobs_by_dataset ON public.enrichment_jobs USING btree (workspace_id, dataset_id) WHERE (dataset_id IS NOT NULL);
CREATE INDEX enrichment_jobs_by_output ON public.enrichment_jobs USING btree (workspace_id, output_dataset_id) WHERE (output_dataset_id IS NOT NULL);
CREATE INDEX enrichment_jobs_by_source ON public.enrichment_jobs USING btree (workspace_id, source_id) WHERE (source_id IS NOT NULL);
CREATE INDEX job_members_by_user ON public.job_members USING btree (workspace_id, user_id, job_id);
CREATE INDEX suites_by_workflow ON public.suites USING btree (workspace_id, workflow_id, suite_id DESC);
CREATE INDEX suites_by_dataset ON public.suites USING btree (workspace_id, dataset_id) WHERE (dataset_id IS NOT NULL);
CREATE UNIQUE INDEX ledger_runs_one_live ON public.ledger_runs USING btree (workspace_id, job_id) WHERE ((finished_at IS NULL) AND (job_id IS NOT NULL));
CREATE INDEX ledger_runs_by_job ON public.ledger_runs USING btree (workspace_id, job_id, run_id DESC) WHERE (job_id IS NOT NULL);
CREATE INDEX ledger_runs_by_suite ON public.ledger_runs USING btree (workspace_id, suite_id, run_id DESC) WHERE (suite_id IS NOT NULL);
CREATE INDEX ledger_runs_free ON public.ledger_runs USING btree (lease_until) WHERE (finished_at IS NULL);
CREATE INDEX ledger_records_again ON public.ledger_records USING btree (workspace_id, run_id, due_at) WHERE (due_at IS NOT NULL);
CREATE INDEX ledger_records_wrong ON public.ledger_records USING btree (workspace_id, run_id, "position") WHERE (error IS NOT NULL);
CREATE INDEX template_workflows_by_workflow ON public.template_workflows USING btree (workspace_id, workflow_id);
CREATE INDEX threads_by_visitor ON public.threads USING btree (workspace_id, visitor_id, thread_id) WHERE (visitor_id IS NOT NULL);
CREATE INDEX threads_by_template ON public.threads USING btree (workspace_id, template_id) WHERE (template_id IS NOT NULL);
CREATE INDEX threads_taken_over ON public.threads USING btree (workspace_id, taken_over_by) WHERE (taken_over_by IS NOT NULL);
CREATE INDEX threads_by_workflow ON public.threads USING btree (workspace_id, workflow_id) WHERE (workflow_id IS NOT NULL);
CREATE UNIQUE INDEX threads_of_channel ON public.threads USING btree (workspace_id, config_id, external_id) WHERE (kind = 'channel'::text);
CREATE INDEX thread_members_by_user ON public.thread_members USING btree (workspace_id, user_id, thread_id);
CREATE UNIQUE INDEX messages_told_once ON public.messages USING btree (workspace_id, thread_id, execution_id, about) WHERE (about IS NOT NULL);
CREATE UNIQUE INDEX messages_by_request ON public.messages USING btree (workspace_id, request_key) WHERE (request_key IS NOT NULL);
CREATE INDEX messages_by_author ON public.messages USING btree (author_id) WHERE (author_id IS NOT NULL);
CREATE UNIQUE INDEX forms_one_open ON public.forms USING btree (workspace_id, thread_id) WHERE (status = 'open'::text);
CREATE INDEX forms_by_thread ON public.forms USING btree (workspace_id, thread_id, form_id);
CREATE INDEX thread_executions_by_thread ON public.thread_executions USING btree (workspace_id, thread_id, execution_id);
CREATE INDEX embed_tokens_of_template ON public.embed_tokens USING btree (template_id) WHERE (template_id IS NOT NULL);
CREATE INDEX embed_tokens_of_workflow ON public.embed_tokens USING btree (workflow_id) WHERE (workflow_id IS NOT NULL);
CREATE INDEX audio_clips_by_thread ON public.audio_clips USING btree (workspace_id, thread_id);
CREATE INDEX audio_clips_left_over ON public.audio_clips USING btree (created_at) WHERE (message_id IS NULL);
CREATE INDEX gateway_channels_by_template ON public.gateway_channels USING btree (workspace_id, template_id, config_id);
CREATE INDEX channel_deliveries_waiting ON public.channel_deliveries USING btree (workspace_id, config_id, conversation, receipt_id) WHERE (state = 'waiting'::text);
CREATE INDEX channel_deliveries_due ON public.channel_deliveries USING btree (not_before) WHERE (state = 'waiting'::text);
CREATE INDEX channel_deliveries_old ON public.channel_deliveries USING btree (received_at) WHERE (state = 'taken'::text);
CREATE INDEX channel_sends_waiting ON public.channel_sends USING btree (workspace_id, config_id, lane, send_id) WHERE (state = 'waiting'::text);
CREATE INDEX channel_sends_due ON public.channel_sends USING btree (not_before) WHERE (state = 'waiting'::text);
CREATE INDEX channel_sends_old ON public.channel_sends USING btree (settled_at) WHERE (state <> 'waiting'::text);
CREATE INDEX plans_by_org ON public.plans USING btree (org_id, amount, plan_id) WHERE (archived_at IS NULL);
CREATE UNIQUE INDEX one_default_method ON public.payment_methods USING btree (workspace_id, provider) WHERE is_default;
CREATE UNIQUE INDEX one_live_subscription ON public.billing_subscriptions USING btree (workspace_id, provider) WHERE (status <> 'cancelled'::text);
CREATE INDEX billing_subscriptions_by_plan ON public.billing_subscriptions USING btree (plan_id) WHERE (status <> 'cancelled'::text);
CREATE INDEX billing_subscriptions_due ON public.billing_subscriptions USING btree (current_period_end) WHERE ((status <> 'cancelled'::text) AND (provider = 'builtin'::text));
CREATE INDEX invoices_newest ON public.invoices USING btree (workspace_id, provider, created_at DESC, invoice_id DESC);
CREATE INDEX billing_events_by_time ON public.billing_events USING btree (received_at);
CREATE INDEX wait_checks_due ON public.wait_checks USING btree (check_at);
CREATE INDEX platform_waits_by_age ON public.platform_waits USING btree (until);
CREATE INDEX executions_due_by_workspace ON public.executions USING btree (workspace_id, due_at) WHERE ((status = 'waiting'::text) AND (due_at IS NOT NULL));
CREATE INDEX executions_by_trigger ON public.executions USING btree (workspace_id, trigger_kind, trigger_id, execution_id) WHERE (trigger_kind = ANY (ARRAY['webhook'::text, 'embed'::text, 'job'::text]));
CREATE INDEX executions_by_parent ON public.executions USING btree (workspace_id, parent_execution_id) WHERE (parent_execution_id IS NOT NULL);
CREATE INDEX executions_to_tell ON public.executions USING btree (finished_at) WHERE (tell_end AND (finished_at IS NOT NULL));
CREATE INDEX executions_due ON public.executions USING btree (due_at) WHERE ((status = 'waiting'::text) AND (due_at IS NOT NULL));
CREATE INDEX executions_waiting ON public.executions USING btree (workspace_id, workflow_id, execution_id) WHERE (status = 'waiting'::text);
CREATE INDEX executions_running ON public.executions USING btree (workspace_id, workflow_id) WHERE (status = 'running'::text);
CREATE INDEX executions_queued ON public.executions USING btree (workspace_id, due_at) WHERE (status = 'queued'::text);
CREATE INDEX executions_gone_wrong ON public.executions USING btree (workflow_id, status, execution_id) WHERE (status = ANY (ARRAY['failed'::text, 'cancelled'::text, 'timed_out'::text]));
CREATE INDEX executions_by_requester ON public.executions USING btree (workspace_id, started_by, execution_id) WHERE ((started_by IS NOT NULL) AND (trigger_kind = 'job'::text));
CREATE INDEX executions_by_starter ON public.executions USING btree (workspace_id, started_by, execution_id) WHERE ((started_by IS NOT NULL) AND (trigger_kind <> 'job'::text));
CREATE INDEX executions_by_system ON public.executions USING btree (workspace_id, system_slug, started_by, execution_id) WHERE (system_slug IS NOT NULL);
CREATE INDEX executions_not_of_jobs ON public.executions USING btree (workflow_id, execution_id) WHERE (trigger_kind <> 'job'::text);
CREATE INDEX workflow_transfers_by_receiver ON public.workflow_transfers USING btree (workspace_id, to_user, workflow_id DESC);
CREATE INDEX workflow_transfers_by_sender ON public.workflow_transfers USING btree (workspace_id, from_user);
CREATE INDEX pending_sign_ups_by_email ON public.pending_sign_ups USING btree (org_id, email);
CREATE INDEX pending_sign_ups_by_age ON public.pending_sign_ups USING btree (expires_at);
CREATE INDEX account_tokens_by_user ON public.account_tokens USING btree (user_id);
CREATE INDEX account_mails_by_recipient ON public.account_mails USING btree (recipient_hash, at);
CREATE INDEX account_mails_by_age ON public.account_mails USING btree (at);
CREATE INDEX passkeys_by_user ON public.passkeys USING btree (user_id, passkey_id);
CREATE INDEX factor_challenges_by_user ON public.factor_challenges USING btree (user_id);
CREATE INDEX usage_counters_old_minutes ON public.usage_counters USING btree (period) WHERE (length(period) > 7);
CREATE INDEX audit_log_by_actor ON public.audit_log USING btree (workspace_id, actor_id, entry_id DESC);
CREATE INDEX audit_log_by_action ON public.audit_log USING btree (workspace_id, action, entry_id DESC);
CREATE INDEX team_shares_by_team ON public.team_shares USING btree (workspace_id, team_id);
CREATE INDEX team_shares_by_template ON public.team_shares USING btree (workspace_id, template_id) WHERE (template_id IS NOT NULL);
CREATE INDEX team_shares_by_job ON public.team_shares USING btree (workspace_id, job_id) WHERE (job_id IS NOT NULL);
CREATE INDEX team_members_by_user ON public.team_members USING btree (workspace_id, user_id);
CREATE INDEX credential_shares_by_user ON public.credential_shares USING btree (workspace_id, user_id) WHERE (user_id IS NOT NULL);
CREATE INDEX credential_shares_by_team ON public.credential_shares USING btree (workspace_id, team_id) WHERE (team_id IS NOT NULL);
CREATE INDEX credential_authorizations_by_credential ON public.credential_authorizations USING btree (workspace_id, credential_id);
CREATE INDEX credential_authorizations_by_user ON public.credential_authorizations USING btree (user_id);
CREATE INDEX credentials_of_models ON public.credentials USING btree (credential_id) WHERE (kind = 'llm'::text);
CREATE UNIQUE INDEX webhook_tokens_called_by_id ON public.webhook_tokens USING btree (token_id) WHERE (auth = ANY (ARRAY['basic'::text, 'hmac'::text]));
CREATE INDEX webhook_deliveries_by_token ON public.webhook_deliveries USING btree (workspace_id, token_id, delivery_id DESC);
CREATE INDEX webhook_seen_by_age ON public.webhook_seen USING btree (workspace_id, token_id, seen_at);
CREATE UNIQUE INDEX event_waits_one_open ON public.event_waits USING btree (workspace_id, execution_id, node_path) WHERE (status = 'open'::text);
CREATE INDEX event_waits_by_execution ON public.event_waits USING btree (workspace_id, execution_id, wait_id);
CREATE INDEX event_waits_by_key ON public.event_waits USING btree (workspace_id, key, wait_id) WHERE ((status = 'open'::text) AND (key IS NOT NULL));
CREATE INDEX event_waits_ended ON public.event_waits USING btree (ended_at) WHERE (status <> 'open'::text);
CREATE UNIQUE INDEX incoming_events_once ON public.incoming_events USING btree (workspace_id, id_hash) WHERE (id_hash IS NOT NULL);
CREATE INDEX incoming_events_kept ON public.incoming_events USING btree (workspace_id, key, event_id) WHERE ((keep_until IS NOT NULL) AND (key IS NOT NULL));
CREATE INDEX incoming_events_of_execution ON public.incoming_events USING btree (workspace_id, execution_id) WHERE (execution_id IS NOT NULL);
CREATE INDEX incoming_events_by_age ON public.incoming_events USING btree (received_at);
CREATE INDEX workflows_on_event ON public.workflows USING gin (((settings -> 'on_event'::text))) WHERE ((settings ? 'on_event'::text) AND (deleted_at IS NULL));
CREATE INDEX event_destinations_untold ON public.event_destinations USING btree (destination_id) WHERE (NOT told);
CREATE INDEX event_deliveries_due ON public.event_deliveries USING btree (destination_id, next_at) WHERE ((status = 'pending'::text) AND head);
CREATE INDEX event_deliveries_in_order ON public.event_deliveries USING btree (destination_id, COALESCE(execution_id, subject_id), seq) WHERE (status = 'pending'::text);
CREATE INDEX event_deliveries_by_destination ON public.event_deliveries USING btree (workspace_id, destination_id, delivery_id DESC);
CREATE INDEX event_deliveries_ended ON public.event_deliveries USING btree (last_attempt_at) WHERE (status <> 'pending'::text);
CREATE INDEX executions_gated ON public.executions USING btree (workspace_id, workflow_id, stage, gate, queue_at, execution_id) WHERE ((status = 'waiting'::text) AND (held = false));
CREATE INDEX executions_held ON public.executions USING btree (workspace_id, place) WHERE (held AND (status = ANY (ARRAY['queued'::text, 'running'::text, 'waiting'::text])));
CREATE INDEX flow_dirty_by_workflow ON public.flow_dirty USING btree (workspace_id, workflow_id);
CREATE INDEX flow_marks_by_age ON public.flow_marks USING btree (until);
CREATE INDEX schedules_by_workflow ON public.schedules USING btree (workspace_id, workflow_id, created_at, schedule_id);
CREATE INDEX executions_of_schedules ON public.executions USING btree (workspace_id, schedule_id) WHERE ((schedule_id IS NOT NULL) AND (status = ANY (ARRAY['queued'::text, 'running'::text, 'waiting'::text])));
CREATE INDEX execution_bulks_running ON public.execution_bulks USING btree (created_at) WHERE (status = 'running'::text);
CREATE INDEX execution_bulks_by_person ON public.execution_bulks USING btree (workspace_id, created_by, bulk_id DESC);
CREATE INDEX files_by_age ON public.files USING btree (created_at);
CREATE INDEX file_uses_by_execution ON public.file_uses USING btree (workspace_id, execution_id);
CREATE INDEX service_triggers_by_workflow ON public.service_triggers USING btree (workspace_id, workflow_id, trigger_id DESC);
CREATE INDEX service_triggers_due ON public.service_triggers USING btree (next_poll_at) WHERE enabled;
CREATE INDEX trials_by_age ON public.trials USING btree (created_at);
CREATE INDEX trials_of_workspace ON public.trials USING btree (workspace_id, created_at);
CREATE INDEX replays_by_workflow ON public.replays USING btree (workspace_id, workflow_id, replay_id DESC);
CREATE INDEX replays_live ON public.replays USING btree (workspace_id, served_at) WHERE (finished_at IS NULL);
CREATE INDEX replays_by_age ON public.replays USING btree (finished_at) WHERE (finished_at IS NOT NULL);
CREATE INDEX knowledge_shares_by_user ON public.knowledge_shares USING btree (workspace_id, user_id) WHERE (user_id IS NOT NULL);
CREATE INDEX knowledge_shares_by_team ON public.knowledge_shares USING btree (workspace_id, team_id) WHERE (team_id IS NOT NULL);
CREATE INDEX knowledge_documents_by_base ON public.knowledge_documents USING btree (workspace_id, knowledge_id, document_id);
CREATE INDEX knowledge_documents_by_root ON public.knowledge_documents USING btree (workspace_id, root_id) WHERE (root_id IS NOT NULL);
CREATE UNIQUE INDEX knowledge_documents_by_url ON public.knowledge_documents USING btree (workspace_id, root_id, md5(url)) WHERE (root_id IS NOT NULL);
CREATE INDEX knowledge_documents_due ON public.knowledge_documents USING btree (workspace_id, due_at) WHERE (status = ANY (ARRAY['pending'::text, 'indexing'::text]));
CREATE INDEX knowledge_chunks_by_words ON public.knowledge_chunks USING gin (words) WITH (fastupdate=off);
CREATE INDEX knowledge_chunks_embedded ON public.knowledge_chunks USING btree (workspace_id, knowledge_id) WHERE (embedding IS NOT NULL);
CREATE INDEX threads_by_change ON public.threads USING btree (workspace_id, updated_at, thread_id) WHERE (kind <> 'thread'::text);
CREATE INDEX model_calls_by_execution ON public.model_calls USING btree (workspace_id, execution_id) WHERE (execution_id IS NOT NULL);
CREATE INDEX model_calls_by_age ON public.model_calls USING btree (at);
CREATE INDEX usage_days_by_age ON public.usage_days USING btree (day);
CREATE INDEX step_days_by_age ON public.step_days USING btree (at);
CREATE INDEX alert_rules_due ON public.alert_rules USING btree (next_check_at) WHERE enabled;
CREATE INDEX alert_messages_due ON public.alert_messages USING btree (next_at);
CREATE INDEX run_labels_by_age ON public.run_labels USING btree (execution_id);
CREATE INDEX threads_handed_over ON public.threads USING btree (workspace_id, handover_at) WHERE (handover_at IS NOT NULL);
CREATE INDEX assistant_turns_open ON public.assistant_turns USING btree (lease_until) WHERE (status = 'open'::text);
CREATE INDEX assistant_memories_by_age ON public.assistant_memories USING btree (updated_at);
CREATE INDEX files_by_sender ON public.files USING btree (workspace_id, sender_id) WHERE (sender_id IS NOT NULL);
CREATE INDEX executions_slot ON public.executions USING btree (workspace_id, workflow_id, execution_id) WHERE ((status = 'waiting'::text) AND (waiting_for @> '[{"kind": "slot"}]'::jsonb) AND (max_concurrency IS NOT NULL) AND (held IS NULL));
CREATE INDEX suite_answers_by_suite ON public.suite_answers USING btree (workspace_id, suite_id, at);
CREATE INDEX run_logs_in_order ON public.run_logs USING btree (workspace_id, execution_id, batch_id, n);
CREATE INDEX run_logs_by_age ON public.run_logs USING btree (execution_id);
CREATE INDEX approval_votes_by_voter ON public.approval_votes USING btree (workspace_id, voter_id, request_id DESC) WHERE (voter_kind = 'human'::text);
CREATE INDEX run_blocks_by_last ON public.run_blocks USING btree (workspace_id, last_id);
CREATE INDEX run_blocks_by_age ON public.run_blocks USING btree (last_id);
CREATE INDEX usage_charges_newest ON public.usage_charges USING btree (workspace_id, at DESC, charge_id DESC);
CREATE INDEX usage_charges_by_execution ON public.usage_charges USING btree (workspace_id, execution_id) WHERE (execution_id IS NOT NULL);
CREATE INDEX usage_charges_by_invoice ON public.usage_charges USING btree (workspace_id, invoice_id);
CREATE INDEX usage_charges_open ON public.usage_charges USING btree (workspace_id, subscription_id) WHERE (invoice_id IS NULL);
CREATE INDEX usage_charges_unreported ON public.usage_charges USING btree (workspace_id) WHERE (reported_at IS NULL);
CREATE INDEX run_counts_by_workflow ON public.run_counts USING btree (workspace_id, workflow_id, span, at);
CREATE INDEX run_times_by_workflow ON public.run_times USING btree (workspace_id, workflow_id, span, at);
CREATE INDEX run_counts_by_span ON public.run_counts USING btree (span, at);
CREATE INDEX run_times_by_span ON public.run_times USING btree (span, at);
CREATE INDEX model_calls_by_thread ON public.model_calls USING btree (workspace_id, thread_id) WHERE (thread_id IS NOT NULL);
CREATE INDEX notifications_by_matter ON public.notifications USING btree (workspace_id, matter) WHERE ((matter IS NOT NULL) AND (resolved_at IS NULL));
CREATE INDEX reach_messages_due ON public.reach_messages USING btree (workspace_id, next_at) WHERE (state = 'due'::text);
CREATE INDEX reach_messages_by_matter ON public.reach_messages USING btree (workspace_id, matter) WHERE ((matter IS NOT NULL) AND (state = ANY (ARRAY['due'::text, 'sent'::text])));
CREATE INDEX reach_messages_by_person ON public.reach_messages USING btree (workspace_id, user_id, sent_at);
CREATE INDEX reach_messages_expired ON public.reach_messages USING btree (expires_at);
CREATE INDEX questions_reusable ON public.questions USING btree (workspace_id, workflow_id, node_id, reuse_key, answered_at DESC) WHERE ((reuse_key IS NOT NULL) AND (status = 'answered'::text) AND (reused_from IS NULL) AND (withdrawn_at IS NULL));
CREATE UNIQUE INDEX service_trigger_events_delivery ON public.service_trigger_events USING btree (workspace_id, trigger_id, delivery) WHERE (delivery IS NOT NULL);
CREATE INDEX service_trigger_events_open ON public.service_trigger_events USING btree (workspace_id, trigger_id, event_id) WHERE (done_at IS NULL);
CREATE INDEX service_trigger_events_done ON public.service_trigger_events USING btree (workspace_id, trigger_id, done_at) WHERE (done_at IS NOT NULL);
CREATE INDEX service_trigger_removals_due ON public.service_trigger_removals USING btree (next_at);
CREATE INDEX workflow_comments_by_workflow ON public.workflow_comments USING btree (workspace_id, workflow_id, comment_id DESC);
CREATE INDEX workflow_comments_by_author ON public.workflow_comments USING btree (author_id);
CREATE INDEX workflow_comments_by_resolver ON public.workflow_comments USING btree (resolved_by);
CREATE INDEX threads_waiting ON public.threads USING btree (workspace_id, waiting_since) WHERE (waiting_since IS NOT NULL);
CREATE INDEX threads_assigned ON public.threads USING btree (workspace_id, assigned_to) WHERE (assigned_to IS NOT NULL);
CREATE INDEX conversation_reads_by_user ON public.conversation_reads USING btree (workspace_id, user_id);
CREATE INDEX conversation_notes_by_thread ON public.conversation_notes USING btree (workspace_id, thread_id, note_id);
CREATE INDEX conversation_notes_by_author ON public.conversation_notes USING btree (author_id);
CREATE UNIQUE INDEX canned_answers_by_name ON public.canned_answers USING btree (workspace_id, lower(name));
CREATE INDEX canned_answers_by_creator ON public.canned_answers USING btree (created_by);
CREATE INDEX oauth_clients_by_age ON public.oauth_clients USING btree (created_at);
CREATE INDEX oauth_grants_by_client ON public.oauth_grants USING btree (client_id);
CREATE INDEX oauth_grants_by_user ON public.oauth_grants USING btree (workspace_id, user_id);
CREATE INDEX oauth_tokens_by_grant ON public.oauth_tokens USING btree (workspace_id, grant_id);
CREATE INDEX api_keys_by_grant ON public.api_keys USING btree (grant_id) WHERE (grant_id IS NOT NULL);
CREATE INDEX channel_identities_by_user ON public.channel_identities USING btree (workspace_id, user_id);
CREATE INDEX channel_link_codes_by_config ON public.channel_link_codes USING btree (workspace_id, config_id);
CREATE INDEX reach_messages_by_identity ON public.reach_messages USING btree (workspace_id, identity_id) WHERE (identity_id IS NOT NULL);
CREATE INDEX run_index_open_missing ON public.run_index_open USING btree (workspace_id, execution_id) WHERE (NOT indexed);
CREATE INDEX service_errors_newest ON public.service_errors USING btree (workspace_id, service, error_id DESC);
CREATE INDEX service_errors_of_workflow ON public.service_errors USING btree (workspace_id, service, COALESCE(workflow_id, '00000000-0000-0000-0000-000000000000'::uuid), error_id DESC);
CREATE INDEX service_errors_by_age ON public.service_errors USING btree (execution_id);
CREATE INDEX messages_by_grams ON public.messages USING gin (public.text_grams(workspace_id, text)) WITH (fastupdate=off);
CREATE INDEX threads_by_grams ON public.threads USING gin (public.text_grams(workspace_id, title)) WITH (fastupdate=off) WHERE ((kind <> 'thread'::text) AND (title IS NOT NULL));
CREATE INDEX service_triggers_ending ON public.service_triggers USING btree (next_poll_at) WHERE ((NOT enabled) AND (registered OR (hook_generation > hook_confirmed)));
CREATE INDEX executions_of_jobs ON public.executions USING btree (workflow_id, execution_id) WHERE (trigger_kind = 'job'::text);
CREATE INDEX workflows_deleted ON public.workflows USING btree (deleted_at) WHERE (deleted_at IS NOT NULL);
CREATE TRIGGER access_hint AFTER DELETE OR UPDATE OF role ON public.memberships FOR EACH ROW EXECUTE FUNCTION public.hint_access();
CREATE TRIGGER access_hint AFTER DELETE ON public.sessions FOR EACH ROW EXECUTE FUNCTION public.hint_access();
CREATE TRIGGER access_hint AFTER DELETE ON public.api_keys FOR EACH ROW EXECUTE FUNCTION public.hint_access();
CREATE TRIGGER workspace_gone AFTER DELETE ON public.workspaces FOR EACH ROW EXECUTE FUNCTION engine.workspace_gone();
CREATE TRIGGER recheck_gates AFTER DELETE OR UPDATE ON public.memberships FOR EACH ROW EXECUTE FUNCTION public.recheck_gates();
CREATE TRIGGER recheck_gates AFTER DELETE ON public.team_members FOR EACH ROW EXECUTE FUNCTION public.recheck_gates();
CREATE TRIGGER garbage AFTER DELETE ON public.ledger_runs FOR EACH ROW EXECUTE FUNCTION public.note_ledger_garbage();
CREATE TRIGGER garbage AFTER DELETE ON public.enrichment_jobs FOR EACH ROW EXECUTE FUNCTION public.note_ledger_garbage();
CREATE TRIGGER garbage AFTER DELETE ON public.suites FOR EACH ROW EXECUTE FUNCTION public.note_ledger_garbage();
CREATE TRIGGER note_removed_audio AFTER DELETE ON public.audio_clips FOR EACH ROW EXECUTE FUNCTION public.note_removed_audio();
CREATE TRIGGER keep_orphan AFTER DELETE ON public.billing_subscriptions FOR EACH ROW EXECUTE FUNCTION public.keep_orphaned_subscription();
CREATE TRIGGER count_dataset AFTER INSERT OR DELETE OR UPDATE OF record_count, size_bytes ON public.datasets FOR EACH ROW EXECUTE FUNCTION public.count_dataset();
CREATE TRIGGER note_opened AFTER INSERT ON public.approval_requests FOR EACH ROW EXECUTE FUNCTION engine.note_wait();
CREATE TRIGGER note_ended AFTER UPDATE OF status ON public.approval_requests FOR EACH ROW WHEN ((old.status IS DISTINCT FROM new.status)) EXECUTE FUNCTION engine.note_wait();
CREATE TRIGGER note_opened AFTER INSERT ON public.questions FOR EACH ROW EXECUTE FUNCTION engine.note_wait();
CREATE TRIGGER note_ended AFTER UPDATE OF status ON public.questions FOR EACH ROW WHEN ((old.status IS DISTINCT FROM new.status)) EXECUTE FUNCTION engine.note_wait();
CREATE TRIGGER forget_said AFTER DELETE ON public.executions REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION public.forget_said();
CREATE TRIGGER note_opened AFTER INSERT ON public.event_waits FOR EACH ROW EXECUTE FUNCTION engine.note_wait();
CREATE TRIGGER note_ended AFTER UPDATE OF status ON public.event_waits FOR EACH ROW WHEN ((old.status IS DISTINCT FROM new.status)) EXECUTE FUNCTION engine.note_wait();
CREATE TRIGGER access_hint AFTER UPDATE OF disabled_at ON public.service_accounts FOR EACH ROW EXECUTE FUNCTION public.hint_access();
CREATE TRIGGER flow_left AFTER UPDATE OF status ON public.executions FOR EACH ROW WHEN ((old.held AND new.held AND ((new.status = ANY (ARRAY['succeeded'::text, 'failed'::text, 'cancelled'::text, 'timed_out'::text])) OR ((old.status = 'running'::text) AND (new.status = 'waiting'::text))))) EXECUTE FUNCTION engine.flow_left();
CREATE TRIGGER note_flow_added AFTER INSERT ON public.workflows FOR EACH ROW WHEN ((new.settings ?| ARRAY['max_concurrency'::text, 'concurrency'::text, 'debounce'::text, 'rate'::text, 'dedupe'::text])) EXECUTE FUNCTION public.note_flow();
CREATE TRIGGER note_flow_changed AFTER UPDATE OF settings, deleted_at ON public.workflows FOR EACH ROW WHEN (((old.settings IS DISTINCT FROM new.settings) OR (old.deleted_at IS DISTINCT FROM new.deleted_at))) EXECUTE FUNCTION public.note_flow();
CREATE TRIGGER note_flow_gone AFTER DELETE ON public.workflows FOR EACH ROW EXECUTE FUNCTION public.note_flow();
CREATE TRIGGER note_removed_file AFTER DELETE ON public.files FOR EACH ROW EXECUTE FUNCTION public.note_removed_file();
CREATE TRIGGER count_file AFTER INSERT OR DELETE OR UPDATE OF bytes ON public.files FOR EACH ROW EXECUTE FUNCTION public.count_file();
CREATE TRIGGER count_knowledge AFTER INSERT OR DELETE OR UPDATE OF bytes ON public.knowledge_documents FOR EACH ROW EXECUTE FUNCTION public.count_knowledge();
CREATE TRIGGER label_new_run AFTER INSERT ON public.executions FOR EACH ROW WHEN (((new.tags IS NOT NULL) OR (new.metadata IS NOT NULL) OR (new.error IS NOT NULL))) EXECUTE FUNCTION public.label_run();
CREATE TRIGGER label_failed_run AFTER UPDATE ON public.executions FOR EACH ROW WHEN (((old.error IS NULL) AND (new.error IS NOT NULL))) EXECUTE FUNCTION public.label_run();
CREATE TRIGGER forget_log_of_run AFTER DELETE ON public.executions FOR EACH ROW EXECUTE FUNCTION public.forget_log_of_run();
CREATE TRIGGER charge_model_call AFTER INSERT ON public.model_calls FOR EACH ROW WHEN ((new.credential_id IS NULL)) EXECUTE FUNCTION public.charge_model_call();
CREATE TRIGGER wake_webhook_triggers AFTER UPDATE OF active ON public.workflow_versions FOR EACH ROW WHEN ((new.active IS DISTINCT FROM old.active)) EXECUTE FUNCTION public.wake_webhook_triggers();
CREATE TRIGGER wake_webhook_triggers AFTER UPDATE OF activation_required ON public.workflows FOR EACH ROW WHEN ((new.activation_required IS DISTINCT FROM old.activation_required)) EXECUTE FUNCTION public.wake_webhook_triggers();
CREATE TRIGGER count_recording AFTER INSERT OR DELETE OR UPDATE OF output, error ON public.suite_recordings FOR EACH ROW EXECUTE FUNCTION public.count_recording();
CREATE TRIGGER recheck_gates_of_joined AFTER INSERT ON public.memberships FOR EACH ROW EXECUTE FUNCTION public.recheck_gates();
CREATE TRIGGER recheck_gates_of_joined AFTER INSERT ON public.team_members FOR EACH ROW EXECUTE FUNCTION public.recheck_gates();
create policy owner_all on public.users as permissive for all to heddle_owner using (true) with check (true);
create policy owner_all on public.oidc_identities as permissive for all to heddle_owner using (true) with check (true);
create policy owner_all on public.companies as permissive for all to heddle_owner using (true) with check (true);
create policy owner_all on public.workspaces as permissive for all to heddle_owner using (true) with check (true);
create policy owner_all on public.memberships as permissive for all to heddle_owner using (true) with check (true);
create policy owner_all on public.sessions as permissive for all to heddle_owner using (true) with check (true);
create policy owner_all on public.api_keys as permissive for all to heddle_owner using (true) with check (true);
create policy owner_all on public.invitations as permissive for all to heddle_owner using (true) with check (true);
create policy owner_all on public.teams as permissive for all to heddle_owner using (true) with check (true);
create policy owner_all on public.team_members as permissive for all to heddle_owner using (true) with check (true);
create policy owner_all on public.subscriptions as permissive for all to heddle_owner using (true) with check (true);
create policy owner_all on public.notifications as permissive for all to heddle_owner using (true) with check (true);
create policy owner_all on public.presence as permissive for all to heddle_owner using (true) with check (true);
create policy owner_all on public.feed_counters as permissive for all to heddle_owner using (true) with check (true);
create policy owner_all on public.feed_entries as permissive for all to heddle_owner using (true) with check (true);
create policy owner_all on public.tickets as permissive for all to heddle_owner using (true) with check (true);
create policy owner_all on public.audit_log as permissive for all to heddle_owner using (true) with check (true);
create policy owner_all on public.mail_outbox as permissive for all to heddle_owner using (true) with check (true);
create policy bound on public.workspaces as restrictive for all to heddle_app using (((public.app_bound() IS NULL) OR (workspace_id = public.app_bound())));
create policy bound on public.memberships as restrictive for all to heddle_app using (((public.app_bound() IS NULL) OR (workspace_id = public.app_bound())));
create policy bound on public.api_keys as restrictive for all to heddle_app using (((public.app_bound() IS NULL) OR (workspace_id = public.app_bound())));
create policy bound on public.invitations as restrictive for all to heddle_app using (((public.app_bound() IS NULL) OR (workspace_id = public.app_bound())));
create policy bound on public.teams as restrictive for all to heddle_app using (((public.app_bound() IS NULL) OR (workspace_id = public.app_bound())));
create policy bound on public.team_members as restrictive for all to heddle_app using (((public.app_bound() IS NULL) OR (workspace_id = public.app_bound())));
create policy bound on public.subscriptions as restrictive for all to heddle_app using (((public.app_bound() IS NULL) OR (workspace_id = public.app_bound())));
create policy bound on public.presence as restrictive for all to heddle_app using (((public.app_bound() IS NULL) OR (workspace_id = public.app_bound())));
create policy bound on public.notifications as restrictive for all to heddle_app using (((public.app_bound() IS NULL) OR (workspace_id IS NULL) OR (workspace_id = public.app_bound())));
create policy seen on public.users as permissive for select to heddle_app using (((user_id = public.app_user()) OR (EXISTS ( SELECT
   FROM public.memberships m
  WHERE ((m.workspace_id = public.app_workspace()) AND (m.user_id = users.user_id)))) OR public.shares_workspace(user_id)));
create policy made on public.users as permissive for insert to heddle_app with check ((user_id = public.app_user()));
create policy changed on public.users as permissive for update to heddle_app using ((user_id = public.app_user()));
create policy own on public.oidc_identities as permissive for all to heddle_app using ((user_id = public.app_user()));
create policy own on public.companies as permissive for all to heddle_app using ((((owner_id = public.app_user()) AND (public.app_bound() IS NULL)) OR public.reaches_company(company_id)));
create policy own on public.workspaces as permissive for all to heddle_app using (public.is_member(workspace_id)) with check ((workspace_id = public.app_workspace()));
create policy own on public.memberships as permissive for all to heddle_app using ((workspace_id = public.app_workspace()));
create policy seen on public.memberships as permissive for select to heddle_app using ((user_id = public.app_user()));
create policy own on public.sessions as permissive for all to heddle_app using (((user_id = public.app_user()) AND (public.app_bound() IS NULL)));
create policy own on public.api_keys as permissive for all to heddle_app using ((user_id = public.app_user()));
create policy left_behind on public.api_keys as permissive for delete to heddle_app using ((workspace_id = public.app_workspace()));
create policy left_behind_seen on public.api_keys as permissive for select to heddle_app using ((workspace_id = public.app_workspace()));
create policy own on public.invitations as permissive for all to heddle_app using ((workspace_id = public.app_workspace()));
create policy own on public.teams as permissive for all to heddle_app using (public.is_member(workspace_id));
create policy own on public.team_members as permissive for all to heddle_app using (public.is_member(workspace_id));
create policy own on public.subscriptions as permissive for all to heddle_app using (public.is_member(workspace_id));
create policy own on public.notifications as permissive for all to heddle_app using ((user_id = public.app_user()));
create policy seen on public.presence as permissive for select to heddle_app using (public.is_member(workspace_id));
create policy own on public.presence as permissive for all to heddle_app using ((user_id = public.app_user()));
create policy own on public.feed_counters as permissive for all to heddle_app using ((user_id = public.app_user()));
create policy own on public.feed_entries as permissive for all to heddle_app using ((user_id = public.app_user()));
create policy own on public.tickets as permissive for all to heddle_app using ((user_id = public.app_user()));
create policy seen on public.audit_log as permissive for select to heddle_app using ((workspace_id = public.app_workspace()));
create policy written on public.audit_log as permissive for insert to heddle_app with check (((workspace_id IS NULL) OR (workspace_id = public.app_workspace()) OR public.is_member(workspace_id)));
create policy written on public.mail_outbox as permissive for insert to heddle_app with check (((workspace_id IS NULL) OR (workspace_id = public.app_workspace())));
create policy everything on public.users as permissive for select to heddle_operator using (true);
create policy everything on public.companies as permissive for select to heddle_operator using (true);
create policy everything on public.workspaces as permissive for select to heddle_operator using (true);
create policy everything on public.memberships as permissive for select to heddle_operator using (true);
create policy everything on public.teams as permissive for select to heddle_operator using (true);
create policy everything on public.team_members as permissive for select to heddle_operator using (true);
create policy everything on public.subscriptions as permissive for select to heddle_operator using (true);
create policy everything on public.notifications as permissive for select to heddle_operator using (true);
create policy everything on public.presence as permissive for select to heddle_operator using (true);
create policy everything on public.audit_log as permissive for all to heddle_operator using (true);
create policy everything on public.mail_outbox as permissive for select to heddle_operator using (true);
create policy written_by_engine on public.mail_outbox as permissive for insert to heddle_engine with check (true);
create policy owner_all on public.events as permissive for all to heddle_owner using (true) with check (true);
create policy engine_all on public.events as permissive for all to heddle_engine using (true) with check (true);
create policy own on public.events as permissive for select to heddle_app using ((workspace_id = (NULLIF(current_setting('app.ws'::text, true), ''::text))::uuid));
create policy owner_all on public.inbox as permissive for all to heddle_owner using (true) with check (true);
create policy engine_all on public.inbox as permissive for all to heddle_engine using (true) with check (true);
create policy own on public.inbox as permissive for select to heddle_app using ((workspace_id = (NULLIF(current_setting('app.ws'::text, true), ''::text))::uuid));
create policy owner_all on public.map_items as permissive for all to heddle_owner using (true) with check (true);
create policy engine_all on public.map_items as permissive for all to heddle_engine using (true) with check (true);
create policy own on public.map_items as permissive for select to heddle_app using ((workspace_id = (NULLIF(current_setting('app.ws'::text, true), ''::text))::uuid));
create policy owner_all on public.start_keys as permissive for all to heddle_owner using (true) with check (true);
create policy engine_all on public.start_keys as permissive for all to heddle_engine using (true) with check (true);
create policy own on public.start_keys as permissive for select to heddle_app using ((workspace_id = (NULLIF(current_setting('app.ws'::text, true), ''::text))::uuid));
create policy everything on public.events as permissive for select to heddle_operator using (true);
create policy owner_all on public.events_default as permissive for all to heddle_owner using (true) with check (true);
create policy owner_all on public.gone_workspaces as permissive for all to heddle_owner using (true) with check (true);
create policy engine_all on public.gone_workspaces as permissive for all to heddle_engine using (true) with check (true);
create policy owner_all on public.releases as permissive for all to heddle_owner using (true) with check (true);
create policy engine_all on public.releases as permissive for all to heddle_engine using (true) with check (true);
create policy owner_all on public.workflows as permissive for all to heddle_owner using (true) with check (true);
create policy own on public.workflows as permissive for all to heddle_app using ((workspace_id = (NULLIF(current_setting('app.ws'::text, true), ''::text))::uuid));
create policy owner_all on public.workflow_members as permissive for all to heddle_owner using (true) with check (true);
create policy own on public.workflow_members as permissive for all to heddle_app using ((workspace_id = (NULLIF(current_setting('app.ws'::text, true), ''::text))::uuid));
create policy owner_all on public.workflow_versions as permissive for all to heddle_owner using (true) with check (true);
create policy own on public.workflow_versions as permissive for all to heddle_app using ((workspace_id = (NULLIF(current_setting('app.ws'::text, true), ''::text))::uuid));
create policy owner_all on public.webhook_tokens as permissive for all to heddle_owner using (true) with check (true);
create policy own on public.webhook_tokens as permissive for all to heddle_app using ((workspace_id = (NULLIF(current_setting('app.ws'::text, true), ''::text))::uuid));
create policy owner_all on public.embed_tokens as permissive for all to heddle_owner using (true) with check (true);
create policy own on public.embed_tokens as permissive for all to heddle_app using ((workspace_id = (NULLIF(current_setting('app.ws'::text, true), ''::text))::uuid));
create policy owner_all on public.schedules as permissive for all to heddle_owner using (true) with check (true);
create policy own on public.schedules as permissive for all to heddle_app using ((workspace_id = (NULLIF(current_setting('app.ws'::text, true), ''::text))::uuid));
create policy owner_all on public.told_failures as permissive for all to heddle_owner using (true) with check (true);
create policy own on public.told_failures as permissive for all to heddle_app using ((workspace_id = (NULLIF(current_setting('app.ws'::text, true), ''::text))::uuid));
create policy owner_all on public.notify_receipts as permissive for all to heddle_owner using (true) with check (true);
create policy own on public.notify_receipts as permissive for all to heddle_app using ((workspace_id = (NULLIF(current_setting('app.ws'::text, true), ''::text))::uuid));
create policy owner_all on public.approval_requests as permissive for all to heddle_owner using (true) with check (true);
create policy own on public.approval_requests as permissive for all to heddle_app using ((workspace_id = (NULLIF(current_setting('app.ws'::text, true), ''::text))::uuid));
create policy owner_all on public.approval_approvers as permissive for all to heddle_owner using (true) with check (true);
create policy own on public.approval_approvers as permissive for all to heddle_app using ((workspace_id = (NULLIF(current_setting('app.ws'::text, true), ''::text))::uuid));
create policy owner_all on public.approval_delegations as permissive for all to heddle_owner using (true) with check (true);
create policy own on public.approval_delegations as permissive for all to heddle_app using ((workspace_id = (NULLIF(current_setting('app.ws'::text, true), ''::text))::uuid));
create policy owner_all on public.approval_votes as permissive for all to heddle_owner using (true) with check (true);
create policy own on public.approval_votes as permissive for all to heddle_app using ((workspace_id = (NULLIF(current_setting('app.ws'::text, true), ''::text))::uuid));
create policy owner_all on public.agent_reviews as permissive for all to heddle_owner using (true) with check (true);
create policy own on public.agent_reviews as permissive for all to heddle_app using ((workspace_id = (NULLIF(current_setting('app.ws'::text, true), ''::text))::uuid));
create policy owner_all on public.agent_agreement as permissive for all to heddle_owner using (true) with check (true);
create policy own on public.agent_agreement as permissive for all to heddle_app using ((workspace_id = (NULLIF(current_setting('app.ws'::text, true), ''::text))::uuid));
create policy owner_all on public.questions as permissive for all to heddle_owner using (true) with check (true);
create policy own on public.questions as permissive for all to heddle_app using ((workspace_id = (NULLIF(current_setting('app.ws'::text, true), ''::text))::uuid));
create policy owner_all on public.gate_rechecks as permissive for all to heddle_owner using (true) with check (true);
create policy own on public.gate_rechecks as permissive for all to heddle_app using ((workspace_id = (NULLIF(current_setting('app.ws'::text, true), ''::text))::uuid));
create policy owner_all on public.dataset_versions as permissive for all to heddle_owner using (true) with check (true);
create policy own on public.dataset_versions as permissive for all to heddle_app using ((workspace_id = (NULLIF(current_setting('app.ws'::text, true), ''::text))::uuid));
create policy owner_all on public.dataset_chunks as permissive for all to heddle_owner using (true) with check (true);
create policy own on public.dataset_chunks as permissive for all to heddle_app using ((workspace_id = (NULLIF(current_setting('app.ws'::text, true), ''::text))::uuid));
create policy owner_all on public.datasets as permissive for all to heddle_owner using (true) with check (true);
create policy own on public.datasets as permissive for all to heddle_app using ((workspace_id = (NULLIF(current_setting('app.ws'::text, true), ''::text))::uuid));
create policy owner_all on public.dataset_pins as permissive for all to heddle_owner using (true) with check (true);
create policy own on public.dataset_pins as permissive for all to heddle_app using ((workspace_id = (NULLIF(current_setting('app.ws'::text, true), ''::text))::uuid));
create policy owner_all on public.dataset_writes as permissive for all to heddle_owner using (true) with check (true);
create policy own on public.dataset_writes as permissive for all to heddle_app using ((workspace_id = (NULLIF(current_setting('app.ws'::text, true), ''::text))::uuid));
create policy owner_all on public.connections as permissive for all to heddle_owner using (true) with check (true);
create policy own on public.connections as permissive for all to heddle_app using ((workspace_id = (NULLIF(current_setting('app.ws'::text, true), ''::text))::uuid));
create policy owner_all on public.sources as permissive for all to heddle_owner using (true) with check (true);
create policy own on public.sources as permissive for all to heddle_app using ((workspace_id = (NULLIF(current_setting('app.ws'::text, true), ''::text))::uuid));
create policy owner_all on public.job_definitions as permissive for all to heddle_owner using (true) with check (true);
create policy own on public.job_definitions as permissive for all to heddle_app using ((workspace_id = (NULLIF(current_setting('app.ws'::text, true), ''::text))::uuid));
create policy owner_all on public.enrichment_jobs as permissive for all to heddle_owner using (true) with check (true);
create policy own on public.enrichment_jobs as permissive for all to heddle_app using ((workspace_id = (NULLIF(current_setting('app.ws'::text, true), ''::text))::uuid));
create policy owner_all on public.job_members as permissive for all to heddle_owner using (true) with check (true);
create policy own on public.job_members as permissive for all to heddle_app using ((workspace_id = (NULLIF(current_setting('app.ws'::text, true), ''::text))::uuid));
create policy owner_all on public.job_events as permissive for all to heddle_owner using (true) with check (true);
create policy own on public.job_events as permissive for all to heddle_app using ((workspace_id = (NULLIF(current_setting('app.ws'::text, true), ''::text))::uuid));
create policy owner_all on public.suites as permissive for all to heddle_owner using (true) with check (true);
create policy own on public.suites as permissive for all to heddle_app using ((workspace_id = (NULLIF(current_setting('app.ws'::text, true), ''::text))::uuid));
create policy owner_all on public.ledger_runs as permissive for all to heddle_owner using (true) with check (true);
create policy own on public.ledger_runs as permissive for all to heddle_app using ((workspace_id = (NULLIF(current_setting('app.ws'::text, true), ''::text))::uuid));
create policy owner_all on public.ledger_records as permissive for all to heddle_owner using (true) with check (true);
create policy own on public.ledger_records as permissive for all to heddle_app using ((workspace_id = (NULLIF(current_setting('app.ws'::text, true), ''::text))::uuid));
create policy owner_all on public.ledger_results as permissive for all to heddle_owner using (true) with check (true);
create policy own on public.ledger_results as permissive for all to heddle_app using ((workspace_id = (NULLIF(current_setting('app.ws'::text, true), ''::text))::uuid));
create policy owner_all on public.suite_outcomes as permissive for all to heddle_owner using (true) with check (true);
create policy own on public.suite_outcomes as permissive for all to heddle_app using ((workspace_id = (NULLIF(current_setting('app.ws'::text, true), ''::text))::uuid));
create policy owner_all on public.ledger_garbage as permissive for all to heddle_owner using (true) with check (true);
create policy own on public.ledger_garbage as permissive for all to heddle_app using ((workspace_id = (NULLIF(current_setting('app.ws'::text, true), ''::text))::uuid));
create policy owner_all on public.templates as permissive for all to heddle_owner using (true) with check (true);
create policy own on public.templates as permissive for all to heddle_app using ((workspace_id = (NULLIF(current_setting('app.ws'::text, true), ''::text))::uuid));
create policy owner_all on public.template_workflows as permissive for all to heddle_owner using (true) with check (true);
create policy own on public.template_workflows as permissive for all to heddle_app using ((workspace_id = (NULLIF(current_setting('app.ws'::text, true), ''::text))::uuid));
create policy owner_all on public.threads as permissive for all to heddle_owner using (true) with check (true);
create policy own on public.threads as permissive for all to heddle_app using ((workspace_id = (NULLIF(current_setting('app.ws'::text, true), ''::text))::uuid));
create policy owner_all on public.thread_members as permissive for all to heddle_owner using (true) with check (true);
create policy own on public.thread_members as permissive for all to heddle_app using ((workspace_id = (NULLIF(current_setting('app.ws'::text, true), ''::text))::uuid));
create policy owner_all on public.messages as permissive for all to heddle_owner using (true) with check (true);
create policy own on public.messages as permissive for all to heddle_app using ((workspace_id = (NULLIF(current_setting('app.ws'::text, true), ''::text))::uuid));
create policy owner_all on public.forms as permissive for all to heddle_owner using (true) with check (true);
create policy own on public.forms as permissive for all to heddle_app using ((workspace_id = (NULLIF(current_setting('app.ws'::text, true), ''::text))::uuid));
create policy owner_all on public.thread_executions as permissive for all to heddle_owner using (true) with check (true);
create policy own on public.thread_executions as permissive for all to heddle_app using ((workspace_id = (NULLIF(current_setting('app.ws'::text, true), ''::text))::uuid));
create policy owner_all on public.audio_clips as permissive for all to heddle_owner using (true) with check (true);
create policy own on public.audio_clips as permissive for all to heddle_app using ((workspace_id = (NULLIF(current_setting('app.ws'::text, true), ''::text))::uuid));
create policy owner_all on public.audio_to_remove as permissive for all to heddle_owner using (true) with check (true);
create policy own on public.audio_to_remove as permissive for all to heddle_app using ((workspace_id = (NULLIF(current_setting('app.ws'::text, true), ''::text))::uuid));
create policy owner_all on public.gateway_channels as permissive for all to heddle_owner using (true) with check (true);
create policy own on public.gateway_channels as permissive for all to heddle_app using ((workspace_id = (NULLIF(current_setting('app.ws'::text, true), ''::text))::uuid));
create policy owner_all on public.channel_deliveries as permissive for all to heddle_owner using (true) with check (true);
create policy own on public.channel_deliveries as permissive for all to heddle_app using ((workspace_id = (NULLIF(current_setting('app.ws'::text, true), ''::text))::uuid));
create policy owner_all on public.channel_addresses as permissive for all to heddle_owner using (true) with check (true);
create policy own on public.channel_addresses as permissive for all to heddle_app using ((workspace_id = (NULLIF(current_setting('app.ws'::text, true), ''::text))::uuid));
create policy owner_all on public.channel_sends as permissive for all to heddle_owner using (true) with check (true);
create policy own on public.channel_sends as permissive for all to heddle_app using ((workspace_id = (NULLIF(current_setting('app.ws'::text, true), ''::text))::uuid));
create policy owner_all on public.billing_customers as permissive for all to heddle_owner using (true) with check (true);
create policy own on public.billing_customers as permissive for all to heddle_app using ((workspace_id = public.app_workspace()));
create policy owner_all on public.setup_intents as permissive for all to heddle_owner using (true) with check (true);
create policy own on public.setup_intents as permissive for all to heddle_app using ((workspace_id = public.app_workspace()));
create policy owner_all on public.payment_methods as permissive for all to heddle_owner using (true) with check (true);
create policy own on public.payment_methods as permissive for all to heddle_app using ((workspace_id = public.app_workspace()));
create policy owner_all on public.billing_subscriptions as permissive for all to heddle_owner using (true) with check (true);
create policy own on public.billing_subscriptions as permissive for all to heddle_app using ((workspace_id = public.app_workspace()));
create policy owner_all on public.invoices as permissive for all to heddle_owner using (true) with check (true);
create policy own on public.invoices as permissive for all to heddle_app using ((workspace_id = public.app_workspace()));
create policy owner_all on public.usage_counters as permissive for all to heddle_owner using (true) with check (true);
create policy own on public.usage_counters as permissive for all to heddle_app using ((workspace_id = public.app_workspace()));
create policy owner_all on public.clock_marks as permissive for all to heddle_owner using (true) with check (true);
create policy owner_all on public.wait_checks as permissive for all to heddle_owner using (true) with check (true);
create policy engine_all on public.wait_checks as permissive for all to heddle_engine using (true) with check (true);
create policy owner_all on public.platform_waits as permissive for all to heddle_owner using (true) with check (true);
create policy engine_all on public.platform_waits as permissive for all to heddle_engine using (true) with check (true);
create policy own on public.platform_waits as permissive for select to heddle_app using ((workspace_id = (NULLIF(current_setting('app.ws'::text, true), ''::text))::uuid));
create policy everything on public.platform_waits as permissive for select to heddle_operator using (true);
create policy owner_all on public.executions as permissive for all to heddle_owner using (true) with check (true);
create policy engine_all on public.executions as permissive for all to heddle_engine using (true) with check (true);
create policy own on public.executions as permissive for select to heddle_app using ((workspace_id = (NULLIF(current_setting('app.ws'::text, true), ''::text))::uuid));
create policy everything on public.executions as permissive for select to heddle_operator using (true);
create policy owner_all on public.executions_default as permissive for all to heddle_owner using (true) with check (true);
create policy owner_all on public.kept_weeks as permissive for all to heddle_owner using (true) with check (true);
create policy engine_all on public.kept_weeks as permissive for all to heddle_engine using (true) with check (true);
create policy owner_all on public.workflow_transfers as permissive for all to heddle_owner using (true) with check (true);
create policy own on public.workflow_transfers as permissive for all to heddle_app using ((workspace_id = (NULLIF(current_setting('app.ws'::text, true), ''::text))::uuid));
create policy owner_all on public.account_tokens as permissive for all to heddle_owner using (true) with check (true);
create policy own on public.account_tokens as permissive for all to heddle_app using (((user_id = public.app_user()) AND (public.app_bound() IS NULL)));
create policy owner_all on public.totp_factors as permissive for all to heddle_owner using (true) with check (true);
create policy own on public.totp_factors as permissive for all to heddle_app using (((user_id = public.app_user()) AND (public.app_bound() IS NULL)));
create policy owner_all on public.passkeys as permissive for all to heddle_owner using (true) with check (true);
create policy own on public.passkeys as permissive for all to heddle_app using (((user_id = public.app_user()) AND (public.app_bound() IS NULL)));
create policy owner_all on public.recovery_codes as permissive for all to heddle_owner using (true) with check (true);
create policy own on public.recovery_codes as permissive for all to heddle_app using (((user_id = public.app_user()) AND (public.app_bound() IS NULL)));
create policy owner_all on public.factor_challenges as permissive for all to heddle_owner using (true) with check (true);
create policy own on public.factor_challenges as permissive for all to heddle_app using (((user_id = public.app_user()) AND (public.app_bound() IS NULL)));
create policy factor on public.teams as restrictive for all to heddle_app using (public.factor_satisfied(workspace_id));
create policy factor on public.team_members as restrictive for all to heddle_app using (public.factor_satisfied(workspace_id));
create policy factor on public.subscriptions as restrictive for all to heddle_app using (public.factor_satisfied(workspace_id));
create policy factor on public.presence as restrictive for all to heddle_app using (public.factor_satisfied(workspace_id));
create policy owner_all on public.workspace_trust as permissive for all to heddle_owner using (true) with check (true);
create policy seen on public.workspace_trust as permissive for select to heddle_app using ((workspace_id = public.app_workspace()));
create policy everything on public.workspace_trust as permissive for all to heddle_operator using (true) with check (true);
create policy owner_all on public.team_shares as permissive for all to heddle_owner using (true) with check (true);
create policy own on public.team_shares as permissive for all to heddle_app using ((workspace_id = public.app_workspace()));
create policy owner_all on public.credentials as permissive for all to heddle_owner using (true) with check (true);
create policy own on public.credentials as permissive for all to heddle_app using ((workspace_id = public.app_workspace()));
create policy owner_all on public.credential_shares as permissive for all to heddle_owner using (true) with check (true);
create policy own on public.credential_shares as permissive for all to heddle_app using ((workspace_id = public.app_workspace()));
create policy owner_all on public.credential_authorizations as permissive for all to heddle_owner using (true) with check (true);
create policy own on public.credential_authorizations as permissive for all to heddle_app using ((workspace_id = public.app_workspace()));
create policy owner_all on public.workspace_models as permissive for all to heddle_owner using (true) with check (true);
create policy own on public.workspace_models as permissive for all to heddle_app using ((workspace_id = public.app_workspace()));
create policy owner_all on public.variables as permissive for all to heddle_owner using (true) with check (true);
create policy own on public.variables as permissive for all to heddle_app using ((workspace_id = public.app_workspace()));
create policy owner_all on public.webhook_deliveries as permissive for all to heddle_owner using (true) with check (true);
create policy own on public.webhook_deliveries as permissive for all to heddle_app using ((workspace_id = public.app_workspace()));
create policy owner_all on public.webhook_seen as permissive for all to heddle_owner using (true) with check (true);
create policy own on public.webhook_seen as permissive for all to heddle_app using ((workspace_id = public.app_workspace()));
create policy owner_all on public.event_waits as permissive for all to heddle_owner using (true) with check (true);
create policy own on public.event_waits as permissive for all to heddle_app using ((workspace_id = public.app_workspace()));
create policy owner_all on public.incoming_events as permissive for all to heddle_owner using (true) with check (true);
create policy own on public.incoming_events as permissive for all to heddle_app using ((workspace_id = public.app_workspace()));
create policy owner_all on public.event_destinations as permissive for all to heddle_owner using (true) with check (true);
create policy owner_all on public.event_workspaces as permissive for all to heddle_owner using (true) with check (true);
create policy owner_all on public.event_outbox as permissive for all to heddle_owner using (true) with check (true);
create policy owner_all on public.event_deliveries as permissive for all to heddle_owner using (true) with check (true);
create policy own on public.event_destinations as permissive for all to heddle_app using ((workspace_id = public.app_workspace()));
create policy own on public.event_deliveries as permissive for all to heddle_app using ((workspace_id = public.app_workspace()));
create policy own on public.event_workspaces as permissive for select to heddle_app using (((workspace_id = public.app_workspace()) OR public.is_member(workspace_id)));
create policy written on public.event_outbox as permissive for insert to heddle_app with check (((workspace_id = public.app_workspace()) OR public.is_member(workspace_id)));
create policy everything on public.event_workspaces as permissive for select to heddle_engine, heddle_operator using (true);
create policy written_by_others on public.event_outbox as permissive for insert to heddle_engine, heddle_operator with check (true);
create policy owner_all on public.service_accounts as permissive for all to heddle_owner using (true) with check (true);
create policy own on public.service_accounts as permissive for all to heddle_app using ((workspace_id = public.app_workspace()));
create policy service_account_made on public.users as permissive for insert to heddle_app with check ((kind = 'service_account'::text));
create policy service_account_changed on public.users as permissive for update to heddle_app using (((kind = 'service_account'::text) AND (EXISTS ( SELECT
   FROM public.service_accounts s
  WHERE ((s.workspace_id = public.app_workspace()) AND (s.user_id = users.user_id))))));
create policy service_account_made on public.api_keys as permissive for insert to heddle_app with check (((workspace_id = public.app_workspace()) AND (EXISTS ( SELECT
   FROM public.service_accounts s
  WHERE ((s.workspace_id = public.app_workspace()) AND (s.user_id = api_keys.user_id))))));
create policy owner_all on public.flow_rules as permissive for all to heddle_owner using (true) with check (true);
create policy engine_all on public.flow_rules as permissive for all to heddle_engine using (true) with check (true);
create policy owner_all on public.flow_dirty as permissive for all to heddle_owner using (true) with check (true);
create policy engine_all on public.flow_dirty as permissive for all to heddle_engine using (true) with check (true);
create policy owner_all on public.flow_marks as permissive for all to heddle_owner using (true) with check (true);
create policy engine_all on public.flow_marks as permissive for all to heddle_engine using (true) with check (true);
create policy own on public.flow_rules as permissive for select to heddle_app using ((workspace_id = (NULLIF(current_setting('app.ws'::text, true), ''::text))::uuid));
create policy everything on public.flow_rules as permissive for select to heddle_operator using (true);
create policy owner_all on public.execution_bulks as permissive for all to heddle_owner using (true) with check (true);
create policy own on public.execution_bulks as permissive for all to heddle_app using ((workspace_id = public.app_workspace()));
create policy owner_all on public.workflow_state as permissive for all to heddle_owner using (true) with check (true);
create policy own on public.workflow_state as permissive for all to heddle_app using ((workspace_id = public.app_workspace()));
create policy owner_all on public.workflow_state_totals as permissive for all to heddle_owner using (true) with check (true);
create policy own on public.workflow_state_totals as permissive for all to heddle_app using ((workspace_id = public.app_workspace()));
create policy owner_all on public.request_rates as permissive for all to heddle_owner using (true) with check (true);
create policy own on public.request_rates as permissive for all to heddle_app using ((workspace_id = public.app_workspace()));
create policy owner_all on public.files as permissive for all to heddle_owner using (true) with check (true);
create policy own on public.files as permissive for all to heddle_app using ((workspace_id = public.app_workspace()));
create policy owner_all on public.file_uses as permissive for all to heddle_owner using (true) with check (true);
create policy own on public.file_uses as permissive for all to heddle_app using ((workspace_id = public.app_workspace()));
create policy owner_all on public.files_to_remove as permissive for all to heddle_owner using (true) with check (true);
create policy own on public.files_to_remove as permissive for all to heddle_app using ((workspace_id = public.app_workspace()));
create policy owner_all on public.service_triggers as permissive for all to heddle_owner using (true) with check (true);
create policy own on public.service_triggers as permissive for all to heddle_app using ((workspace_id = public.app_workspace()));
create policy owner_all on public.trials as permissive for all to heddle_owner using (true) with check (true);
create policy own on public.trials as permissive for all to heddle_app using ((workspace_id = public.app_workspace()));
create policy owner_all on public.replays as permissive for all to heddle_owner using (true) with check (true);
create policy own on public.replays as permissive for all to heddle_app using ((workspace_id = public.app_workspace()));
create policy owner_all on public.replay_results as permissive for all to heddle_owner using (true) with check (true);
create policy own on public.replay_results as permissive for all to heddle_app using ((workspace_id = public.app_workspace()));
create policy owner_all on public.knowledge_bases as permissive for all to heddle_owner using (true) with check (true);
create policy own on public.knowledge_bases as permissive for all to heddle_app using ((workspace_id = public.app_workspace()));
create policy owner_all on public.knowledge_shares as permissive for all to heddle_owner using (true) with check (true);
create policy own on public.knowledge_shares as permissive for all to heddle_app using ((workspace_id = public.app_workspace()));
create policy owner_all on public.knowledge_documents as permissive for all to heddle_owner using (true) with check (true);
create policy own on public.knowledge_documents as permissive for all to heddle_app using ((workspace_id = public.app_workspace()));
create policy owner_all on public.knowledge_chunks as permissive for all to heddle_owner using (true) with check (true);
create policy own on public.knowledge_chunks as permissive for all to heddle_app using ((workspace_id = public.app_workspace()));
create policy owner_all on public.model_calls as permissive for all to heddle_owner using (true) with check (true);
create policy own on public.model_calls as permissive for all to heddle_app using ((workspace_id = public.app_workspace()));
create policy owner_all on public.usage_days as permissive for all to heddle_owner using (true) with check (true);
create policy own on public.usage_days as permissive for all to heddle_app using ((workspace_id = public.app_workspace()));
create policy owner_all on public.model_prices as permissive for all to heddle_owner using (true) with check (true);
create policy everything on public.model_prices as permissive for all to heddle_operator using (true) with check (true);
create policy owner_all on public.run_counts as permissive for all to heddle_owner using (true) with check (true);
create policy own on public.run_counts as permissive for select to heddle_app using ((workspace_id = public.app_workspace()));
create policy owner_all on public.run_times as permissive for all to heddle_owner using (true) with check (true);
create policy own on public.run_times as permissive for select to heddle_app using ((workspace_id = public.app_workspace()));
create policy owner_all on public.step_days as permissive for all to heddle_owner using (true) with check (true);
create policy own on public.step_days as permissive for select to heddle_app using ((workspace_id = public.app_workspace()));
create policy owner_all on public.budgets as permissive for all to heddle_owner using (true) with check (true);
create policy own on public.budgets as permissive for all to heddle_app using ((workspace_id = public.app_workspace()));
create policy owner_all on public.alert_rules as permissive for all to heddle_owner using (true) with check (true);
create policy own on public.alert_rules as permissive for all to heddle_app using ((workspace_id = public.app_workspace()));
create policy owner_all on public.alert_messages as permissive for all to heddle_owner using (true) with check (true);
create policy own on public.alert_messages as permissive for all to heddle_app using ((workspace_id = public.app_workspace()));
create policy owner_all on public.run_labels as permissive for all to heddle_owner using (true) with check (true);
create policy own on public.run_labels as permissive for select to heddle_app using ((workspace_id = public.app_workspace()));
create policy owner_all on public.imported_services as permissive for all to heddle_owner using (true) with check (true);
create policy own on public.imported_services as permissive for all to heddle_app using ((workspace_id = public.app_workspace()));
create policy owner_all on public.imported_actions as permissive for all to heddle_owner using (true) with check (true);
create policy own on public.imported_actions as permissive for all to heddle_app using ((workspace_id = public.app_workspace()));
create policy owner_all on public.assistant_turns as permissive for all to heddle_owner using (true) with check (true);
create policy own on public.assistant_turns as permissive for all to heddle_app using ((workspace_id = (NULLIF(current_setting('app.ws'::text, true), ''::text))::uuid));
create policy owner_all on public.assistant_steps as permissive for all to heddle_owner using (true) with check (true);
create policy own on public.assistant_steps as permissive for all to heddle_app using ((workspace_id = (NULLIF(current_setting('app.ws'::text, true), ''::text))::uuid));
create policy owner_all on public.assistant_memories as permissive for all to heddle_owner using (true) with check (true);
create policy own on public.assistant_memories as permissive for all to heddle_app using ((workspace_id = (NULLIF(current_setting('app.ws'::text, true), ''::text))::uuid));
create policy owner_all on public.suite_recordings as permissive for all to heddle_owner using (true) with check (true);
create policy own on public.suite_recordings as permissive for all to heddle_app using ((workspace_id = public.app_workspace()));
create policy owner_all on public.suite_answers as permissive for all to heddle_owner using (true) with check (true);
create policy own on public.suite_answers as permissive for all to heddle_app using ((workspace_id = public.app_workspace()));
create policy owner_all on public.run_logs as permissive for all to heddle_owner using (true) with check (true);
create policy own on public.run_logs as permissive for all to heddle_app using ((workspace_id = public.app_workspace()));
create policy owner_all on public.run_blocks as permissive for all to heddle_owner using (true) with check (true);
create policy own on public.run_blocks as permissive for all to heddle_app using ((workspace_id = public.app_workspace()));
create policy owner_all on public.run_index_open as permissive for all to heddle_owner using (true) with check (true);
create policy own on public.run_index_open as permissive for all to heddle_app using ((workspace_id = public.app_workspace()));
create policy owner_all on public.run_index_state as permissive for all to heddle_owner using (true) with check (true);
create policy owner_all on public.usage_charges as permissive for all to heddle_owner using (true) with check (true);
create policy own on public.usage_charges as permissive for all to heddle_app using ((workspace_id = public.app_workspace()));
create policy owner_all on public.notification_preferences as permissive for all to heddle_owner using (true) with check (true);
create policy own on public.notification_preferences as permissive for all to heddle_app using ((workspace_id = public.app_workspace()));
create policy owner_all on public.reach_messages as permissive for all to heddle_owner using (true) with check (true);
create policy own on public.reach_messages as permissive for all to heddle_app using ((workspace_id = public.app_workspace()));
create policy owner_all on public.mail_leaves as permissive for all to heddle_owner using (true) with check (true);
create policy owner_all on public.service_trigger_events as permissive for all to heddle_owner using (true) with check (true);
create policy own on public.service_trigger_events as permissive for all to heddle_app using ((workspace_id = public.app_workspace()));
create policy owner_all on public.service_trigger_removals as permissive for all to heddle_owner using (true) with check (true);
create policy own on public.service_trigger_removals as permissive for all to heddle_app using ((workspace_id = public.app_workspace()));
create policy owner_all on public.workflow_comments as permissive for all to heddle_owner using (true) with check (true);
create policy own on public.workflow_comments as permissive for all to heddle_app using ((workspace_id = public.app_workspace()));
create policy owner_all on public.conversation_reads as permissive for all to heddle_owner using (true) with check (true);
create policy own on public.conversation_reads as permissive for all to heddle_app using ((workspace_id = public.app_workspace()));
create policy owner_all on public.conversation_notes as permissive for all to heddle_owner using (true) with check (true);
create policy own on public.conversation_notes as permissive for all to heddle_app using ((workspace_id = public.app_workspace()));
create policy owner_all on public.canned_answers as permissive for all to heddle_owner using (true) with check (true);
create policy own on public.canned_answers as permissive for all to heddle_app using ((workspace_id = public.app_workspace()));
create policy owner_all on public.opening_hours as permissive for all to heddle_owner using (true) with check (true);
create policy own on public.opening_hours as permissive for all to heddle_app using ((workspace_id = public.app_workspace()));
create policy owner_all on public.oauth_clients as permissive for all to heddle_owner using (true) with check (true);
create policy owner_all on public.oauth_grants as permissive for all to heddle_owner using (true) with check (true);
create policy owner_all on public.oauth_tokens as permissive for all to heddle_owner using (true) with check (true);
create policy own on public.oauth_grants as permissive for all to heddle_app using (((workspace_id = public.app_workspace()) AND (user_id = public.app_user())));
create policy own on public.oauth_tokens as permissive for all to heddle_app using (((workspace_id = public.app_workspace()) AND (EXISTS ( SELECT
   FROM public.oauth_grants g
  WHERE ((g.workspace_id = oauth_tokens.workspace_id) AND (g.grant_id = oauth_tokens.grant_id) AND (g.user_id = public.app_user()))))));
create policy owner_all on public.channel_identities as permissive for all to heddle_owner using (true) with check (true);
create policy own on public.channel_identities as permissive for all to heddle_app using ((workspace_id = public.app_workspace()));
create policy owner_all on public.channel_link_codes as permissive for all to heddle_owner using (true) with check (true);
create policy own on public.channel_link_codes as permissive for all to heddle_app using ((workspace_id = public.app_workspace()));
create policy owner_all on public.service_errors as permissive for all to heddle_owner using (true) with check (true);
create policy own on public.service_errors as permissive for select to heddle_app using ((workspace_id = public.app_workspace()));
create policy owner_all on public.saved_views as permissive for all to heddle_owner using (true) with check (true);
create policy own on public.saved_views as permissive for all to heddle_app using ((workspace_id = public.app_workspace()));
create policy owner_all on public.workspace_suspensions as permissive for all to heddle_owner using (true) with check (true);
create policy seen on public.workspace_suspensions as permissive for select to heddle_app using ((workspace_id = public.app_workspace()));
create policy everything on public.workspace_suspensions as permissive for all to heddle_operator using (true) with check (true);
create policy everything on public.usage_counters as permissive for select to heddle_operator using (true);
create policy everything on public.usage_days as permissive for select to heddle_operator using (true);
create policy suspended on public.workspaces as permissive for delete to heddle_operator using ((EXISTS ( SELECT
   FROM public.workspace_suspensions s
  WHERE (s.workspace_id = workspaces.workspace_id))));
alter table public.users enable row level security, force row level security;
alter table public.oidc_identities enable row level security, force row level security;
alter table public.companies enable row level security, force row level security;
alter table public.workspaces enable row level security, force row level security;
alter table public.memberships enable row level security, force row level security;
alter table public.sessions enable row level security, force row level security;
alter table public.api_keys enable row level security, force row level security;
alter table public.invitations enable row level security, force row level security;
alter table public.teams enable row level security, force row level security;
alter table public.team_members enable row level security, force row level security;
alter table public.subscriptions enable row level security, force row level security;
alter table public.notifications enable row level security, force row level security;
alter table public.presence enable row level security, force row level security;
alter table public.feed_counters enable row level security, force row level security;
alter table public.feed_entries enable row level security, force row level security;
alter table public.tickets enable row level security, force row level security;
alter table public.audit_log enable row level security, force row level security;
alter table public.mail_outbox enable row level security, force row level security;
alter table public.events enable row level security, force row level security;
alter table public.events_default enable row level security, force row level security;
alter table public.inbox enable row level security, force row level security;
alter table public.map_items enable row level security, force row level security;
alter table public.start_keys enable row level security, force row level security;
alter table public.gone_workspaces enable row level security, force row level security;
alter table public.releases enable row level security, force row level security;
alter table public.workflows enable row level security, force row level security;
alter table public.workflow_members enable row level security, force row level security;
alter table public.workflow_versions enable row level security, force row level security;
alter table public.webhook_tokens enable row level security, force row level security;
alter table public.embed_tokens enable row level security, force row level security;
alter table public.schedules enable row level security, force row level security;
alter table public.told_failures enable row level security, force row level security;
alter table public.notify_receipts enable row level security, force row level security;
alter table public.approval_requests enable row level security, force row level security;
alter table public.approval_approvers enable row level security, force row level security;
alter table public.approval_delegations enable row level security, force row level security;
alter table public.approval_votes enable row level security, force row level security;
alter table public.agent_reviews enable row level security, force row level security;
alter table public.agent_agreement enable row level security, force row level security;
alter table public.questions enable row level security, force row level security;
alter table public.gate_rechecks enable row level security, force row level security;
alter table public.dataset_versions enable row level security, force row level security;
alter table public.dataset_chunks enable row level security, force row level security;
alter table public.datasets enable row level security, force row level security;
alter table public.dataset_pins enable row level security, force row level security;
alter table public.dataset_writes enable row level security, force row level security;
alter table public.connections enable row level security, force row level security;
alter table public.sources enable row level security, force row level security;
alter table public.job_definitions enable row level security, force row level security;
alter table public.enrichment_jobs enable row level security, force row level security;
alter table public.job_members enable row level security, force row level security;
alter table public.job_events enable row level security, force row level security;
alter table public.suites enable row level security, force row level security;
alter table public.ledger_runs enable row level security, force row level security;
alter table public.ledger_records enable row level security, force row level security;
alter table public.ledger_results enable row level security, force row level security;
alter table public.suite_outcomes enable row level security, force row level security;
alter table public.ledger_garbage enable row level security, force row level security;
alter table public.templates enable row level security, force row level security;
alter table public.template_workflows enable row level security, force row level security;
alter table public.threads enable row level security, force row level security;
alter table public.thread_members enable row level security, force row level security;
alter table public.messages enable row level security, force row level security;
alter table public.forms enable row level security, force row level security;
alter table public.thread_executions enable row level security, force row level security;
alter table public.audio_clips enable row level security, force row level security;
alter table public.audio_to_remove enable row level security, force row level security;
alter table public.gateway_channels enable row level security, force row level security;
alter table public.channel_deliveries enable row level security, force row level security;
alter table public.channel_addresses enable row level security, force row level security;
alter table public.channel_sends enable row level security, force row level security;
alter table public.billing_customers enable row level security, force row level security;
alter table public.setup_intents enable row level security, force row level security;
alter table public.payment_methods enable row level security, force row level security;
alter table public.billing_subscriptions enable row level security, force row level security;
alter table public.invoices enable row level security, force row level security;
alter table public.usage_counters enable row level security, force row level security;
alter table public.clock_marks enable row level security, force row level security;
alter table public.wait_checks enable row level security, force row level security;
alter table public.platform_waits enable row level security, force row level security;
alter table public.executions enable row level security, force row level security;
alter table public.executions_default enable row level security, force row level security;
alter table public.kept_weeks enable row level security, force row level security;
alter table public.workflow_transfers enable row level security, force row level security;
alter table public.account_tokens enable row level security, force row level security;
alter table public.totp_factors enable row level security, force row level security;
alter table public.passkeys enable row level security, force row level security;
alter table public.recovery_codes enable row level security, force row level security;
alter table public.factor_challenges enable row level security, force row level security;
alter table public.workspace_trust enable row level security, force row level security;
alter table public.team_shares enable row level security, force row level security;
alter table public.credentials enable row level security, force row level security;
alter table public.credential_shares enable row level security, force row level security;
alter table public.credential_authorizations enable row level security, force row level security;
alter table public.workspace_models enable row level security, force row level security;
alter table public.variables enable row level security, force row level security;
alter table public.webhook_deliveries enable row level security, force row level security;
alter table public.webhook_seen enable row level security, force row level security;
alter table public.event_waits enable row level security, force row level security;
alter table public.incoming_events enable row level security, force row level security;
alter table public.event_destinations enable row level security, force row level security;
alter table public.event_workspaces enable row level security, force row level security;
alter table public.event_outbox enable row level security, force row level security;
alter table public.event_deliveries enable row level security, force row level security;
alter table public.service_accounts enable row level security, force row level security;
alter table public.flow_rules enable row level security, force row level security;
alter table public.flow_dirty enable row level security, force row level security;
alter table public.flow_marks enable row level security, force row level security;
alter table public.execution_bulks enable row level security, force row level security;
alter table public.workflow_state enable row level security, force row level security;
alter table public.workflow_state_totals enable row level security, force row level security;
alter table public.request_rates enable row level security, force row level security;
alter table public.files enable row level security, force row level security;
alter table public.file_uses enable row level security, force row level security;
alter table public.files_to_remove enable row level security, force row level security;
alter table public.service_triggers enable row level security, force row level security;
alter table public.trials enable row level security, force row level security;
alter table public.replays enable row level security, force row level security;
alter table public.replay_results enable row level security, force row level security;
alter table public.knowledge_bases enable row level security, force row level security;
alter table public.knowledge_shares enable row level security, force row level security;
alter table public.knowledge_documents enable row level security, force row level security;
alter table public.knowledge_chunks enable row level security, force row level security;
alter table public.model_calls enable row level security, force row level security;
alter table public.usage_days enable row level security, force row level security;
alter table public.model_prices enable row level security, force row level security;
alter table public.run_counts enable row level security, force row level security;
alter table public.run_times enable row level security, force row level security;
alter table public.step_days enable row level security, force row level security;
alter table public.budgets enable row level security, force row level security;
alter table public.alert_rules enable row level security, force row level security;
alter table public.alert_messages enable row level security, force row level security;
alter table public.run_labels enable row level security, force row level security;
alter table public.imported_services enable row level security, force row level security;
alter table public.imported_actions enable row level security, force row level security;
alter table public.assistant_turns enable row level security, force row level security;
alter table public.assistant_steps enable row level security, force row level security;
alter table public.assistant_memories enable row level security, force row level security;
alter table public.suite_recordings enable row level security, force row level security;
alter table public.suite_answers enable row level security, force row level security;
alter table public.run_logs enable row level security, force row level security;
alter table public.run_blocks enable row level security, force row level security;
alter table public.run_index_open enable row level security, force row level security;
alter table public.run_index_state enable row level security, force row level security;
alter table public.usage_charges enable row level security, force row level security;
alter table public.notification_preferences enable row level security, force row level security;
alter table public.reach_messages enable row level security, force row level security;
alter table public.mail_leaves enable row level security, force row level security;
alter table public.service_trigger_events enable row level security, force row level security;
alter table public.service_trigger_removals enable row level security, force row level security;
alter table public.workflow_comments enable row level security, force row level security;
alter table public.conversation_reads enable row level security, force row level security;
alter table public.conversation_notes enable row level security, force row level security;
alter table public.canned_answers enable row level security, force row level security;
alter table public.opening_hours enable row level security, force row level security;
alter table public.oauth_clients enable row level security, force row level security;
alter table public.oauth_grants enable row level security, force row level security;
alter table public.oauth_tokens enable row level security, force row level security;
alter table public.channel_identities enable row level security, force row level security;
alter table public.channel_link_codes enable row level security, force row level security;
alter table public.service_errors enable row level security, force row level security;
alter table public.saved_views enable row level security, force row level security;
alter table public.workspace_suspensions enable row level security, force row level security;
grant INSERT, SELECT on public.installation to heddle_app;
grant SELECT on public.orgs to heddle_app;
grant SELECT on public.orgs to heddle_operator;
grant SELECT on public.org_hosts to heddle_app;
grant INSERT, SELECT, DELETE on public.oidc_identities to heddle_app;
grant INSERT, SELECT, UPDATE, DELETE on public.oidc_attempts to heddle_app;
grant INSERT, SELECT, UPDATE, DELETE on public.sign_in_failures to heddle_app;
grant INSERT, SELECT, UPDATE, DELETE on public.companies to heddle_app;
grant SELECT on public.companies to heddle_operator;
grant INSERT, SELECT, UPDATE, DELETE on public.workspaces to heddle_app;
grant SELECT, DELETE on public.workspaces to heddle_operator;
grant INSERT, SELECT, UPDATE, DELETE on public.memberships to heddle_app;
grant SELECT on public.memberships to heddle_operator;
grant INSERT, SELECT, UPDATE, DELETE on public.sessions to heddle_app;
grant INSERT, SELECT, UPDATE, DELETE on public.api_keys to heddle_app;
grant INSERT, SELECT, UPDATE, DELETE on public.invitations to heddle_app;
grant INSERT, SELECT, UPDATE, DELETE on public.teams to heddle_app;
grant SELECT on public.teams to heddle_operator;
grant INSERT, SELECT, UPDATE, DELETE on public.team_members to heddle_app;
grant SELECT on public.team_members to heddle_operator;
grant INSERT, SELECT, UPDATE, DELETE on public.subscriptions to heddle_app;
grant SELECT on public.subscriptions to heddle_operator;
grant INSERT, SELECT, UPDATE, DELETE on public.notifications to heddle_app;
grant SELECT on public.notifications to heddle_operator;
grant INSERT, SELECT, UPDATE, DELETE on public.presence to heddle_app;
grant SELECT on public.presence to heddle_operator;
grant INSERT, SELECT, UPDATE, DELETE on public.feed_counters to heddle_app;
grant INSERT, SELECT, UPDATE, DELETE on public.feed_entries to heddle_app;
grant INSERT, SELECT, UPDATE, DELETE on public.tickets to heddle_app;
grant INSERT, SELECT on public.audit_log to heddle_app;
grant INSERT, SELECT on public.audit_log to heddle_operator;
grant INSERT on public.mail_outbox to heddle_app;
grant INSERT on public.mail_outbox to heddle_engine;
grant SELECT on public.mail_outbox to heddle_operator;
grant INSERT, SELECT, UPDATE, DELETE on public.idempotency_keys to heddle_app;
grant INSERT, SELECT, UPDATE, DELETE on public.workers to heddle_engine;
grant SELECT on public.workers to heddle_operator;
grant INSERT, SELECT, DELETE, UPDATE on public.heartbeats to heddle_engine;
grant SELECT on public.heartbeats to heddle_operator;
grant SELECT on public.events to heddle_app;
grant UPDATE, INSERT, SELECT, DELETE on public.events to heddle_engine;
grant SELECT on public.events to heddle_operator;
grant INSERT, SELECT, UPDATE, DELETE on public.inbox to heddle_engine;
grant UPDATE, INSERT, SELECT, DELETE on public.map_items to heddle_engine;
grant INSERT, SELECT, UPDATE, DELETE on public.start_keys to heddle_engine;
grant SELECT, DELETE on public.gone_workspaces to heddle_engine;
grant INSERT, SELECT on public.releases to heddle_engine;
grant INSERT, SELECT, UPDATE, DELETE on public.workflows to heddle_app;
grant INSERT, SELECT, UPDATE, DELETE on public.workflow_members to heddle_app;
grant INSERT, SELECT, UPDATE, DELETE on public.workflow_versions to heddle_app;
grant INSERT, SELECT, UPDATE, DELETE on public.webhook_tokens to heddle_app;
grant INSERT, SELECT, UPDATE, DELETE on public.embed_tokens to heddle_app;
grant INSERT, SELECT, UPDATE, DELETE on public.schedules to heddle_app;
grant INSERT, SELECT on public.told_failures to heddle_app;
grant INSERT, SELECT on public.notify_receipts to heddle_app;
grant INSERT, SELECT, UPDATE, DELETE on public.approval_requests to heddle_app;
grant INSERT, SELECT, UPDATE, DELETE on public.approval_approvers to heddle_app;
grant INSERT, SELECT, UPDATE, DELETE on public.approval_delegations to heddle_app;
grant INSERT, SELECT, UPDATE, DELETE on public.approval_votes to heddle_app;
grant INSERT, SELECT, UPDATE, DELETE on public.agent_reviews to heddle_app;
grant INSERT, SELECT, UPDATE, DELETE on public.agent_agreement to heddle_app;
grant INSERT, SELECT, UPDATE, DELETE on public.questions to heddle_app;
grant INSERT, SELECT, UPDATE, DELETE on public.gate_rechecks to heddle_app;
grant INSERT, SELECT, UPDATE, DELETE on public.dataset_versions to heddle_app;
grant INSERT, SELECT, UPDATE, DELETE on public.dataset_chunks to heddle_app;
grant INSERT, SELECT, UPDATE, DELETE on public.datasets to heddle_app;
grant INSERT, SELECT, UPDATE, DELETE on public.dataset_pins to heddle_app;
grant INSERT, SELECT, UPDATE, DELETE on public.dataset_writes to heddle_app;
grant SELECT on public.org_connection_kinds to heddle_app;
grant INSERT, SELECT, UPDATE, DELETE on public.connections to heddle_app;
grant INSERT, SELECT, UPDATE, DELETE on public.sources to heddle_app;
grant INSERT, SELECT, UPDATE, DELETE on public.job_definitions to heddle_app;
grant INSERT, SELECT, UPDATE, DELETE on public.enrichment_jobs to heddle_app;
grant INSERT, SELECT, UPDATE, DELETE on public.job_members to heddle_app;
grant INSERT, SELECT, UPDATE, DELETE on public.job_events to heddle_app;
grant INSERT, SELECT, UPDATE, DELETE on public.suites to heddle_app;
grant INSERT, SELECT, UPDATE, DELETE on public.ledger_runs to heddle_app;
grant INSERT, SELECT, UPDATE, DELETE on public.ledger_records to heddle_app;
grant INSERT, SELECT, UPDATE, DELETE on public.ledger_results to heddle_app;
grant INSERT, SELECT, UPDATE, DELETE on public.suite_outcomes to heddle_app;
grant INSERT, SELECT, UPDATE, DELETE on public.ledger_garbage to heddle_app;
grant INSERT, SELECT, UPDATE, DELETE on public.templates to heddle_app;
grant INSERT, SELECT, UPDATE, DELETE on public.template_workflows to heddle_app;
grant INSERT, SELECT, UPDATE, DELETE on public.threads to heddle_app;
grant INSERT, SELECT, UPDATE, DELETE on public.thread_members to heddle_app;
grant INSERT, SELECT, UPDATE, DELETE on public.messages to heddle_app;
grant INSERT, SELECT, UPDATE, DELETE on public.forms to heddle_app;
grant INSERT, SELECT, UPDATE, DELETE on public.thread_executions to heddle_app;
grant INSERT, SELECT, UPDATE, DELETE on public.audio_clips to heddle_app;
grant SELECT, DELETE on public.audio_to_remove to heddle_app;
grant INSERT, SELECT, UPDATE, DELETE on public.gateway_channels to heddle_app;
grant INSERT, SELECT, UPDATE, DELETE on public.channel_deliveries to heddle_app;
grant INSERT, SELECT, UPDATE, DELETE on public.channel_addresses to heddle_app;
grant INSERT, SELECT, UPDATE, DELETE on public.channel_sends to heddle_app;
grant SELECT on public.plans to heddle_app;
grant INSERT, SELECT, UPDATE on public.plans to heddle_operator;
grant INSERT, SELECT, UPDATE, DELETE on public.billing_customers to heddle_app;
grant INSERT, SELECT, UPDATE, DELETE on public.setup_intents to heddle_app;
grant INSERT, SELECT, UPDATE, DELETE on public.payment_methods to heddle_app;
grant INSERT, SELECT, UPDATE, DELETE on public.billing_subscriptions to heddle_app;
grant INSERT, SELECT, UPDATE, DELETE on public.invoices to heddle_app;
grant UPDATE, INSERT, DELETE, SELECT on public.usage_counters to heddle_app;
grant SELECT on public.usage_counters to heddle_operator;
grant INSERT, SELECT, DELETE on public.billing_events to heddle_app;
grant SELECT, DELETE on public.billing_orphans to heddle_app;
grant INSERT, SELECT, UPDATE, DELETE on public.wait_checks to heddle_engine;
grant SELECT on public.platform_waits to heddle_app;
grant UPDATE, INSERT, SELECT, DELETE on public.platform_waits to heddle_engine;
grant SELECT on public.platform_waits to heddle_operator;
grant SELECT on public.executions to heddle_app;
grant SELECT, UPDATE, DELETE, INSERT on public.executions to heddle_engine;
grant SELECT on public.executions to heddle_operator;
grant SELECT, DELETE on public.kept_weeks to heddle_engine;
grant INSERT, SELECT, UPDATE, DELETE on public.workflow_transfers to heddle_app;
grant INSERT on public.pending_sign_ups to heddle_app;
grant INSERT, SELECT, DELETE on public.account_tokens to heddle_app;
grant INSERT, SELECT, DELETE on public.account_mails to heddle_app;
grant INSERT, SELECT, UPDATE, DELETE on public.totp_factors to heddle_app;
grant INSERT, SELECT, UPDATE, DELETE on public.passkeys to heddle_app;
grant INSERT, SELECT, UPDATE, DELETE on public.recovery_codes to heddle_app;
grant INSERT, SELECT, UPDATE, DELETE on public.factor_challenges to heddle_app;
grant SELECT on public.workspace_trust to heddle_app;
grant INSERT, SELECT, DELETE on public.workspace_trust to heddle_operator;
grant INSERT, SELECT, UPDATE, DELETE on public.team_shares to heddle_app;
grant SELECT on public.workflow_people to heddle_app;
grant SELECT on public.job_people to heddle_app;
grant INSERT, SELECT, UPDATE, DELETE on public.credentials to heddle_app;
grant INSERT, SELECT, UPDATE, DELETE on public.credential_shares to heddle_app;
grant INSERT, SELECT, UPDATE, DELETE on public.credential_authorizations to heddle_app;
grant INSERT, SELECT, UPDATE, DELETE on public.workspace_models to heddle_app;
grant INSERT, SELECT, UPDATE, DELETE on public.variables to heddle_app;
grant INSERT, SELECT, UPDATE, DELETE on public.key_holders to heddle_app;
grant INSERT, SELECT, UPDATE, DELETE on public.webhook_deliveries to heddle_app;
grant INSERT, SELECT, UPDATE, DELETE on public.webhook_seen to heddle_app;
grant INSERT, SELECT, UPDATE, DELETE on public.event_waits to heddle_app;
grant INSERT, SELECT, UPDATE, DELETE on public.incoming_events to heddle_app;
grant INSERT, SELECT, UPDATE, DELETE on public.event_destinations to heddle_app;
grant SELECT on public.event_workspaces to heddle_app;
grant SELECT on public.event_workspaces to heddle_engine;
grant SELECT on public.event_workspaces to heddle_operator;
grant SELECT on public.event_generation to heddle_engine;
grant INSERT on public.event_outbox to heddle_app;
grant INSERT on public.event_outbox to heddle_engine;
grant INSERT on public.event_outbox to heddle_operator;
grant INSERT, SELECT, UPDATE, DELETE on public.event_deliveries to heddle_app;
grant UPDATE, INSERT, SELECT, DELETE on public.service_accounts to heddle_app;
grant SELECT on public.flow_rules to heddle_app;
grant INSERT, SELECT, UPDATE, DELETE on public.flow_rules to heddle_engine;
grant SELECT on public.flow_rules to heddle_operator;
grant INSERT, SELECT, UPDATE, DELETE on public.flow_dirty to heddle_engine;
grant INSERT, SELECT, UPDATE, DELETE on public.flow_marks to heddle_engine;
grant INSERT, SELECT, UPDATE, DELETE on public.execution_bulks to heddle_app;
grant INSERT, SELECT, UPDATE, DELETE on public.workflow_state to heddle_app;
grant INSERT, SELECT, UPDATE, DELETE on public.workflow_state_totals to heddle_app;
grant INSERT, SELECT, UPDATE, DELETE on public.request_rates to heddle_app;
grant INSERT, SELECT, UPDATE, DELETE on public.files to heddle_app;
grant INSERT, SELECT, UPDATE, DELETE on public.file_uses to heddle_app;
grant SELECT, DELETE on public.files_to_remove to heddle_app;
grant INSERT, SELECT, UPDATE, DELETE on public.service_triggers to heddle_app;
grant INSERT, SELECT, DELETE on public.trials to heddle_app;
grant INSERT, SELECT, UPDATE, DELETE on public.replays to heddle_app;
grant INSERT, SELECT, UPDATE, DELETE on public.replay_results to heddle_app;
grant INSERT, SELECT, UPDATE, DELETE on public.knowledge_bases to heddle_app;
grant INSERT, SELECT, UPDATE, DELETE on public.knowledge_shares to heddle_app;
grant INSERT, SELECT, UPDATE, DELETE on public.knowledge_documents to heddle_app;
grant INSERT, SELECT, UPDATE, DELETE on public.knowledge_chunks to heddle_app;
grant INSERT, SELECT on public.model_calls to heddle_app;
grant INSERT, SELECT, UPDATE on public.usage_days to heddle_app;
grant SELECT on public.usage_days to heddle_operator;
grant INSERT, SELECT, UPDATE, DELETE on public.model_prices to heddle_operator;
grant SELECT on public.run_counts to heddle_app;
grant SELECT on public.run_times to heddle_app;
grant SELECT on public.step_days to heddle_app;
grant INSERT, SELECT, UPDATE, DELETE on public.budgets to heddle_app;
grant INSERT, SELECT, UPDATE, DELETE on public.alert_rules to heddle_app;
grant INSERT, SELECT, UPDATE, DELETE on public.alert_messages to heddle_app;
grant SELECT on public.run_labels to heddle_app;
grant INSERT, SELECT, UPDATE, DELETE on public.imported_services to heddle_app;
grant INSERT, SELECT, UPDATE, DELETE on public.imported_actions to heddle_app;
grant INSERT, SELECT, UPDATE, DELETE on public.assistant_turns to heddle_app;
grant INSERT, SELECT, UPDATE, DELETE on public.assistant_steps to heddle_app;
grant INSERT, SELECT, UPDATE, DELETE on public.assistant_memories to heddle_app;
grant INSERT, SELECT, UPDATE, DELETE on public.suite_recordings to heddle_app;
grant INSERT, SELECT, UPDATE, DELETE on public.suite_answers to heddle_app;
grant INSERT, SELECT on public.run_logs to heddle_app;
grant INSERT, SELECT, UPDATE, DELETE on public.run_blocks to heddle_app;
grant INSERT, SELECT, UPDATE, DELETE on public.run_index_open to heddle_app;
grant SELECT, UPDATE on public.usage_charges to heddle_app;
grant INSERT, SELECT, UPDATE, DELETE on public.notification_preferences to heddle_app;
grant INSERT, SELECT, UPDATE, DELETE on public.reach_messages to heddle_app;
grant INSERT, SELECT, UPDATE, DELETE on public.service_trigger_events to heddle_app;
grant INSERT, SELECT, UPDATE, DELETE on public.service_trigger_removals to heddle_app;
grant INSERT, SELECT, UPDATE, DELETE on public.workflow_comments to heddle_app;
grant INSERT, SELECT, UPDATE, DELETE on public.conversation_reads to heddle_app;
grant INSERT, SELECT, UPDATE, DELETE on public.conversation_notes to heddle_app;
grant INSERT, SELECT, UPDATE, DELETE on public.canned_answers to heddle_app;
grant INSERT, SELECT, UPDATE, DELETE on public.opening_hours to heddle_app;
grant INSERT, SELECT, UPDATE, DELETE on public.oauth_grants to heddle_app;
grant INSERT, SELECT, UPDATE, DELETE on public.oauth_tokens to heddle_app;
grant INSERT, SELECT, UPDATE, DELETE on public.channel_identities to heddle_app;
grant INSERT, SELECT, UPDATE, DELETE on public.channel_link_codes to heddle_app;
grant SELECT on public.service_errors to heddle_app;
grant SELECT on public.journal to heddle_app;
grant SELECT on public.journal to heddle_engine;
grant SELECT on public.journal to heddle_operator;
grant INSERT, SELECT, UPDATE, DELETE on public.saved_views to heddle_app;
grant SELECT on public.workspace_suspensions to heddle_app;
grant INSERT, SELECT, UPDATE, DELETE on public.workspace_suspensions to heddle_operator;
grant INSERT (kind, user_id, org_id, email, held_by, name, password_hash, email_verified_at) on public.users to heddle_app;
grant SELECT (created_at, language, email_verified_at, name, user_id, org_id, held_by, kind, email) on public.users to heddle_app;
grant UPDATE (email_verified_at, name, password_hash, held_by, language) on public.users to heddle_app;
grant SELECT (name, kind, email, org_id, held_by, user_id, email_verified_at, created_at) on public.users to heddle_operator;
grant SELECT (workspace_id, execution_id, path, index, status, error, state, output, usage) on public.map_items to heddle_app;
grant execute on routine public.ensure_idempotency_days(), public.is_member(uuid), public.reaches_company(uuid), public.shares_workspace(uuid), public.identify_session(bytea,uuid), public.identify_key(bytea,uuid), public.credentials_of(uuid,text), public.identify_oidc(uuid,text,text), public.find_invitation(bytea), public.is_invited(uuid,text), public.use_operator_claim(text,bytea), public.touch_session(uuid), public.touch_key(uuid), public.deliver_event(uuid,text,text,text,jsonb,text,uuid[],uuid[]), public.append_own_feed(text,jsonb), public.read_feeds(uuid[],bigint[],integer), public.prune_feeds(timestamp with time zone,integer), public.prune_tickets(), public.redeem_ticket(bytea), public.tickets_hold(uuid[],uuid[],text[],uuid[]), public.hold_colleagues(uuid,uuid[]), public.pass_company_on(uuid,uuid,uuid), engine.may_touch(uuid), engine.signal(uuid,uuid,text,json), engine.cancel(uuid,uuid,text), engine.release(uuid,uuid), engine.start(uuid,uuid,json,json,integer), public.identify_webhook_token(bytea), public.identify_embed_token(bytea), public.touch_tokens(uuid[],uuid[]), public.due_schedules(integer), public.next_schedule_at(), public.definition_of_version(uuid,uuid), public.told_recently(uuid,text,text), public.watchable_executions(uuid[],uuid[],uuid[]), public.read_execution_feeds(uuid[],integer[],integer), public.forget_old(), public.forget_history(integer,integer), public.workflow_retentions(), public.due_agent_reviews(integer,integer), public.workspaces_to_recheck(integer), public.voters_of_gates(uuid,uuid[]), public.question_answerers(uuid,uuid), public.sweep_datasets(), public.workspaces_among(uuid[]), public.usage_of_execution(uuid,uuid), public.sum_of_usage(json,json), public.sweep_ledger(integer), public.due_jobs(integer,uuid[]), public.free_runs(integer,uuid[]), public.next_ledger_work_at(), public.roles_in_jobs(uuid[],uuid[],uuid[]), public.read_job_feeds(uuid[],integer[],integer), public.embed_origins(uuid,uuid), public.forget_conversations(integer,integer), public.gateway_channel_of(uuid,text), public.due_channel_deliveries(integer), public.due_channel_sends(integer), public.forget_channel_work(), public.audio_left_over(integer), public.billing_workspace_of(text,text), public.billing_parties(uuid), public.billing_due(timestamp with time zone,integer), public.billing_stale(text,timestamp with time zone,integer), public.plan_has_subscribers(uuid), public.workspace_quotas(uuid,text,text), public.add_usage(uuid[],text[],text[],bigint[]), public.clock_was_put_back(text), public.accept_clock(text), public.planned_schedules(uuid,uuid,integer), public.planned_jobs(uuid,uuid,integer), engine.shown_waits(uuid,uuid,text,integer,jsonb), public.principal_of_version(uuid,uuid), public.authority_of_webhook(uuid,uuid,uuid), public.candidates_of_gates(uuid,uuid[]), public.hold_plan(uuid), public.find_sign_up(bytea), public.use_sign_up(bytea), public.prune_sign_ups(), public.find_account_token(bytea,text), public.find_factor_challenge(bytea), public.has_second_factor(uuid), public.factor_satisfied(uuid), public.identify_session_factor(bytea,uuid), public.identify_key_factor(bytea,uuid), public.prune_usage(), public.usage_of(uuid,text[]), public.mail_standing(uuid,text[]), engine.brief_waits(jsonb), public.edits_template(uuid,uuid,uuid), public.credential_role(uuid,uuid,uuid), public.note_credentials_used(uuid[],uuid[],timestamp with time zone[]), public.take_credential_authorization(bytea,uuid), public.any_model_stored(), public.identify_inbound_token(bytea,uuid), public.forget_events(integer), public.watch_workspace(uuid,boolean), public.event_visible(uuid,uuid,text,uuid,uuid), public.fan_out_events(integer,integer,integer), public.claim_deliveries(uuid,integer,integer,integer,uuid[],uuid[]), public.stop_destinations(), public.forget_deliveries(integer,integer), public.find_passkey(uuid,text), public.identify_scoped_key(bytea,uuid), engine.shown_flow(uuid,uuid,text,boolean,jsonb), public.schedules_due_now(integer), public.schedules_ahead(uuid,uuid,integer), public.bulks_under_way(integer), public.files_left_over(integer), public.file_reaches(uuid,uuid,uuid), public.due_service_triggers(integer), public.forget_trials(integer), public.claim_replay(integer), public.forget_replays(integer,integer), public.knowledge_role(uuid,uuid,uuid), public.claim_knowledge_document(uuid,uuid[],integer), public.search_knowledge(uuid,uuid,regconfig,text,integer), public.append_own_feed_entries(text,uuid[]), public.price_of(text[]), public.model_usage_of(uuid,uuid), public.forget_usage(integer,integer,integer), public.add_run_figures(json,json,json), public.forget_run_figures(integer,integer,integer), public.due_alert_rules(integer), public.take_alert_messages(integer), public.forget_run_labels(uuid,integer), public.due_assistant_turns(integer), public.forget_assistant_memories(integer,integer), public.template_colleagues(uuid,uuid), public.take_deliveries(uuid,integer,integer,integer,integer,uuid[]), public.forget_run_logs(uuid,integer), engine.signal_and_claim(uuid,uuid,uuid,text,json), public.covered_runs(), public.cover_runs(uuid,uuid), public.lease_run_sweep(integer), public.add_run_blocks(uuid[],uuid[],uuid[],integer[],integer[],bytea[],bytea[],bytea[],bytea[]), public.close_indexed_runs(uuid[],uuid[]), public.runs_between(uuid,uuid,uuid,uuid,integer), public.newest_run_before(uuid), public.ended_open_runs(timestamp with time zone,integer), public.workspaces_with_small_blocks(integer,integer), public.forget_run_blocks(uuid,integer), public.unreported_charges(text,integer), public.note_mail_leaves(boolean), public.settle_matters(uuid,text[],text,uuid), public.take_reach_messages(integer,integer), public.forget_reach_messages(integer), public.due_webhook_triggers(integer), public.due_trigger_removals(integer), public.register_oauth_client(uuid,text,text[],integer), public.find_oauth_client(uuid), public.use_oauth_token(bytea,text), public.revoke_oauth_token(bytea,uuid), public.forget_oauth_tokens(integer), public.open_runs_to_index(integer), public.add_service_errors(json,integer), public.forget_service_errors(uuid,integer), public.text_grams(uuid,text), public.find_in_conversations(text,integer), public.due_trigger_work(text,integer,integer,integer,jsonb), public.unpacked(integer,timestamp with time zone,text,json), public.journal_page(uuid,uuid,integer,integer), public.due_channel_deliveries(integer,uuid[]), public.due_channel_sends(integer,uuid[]), engine.shown_flow(uuid,uuid,text,boolean,jsonb,timestamp with time zone), engine.cancel_workflow(uuid,uuid,text,text), public.workflows_deleted_since(interval) to heddle_app;
grant execute on routine public.deliver_event(uuid,text,text,text,jsonb,text,uuid[],uuid[]), engine.may_touch(uuid), engine.signal(uuid,uuid,text,json), engine.cancel(uuid,uuid,text), engine.release(uuid,uuid), engine.start(uuid,uuid,json,json,integer), engine.claimed(), engine.grant_slots(integer), engine.bury(uuid,boolean), engine.wake_due(integer), engine.first_id(timestamp with time zone), engine.ensure_partitions(integer), engine.drop_week(timestamp with time zone,integer), engine.weeks(), engine.unaccounted(), engine.end_workspace(uuid), engine.sweep_workspace(uuid,integer), public.definition_of_version(uuid,uuid), engine.forget_ended(uuid,uuid,integer,integer), public.workspace_quotas(uuid,text,text), public.add_usage(uuid[],text[],text[],bigint[]), engine.wake_some(uuid,integer,integer), engine.check_waits(integer), engine.waits_are_right(uuid[],uuid[]), engine.release_orphans(), engine.shown_waits(uuid,uuid,text,integer,jsonb), engine.claim_some(uuid,uuid,integer,integer,integer,integer), engine.acquit(uuid), engine.suspicion(integer), engine.claim_more(uuid,uuid,integer,integer,integer,integer), engine.claim(uuid,uuid,integer,integer,integer,integer), engine.seal_week(timestamp with time zone), engine.confirm_seal(timestamp with time zone), engine.forget_some(text,integer,boolean,integer), engine.clear_week(timestamp with time zone,integer), engine.detach_week(timestamp with time zone,integer,integer), engine.remove_week(timestamp with time zone), engine.remove_before(), engine.open_week(text), public.principal_of_version(uuid,uuid), public.authority_of_webhook(uuid,uuid,uuid), engine.brief_waits(jsonb), engine.flow_wait(text,timestamp with time zone), engine.start_wait(timestamp with time zone), engine.shown_flow(uuid,uuid,text,boolean,jsonb), engine.set_flow(uuid,uuid,jsonb), engine.flow_cancel(uuid,uuid,text,text,uuid), engine.flow_permit(uuid,uuid,integer,double precision,uuid), engine.flow_when_full(uuid,uuid,uuid,uuid,jsonb), engine.flow_grant(uuid,uuid,uuid,jsonb,integer), engine.flow_decide(uuid,uuid,integer), engine.claim_placed(uuid,uuid,integer,integer,integer,integer), engine.flow_came(uuid,uuid,integer), engine.signal_and_claim(uuid,uuid,uuid,text,json), public.text_grams(uuid,text), public.unpacked(integer,timestamp with time zone,text,json), public.journal_page(uuid,uuid,integer,integer), engine.flow_grant(uuid,uuid,uuid,jsonb,integer,text[]), engine.shown_flow(uuid,uuid,text,boolean,jsonb,timestamp with time zone), engine.queue_time(timestamp with time zone,smallint) to heddle_engine;
grant execute on routine engine.unaccounted(), public.plan_has_subscribers(uuid), engine.shown_waits(uuid,uuid,text,integer,jsonb), engine.brief_waits(jsonb), engine.shown_flow(uuid,uuid,text,boolean,jsonb), public.unpacked(integer,timestamp with time zone,text,json), public.journal_page(uuid,uuid,integer,integer), engine.shown_flow(uuid,uuid,text,boolean,jsonb,timestamp with time zone) to heddle_operator;
grant execute on routine public.app_workspace(), public.app_user(), public.app_bound() to public;
comment on column public.usage_counters.period is 'In UTC: the month (2026-01), the day (2026-01-31) or the minute (2026-01-31T09:30); empty for what is there';
insert into event_generation (generation) values (1);
insert into mail_leaves (leaves) values (false);
insert into run_index_state (covered_from, covered_to) values (engine.first_id(now()), engine.first_id(now()));
select engine.ensure_partitions(1);
select ensure_idempotency_days();
