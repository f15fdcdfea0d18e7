// Printed from openapi.json by `npm run generate`. Do not edit.

export type Problem = { type: string; title: string; status: number; detail: string; code: "malformed" | "too_deep" | "duplicate_key" | "unauthenticated" | "bad_credentials" | "bad_second_factor" | "sign_in_failed" | "visitor_token_required" | "bad_signature" | "card_declined" | "forbidden" | "insufficient_scope" | "foreign_origin" | "origin_refused" | "address_reserved" | "email_unverified" | "proof_required" | "second_factor_required" | "sign_up_closed" | "token_disabled" | "channel_disabled" | "quota_exceeded" | "not_found" | "route_not_found" | "unknown_host" | "no_subscription" | "method_not_allowed" | "request_timeout" | "conflict" | "already_exists" | "last_owner" | "not_empty" | "idempotency_key_reused" | "no_active_version" | "activation_blocked" | "activation_required" | "runs_live" | "not_waiting" | "not_retryable" | "already_finished" | "already_voted" | "payload_changed" | "gate_closed" | "dataset_unbound" | "dataset_changed" | "workflow_deleted" | "connection_revoked" | "credential_unusable" | "job_running" | "form_closed" | "payment_method_required" | "method_in_use" | "subscription_exists" | "plan_in_use" | "precondition_failed" | "too_large" | "answer_too_large" | "address_too_long" | "unsupported_media_type" | "invalid" | "read_only" | "unknown_reference" | "probe_failed" | "bad_record" | "audio_unreadable" | "audio_silent" | "audio_too_long" | "rate_limited" | "queue_full" | "headers_too_large" | "internal" | "run_failed" | "provider_not_configured" | "provider_unavailable" | "unavailable" | "overloaded" | "respond_timeout" | "storage_full"; request_id: string; report?: Record<string, unknown>; errors?: Array<{ path: string; message: string }> }

export type Definition = { inputs?: Record<string, unknown>; nodes: Array<Node>; edges?: Array<Edge>; output?: Value; layout?: Record<string, unknown> }

export type Graph = { nodes: Array<Node>; edges?: Array<Edge>; output?: Value }

export type Node = { id: string; type: string; args?: Record<string, unknown>; [field: string]: unknown }

export type Edge = { id?: string; from: { node: string; port?: string }; to: string; when?: { $cel: string } }

export type Value = Record<string, unknown> | Array<unknown> | string | number | boolean | null

export type Expression = Reference | CelExpression

export type Reference = Record<string, string>

export type CelExpression = { $cel: string }

export type SignedIn = { user: User; workspace: OwnWorkspace | null; session: Session }

export type User = { user_id: string; email: string; name: string; email_verified_at: string | null; created_at: string }

export type OwnWorkspace = { workspace_id: string; company_id: string; name: string; role: "owner" | "member" | "viewer" | "guest" }

export type Session = { session_id: string; current: boolean; user_agent: string | null; address: string | null; created_at: string; last_seen_at: string; expires_at: string }

export type CheckMail = { state: "check_mail" }

export type AuthOptions = { sign_up: "open" | "invite"; mail: boolean }

export type SecondFactorRequired = { second_factor_required: true; challenge: string; methods: Array<"totp" | "passkey" | "recovery_code">; passkey: Record<string, unknown> | null; expires_at: string }

export type BegunPasskeySignIn = { options: Record<string, unknown>; expires_at: string }

export type SecondFactors = { totp: boolean; passkeys: Array<Passkey>; recovery_codes_left: number }

export type Passkey = { passkey_id: string; name: string; created_at: string; last_used_at: string | null }

export type BegunTotp = { secret: string; otpauth_url: string }

export type RecoveryCodes = { recovery_codes: Array<string> | null }

export type BegunPasskey = { challenge: string; options: Record<string, unknown>; expires_at: string }

export type AddedPasskey = { passkey_id: string; name: string; created_at: string; last_used_at: string | null; recovery_codes: Array<string> | null }

export type Me = { user: User; workspaces: Array<OwnWorkspace>; selected_workspace_id: string | null; operator: boolean }

export type ApiKey = { key_id: string; name: string; prefix: string; workspace_id: string | null; scopes: Array<Scope> | null; created_at: string; last_used_at: string | null; expires_at: string | null }

export type Scope = "*:read" | "*:run" | "*:write" | "*:admin" | "alerts:read" | "alerts:run" | "alerts:write" | "alerts:admin" | "approvals:read" | "approvals:run" | "approvals:write" | "approvals:admin" | "budgets:read" | "budgets:run" | "budgets:write" | "budgets:admin" | "threads:read" | "threads:run" | "threads:write" | "threads:admin" | "companies:read" | "companies:run" | "companies:write" | "companies:admin" | "connections:read" | "connections:run" | "connections:write" | "connections:admin" | "credentials:read" | "credentials:run" | "credentials:write" | "credentials:admin" | "datasets:read" | "datasets:run" | "datasets:write" | "datasets:admin" | "jobs:read" | "jobs:run" | "jobs:write" | "jobs:admin" | "event-destinations:read" | "event-destinations:run" | "event-destinations:write" | "event-destinations:admin" | "events:read" | "events:run" | "events:write" | "events:admin" | "executions:read" | "executions:run" | "executions:write" | "executions:admin" | "files:read" | "files:run" | "files:write" | "files:admin" | "channels:read" | "channels:run" | "channels:write" | "channels:admin" | "identity:read" | "identity:run" | "identity:write" | "identity:admin" | "insights:read" | "insights:run" | "insights:write" | "insights:admin" | "knowledge:read" | "knowledge:run" | "knowledge:write" | "knowledge:admin" | "mcp:read" | "mcp:run" | "mcp:write" | "mcp:admin" | "notifications:read" | "notifications:run" | "notifications:write" | "notifications:admin" | "operations:read" | "operations:run" | "operations:write" | "operations:admin" | "payments:read" | "payments:run" | "payments:write" | "payments:admin" | "presence:read" | "presence:run" | "presence:write" | "presence:admin" | "replays:read" | "replays:run" | "replays:write" | "replays:admin" | "service-accounts:read" | "service-accounts:run" | "service-accounts:write" | "service-accounts:admin" | "services:read" | "services:run" | "services:write" | "services:admin" | "subscriptions:read" | "subscriptions:run" | "subscriptions:write" | "subscriptions:admin" | "suites:read" | "suites:run" | "suites:write" | "suites:admin" | "teams:read" | "teams:run" | "teams:write" | "teams:admin" | "templates:read" | "templates:run" | "templates:write" | "templates:admin" | "variables:read" | "variables:run" | "variables:write" | "variables:admin" | "webhooks:read" | "webhooks:run" | "webhooks:write" | "webhooks:admin" | "workflows:read" | "workflows:run" | "workflows:write" | "workflows:admin" | "workspaces:read" | "workspaces:run" | "workspaces:write" | "workspaces:admin"

export type CreatedApiKey = { key_id: string; name: string; prefix: string; workspace_id: string | null; scopes: Array<Scope> | null; created_at: string; last_used_at: string | null; expires_at: string | null; key: string }

export type DeleteApiKeys = { key_ids?: Array<string>; all_others?: true }

export type ApiKeysDeleted = { deleted: number }

export type InvitationPreview = { email: string; role: string; workspace_name: string; invited_by: string | null; resource_kind: "thread" | "job" | null; expires_at: string }

export type AcceptedInvitation = { user: User; workspace: OwnWorkspace; session: Session | null; resource: { kind: "thread" | "job"; id: string } | null }

export type OidcProviders = { items: Array<{ provider: string; title: string; start_url: string; linked: boolean }> }

export type Workspace = { workspace_id: string; company_id: string; name: string; role: "owner" | "member" | "viewer" | "guest"; settings: { require_second_factor: boolean }; created_at: string; updated_at: string }

export type WorkspaceMember = { user_id: string; kind: "person" | "service_account"; email: string; name: string; role: "owner" | "member" | "viewer" | "guest"; joined_at: string }

export type Invitation = { invitation_id: string; email: string; role: string; state: "added" | "invited"; link?: string; expires_at?: string }

export type PendingInvitation = { invitation_id: string; email: string; role: string; resource_kind: "thread" | "job" | null; invited_by: string | null; created_at: string; expires_at: string }

export type AuditEntry = { entry_id: string; workspace_id: string | null; actor_id: string | null; actor_kind: string; actor_name?: string | null; workspace_name?: string | null; action: string; subject: string | null; data: Record<string, unknown>; address: string | null; at: string }

export type ServiceAccount = { user_id: string; name: string; description: string | null; role: "member" | "viewer"; disabled: boolean; created_by: string | null; created_at: string; updated_at: string; last_used_at: string | null }

export type ListedCompany = { company_id: string; name: string; owner_id: string; metadata: Record<string, unknown>; created_at: string; updated_at: string; owner_name?: string }

export type Company = { company_id: string; name: string; owner_id: string; metadata: Record<string, unknown>; created_at: string; updated_at: string }

export type ListedTeam = { team_id: string; workspace_id: string; owner_id: string; name: string; slug: string; description: string | null; member_count: number; created_at: string; updated_at: string; workspace_name?: string }

export type Team = { team_id: string; workspace_id: string; owner_id: string; name: string; slug: string; description: string | null; member_count: number; members: Array<TeamMember>; created_at: string; updated_at: string }

export type TeamMember = { user_id: string; name: string; added_at: string }

export type ListedSubscription = { subscription_id: string; workspace_id: string; name: string; status: "active" | "paused" | "ended"; quantity: number; starts_at: string; ends_at: string | null; metadata: Record<string, unknown>; created_at: string; updated_at: string; workspace_name?: string }

export type Subscription = { subscription_id: string; workspace_id: string; name: string; status: "active" | "paused" | "ended"; quantity: number; starts_at: string; ends_at: string | null; metadata: Record<string, unknown>; created_at: string; updated_at: string }

export type Notification = { notification_id: string; user_id: string; workspace_id: string | null; kind: string; title: string; body: string | null; data: Record<string, unknown>; link: string | null; read: boolean; read_at: string | null; created_at: string }

export type MarkRead = { notification_ids?: Array<string>; up_to?: string; workspace_id?: string }

export type NotificationsChanged = { changed: number; more: boolean }

export type DeleteNotifications = { notification_ids?: Array<string>; all_read?: true; workspace_id?: string }

export type Ticket = { ticket: string; url: string; expires_at: string }

export type ListedPresence = { presence_id: string; workspace_id: string; user_id: string; status: "online" | "away" | "busy" | "offline"; context: string | Record<string, unknown> | null; last_seen_at: string; expires_at: string; name?: string; workspace_name?: string }

export type Presence = { presence_id: string; workspace_id: string; user_id: string; status: "online" | "away" | "busy" | "offline"; context: string | Record<string, unknown> | null; last_seen_at: string; expires_at: string }

export type PresentColleague = { presence_id: string; workspace_id: string; user_id: string; status: "online" | "away" | "busy" | "offline"; context: string | Record<string, unknown> | null; last_seen_at: string; expires_at: string; name: string }

export type Workflow = { workflow_id: string; kind: "user" | "system"; name: string; description: string | null; owner_id: string | null; members: Array<{ user_id: string; role: "editor" | "member" | "viewer" }>; teams: Array<{ team_id: string; role: "editor" | "member" | "viewer" }>; role: "owner" | "editor" | "member" | "viewer" | null; active_version_id: string | null; activation_required: boolean; paused_at: string | null; pending_owner_id: string | null; tags: Array<string>; activity?: { last_run: { execution_id: string; status: string; created_at: string; finished_at: string | null } | null; next_run_at: string | null; starts: Array<"schedule" | "webhook" | "embed" | "event" | "service" | "template" | "job"> } | null; settings: { timeout_s?: number; max_concurrency?: number; concurrency?: { key?: { $cel: string }; limit: number; count: "running" | "live"; when_full: "queue" | "skip" | "cancel_oldest" }; debounce?: { key?: { $cel: string }; window_s: number }; rate?: { limit: number; per_s: number; key?: { $cel: string } }; dedupe?: { key: { $cel: string }; window_s: number }; retention_days?: number; error_workflow_id?: string; finally_grace_s?: number; mcp_tool?: boolean; on_event?: Array<string>; activation?: { suite_id?: string; min_score?: number; replay?: { limit: number; max_different: number } } }; definition?: Definition; created_at: string | null; updated_at: string | null }

export type WorkflowMade = { workflow_id: string; kind: "user" | "system"; name: string; description: string | null; owner_id: string | null; members: Array<{ user_id: string; role: "editor" | "member" | "viewer" }>; teams: Array<{ team_id: string; role: "editor" | "member" | "viewer" }>; role: "owner" | "editor" | "member" | "viewer" | null; active_version_id: string | null; activation_required: boolean; paused_at: string | null; pending_owner_id: string | null; tags: Array<string>; activity?: { last_run: { execution_id: string; status: string; created_at: string; finished_at: string | null } | null; next_run_at: string | null; starts: Array<"schedule" | "webhook" | "embed" | "event" | "service" | "template" | "job"> } | null; settings: { timeout_s?: number; max_concurrency?: number; concurrency?: { key?: { $cel: string }; limit: number; count: "running" | "live"; when_full: "queue" | "skip" | "cancel_oldest" }; debounce?: { key?: { $cel: string }; window_s: number }; rate?: { limit: number; per_s: number; key?: { $cel: string } }; dedupe?: { key: { $cel: string }; window_s: number }; retention_days?: number; error_workflow_id?: string; finally_grace_s?: number; mcp_tool?: boolean; on_event?: Array<string>; activation?: { suite_id?: string; min_score?: number; replay?: { limit: number; max_different: number } } }; definition?: Definition; created_at: string | null; updated_at: string | null; warnings?: Array<{ path: string; message: string }> }

export type DeleteWorkflows = { workflow_ids: Array<string>; cancel_runs?: boolean }

export type WorkflowsDeleted = { items: Array<{ workflow_id: string; done: boolean; problem: BulkRefusal | null }> }

export type BulkRefusal = { code: string; detail: string }

export type Registry = { tools: Array<{ type: string; title: string; description: string; args_schema: Record<string, unknown>; output_schema: Record<string, unknown>; ports: Array<string>; available: boolean; unavailable_reason: string | null }>; capabilities: Array<{ type: string; title: string; description: string; args_schema: Record<string, unknown>; output_schema: Record<string, unknown>; ports: Array<string>; available: boolean; unavailable_reason: string | null }>; agents: Array<{ type: string; title: string; description: string; args_schema: Record<string, unknown>; output_schema: Record<string, unknown>; ports: Array<string>; available: boolean; unavailable_reason: string | null }> }

export type Palette = { groups: Array<{ title: string; nodes: Array<{ type: string; title: string; description: string; args_schema: Record<string, unknown>; output_schema: Record<string, unknown>; ports: Array<string>; available: boolean; unavailable_reason: string | null }> }> }

export type WorkflowExport = { workflow_id: string; version_id: string; sha256: string; document: { heddle?: string; name: string; description?: string | null; settings?: Record<string, unknown>; definition: Record<string, unknown> }; names: Array<{ path: string; kind: "credential" | "connection" | "dataset" | "knowledge" | "channel" | "workflow" | "person" | "team"; name: string }>; warnings?: Array<{ path: string; message: string }> }

export type WorkflowImportRequest = { document: { heddle?: string; name: string; description?: string | null; settings?: Record<string, unknown>; definition: Record<string, unknown> }; workflow_id?: string; note?: string | null; activate?: boolean; expected_version_id?: string | null; dry_run?: boolean }

export type WorkflowImport = { workflow_id: string | null; version_id: string | null; created: boolean; changed: boolean; bound: Array<{ path: string; kind: "credential" | "connection" | "dataset" | "knowledge" | "channel" | "workflow" | "person" | "team"; name: string; id: string }>; warnings?: Array<{ path: string; message: string }> }

export type WorkflowUse = { workflows: Array<{ workflow_id: string; name: string }>; error_of: Array<{ workflow_id: string; name: string }>; jobs: Array<{ job_id: string; name: string }>; templates: Array<{ template_id: string; name: string }>; suites: Array<{ suite_id: string; name: string }> }

export type WorkflowVersion = { version_id: string; workflow_id: string; number: number; active: boolean; definition: Definition; sha256: string; note: string | null; created_by: string | null; activated_by: string | null; created_at: string }

export type WorkflowVersionMade = { version_id: string; workflow_id: string; number: number; active: boolean; definition: Definition; sha256: string; note: string | null; created_by: string | null; activated_by: string | null; created_at: string; warnings?: Array<{ path: string; message: string }> }

export type WorkflowVersionDiff = { from: string; to: string }

export type WorkflowTransfer = { workflow_id: string; workflow_name: string; from_user_id: string; to_user_id: string; state: "pending" | "accepted" | "declined"; created_at: string }

export type WebhookToken = { token_id: string; workflow_id: string; name: string | null; prefix: string; enabled: boolean; expires_at: string | null; last_used_at: string | null; created_at: string; auth: { kind: "bearer" | "url" | "basic" | "hmac"; username?: string; preset?: "github" | "stripe" | "slack" | "shopify" | "standard" | "custom"; header?: string; algorithm?: "sha1" | "sha256" | "sha512"; encoding?: "hex" | "base64"; prefix?: string; tolerance_s?: number }; url: string | null; secret_set: boolean; methods: Array<"GET" | "POST" | "PUT" | "PATCH" | "DELETE">; input: "body" | "request"; respond: "accepted" | "result" | "node"; respond_timeout_s: number; challenge: "slack" | "meta" | "microsoft" | "dropbox" | null; dedupe: { from: string | { $cel: string }; window_s: number } | null }

export type WebhookTokenMade = { token_id: string; workflow_id: string; name: string | null; prefix: string; enabled: boolean; expires_at: string | null; last_used_at: string | null; created_at: string; auth: { kind: "bearer" | "url" | "basic" | "hmac"; username?: string; preset?: "github" | "stripe" | "slack" | "shopify" | "standard" | "custom"; header?: string; algorithm?: "sha1" | "sha256" | "sha512"; encoding?: "hex" | "base64"; prefix?: string; tolerance_s?: number }; url: string | null; secret_set: boolean; methods: Array<"GET" | "POST" | "PUT" | "PATCH" | "DELETE">; input: "body" | "request"; respond: "accepted" | "result" | "node"; respond_timeout_s: number; challenge: "slack" | "meta" | "microsoft" | "dropbox" | null; dedupe: { from: string | { $cel: string }; window_s: number } | null; token: string; secret?: string }

export type EmbedToken = { token_id: string; workflow_id: string | null; template_id: string | null; name: string | null; prefix: string; allowed_origins: Array<string>; require_origin: boolean; enabled: boolean; last_used_at: string | null; created_at: string }

export type EmbedTokenMade = { token_id: string; workflow_id: string | null; template_id: string | null; name: string | null; prefix: string; allowed_origins: Array<string>; require_origin: boolean; enabled: boolean; last_used_at: string | null; created_at: string; token: string }

export type EmbedTokenShown = { token_id: string; workflow_id: string | null; template_id: string | null; name: string | null; prefix: string; allowed_origins: Array<string>; require_origin: boolean; enabled: boolean; last_used_at: string | null; created_at: string; token: string | null }

export type Schedule = { workflow_id: string; cron: string; timezone: string; input: unknown; next_run_at: string | null; last_run_at: string | null; last_execution_id: string | null; last_error: string | null }

export type WorkflowSchedule = { schedule_id: string; workflow_id: string; cron: string | null; every_s: number | null; at: string | null; timezone: string; input: unknown; overlap: "allow" | "skip" | "queue" | "cancel"; catch_up: "none" | "last" | "all"; enabled: boolean; next_run_at: string | null; next_runs: Array<string>; last_run_at: string | null; last_execution_id: string | null; last_error: string | null; created_at: string; updated_at: string }

export type Backfilled = { runs: Array<{ execution_id: string; scheduled_at: string }> }

export type Execution = { execution_id: string; workflow_id: string | null; version_id: string | null; status: "queued" | "running" | "waiting" | "succeeded" | "failed" | "cancelled" | "timed_out"; error: { code: string; message: string } | null; waiting_for: Array<{ kind: "clarification" | "approval" | "event" | "timer" | "slot" | "execution" | "platform"; error?: string; execution_id?: string; reason?: string; since: string; until?: string }>; trigger: { kind: "user" | "webhook" | "embed" | "schedule" | "job" | "channel" | "workflow" | "event" | "system" | "trial"; id: string | null }; started_by: string | null; retry_of: string | null; trial: boolean; priority: number; tags: Array<string>; metadata: Record<string, unknown>; scheduled_at: string | null; created_at: string; started_at: string | null; finished_at: string | null; input: unknown; results: unknown; nodes: Array<{ node_id: string; status: "pending" | "running" | "waiting" | "succeeded" | "failed" | "skipped"; attempt: number; started_at: string | null; finished_at: string | null; output?: unknown; error?: { code: string; message: string }; port?: string; usage?: ModelUsage }>; usage: ModelUsage; initiated_by: Array<{ kind: "person" | "webhook_token" | "embed_token" | "template" | "channel" | "schedule" | "job" | "suite" | "execution" | "error_workflow" | "retry" | "event" | "service_account"; id: string | null; user_id: string | null }>; principal_id: string | null; parent_execution_id: string | null; seq: number }

export type ModelUsage = { input_tokens: number; output_tokens: number; cost: number | null; calls: number; unpriced_calls: number }

export type ExecutionAccepted = { execution_id: string; status: "queued" | "running" | "waiting" | "succeeded" | "failed" | "cancelled" | "timed_out" }

export type BatchAccepted = { runs: Array<{ execution_id: string | null; status: "queued" | "running" | "waiting" | "succeeded" | "failed" | "cancelled" | "timed_out" | null; error: { code: string; message: string } | null }>; started: number; refused: number }

export type ExecutionSummary = { execution_id: string; workflow_id: string | null; version_id: string | null; status: "queued" | "running" | "waiting" | "succeeded" | "failed" | "cancelled" | "timed_out"; error: { code: string; message: string } | null; waiting_for: Array<{ kind: "clarification" | "approval" | "event" | "timer" | "slot" | "execution" | "platform"; error?: string; execution_id?: string; reason?: string; since: string; until?: string }>; trigger: { kind: "user" | "webhook" | "embed" | "schedule" | "job" | "channel" | "workflow" | "event" | "system" | "trial"; id: string | null }; started_by: string | null; retry_of: string | null; trial: boolean; priority: number; tags: Array<string>; metadata: Record<string, unknown>; scheduled_at: string | null; created_at: string; started_at: string | null; finished_at: string | null }

export type ExecutionNodeDetail = { node_id: string; type: string; status: "pending" | "running" | "waiting" | "succeeded" | "failed" | "skipped"; input: Record<string, unknown> | null; input_error: string | null; attempts: Array<{ attempt: number; status: "running" | "waiting" | "succeeded" | "failed" | "skipped" | "pending"; started_at: string | null; finished_at: string | null; output?: unknown; error?: { code: string; message: string }; next_attempt_at?: string; usage?: unknown }>; items: Array<{ index: number; status: "running" | "waiting" | "succeeded" | "failed"; output: unknown; collected?: unknown; error: { code: string; message: string } | null; usage: unknown }>; next_cursor: string | null; body: { index: number; last: number; nodes: Array<{ node_id: string; status: "pending" | "running" | "waiting" | "succeeded" | "failed" | "skipped"; attempt: number; started_at: string | null; finished_at: string | null; error?: { code: string; message: string }; port?: string }> } | null }

export type ExecutionEvent = { seq: number; type: string; at: string; data: Record<string, unknown> }

export type LogEntry = { at: string; level: "debug" | "info" | "warn" | "error"; node_id: string; message: string }

export type ExecutionBulk = { bulk_id: string; action: "cancel" | "retry"; filter: { execution_ids?: Array<string>; workflow_id?: string; status?: Array<string>; trigger?: Array<string>; error_code?: string; tag?: string; from?: string; to?: string }; status: "running" | "done"; total: number; done: number; refused: number; last_error: string | null; created_at: string; finished_at: string | null }

export type NewReplay = { filter?: { status?: Array<"succeeded" | "failed" | "timed_out" | "cancelled">; trigger?: Array<"user" | "webhook" | "embed" | "schedule" | "job" | "channel" | "workflow" | "event" | "system" | "trial">; version_id?: string; from?: string; to?: string }; execution_ids?: Array<string>; limit?: number }

export type Replay = { replay_id: string; workflow_id: string; version_id: string; status: "queued" | "running" | "succeeded" | "failed" | "cancelled"; limit: number; total: number; done: number; same: number; different: number; unreplayable: number; mocked: number; usage: { original: Record<string, unknown>; candidate: Record<string, unknown> }; duration_ms: { original: number; candidate: number }; error: { code: string; message: string } | null; requested_by: string | null; created_at: string; started_at: string | null; finished_at: string | null }

export type ReplayReport = { replay_id: string; workflow_id: string; version_id: string; status: "queued" | "running" | "succeeded" | "failed" | "cancelled"; limit: number; total: number; done: number; same: number; different: number; unreplayable: number; mocked: number; usage: { original: Record<string, unknown>; candidate: Record<string, unknown> }; duration_ms: { original: number; candidate: number }; error: { code: string; message: string } | null; requested_by: string | null; created_at: string; started_at: string | null; finished_at: string | null; items: Array<ReplayResult>; next_cursor: string | null }

export type ReplayResult = { position: number; execution_id: string; outcome: "same" | "different" | "unreplayable"; reason: { code: string; message: string } | null; difference: { status: { before: string | null; after: string | null } | null; error: { before: Record<string, unknown> | null; after: Record<string, unknown> | null } | null; results: Array<{ path: string; before?: unknown; after?: unknown }>; path: Array<{ node_id: string; before: string | null; after: string | null }>; sent: Array<{ node_id: string; type: string; before: Record<string, unknown> | null; after: Record<string, unknown> | null }>; asked: Array<{ node_id: string; type: string; before: Record<string, unknown> | null; after: Record<string, unknown> | null }>; unanswered: Array<string> } | null; mocked: Array<{ node_id: string; type: string; reason: "arguments_differ" | "not_recorded" }> }

export type TryRequest = { definition: Definition; input?: Record<string, unknown>; node_id?: string; until?: string; pinned?: Record<string, unknown>; effects?: "live" | "pinned" | "mock"; dry_run?: boolean }

export type TryAnswer = { execution_id: string | null; status: "queued" | "running" | "waiting" | "succeeded" | "failed" | "cancelled" | "timed_out" | null; plan: Array<TrialNode>; execution: Execution | null }

export type TrialNode = { node_id: string; type: string; mode: "live" | "pinned" | "mocked"; source: "given" | "recorded" | "schema" | null; acts: boolean }

export type Trial = { execution_id: string; workflow_id: string; effects: "live" | "pinned" | "mock"; plan: Array<TrialNode>; definition: Definition; created_by: string | null; created_at: string }

export type SimpleExecution = { execution_id: string; status: "queued" | "running" | "waiting" | "succeeded" | "failed" | "cancelled" | "timed_out"; results: unknown; error: { code: string; message: string } | null; question: { clarification_id: string; question: string; schema: unknown } | null; started_at: string | null; finished_at: string | null }

export type WebhookAccepted = { execution_id: string; status: "queued" | "running" | "waiting" | "succeeded" | "failed" | "cancelled" | "timed_out"; status_url: string }

export type WebhookDelivery = { delivery_id: string; received_at: string; method: string; status: number; code: string | null; reason: string | null; content_type: string | null; bytes: number; headers: Record<string, unknown>; execution_id: string | null }

export type WebhookReceived = { execution_id: string; status: "queued" | "running" | "waiting" | "succeeded" | "failed" | "cancelled" | "timed_out" }

export type EventTaken = { event_id: string; woken: number; unfit: number; started: Array<string>; not_started: Array<{ workflow_id: string; reason: string }>; kept_until: string | null; duplicate: boolean }

export type CallbackTaken = { status: "received" | "kept" }

export type Approval = { request_id: string; execution_id: string; workflow_id: string | null; version_id: string | null; node_id: string; node_path: string; title: string; payload: unknown; payload_sha256: string; policy: Record<string, unknown>; status: "open" | "approved" | "rejected" | "expired" | "cancelled"; outcome: "approved" | "rejected" | null; votes: Array<ApprovalVote>; outstanding: Array<{ kind: "human" | "agent"; id: string; name: string }>; excluded: Array<{ user_id: string; name: string; reason: string }>; unsatisfiable: boolean; agents: Array<{ agent: string; name: string; votes: number; agreed: number }>; started_by: string | null; due_at: string | null; opened_at: string; resolved_at: string | null; editable: boolean; arguments_schema?: Record<string, unknown>; edited_by: { user_id: string; name: string } | null; edit_comment: string | null; replaces: string | null; replaced_by: string | null }

export type ApprovalVote = { vote_id: string; voter: { kind: "human" | "agent"; id: string; name: string }; decision: "approve" | "reject" | "abstain"; comment: string | null; rationale: string | null; confidence: number | null; evidence?: unknown; payload_sha256: string; voted_at: string }

export type ClarificationAnswered = { clarification_id: string; execution_id: string; status: "answered" }

export type Clarification = { clarification_id: string; execution_id: string; workflow_id: string | null; node_id: string; node_path: string; question: string; schema: unknown; status: "open" | "answered" | "expired" | "cancelled"; asked_at: string; due_at: string | null }

export type KeptAnswer = { clarification_id: string; execution_id: string; workflow_id: string | null; node_id: string; question: string; answer: unknown; answered_by: { id: string; name: string }; asked_at: string; answered_at: string; withdrawn_at: string | null; times_used: number }

export type AgentAgreement = { agent: string; workflow_id: string; node_id: string; votes: number; agreed: number }

export type OddsOfDay = { date: string; games: Array<{ game_id: string; home: string; away: string; starts_at: string; bookmakers: Array<{ name: string; markets: Array<{ market: string; outcomes: Array<{ name: string; price: number; point?: number }> }> }> }>; provider: string; fetched_at: string }

export type NotificationPreferences = { preferences: Array<{ kind: "approval.requested" | "approval.reminder" | "approval.escalated" | "approval.delegated" | "approval.unsatisfiable" | "clarification.asked" | "clarification.reminder" | "clarification.escalated" | "thread.handover" | "thread.visitor_wrote" | "thread.assigned" | "execution.failed" | "job.failed" | "job.paused" | "credential.needs_reconnect" | "trigger.renewal_failed" | "workflow.notify" | "workflow.transfer_offered"; title: string; app: boolean; mail: boolean; channel: boolean; is_default: boolean }>; mail: "sent" | "kept" | "unverified"; language: "en" | "de" }

export type NewNotificationPreferences = { preferences: Array<{ kind: "approval.requested" | "approval.reminder" | "approval.escalated" | "approval.delegated" | "approval.unsatisfiable" | "clarification.asked" | "clarification.reminder" | "clarification.escalated" | "thread.handover" | "thread.visitor_wrote" | "thread.assigned" | "execution.failed" | "job.failed" | "job.paused" | "credential.needs_reconnect" | "trigger.renewal_failed" | "workflow.notify" | "workflow.transfer_offered"; app: boolean; mail: boolean; channel?: boolean }>; language?: "en" | "de" }

export type ReachableChannels = { channels: Array<{ config_id: string; channel: "slack" | "telegram" | "discord"; name: string | null }> }

export type ChannelLinkCode = { text: string; expires_in_s: number }

export type ChannelIdentity = { identity_id: string; config_id: string; channel: "slack" | "telegram" | "discord"; channel_name: string | null; sender_name: string; created_at: string }

export type Interaction = { kind: "approval" | "clarification"; title: string; workspace: string; payload: unknown; payload_sha256: string; schema: unknown; status: "open" | "approved" | "rejected" | "expired" | "cancelled" | "answered"; outcome: string | null; own_answer: string | null; refusal: string | null; person: { name: string; reached_at: string }; proof: "given" | "code" | "sign_in"; due_at: string | null; expires_at: string }

export type InteractionAnswer = { decision?: "approve" | "reject" | "abstain"; comment?: string | null; response?: unknown; payload_sha256: string; code?: string }

export type InteractionCodeSent = { sent_to: string; expires_in_s: number }

export type Invoice = { invoice_id: string; number: string | null; status: "draft" | "open" | "paid" | "void" | "uncollectible"; amount_due: number; amount_paid: number; currency: string; lines: Array<{ description: string; amount: number; quantity: number; proration: boolean; period_start: string; period_end: string; meter?: "model_tokens" | "model_cost" | null }>; period_start: string; period_end: string; created_at: string; url: string | null; pdf_url: string | null }

export type UsageCharge = { meter: "model_tokens" | "model_cost"; at: string; quantity: number; amount: number; currency: string; plan_id: string; model: string; execution_id: string | null; node_path: string | null; workflow_id: string | null; user_id: string | null; invoice_id: string | null }

export type PaymentMethod = { payment_method_id: string; brand: string; last4: string; exp_month: number; exp_year: number; default: boolean; created_at: string }

export type Plan = { plan_id: string; name: string; amount: number; currency: string; interval: "month" | "year"; quotas: { runs_per_month?: number | null; members?: number | null; storage_bytes?: number | null; records?: number | null; event_destinations?: number | null; knowledge_documents?: number | null; mails_per_minute?: number | null; outside_recipients_per_day?: number | null; model_tokens_per_minute?: number | null; model_tokens_per_month?: number | null; speech_characters_per_minute?: number | null; transcription_s_per_minute?: number | null; outgoing_requests_per_minute?: number | null; cpu_s_per_minute?: number | null }; features: Array<string>; trial_days: number; usage_prices: Array<UsagePrice>; tax: { name: string; percent: number } | null; coupons?: Array<{ code: string; percent_off: number; duration: "once" | "forever"; expires_at: string | null }>; created_at: string; updated_at: string }

export type UsagePrice = { meter: "model_tokens" | "model_cost"; unit_amount: number; per: number; included: number }

export type SetupIntent = { setup_intent_id: string; client_secret: string; customer_id: string; provider: "builtin" | "stripe"; publishable_key: string | null }

export type SetupConfirmation = { status: "succeeded" | "requires_action"; payment_method?: PaymentMethod }

export type BillingSubscription = { subscription_id: string; plan_id: string; status: "trialing" | "active" | "past_due" | "cancelled"; current_period_start: string; current_period_end: string; cancel_at_period_end: boolean; created_at: string }

export type PaymentToConfirm = { status: "requires_action"; client_secret: string; publishable_key: string | null }

export type Usage = { plan_id: string | null; plan: string | null; period_start: string; period_end: string; quotas: Array<{ quota: "runs_per_month" | "members" | "storage_bytes" | "records" | "event_destinations" | "knowledge_documents"; used: number; limit: number | null }>; means: Array<{ quota: "mails_per_minute" | "outside_recipients_per_day" | "model_tokens_per_minute" | "model_tokens_per_month" | "speech_characters_per_minute" | "transcription_s_per_minute" | "outgoing_requests_per_minute" | "cpu_s_per_minute"; used: number; limit: number | null; period: "minute" | "day" | "month" }> }

export type TestClock = { now: string }

export type WebhookReceipt = { received: true }

export type EngineHealth = { queued: number; running: number; waiting: number; poison: number; poisoned: Array<{ execution_id: string; workspace_id: string; workspace_name?: string; since: string }>; oldest_queued_s: number; workers: Array<{ worker_id: string; alive: boolean; running: number; started_at: string }>; unaccounted: Array<{ execution_id: string; workspace_id: string; workspace_name?: string; status: string; why: string }> }

export type ReleasedExecution = { execution_id: string; workspace_id: string }

export type KeptMail = { mail_id: string; workspace_id: string | null; recipient: Array<string>; subject: string; body_text: string | null; created_at: string }

export type TenantWorkspace = { workspace_id: string; name: string; company_id: string; company_name: string; owners: Array<{ user_id: string; name: string; email: string }>; members: number; runs_this_month: number; storage_bytes: number; records: number; model_tokens_this_month: number; model_cost_this_month: number; trusted: boolean; suspended: boolean; suspended_at: string | null; suspension_reason: string | null; created_at: string }

export type WorkspaceTrust = { workspace_id: string; trusted: boolean }

export type WorkspaceSuspension = { workspace_id: string; suspended: boolean; reason: string | null }

export type KeyRotation = { current: string; rotation: { from: string; to: string; phase: "announced" | "sealing" | "restarting"; started_at: string; sealed: number } | null; processes: Array<{ process_id: string; keys: Array<string>; current: string; configured: string; source: string }> }

export type NewInstallationKey = { key?: string }

export type Dataset = { dataset_id: string; workspace_id: string; name: string; description: string | null; sha256: string; record_count: number; size_bytes: number; columns: Array<{ name: string; types: Array<"string" | "number" | "boolean" | "object" | "array">; nulls: number }>; created_by: string | null; created_at: string; updated_at: string }

export type NewDataset = { name: string; description?: string | null; records: Array<Record<string, unknown>> }

export type Capture = { source_id: string; name?: string; limit?: number }

export type DatasetWithRecords = { dataset_id: string; workspace_id: string; name: string; description: string | null; sha256: string; record_count: number; size_bytes: number; columns: Array<{ name: string; types: Array<"string" | "number" | "boolean" | "object" | "array">; nulls: number }>; created_by: string | null; created_at: string; updated_at: string; records: Array<Record<string, unknown>> }

export type DatasetPatch = { name?: string; description?: string | null; records?: Array<Record<string, unknown>> }

export type ConnectionList = { items: Array<Connection>; kinds: Array<{ kind: "postgres" | "redshift" | "snowflake" | "bigquery" | "databricks" | "clickhouse" | "duckdb" | "mysql" | "sqlserver"; title: string; config_schema: Record<string, unknown>; can_write: boolean; secret_fields: Array<{ name: string; title: string; required: boolean; multiline?: boolean }> }> }

export type Connection = { connection_id: string; name: string; kind: "postgres" | "redshift" | "snowflake" | "bigquery" | "databricks" | "clickhouse" | "duckdb" | "mysql" | "sqlserver"; config: Record<string, unknown>; allow_write: boolean; status: "active" | "failing" | "revoked"; problem: { step: string; message: string } | null; credential: { state: "stored" | "revoked" }; sources: Array<Source>; owner_id: string | null; checked_at: string; created_at: string; updated_at: string }

export type Source = { source_id: string; connection_id: string; name: string; table: string | null; query: string | null; cursor: string | null; created_at: string }

export type NewConnection = { name: string; kind: "postgres" | "redshift" | "snowflake" | "bigquery" | "databricks" | "clickhouse" | "duckdb" | "mysql" | "sqlserver"; config: Record<string, unknown>; secrets?: Record<string, string>; allow_write?: boolean }

export type ConnectionPatch = { name?: string; allow_write?: boolean }

export type ConnectionCredential = { secrets?: Record<string, string>; config?: Record<string, unknown> }

export type ConnectionTables = { tables: Array<{ table: string; columns: Array<{ name: string; type: string }> }>; complete: boolean }

export type TablePreview = { columns: Array<{ name: string; type: string }>; rows: Array<Record<string, unknown>> }

export type NewSource = { name: string; table?: string; query?: string; cursor?: string }

export type EnrichmentJob = { job_id: string; name: string; owner_id: string; workflow_id: string | null; definition: Definition | null; dataset_id: string | null; source_id: string | null; mapping: Record<string, unknown> | null; only_if: string | null; output: { new?: string; dataset_id?: string | null; mode: "replace" | "upsert" } | null; schedule: { cron: string; timezone: string } | null; concurrency: number; stop_on_error_rate: number | null; key: string | null; retry: JobRetry; max_cost: number | null; max_tokens: number | null; members: Array<{ user_id: string; role: "owner" | "member" | "viewer" }>; teams: Array<{ team_id: string; role: "member" | "viewer" }>; role: "owner" | "editor" | "member" | "viewer" | null; status: "idle" | "due" | "running" | "paused" | "failed"; paused_reason: "manual" | "connection_revoked" | "credential_unusable" | "workflow_deleted" | null; due_at: string | null; last_run: JobRun | null; created_at: string; updated_at: string }

export type JobRetry = { max_attempts: number; backoff_s: number; factor: number; max_backoff_s: number }

export type JobRun = { run_id: string; status: "starting" | "running" | "writing" | "succeeded" | "failed" | "cancelled"; full: boolean; retry_failed: boolean; sample: number | null; total: number; counts: LedgerCounts; failed_before: number; usage: Record<string, unknown> | null; dataset_sha256: string | null; version_id: string | null; error: { code: string; message: string } | null; started_at: string; finished_at: string | null }

export type LedgerCounts = { pending: number; running: number; succeeded: number; failed: number; skipped: number; filtered: number }

export type NewEnrichmentJob = { name: string; workflow_id?: string | null; definition?: Definition | null; dataset_id?: string | null; source_id?: string | null; mapping?: Record<string, unknown> | null; only_if?: string | { $cel: string } | null; output?: { new?: string; dataset_id?: string | null; mode?: "replace" | "upsert" } | null; schedule?: { cron: string; timezone?: string } | null; concurrency?: number | null; stop_on_error_rate?: number | null; key?: string | null; retry?: { max_attempts?: number; backoff_s?: number; factor?: number; max_backoff_s?: number } | null; max_cost?: number | null; max_tokens?: number | null; teams?: Array<{ team_id: string; role?: "member" | "viewer" }> | null }

export type EnrichmentJobPut = { name?: string; workflow_id?: string | null; definition?: Definition | null; dataset_id?: string | null; source_id?: string | null; mapping?: Record<string, unknown> | null; only_if?: string | { $cel: string } | null; output?: { new?: string; dataset_id?: string | null; mode?: "replace" | "upsert" } | null; schedule?: { cron: string; timezone?: string } | null; concurrency?: number | null; stop_on_error_rate?: number | null; key?: string | null; retry?: { max_attempts?: number; backoff_s?: number; factor?: number; max_backoff_s?: number } | null; max_cost?: number | null; max_tokens?: number | null; teams?: Array<{ team_id: string; role?: "member" | "viewer" }> | null }

export type Ledger = { run_id: string | null; total: number; counts: LedgerCounts; dataset_sha256: string | null; items?: Array<LedgerRecord>; next_cursor?: string | null }

export type LedgerRecord = { position: number; key: string | null; record_sha256: string; record: Record<string, unknown> | null; status: "pending" | "running" | "succeeded" | "failed" | "skipped" | "filtered"; attempt: number; error: { code: string; message: string } | null; execution_id: string | null; duration_ms: number | null; usage: Record<string, unknown> | null; due_at: string | null; finished_at: string | null }

export type RunJobNow = { full?: boolean; sample?: number }

export type JobMember = { user_id: string; name: string; email: string; role: "owner" | "member" | "viewer"; added_at: string }

export type ListedSuite = { suite_id: string; workflow_id: string; name: string; dataset_id: string | null; mapping: Record<string, unknown> | null; checks: Array<Record<string, unknown>>; created_by: string | null; last_run_id: string | null; created_at: string; updated_at: string; workflow_name: string; role: "owner" | "editor" | "member" | "viewer"; last_run: { run_id: string; status: "running" | "succeeded" | "failed" | "cancelled"; total: number; passed: number; pass_rate: number | null } | null }

export type Suite = { suite_id: string; workflow_id: string; name: string; dataset_id: string | null; mapping: Record<string, unknown> | null; checks: Array<Record<string, unknown>>; created_by: string | null; last_run_id: string | null; created_at: string; updated_at: string }

export type NewSuite = { name: string; checks: Array<{ kind: "equal"; expected: unknown; fields?: Array<string> } | { kind: "cel"; expression: string } | { kind: "judge"; instructions: string; expected?: unknown; model?: string }>; dataset_id?: string | null; mapping?: Record<string, unknown> | null }

export type SuitePatch = { name?: string; checks?: Array<{ kind: "equal"; expected: unknown; fields?: Array<string> } | { kind: "cel"; expression: string } | { kind: "judge"; instructions: string; expected?: unknown; model?: string }>; dataset_id?: string | null; mapping?: Record<string, unknown> | null }

export type RunSuite = { version_id?: string; effects?: "live" | "pinned" | "mock"; models?: "live" | "mock" }

export type SuiteRun = { run_id: string; suite_id: string; version_id: string; status: "running" | "succeeded" | "failed" | "cancelled"; total: number; passed: number; failed: number; errors: number; unjudged: number; pass_rate: number | null; effects: "live" | "pinned" | "mock"; models: "live" | "mock"; score: number | null; usage: Record<string, unknown>; recorded_usage: Record<string, unknown>; duration_ms: { p50: number | null; p95: number | null }; dataset_sha256: string | null; error: { code: string; message: string } | null; started_at: string; finished_at: string | null }

export type SuiteReport = { run_id: string; suite_id: string; version_id: string; status: "running" | "succeeded" | "failed" | "cancelled"; total: number; passed: number; failed: number; errors: number; unjudged: number; pass_rate: number | null; effects: "live" | "pinned" | "mock"; models: "live" | "mock"; score: number | null; usage: Record<string, unknown>; recorded_usage: Record<string, unknown>; duration_ms: { p50: number | null; p95: number | null }; dataset_sha256: string | null; error: { code: string; message: string } | null; started_at: string; finished_at: string | null; items: Array<SuiteOutcome>; next_cursor: string | null; comparison: { run_id: string; version_id: string; same_dataset: boolean; pass_rate: number | null; score: number | null; effects: "live" | "pinned" | "mock"; usage: Record<string, unknown>; recorded_usage: Record<string, unknown>; duration_ms: { p50: number | null; p95: number | null }; improved: number; regressed: number; changes: Array<{ position: number; before: "passed" | "failed" | "error" | "unjudged"; after: "passed" | "failed" | "error" | "unjudged"; regressed: boolean; score_before: number | null; score_after: number | null; case_url: string }> } | null }

export type SuiteOutcome = { position: number; outcome: "passed" | "failed" | "error" | "unjudged"; score: number | null; execution_id: string | null; actual: unknown; checks: Array<{ kind: string; passed: boolean | null; message?: string }>; duration_ms: number | null; usage: Record<string, unknown>; recorded: { answers: number; usage: Record<string, unknown>; duration_ms: number } | null; mocked: Array<{ node_id: string; type: string; reason: "arguments_differ" | "not_recorded" }> }

export type SuiteCase = { suite_id: string; position: number; run: { run_id: string; version_id: string | null; outcome: "passed" | "failed" | "error" | "unjudged"; score: number | null; execution_id: string | null; actual: unknown; checks: Array<{ kind: string; passed: boolean | null; message?: string }>; duration_ms: number | null; usage: Record<string, unknown>; recorded: { answers: number; usage: Record<string, unknown>; duration_ms: number } | null; mocked: Array<{ node_id: string; type: string; reason: "arguments_differ" | "not_recorded" }> }; compared: { run_id: string; version_id: string | null; outcome: "passed" | "failed" | "error" | "unjudged"; score: number | null; execution_id: string | null; actual: unknown; checks: Array<{ kind: string; passed: boolean | null; message?: string }>; duration_ms: number | null; usage: Record<string, unknown>; recorded: { answers: number; usage: Record<string, unknown>; duration_ms: number } | null; mocked: Array<{ node_id: string; type: string; reason: "arguments_differ" | "not_recorded" }> } | null; changes: Array<{ path: string; before?: unknown; after?: unknown }> }

export type ExtractedRequirements = { values: Record<string, unknown>; missing: Array<string>; confidence: Record<string, number>; extracted_by: string }

export type Template = { template_id: string; name: string; owner_id: string; teams: Array<{ team_id: string; role: "editor" }>; greeting: string | null; locale: string | null; instructions: string | null; workflow_ids: Array<string>; model: string | null; llm: { credential_id?: string; fallback_credential_id?: string } | null; voice: string | null; theme: Record<string, unknown>; features: { speech: boolean; transcribe: boolean; names: boolean }; allowed_origins: Array<string>; mode: "menu" | "agent"; knowledge_ids: Array<string>; tools: Array<TemplateTool>; retention_days: number | null; created_at: string; updated_at: string }

export type TemplateTool = { workflow_id: string; description?: string; arguments?: { fixed?: Record<string, unknown>; allowed?: Record<string, Array<unknown>> } } | { service: string; action: string; credential_id?: string; description?: string; arguments?: { fixed?: Record<string, unknown>; allowed?: Record<string, Array<unknown>> } } | { dataset_id: string; columns?: Array<string>; match?: Array<string>; description?: string }

export type WidgetConfig = { template_id: string; name: string; greeting: string; theme: Record<string, unknown>; features: { speech: boolean; transcribe: boolean; names: boolean }; voice: string | null; suggestions: Array<string>; takes_files: boolean; visitor_token: string }

export type ChatAnswer = { thread_id: string; messages: Array<WidgetMessage>; form?: WidgetForm; execution_id?: string; visitor_token?: string }

export type WidgetMessage = { message_id: string; role: "assistant" | "visitor" | "system"; author?: string; text: string; citations?: Array<{ n: number; title: string; url: string | null; heading: Array<string>; quote?: string }>; created_at: string }

export type WidgetForm = { form_id: string; title: string; schema: unknown; values: Record<string, unknown> }

export type FormActionAnswer = { thread_id: string; messages: Array<WidgetMessage>; form?: WidgetForm; execution_id?: string }

export type WidgetHistory = { items: Array<WidgetMessage>; next_cursor: string | null; colleague: string | null; form?: WidgetForm }

export type AssistantMemory = { summary: string | null }

export type WidgetTranscript = { text: string; language: string; duration_s: number }

export type FileValue = { $file: { file_id: string; name: string; media_type: string; bytes: number; sha256: string } }

export type WorkflowWidgetConfig = { workflow_id: string; name: string; description: string | null; greeting: string; theme: Record<string, unknown>; features: { speech: boolean; transcribe: boolean; names: boolean }; voice: string | null; suggestions: Array<string>; takes_files: boolean; visitor_token: string }

export type Gathered = { conversation_id: string; reply: string; values: Record<string, unknown>; missing: Array<string>; complete: boolean; execution_id?: string; visitor_token?: string }

export type ChatThread = { thread_id: string; kind: "thread" | "embed" | "channel" | "gather"; title: string; channel: string | null; template_id: string | null; role: "owner" | "member" | "viewer"; taken_over_by: { user_id: string; name: string } | null; handover_at: string | null; handover_reason: string | null; created_by: string | null; created_at: string; updated_at: string }

export type ChatThreadWithUsage = { thread_id: string; kind: "thread" | "embed" | "channel" | "gather"; title: string; channel: string | null; template_id: string | null; role: "owner" | "member" | "viewer"; taken_over_by: { user_id: string; name: string } | null; handover_at: string | null; handover_reason: string | null; created_by: string | null; created_at: string; updated_at: string; usage: { input_tokens: number; output_tokens: number; cost: number | null; calls: number; unpriced_calls: number } }

export type ThreadMessages = { items: Array<ThreadMessage>; next_cursor: string | null; form: { form_id: string; title: string; schema: unknown; values: Record<string, unknown> } | null }

export type ThreadMessage = { message_id: string; role: "user" | "assistant" | "visitor" | "system"; author: { user_id: string | null; name: string | null } | null; text: string; audio_id: string | null; execution_id: string | null; citations?: Array<{ n: number; knowledge_id: string; document_id: string; title: string; url: string | null; heading: Array<string>; from: number; to: number; quote?: string }>; created_at: string }

export type PostedThreadMessage = { message_id: string; role: "user" | "assistant" | "visitor" | "system"; author: { user_id: string | null; name: string | null } | null; text: string; audio_id: string | null; execution_id: string | null; citations?: Array<{ n: number; knowledge_id: string; document_id: string; title: string; url: string | null; heading: Array<string>; from: number; to: number; quote?: string }>; created_at: string; answers: Array<ThreadMessage>; form: { form_id: string; title: string; schema: unknown; values: Record<string, unknown> } | null }

export type ThreadInvitation = { invitation_id: string; email: string; role: string; state: "added" | "invited"; link?: string; expires_at?: string }

export type ThreadMember = { user_id: string; name: string; email: string; role: "owner" | "member" | "viewer"; created_at: string }

export type Playback = { url: string; expires_at: string }

export type Transcript = { text: string; language: string; duration_s: number }

export type Conversation = { thread_id: string; kind: "embed" | "channel" | "gather"; title: string; channel: string | null; template_id: string | null; role: "member" | "viewer"; state: "open" | "closed"; assignee: { user_id: string; name: string } | null; taken_over_by: { user_id: string; name: string } | null; handover_at: string | null; handover_reason: string | null; waiting_since: string | null; unread_count: number; last_message: { message_id: string; role: "user" | "assistant" | "visitor" | "system"; author_name: string | null; text: string; created_at: string } | null; visit: { page?: { url: string; title?: string }; locale?: string; time_zone?: string } | null; created_at: string; updated_at: string }

export type ConversationPatch = { state?: "open" | "closed"; assignee_id?: string | null }

export type ConversationNote = { note_id: string; thread_id: string; author_id: string | null; text: string; created_at: string; updated_at: string }

export type ConversationNoteInput = { text: string }

export type CannedAnswer = { answer_id: string; name: string; text: string; created_by: string | null; created_at: string; updated_at: string }

export type NewCannedAnswer = { name: string; text: string }

export type CannedAnswerPatch = { name?: string; text?: string }

export type OpeningHours = { hours: { time_zone: string; days: { mon?: Array<{ from: string; to: string }>; tue?: Array<{ from: string; to: string }>; wed?: Array<{ from: string; to: string }>; thu?: Array<{ from: string; to: string }>; fri?: Array<{ from: string; to: string }>; sat?: Array<{ from: string; to: string }>; sun?: Array<{ from: string; to: string }> }; closed_on?: Array<string> } | null; updated_at: string | null }

export type OpeningHoursInput = { hours: { time_zone: string; days: { mon?: Array<{ from: string; to: string }>; tue?: Array<{ from: string; to: string }>; wed?: Array<{ from: string; to: string }>; thu?: Array<{ from: string; to: string }>; fri?: Array<{ from: string; to: string }>; sat?: Array<{ from: string; to: string }>; sun?: Array<{ from: string; to: string }> }; closed_on?: Array<string> } | null }

export type ChannelConfig = { config_id: string; channel: "slack" | "telegram" | "whatsapp" | "discord" | "email" | "webhook"; external_id: string; template_id: string | null; name: string | null; enabled: boolean; credentials_set: Array<string>; problem: string | null; inbound_url: string; created_at: string; updated_at: string }

export type ChannelTestOutcome = { state: "sent" | "failed"; problem: string | null }

export type Credential = { credential_id: string; name: string; kind: "bearer" | "header" | "query" | "basic" | "oauth2_client" | "oauth2_code" | "aws_sigv4" | "tls_client" | "llm" | "service" | "piece"; service: string | null; hosts: Array<string>; config: Record<string, unknown>; state: "ready" | "needs_authorization" | "needs_reconnect" | "revoked"; problem: string | null; owner_id: string | null; shared: Array<{ kind: "user" | "team" | "workspace"; id?: string; role: "use" | "edit" }>; role: "owner" | "edit" | "use" | "see" | "manage"; expires_at: string | null; last_used_at: string | null; last_test: CredentialTest | null; created_at: string; updated_at: string }

export type CredentialTest = { ok: boolean; message: string; tested_at: string }

export type NewCredential = { name: string; kind?: "bearer" | "header" | "query" | "basic" | "oauth2_client" | "oauth2_code" | "aws_sigv4" | "tls_client" | "llm" | "service" | "piece"; service?: string; hosts?: Array<string>; config?: Record<string, unknown>; secrets?: Record<string, string>; shared?: Array<{ kind: "user"; id: string; role: "use" | "edit" } | { kind: "team"; id: string; role: "use" | "edit" } | { kind: "workspace"; role: "use" | "edit" }>; expires_at?: string | null }

export type CredentialPatch = { name?: string; hosts?: Array<string>; config?: Record<string, unknown>; secrets?: Record<string, string>; shared?: Array<{ kind: "user"; id: string; role: "use" | "edit" } | { kind: "team"; id: string; role: "use" | "edit" } | { kind: "workspace"; role: "use" | "edit" }>; owner_id?: string; expires_at?: string | null }

export type CredentialSecret = { secrets: Record<string, string>; expires_at?: string | null }

export type CredentialTestRequest = { url?: string }

export type CredentialUsage = { workflows: Array<{ workflow_id: string; name: string; versions: Array<{ version_id: string; number: number; active: boolean }> }>; jobs: Array<{ job_id: string; name: string }>; templates: Array<{ template_id: string; name: string }> }

export type CredentialAuthorization = { url: string }

export type WorkspaceModel = { credential_id: string | null; fallback_credential_id: string | null; source: "workspace" | "installation" | "none"; embedding_model: string | null }

export type NewWorkspaceModel = { credential_id: string | null; fallback_credential_id?: string | null }

export type CredentialKinds = { kinds: Array<{ kind: "bearer" | "header" | "query" | "basic" | "oauth2_client" | "oauth2_code" | "aws_sigv4" | "tls_client" | "llm" | "service" | "piece"; title: string; description: string; config_schema: Record<string, unknown>; secret_schema: Record<string, unknown> }>; services: Array<{ service: string; title: string; kind: "bearer" | "header" | "query" | "basic" | "oauth2_client" | "oauth2_code" | "aws_sigv4" | "tls_client" | "llm" | "service" | "piece"; hosts: Array<string>; config: Record<string, unknown>; secret_schema: Record<string, unknown>; help: string | null }> }

export type ServiceInList = { service: string; title: string; description: string; keywords: Array<string>; credentials: Array<string>; credential_required: boolean; reference: string; source: "built_in" | "openapi" | "mcp" | "piece" | "mcp_program"; actions: Array<{ name: string; title: string; description: string; effect: "read" | "idempotent" | "write" }>; triggers: Array<{ name: string; title: string; description: string; kind: "polling" | "webhook" }> }

export type ServiceDetail = { service: string; title: string; description: string; keywords: Array<string>; credentials: Array<string>; credential_required: boolean; reference: string; source: "built_in" | "openapi" | "mcp" | "piece" | "mcp_program"; base_url: string | null; auth: Array<ServiceAuth>; version: string | null; package: ServicePackage | null; updated_at: string | null; actions: Array<{ name: string; title: string; description: string; effect: "read" | "idempotent" | "write"; args_schema: Record<string, unknown>; paginated: boolean }>; triggers: Array<{ name: string; title: string; description: string; kind: "polling" | "webhook"; args_schema: Record<string, unknown> }>; options: Record<string, { args: Array<string> }> }

export type ServiceAuth = { kind: string; title: string; config: Record<string, unknown>; fields?: Array<{ name: string; title: string; description: string; secret: boolean; required: boolean; default?: unknown; options?: Array<{ label: string; value: unknown }> }>; can_test?: boolean }

export type ServicePackage = { name: string; version: string; integrity: string; holds_secret: boolean; args?: Array<string>; environment?: Record<string, string> }

export type ServiceImportRequest = { name?: string; title?: string; document?: string | Record<string, unknown>; url?: string; mcp_url?: string; piece?: string; piece_version?: string; mcp_package?: string; mcp_version?: string; mcp_args?: Array<string>; mcp_environment?: Record<string, string>; credential_id?: string; base_url?: string; replace?: boolean }

export type ServiceImport = { service: string; title: string; description: string; version: string; base_url: string | null; auth: Array<ServiceAuth>; credential_required: boolean; actions: Array<{ name: string; title: string; description: string; effect: "read" | "idempotent" | "write"; method: string; path: string }>; triggers: Array<{ name: string; title: string; description: string; kind: "polling" | "webhook" }>; package: ServicePackage | null; notes: Array<{ path: string; message: string }>; skipped: number; changes: { added: Array<string>; removed: Array<string>; changed: Array<string> } | null }

export type ServiceOptionsRequest = { options: string; args?: Record<string, unknown>; credential_id?: string }

export type ServiceOptions = { options: Array<{ value: unknown; label: string }>; more: boolean; args_schema?: Record<string, unknown> }

export type ServiceError = { error_id: string; action: string; execution_id: string; workflow_id: string | null; node_id: string; code: string; message: string; failures: number; failed_at: string }

export type ServiceTestRequest = { credential_id: string }

export type ServiceTest = { ok: boolean | null; message: string }

export type ServiceTrigger = { trigger_id: string; workflow_id: string; service: string; trigger: string; kind: "polling" | "webhook"; registered: boolean; args: Record<string, unknown>; credential_id: string | null; every_s: number; enabled: boolean; next_poll_at: string; last_polled_at: string | null; last_execution_id: string | null; last_error: string | null; expires_at: string | null; created_at: string }

export type NewServiceTrigger = { service: string; trigger: string; args?: Record<string, unknown>; credential_id?: string; every_s?: number }

export type ServiceTriggerPatch = { enabled: boolean }

export type EventDestination = { destination_id: string; url: string; event_types: Array<string>; workflow_id: string | null; credential_id: string | null; owner_id: string | null; enabled: boolean; off_reason: "manual" | "owner_left" | "no_access" | "failing" | "gone" | "too_many" | null; off_message: string | null; off_at: string | null; pending: number; failures: number; last_success_at: string | null; last_failure_at: string | null; previous_secret_until: string | null; created_at: string; updated_at: string }

export type NewEventDestination = { url: string; event_types: Array<"execution.*" | "approval.*" | "clarification.*" | "job.*" | "alert.*" | "budget.*" | "credential.*" | "trigger.*" | "audit.*" | "execution.started" | "execution.waiting" | "execution.resumed" | "execution.succeeded" | "execution.failed" | "execution.cancelled" | "execution.timed_out" | "approval.opened" | "approval.edited" | "approval.voted" | "approval.resolved" | "clarification.asked" | "clarification.answered" | "job.started" | "job.finished" | "job.paused" | "alert.firing" | "alert.resolved" | "budget.warning" | "budget.exceeded" | "credential.needs_reconnect" | "trigger.renewal_failed" | "audit.recorded">; workflow_id?: string | null; credential_id?: string | null }

export type CreatedEventDestination = { destination_id: string; url: string; event_types: Array<string>; workflow_id: string | null; credential_id: string | null; owner_id: string | null; enabled: boolean; off_reason: "manual" | "owner_left" | "no_access" | "failing" | "gone" | "too_many" | null; off_message: string | null; off_at: string | null; pending: number; failures: number; last_success_at: string | null; last_failure_at: string | null; previous_secret_until: string | null; created_at: string; updated_at: string; secret: string }

export type EventDestinationPatch = { url?: string; event_types?: Array<"execution.*" | "approval.*" | "clarification.*" | "job.*" | "alert.*" | "budget.*" | "credential.*" | "trigger.*" | "audit.*" | "execution.started" | "execution.waiting" | "execution.resumed" | "execution.succeeded" | "execution.failed" | "execution.cancelled" | "execution.timed_out" | "approval.opened" | "approval.edited" | "approval.voted" | "approval.resolved" | "clarification.asked" | "clarification.answered" | "job.started" | "job.finished" | "job.paused" | "alert.firing" | "alert.resolved" | "budget.warning" | "budget.exceeded" | "credential.needs_reconnect" | "trigger.renewal_failed" | "audit.recorded">; workflow_id?: string | null; credential_id?: string | null; enabled?: boolean }

export type RotatedEventDestinationSecret = { secret: string; previous_secret_until: string }

export type EventDestinationTest = { ok: boolean; answer_status: number | null; answer_text: string | null; message: string; duration_ms: number; tested_at: string }

export type EventDelivery = { delivery_id: string; destination_id: string; type: string; event_at: string; execution_id: string | null; seq: number | null; status: "pending" | "delivered" | "failed"; attempts: number; next_attempt_at: string | null; last_attempt_at: string | null; answer_status: number | null; answer_text: string | null; problem: string | null; duration_ms: number | null; created_at: string }

export type Variable = { name: string; value: unknown; description: string | null; created_by: string | null; created_at: string; updated_at: string }

export type NewVariable = { value: unknown; description?: string | null }

export type SavedViews = { views: Array<{ list: "runs" | "workflows"; name: string; filters: Record<string, string> }> }

export type NewSavedViews = { views: Array<{ list: "runs" | "workflows"; name: string; filters: Record<string, string> }> }

export type WorkflowComment = { comment_id: string; workflow_id: string; node_id: string | null; body: string; mentions: Array<string>; author_id: string | null; resolved_at: string | null; resolved_by: string | null; created_at: string; updated_at: string }

export type NewWorkflowComment = { body: string; node_id?: string | null; mentions?: Array<string> }

export type WorkflowCommentPatch = { body: string }

export type StateEntry = { key: string; value: unknown; version: number; bytes: number; execution_id: string | null; updated_at: string }

export type StateCleared = { deleted: number }

export type Receipt = { heddle: "receipt/1"; execution: Record<string, unknown>; content: Record<string, unknown>; gates: Array<Record<string, unknown>>; events: Array<{ seq: number; type: string; at: string; data_sha256: string; link: string }>; statement: { format: "receipt/1"; issued_at: string; issuer: string; execution_sha256: string; content_sha256: string; gates_sha256: Array<string>; events: number; journal: string; key_id: string }; public_key: string; signature: string }

export type ReceiptKey = { key_id: string; algorithm: "ed25519"; public_key: string }

export type FileLink = { url: string; expires_at: string }

export type Knowledge = { knowledge_id: string; name: string; description: string | null; language: "german" | "english" | "french" | "spanish" | "norwegian" | "simple"; embeddings: { credential_id: string | null; model: string } | null; owner_id: string | null; shared: Array<{ kind: "user" | "team" | "workspace"; id?: string; role: "use" | "edit" }>; role: "owner" | "edit" | "use" | "manage"; document_count: number; waiting_count: number; bytes: number; created_at: string; updated_at: string }

export type KnowledgePassages = { passages: Array<KnowledgePassage>; ranked_by: "full_text" | "hybrid" }

export type KnowledgePassage = { document_id: string; document_name: string; url: string | null; position: number; from: number; to: number; heading: Array<string>; text: string; highlights: Array<Array<number>>; score: number }

export type KnowledgeDocument = { document_id: string; knowledge_id: string; name: string; kind: "text" | "file" | "dataset" | "url"; source: Record<string, unknown>; root_id: string | null; status: "pending" | "indexing" | "ready" | "failed"; error: { code: string; message: string } | null; bytes: number; chunk_count: number; created_by: string | null; created_at: string; updated_at: string }

export type DocumentText = { text: string; from: number; to: number; total: number }

export type McpMessage = { jsonrpc: "2.0"; id?: string | number; method?: string; params?: Record<string, unknown> }

export type McpReply = { jsonrpc: "2.0"; id: string | number | null; result?: Record<string, unknown>; error?: { code: number; message: string } }

export type ProtectedResourceMetadata = { resource: string; resource_name: string; authorization_servers: Array<string>; scopes_supported: Array<string>; bearer_methods_supported: Array<string> }

export type AuthorizationServerMetadata = { issuer: string; authorization_endpoint: string; token_endpoint: string; registration_endpoint: string; revocation_endpoint: string; response_types_supported: Array<string>; grant_types_supported: Array<string>; code_challenge_methods_supported: Array<string>; token_endpoint_auth_methods_supported: Array<string>; revocation_endpoint_auth_methods_supported: Array<string>; scopes_supported: Array<string>; authorization_response_iss_parameter_supported: boolean }

export type OAuthClientMetadata = { redirect_uris: Array<string>; client_name?: string }

export type OAuthClient = { client_id: string; client_id_issued_at: number; client_name: string; redirect_uris: Array<string>; grant_types: Array<string>; response_types: Array<string>; token_endpoint_auth_method: "none"; scope: string }

export type OAuthError = { error: string; error_description: string }

export type OAuthTokens = { access_token: string; token_type: "Bearer"; expires_in: number; refresh_token: string; scope: string }

export type AuthorizationRequest = { client_id: string; client_name: string; redirect_to: string; workspace_id: string; workflows: Array<{ workflow_id: string; name: string }>; already_allowed: boolean }

export type AuthorizationDecision = { client_id: string; redirect_uri: string; response_type: string; code_challenge: string; code_challenge_method: string; state?: string; scope?: string; resource?: string; decision: "allow" | "deny" }

export type OAuthGrant = { grant_id: string; client_name: string; created_at: string; last_used_at: string | null }

export type RunReport = { from: string; to: string; bucket: "hour" | "day" | null; group_by: "workflow" | "trigger" | "error" | null; items: Array<{ at: string | null; workflow_id?: string | null; trigger?: string; error_code?: string | null; name: string | null; total: number; succeeded: number; failed: number; cancelled: number; timed_out: number; duration_ms: { p50: number; p95: number; p99: number } | null; waiting_for_people_ms: { p50: number; p95: number; p99: number } | null }>; total: { total: number; succeeded: number; failed: number; cancelled: number; timed_out: number; duration_ms: { p50: number; p95: number; p99: number } | null; waiting_for_people_ms: { p50: number; p95: number; p99: number } | null } }

export type StepReport = { from: string; to: string; items: Array<{ workflow_id: string; name: string | null; node_id: string; type: string; runs: number; failed: number; mean_ms: number; max_ms: number; total_ms: number }> }

export type UsageReport = { from: string; to: string; group_by: "workflow" | "model" | "person" | "day" | "credential"; currency: string; items: Array<{ workflow_id?: string | null; model?: string; user_id?: string | null; day?: string; credential_id?: string | null; name: string | null; calls: number; unpriced_calls: number; input_tokens: number; output_tokens: number; cost: number }>; total: { calls: number; unpriced_calls: number; input_tokens: number; output_tokens: number; cost: number } }

export type ModelPrices = { currency: string; prices: Array<{ model: string; input: number; output: number }>; shipped: Array<{ model: string; input: number; output: number }>; shipped_as_of: string; updated_at: string | null }

export type NewModelPrices = { prices: Array<{ model: string; input: number; output: number }> }

export type Budgets = { budgets: Array<Budget> }

export type Budget = { scope: string; limit: number; per: "day" | "month"; hard: boolean; name: string | null; spent: number; state: "ok" | "warning" | "exceeded"; resets_at: string }

export type NewBudgets = { budgets: Array<{ scope: string; limit: number; per: "day" | "month"; hard?: boolean }> }

export type AlertRule = { rule_id: string; name: string; kind: "failure_rate" | "duration" | "queue_age" | "silence" | "budget"; workflow_id: string | null; threshold: number; window_s: number; min_runs: number; people: Array<string>; mail: boolean; channel: { config_id: string; to: string } | null; enabled: boolean; silenced_until: string | null; state: "ok" | "firing"; since: string; value: number | null; checked_at: string | null; created_by: string | null; created_at: string; updated_at: string }

export type NewAlertRule = { name: string; kind: "failure_rate" | "duration" | "queue_age" | "silence" | "budget"; workflow_id?: string | null; threshold: number; window_s?: number; min_runs?: number; people?: Array<string>; mail?: boolean; channel?: { config_id: string; to: string } | null; enabled?: boolean }

export type AlertRulePatch = { name?: string; threshold?: number; window_s?: number; min_runs?: number; people?: Array<string>; mail?: boolean; channel?: { config_id: string; to: string } | null; enabled?: boolean; silenced_until?: string | null }
