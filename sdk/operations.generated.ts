// Printed from openapi.json by `npm run generate`. Do not edit.

import type {
  AcceptedInvitation,
  AddedPasskey,
  AgentAgreement,
  AlertRule,
  AlertRulePatch,
  ApiKey,
  ApiKeysDeleted,
  Approval,
  ApprovalVote,
  AssistantMemory,
  AuditEntry,
  AuthOptions,
  AuthorizationDecision,
  AuthorizationRequest,
  AuthorizationServerMetadata,
  Backfilled,
  BatchAccepted,
  BegunPasskey,
  BegunPasskeySignIn,
  BegunTotp,
  BillingSubscription,
  Budgets,
  CallbackTaken,
  CannedAnswer,
  CannedAnswerPatch,
  Capture,
  ChannelConfig,
  ChannelIdentity,
  ChannelLinkCode,
  ChannelTestOutcome,
  ChatAnswer,
  ChatThread,
  ChatThreadWithUsage,
  CheckMail,
  Clarification,
  ClarificationAnswered,
  Company,
  Connection,
  ConnectionCredential,
  ConnectionList,
  ConnectionPatch,
  ConnectionTables,
  Conversation,
  ConversationNote,
  ConversationNoteInput,
  ConversationPatch,
  CreatedApiKey,
  CreatedEventDestination,
  Credential,
  CredentialAuthorization,
  CredentialKinds,
  CredentialPatch,
  CredentialSecret,
  CredentialTest,
  CredentialTestRequest,
  CredentialUsage,
  Dataset,
  DatasetPatch,
  DatasetWithRecords,
  Definition,
  DeleteApiKeys,
  DeleteNotifications,
  DeleteWorkflows,
  DocumentText,
  EmbedToken,
  EmbedTokenMade,
  EmbedTokenShown,
  EngineHealth,
  EnrichmentJob,
  EnrichmentJobPut,
  EventDelivery,
  EventDestination,
  EventDestinationPatch,
  EventDestinationTest,
  EventTaken,
  Execution,
  ExecutionAccepted,
  ExecutionBulk,
  ExecutionEvent,
  ExecutionNodeDetail,
  ExecutionSummary,
  ExtractedRequirements,
  FileLink,
  FileValue,
  FormActionAnswer,
  Gathered,
  Interaction,
  InteractionAnswer,
  InteractionCodeSent,
  Invitation,
  InvitationPreview,
  Invoice,
  JobMember,
  JobRun,
  KeptAnswer,
  KeptMail,
  KeyRotation,
  Knowledge,
  KnowledgeDocument,
  KnowledgePassages,
  Ledger,
  ListedCompany,
  ListedPresence,
  ListedSubscription,
  ListedSuite,
  ListedTeam,
  LogEntry,
  MarkRead,
  McpMessage,
  McpReply,
  Me,
  ModelPrices,
  NewAlertRule,
  NewBudgets,
  NewCannedAnswer,
  NewConnection,
  NewCredential,
  NewDataset,
  NewEnrichmentJob,
  NewEventDestination,
  NewInstallationKey,
  NewModelPrices,
  NewNotificationPreferences,
  NewReplay,
  NewSavedViews,
  NewServiceTrigger,
  NewSource,
  NewSuite,
  NewVariable,
  NewWorkflowComment,
  NewWorkspaceModel,
  Notification,
  NotificationPreferences,
  NotificationsChanged,
  OAuthClient,
  OAuthClientMetadata,
  OAuthGrant,
  OAuthTokens,
  OddsOfDay,
  OidcProviders,
  OpeningHours,
  OpeningHoursInput,
  Palette,
  PaymentMethod,
  PaymentToConfirm,
  PendingInvitation,
  Plan,
  Playback,
  PostedThreadMessage,
  Presence,
  PresentColleague,
  ProtectedResourceMetadata,
  ReachableChannels,
  Receipt,
  ReceiptKey,
  RecoveryCodes,
  Registry,
  ReleasedExecution,
  Replay,
  ReplayReport,
  RotatedEventDestinationSecret,
  RunJobNow,
  RunReport,
  RunSuite,
  SavedViews,
  Schedule,
  Scope,
  SecondFactorRequired,
  SecondFactors,
  ServiceAccount,
  ServiceDetail,
  ServiceError,
  ServiceImport,
  ServiceImportRequest,
  ServiceInList,
  ServiceOptions,
  ServiceOptionsRequest,
  ServiceTest,
  ServiceTestRequest,
  ServiceTrigger,
  ServiceTriggerPatch,
  Session,
  SetupConfirmation,
  SetupIntent,
  SignedIn,
  SimpleExecution,
  Source,
  StateCleared,
  StateEntry,
  StepReport,
  Subscription,
  Suite,
  SuiteCase,
  SuitePatch,
  SuiteReport,
  SuiteRun,
  TablePreview,
  Team,
  Template,
  TemplateTool,
  TenantWorkspace,
  TestClock,
  ThreadInvitation,
  ThreadMember,
  ThreadMessages,
  Ticket,
  Transcript,
  Trial,
  TryAnswer,
  TryRequest,
  Usage,
  UsageCharge,
  UsageReport,
  Variable,
  WebhookAccepted,
  WebhookDelivery,
  WebhookReceipt,
  WebhookToken,
  WebhookTokenMade,
  WidgetConfig,
  WidgetHistory,
  WidgetTranscript,
  Workflow,
  WorkflowComment,
  WorkflowCommentPatch,
  WorkflowExport,
  WorkflowImport,
  WorkflowImportRequest,
  WorkflowMade,
  WorkflowSchedule,
  WorkflowTransfer,
  WorkflowUse,
  WorkflowVersion,
  WorkflowVersionDiff,
  WorkflowVersionMade,
  WorkflowWidgetConfig,
  WorkflowsDeleted,
  Workspace,
  WorkspaceMember,
  WorkspaceModel,
  WorkspaceSuspension,
  WorkspaceTrust,
} from './types.generated.ts'

export type Operations = {
  /** Create an account with its own company and workspace, and sign in */
  signUp: { input: { email: string; password: string; name: string; workspace_name?: string; claim_token?: string }; answer: SignedIn | CheckMail; required: true }
  /** Whether sign-up is open, and whether the service sends mails */
  getAuthOptions: { input: Record<string, never>; answer: AuthOptions; required: false }
  /** Create the account of a sign-up, with the token from the mail and the password of the sign-up */
  confirmSignUp: { input: { token: string; password: string }; answer: SignedIn; required: true }
  /** Send the caller a mail with a link that verifies their address */
  sendVerification: { input: Record<string, never>; answer: CheckMail; required: false }
  /** Confirm an e-mail address with the token from the mail; this does not sign in */
  confirmEmail: { input: { token: string }; answer: undefined; required: true }
  /** Send a mail with a link that replaces the password */
  forgotPassword: { input: { email: string }; answer: CheckMail; required: true }
  /** Replace the password with the token from the mail; every session ends */
  resetPassword: { input: { token: string; password: string }; answer: undefined; required: true }
  /** The second step of a sign-in: a code, a recovery code or a passkey */
  finishSignIn: { input: { challenge: string; code?: string; recovery_code?: string; passkey?: Record<string, unknown> }; answer: SignedIn; required: true }
  /** The factors that a challenge accepts; for pages that have only the challenge */
  describeSecondFactor: { input: { challenge: string }; answer: SecondFactorRequired; required: true }
  /** Start to sign in with only a passkey */
  beginPasskeySignIn: { input: Record<string, never>; answer: BegunPasskeySignIn; required: false }
  /** Sign in with only a passkey */
  finishPasskeySignIn: { input: { passkey: Record<string, unknown> }; answer: SignedIn; required: true }
  /** The caller's second factors */
  getSecondFactors: { input: Record<string, never>; answer: SecondFactors; required: false }
  /** Start to set up an authenticator app; it is active after a code was confirmed */
  beginTotp: { input: { current_password?: string }; answer: BegunTotp; required: false }
  /** Confirm the authenticator app with its first code; the first factor gives recovery codes */
  confirmTotp: { input: { code: string }; answer: RecoveryCodes; required: true }
  /** Remove the authenticator app; removing the last factor also deletes the recovery codes */
  removeTotp: { input: { current_password?: string }; answer: undefined; required: false }
  /** Ten new recovery codes in place of the old ones; shown once */
  renewRecoveryCodes: { input: { current_password?: string }; answer: RecoveryCodes; required: false }
  /** Start to add a passkey */
  beginPasskey: { input: { current_password?: string }; answer: BegunPasskey; required: false }
  /** Add the passkey that the browser made; the first factor gives recovery codes */
  addPasskey: { input: { challenge: string; name: string; response: Record<string, unknown> }; answer: AddedPasskey; required: true }
  /** Remove a passkey */
  removePasskey: { input: { passkey_id: string } & { current_password?: string }; answer: undefined; required: true }
  /** Sign in; the previous session of the browser ends */
  signIn: { input: { email: string; password: string }; answer: SignedIn | SecondFactorRequired; required: true }
  /** End this session */
  signOut: { input: Record<string, never>; answer: undefined; required: false }
  /** Who is calling, and where */
  getMe: { input: Record<string, never>; answer: Me; required: false }
  /** Change the password; every other session ends */
  changePassword: { input: { current_password: string; new_password: string }; answer: undefined; required: true }
  /** The caller's sessions */
  listSessions: { input: { limit?: number; cursor?: string; q?: string; sort?: "created_at" | "-created_at" | "last_seen_at" | "-last_seen_at"; created_after?: string; created_before?: string }; answer: { items: Array<Session>; next_cursor: string | null }; required: false }
  /** End all the caller's sessions, or all but this one */
  endSessions: { input: { keep_current?: "true" | "false" }; answer: undefined; required: false }
  /** End one session */
  endSession: { input: { session_id: string }; answer: undefined; required: true }
  /** The caller's API keys */
  listApiKeys: { input: { limit?: number; cursor?: string; q?: string; sort?: "created_at" | "-created_at" | "name" | "-name" | "last_used_at" | "-last_used_at" | "expires_at" | "-expires_at"; created_after?: string; created_before?: string }; answer: { items: Array<ApiKey>; next_cursor: string | null }; required: false }
  /** Create an API key, for all of the caller’s workspaces or for one; `key` is shown only once */
  createApiKey: { input: { name: string; workspace_id?: string | null; scopes?: Array<Scope> | null; expires_at?: string | null }; answer: CreatedApiKey; required: true }
  /** Delete several of the caller's API keys, or all others; they stop working at once */
  deleteApiKeys: { input: DeleteApiKeys; answer: ApiKeysDeleted; required: true }
  /** One of the caller's API keys */
  getApiKey: { input: { key_id: string }; answer: ApiKey; required: true }
  /** Delete an API key */
  deleteApiKey: { input: { key_id: string }; answer: undefined; required: true }
  /** What an invitation is for */
  previewInvitation: { input: { token: string }; answer: InvitationPreview; required: true }
  /** Accept an invitation, signed in or with a new account */
  acceptInvitation: { input: { token: string } & { name?: string; password?: string }; answer: AcceptedInvitation; required: true }
  /** OpenID providers to sign in with */
  listOidcProviders: { input: Record<string, never>; answer: OidcProviders; required: false }
  /** Send the browser to the provider (302) */
  startOidc: { input: { provider: string; return_to?: string }; answer: undefined; required: true }
  /** The callback to which the provider redirects the browser (302); works once, in the same browser */
  finishOidc: { input: { provider: string; state?: string }; answer: undefined; required: true }
  /** Start to link a provider to the account; open `url` in the same browser */
  linkOidc: { input: { provider: string } & { return_to?: string }; answer: { url: string }; required: true }
  /** Unlink a provider from the account */
  unlinkOidc: { input: { provider: string }; answer: undefined; required: true }
  /** The caller's workspaces, with the role held in each */
  listWorkspaces: { input: { limit?: number; cursor?: string; q?: string; sort?: "created_at" | "-created_at" | "updated_at" | "-updated_at" | "name" | "-name"; created_after?: string; created_before?: string; role?: string; company_id?: string }; answer: { items: Array<Workspace>; next_cursor: string | null }; required: false }
  /** Create a workspace, in the named company or in a new one; the caller becomes its owner */
  createWorkspace: { input: { name: string; company_id?: string }; answer: Workspace; required: true }
  /** One workspace */
  getWorkspace: { input: { workspace_id: string }; answer: Workspace; required: true }
  /** Rename a workspace, move it to another company of the caller, or ask its members for a second factor */
  updateWorkspace: { input: { workspace_id: string } & { name?: string; company_id?: string; settings?: { require_second_factor?: boolean } }; answer: Workspace; required: true }
  /** Delete a workspace and everything in it; its company stays */
  deleteWorkspace: { input: { workspace_id: string }; answer: undefined; required: true }
  /** Select it as the workspace of this session */
  selectWorkspace: { input: { workspace_id: string }; answer: Workspace; required: true }
  /** The people of a workspace, guests included */
  listWorkspaceMembers: { input: { workspace_id: string; limit?: number; cursor?: string; q?: string; sort?: "user_id" | "-user_id" | "created_at" | "-created_at" | "name" | "-name" | "email" | "-email"; created_after?: string; created_before?: string; role?: string }; answer: { items: Array<WorkspaceMember>; next_cursor: string | null }; required: true }
  /** Invite a person by e-mail; a guest of the workspace gets the role at once */
  inviteToWorkspace: { input: { workspace_id: string } & { email: string; role?: "owner" | "member" | "viewer" }; answer: Invitation; required: true }
  /** Change a person's role; the last owner stays owner */
  updateWorkspaceMember: { input: { workspace_id: string; user_id: string } & { role: "owner" | "member" | "viewer" | "guest" }; answer: WorkspaceMember; required: true }
  /** Remove a person, or leave; the last owner cannot */
  removeWorkspaceMember: { input: { workspace_id: string; user_id: string }; answer: undefined; required: true }
  /** Invitations that are not accepted yet */
  listInvitations: { input: { workspace_id: string; limit?: number; cursor?: string; q?: string; sort?: "created_at" | "-created_at" | "email" | "-email" | "expires_at" | "-expires_at"; created_after?: string; created_before?: string; role?: string }; answer: { items: Array<PendingInvitation>; next_cursor: string | null }; required: true }
  /** Withdraw an invitation; its link stops working */
  revokeInvitation: { input: { workspace_id: string; invitation_id: string }; answer: undefined; required: true }
  /** What was made, changed, exported and deleted in the selected workspace, newest first (operators: all) */
  listAuditLog: { input: { limit?: number; cursor?: string; q?: string; sort?: "created_at" | "-created_at"; created_after?: string; created_before?: string; action?: string; actor_id?: string; subject?: string; from?: string; to?: string }; answer: { items: Array<AuditEntry>; next_cursor: string | null }; required: false }
  /** The audit log as JSON Lines, newest first, with the same filters */
  exportAuditLog: { input: { action?: string; actor_id?: string; subject?: string; from?: string; to?: string; format?: "jsonl" }; answer: Blob; required: false }
  /** The service accounts of the selected workspace, newest first */
  listServiceAccounts: { input: { limit?: number; cursor?: string; q?: string; sort?: "created_at" | "-created_at" | "updated_at" | "-updated_at" | "name" | "-name" | "last_used_at" | "-last_used_at"; created_after?: string; created_before?: string; role?: string; disabled?: "true" | "false" }; answer: { items: Array<ServiceAccount>; next_cursor: string | null }; required: false }
  /** Create an account for a program */
  createServiceAccount: { input: { name: string; description?: string | null; role?: "member" | "viewer" }; answer: ServiceAccount; required: true }
  /** One service account */
  getServiceAccount: { input: { user_id: string }; answer: ServiceAccount; required: true }
  /** Rename a service account, change its role, disable or enable it */
  updateServiceAccount: { input: { user_id: string } & { name?: string; description?: string | null; role?: "member" | "viewer"; disabled?: boolean }; answer: ServiceAccount; required: true }
  /** Delete a service account and its keys; what it owned goes to an owner of the workspace */
  deleteServiceAccount: { input: { user_id: string }; answer: undefined; required: true }
  /** The API keys of a service account, newest first */
  listServiceAccountKeys: { input: { user_id: string; limit?: number; cursor?: string; q?: string; sort?: "created_at" | "-created_at" | "name" | "-name" | "last_used_at" | "-last_used_at" | "expires_at" | "-expires_at"; created_after?: string; created_before?: string }; answer: { items: Array<ApiKey>; next_cursor: string | null }; required: true }
  /** Create an API key of a service account; the key is shown once */
  createServiceAccountKey: { input: { user_id: string } & { name: string; scopes?: Array<Scope> | null; expires_at?: string | null }; answer: CreatedApiKey; required: true }
  /** One API key of a service account */
  getServiceAccountKey: { input: { user_id: string; key_id: string }; answer: ApiKey; required: true }
  /** Delete an API key of a service account; it stops working at once */
  deleteServiceAccountKey: { input: { user_id: string; key_id: string }; answer: undefined; required: true }
  /** Companies reached through the caller's workspaces, and those the caller owns (operators: all) */
  listCompanies: { input: { limit?: number; cursor?: string; q?: string; sort?: "created_at" | "-created_at" | "updated_at" | "-updated_at" | "name" | "-name"; created_after?: string; created_before?: string }; answer: { items: Array<ListedCompany>; next_cursor: string | null }; required: false }
  /** Create a company in the caller's own org */
  createCompany: { input: { name: string; metadata?: Record<string, unknown> }; answer: Company; required: true }
  /** One company */
  getCompany: { input: { company_id: string }; answer: Company; required: true }
  /** Change a company */
  updateCompany: { input: { company_id: string } & { name?: string; metadata?: Record<string, unknown> | null }; answer: Company; required: true }
  /** Delete a company that has no workspace left */
  deleteCompany: { input: { company_id: string }; answer: undefined; required: true }
  /** Teams of the caller's workspaces (operators: all) */
  listTeams: { input: { limit?: number; cursor?: string; q?: string; sort?: "created_at" | "-created_at" | "updated_at" | "-updated_at" | "name" | "-name"; created_after?: string; created_before?: string; workspace_id?: string; owner_id?: string }; answer: { items: Array<ListedTeam>; next_cursor: string | null }; required: false }
  /** Create a team in the selected workspace */
  createTeam: { input: { name: string; slug?: string; description?: string | null }; answer: Team; required: true }
  /** A team of the caller's workspaces by its slug; the selected workspace is searched first */
  getTeamBySlug: { input: { slug: string }; answer: Team; required: true }
  /** One team with its members */
  getTeam: { input: { team_id: string }; answer: Team; required: true }
  /** Change a team: its creator or a workspace owner */
  updateTeam: { input: { team_id: string } & { name?: string; slug?: string; description?: string | null }; answer: Team; required: true }
  /** Delete a team: its creator or a workspace owner */
  deleteTeam: { input: { team_id: string }; answer: undefined; required: true }
  /** Add people of the workspace to the team, all of them or none */
  addTeamUsers: { input: { team_id: string } & { user_ids: Array<string> }; answer: Team; required: true }
  /** Remove a person from the team, or leave it */
  removeTeamMember: { input: { team_id: string; user_id: string }; answer: undefined; required: true }
  /** Subscriptions of the caller's workspaces (operators: all) */
  listSubscriptions: { input: { limit?: number; cursor?: string; q?: string; sort?: "created_at" | "-created_at" | "updated_at" | "-updated_at" | "name" | "-name" | "starts_at" | "-starts_at" | "ends_at" | "-ends_at"; created_after?: string; created_before?: string; workspace_id?: string; status?: string }; answer: { items: Array<ListedSubscription>; next_cursor: string | null }; required: false }
  /** Create a subscription in the selected workspace */
  createSubscription: { input: { name: string; status?: "active" | "paused" | "ended"; quantity?: number; starts_at?: string; ends_at?: string | null; metadata?: Record<string, unknown> }; answer: Subscription; required: true }
  /** One subscription */
  getSubscription: { input: { subscription_id: string }; answer: Subscription; required: true }
  /** Change a subscription: an owner of its workspace */
  updateSubscription: { input: { subscription_id: string } & { name?: string; status?: "active" | "paused" | "ended"; quantity?: number; starts_at?: string; ends_at?: string | null; metadata?: Record<string, unknown> | null }; answer: Subscription; required: true }
  /** Delete a subscription: an owner of its workspace */
  deleteSubscription: { input: { subscription_id: string }; answer: undefined; required: true }
  /** The caller's own notifications (operators: all) */
  listNotifications: { input: { limit?: number; cursor?: string; q?: string; sort?: "created_at" | "-created_at"; created_after?: string; created_before?: string; kind?: string; workspace_id?: string; unread?: "true" | "false" }; answer: { items: Array<Notification>; next_cursor: string | null }; required: false }
  /** Create a notification for oneself */
  createNotification: { input: { kind?: string; title?: string; body?: string | null; data?: Record<string, unknown>; link?: string | null; user_id?: string }; answer: Notification; required: false }
  /** Mark all of the caller's notifications as read, or several */
  readNotifications: { input: MarkRead; answer: NotificationsChanged; required: true }
  /** Delete several of the caller's notifications, or all that have been read */
  deleteNotifications: { input: DeleteNotifications; answer: NotificationsChanged; required: true }
  /** One of the caller's own */
  getNotification: { input: { notification_id: string }; answer: Notification; required: true }
  /** Mark a notification as read or unread */
  updateNotification: { input: { notification_id: string } & { read?: boolean }; answer: Notification; required: true }
  /** Delete one of the caller's own */
  deleteNotification: { input: { notification_id: string }; answer: undefined; required: true }
  /** A ticket for the socket /ws/notifications: 30 seconds, single use */
  createNotificationTicket: { input: Record<string, never>; answer: Ticket; required: false }
  /** The caller's own presence, one entry for each workspace (operators: all) */
  listPresence: { input: { limit?: number; cursor?: string; sort?: "created_at" | "-created_at" | "last_seen_at" | "-last_seen_at"; workspace_id?: string; status?: string }; answer: { items: Array<ListedPresence>; next_cursor: string | null }; required: false }
  /** Record the caller's presence in the selected workspace; it is valid for 60 seconds */
  recordPresence: { input: { status?: "online" | "away" | "busy" | "offline"; context?: string | Record<string, unknown> | null; user_id?: string }; answer: Presence; required: false }
  /** One of the caller's own */
  getPresence: { input: { presence_id: string }; answer: Presence; required: true }
  /** Delete one of the caller's own */
  deletePresence: { input: { presence_id: string }; answer: undefined; required: true }
  /** The recorded presence of the people in the workspace */
  listColleagues: { input: { workspace_id: string; limit?: number; cursor?: string; q?: string; sort?: "created_at" | "-created_at" | "last_seen_at" | "-last_seen_at" | "name" | "-name"; status?: string }; answer: { items: Array<PresentColleague>; next_cursor: string | null }; required: true }
  /** Workflows the caller owns or is a member of, the system ones first */
  listWorkflows: { input: { limit?: number; cursor?: string; q?: string; sort?: "created_at" | "-created_at" | "updated_at" | "-updated_at" | "name" | "-name"; created_after?: string; created_before?: string; owner_id?: string; scope?: "own" | "workspace"; tag?: string; state?: "live" | "paused" | "draft"; include?: "activity" }; answer: { items: Array<Workflow>; next_cursor: string | null }; required: false }
  /** Create a workflow; a definition becomes version 1, active */
  createWorkflow: { input: { name: string; description?: string | null; definition?: Definition; members?: Array<{ user_id: string; role?: "editor" | "member" | "viewer" }>; teams?: Array<{ team_id: string; role?: "editor" | "member" | "viewer" }>; tags?: Array<string>; settings?: { timeout_s?: number; max_concurrency?: number; concurrency?: { key?: { $cel: string }; limit: number; count?: "running" | "live"; when_full?: "queue" | "skip" | "cancel_oldest" }; debounce?: { key?: { $cel: string }; window_s: number }; rate?: { limit: number; per_s: number; key?: { $cel: string } }; dedupe?: { key: { $cel: string }; window_s: number }; retention_days?: number; error_workflow_id?: string; finally_grace_s?: number; mcp_tool?: boolean; on_event?: Array<string>; activation?: { suite_id?: string; min_score?: number; replay?: { limit: number; max_different: number } } } }; answer: WorkflowMade; required: true }
  /** Delete several workflows */
  deleteWorkflows: { input: DeleteWorkflows; answer: WorkflowsDeleted; required: true }
  /** Tools, capabilities and agents for the nodes of a workflow */
  getRegistry: { input: Record<string, never>; answer: Registry; required: false }
  /** The same, grouped for an editor */
  getPalette: { input: Record<string, never>; answer: Palette; required: false }
  /** One workflow */
  getWorkflow: { input: { workflow_id: string }; answer: Workflow; required: true }
  /** Change name, description, settings; the owner also members */
  updateWorkflow: { input: { workflow_id: string } & { name?: string; description?: string | null; members?: Array<{ user_id: string; role?: "editor" | "member" | "viewer" }> | null; teams?: Array<{ team_id: string; role?: "editor" | "member" | "viewer" }> | null; tags?: Array<string> | null; settings?: { timeout_s?: number | null; max_concurrency?: number | null; concurrency?: { key?: { $cel: string }; limit: number; count?: "running" | "live"; when_full?: "queue" | "skip" | "cancel_oldest" } | null; debounce?: { key?: { $cel: string }; window_s: number } | null; rate?: { limit: number; per_s: number; key?: { $cel: string } } | null; dedupe?: { key: { $cel: string }; window_s: number } | null; retention_days?: number | null; error_workflow_id?: string | null; finally_grace_s?: number | null; mcp_tool?: boolean | null; on_event?: Array<string> | null; activation?: { suite_id?: string; min_score?: number; replay?: { limit: number; max_different: number } } | null } | null; owner_id?: string }; answer: Workflow; required: true }
  /** Delete a workflow */
  deleteWorkflow: { input: { workflow_id: string; cancel_runs?: "true" | "false" }; answer: undefined; required: true }
  /** Pause a workflow: no executions start, and new requests wait */
  pauseWorkflow: { input: { workflow_id: string }; answer: Workflow; required: true }
  /** Resume a paused workflow: waiting executions start, as its settings allow */
  resumeWorkflow: { input: { workflow_id: string }; answer: Workflow; required: true }
  /** A version as a document that names what it uses */
  exportWorkflow: { input: { workflow_id: string; version_id?: string }; answer: WorkflowExport; required: true }
  /** Create a workflow, or a version of one, from an exported document */
  importWorkflow: { input: WorkflowImportRequest; answer: WorkflowImport; required: true }
  /** Where a workflow is used: by workflows, jobs, assistants and suites */
  getWorkflowUse: { input: { workflow_id: string }; answer: WorkflowUse; required: true }
  /** Versions, newest first */
  listVersions: { input: { workflow_id: string; limit?: number; cursor?: string; q?: string; sort?: "created_at" | "-created_at"; created_after?: string; created_before?: string; active?: "true" | "false" }; answer: { items: Array<WorkflowVersion>; next_cursor: string | null }; required: true }
  /** Create a version; the first is active at once, a later one with `activate` */
  createVersion: { input: { workflow_id: string } & { definition: Definition; note?: string | null; activate?: boolean }; answer: WorkflowVersionMade; required: true }
  /** One version */
  getVersion: { input: { workflow_id: string; version_id: string }; answer: WorkflowVersion; required: true }
  /** Make this version the active one */
  activateVersion: { input: { workflow_id: string; version_id: string }; answer: WorkflowVersion; required: true }
  /** What changed between two versions */
  diffVersions: { input: { workflow_id: string; version_a: string; version_b: string }; answer: WorkflowVersionDiff; required: true }
  /** Workflows that are offered to the caller */
  listTransfers: { input: { limit?: number; cursor?: string; q?: string; sort?: "workflow_id" | "-workflow_id" | "created_at" | "-created_at" | "workflow_name" | "-workflow_name"; created_after?: string; created_before?: string }; answer: { items: Array<WorkflowTransfer>; next_cursor: string | null }; required: false }
  /** Offer the workflow to a person, who becomes its owner by accepting */
  offerWorkflow: { input: { workflow_id: string } & { user_id: string }; answer: WorkflowTransfer; required: true }
  /** The offer, for its sender and its receiver */
  getTransfer: { input: { workflow_id: string }; answer: WorkflowTransfer; required: true }
  /** Withdraw the offer */
  withdrawTransfer: { input: { workflow_id: string }; answer: undefined; required: true }
  /** Become the owner of a workflow that was offered to the caller */
  acceptTransfer: { input: { workflow_id: string }; answer: WorkflowTransfer; required: true }
  /** Decline a workflow that was offered to the caller */
  declineTransfer: { input: { workflow_id: string }; answer: WorkflowTransfer; required: true }
  /** Webhook tokens, without their secrets */
  listWebhookTokens: { input: { workflow_id: string; limit?: number; cursor?: string; q?: string; sort?: "created_at" | "-created_at" | "name" | "-name" | "last_used_at" | "-last_used_at"; created_after?: string; created_before?: string; enabled?: "true" | "false" }; answer: { items: Array<WebhookToken>; next_cursor: string | null }; required: true }
  /** Create a webhook token; `token` is shown this once */
  createWebhookToken: { input: { workflow_id: string } & { name?: string | null; expires_at?: string | null; auth?: { kind: "bearer" } | { kind: "url" } | { kind: "basic"; username?: string } | { kind: "hmac"; preset: "github" | "stripe" | "slack" | "shopify" | "standard" | "custom"; header?: string; algorithm?: "sha1" | "sha256" | "sha512"; encoding?: "hex" | "base64"; prefix?: string; tolerance_s?: number } | "bearer" | "url" | "basic"; secret?: string; methods?: Array<"GET" | "POST" | "PUT" | "PATCH" | "DELETE">; input?: "body" | "request"; respond?: "accepted" | "result" | "node"; respond_timeout_s?: number; challenge?: "slack" | "meta" | "microsoft" | "dropbox" | null; dedupe?: { from: string | { $cel: string }; window_s?: number } | null }; answer: WebhookTokenMade; required: true }
  /** One webhook token, without its secret */
  getWebhookToken: { input: { workflow_id: string; token_id: string }; answer: WebhookToken; required: true }
  /** Rename, enable or disable a webhook token; change its secret or how it is called */
  updateWebhookToken: { input: { workflow_id: string; token_id: string } & { name?: string | null; enabled?: boolean; secret?: string; methods?: Array<"GET" | "POST" | "PUT" | "PATCH" | "DELETE">; input?: "body" | "request"; respond?: "accepted" | "result" | "node"; respond_timeout_s?: number; challenge?: "slack" | "meta" | "microsoft" | "dropbox" | null; dedupe?: { from: string | { $cel: string }; window_s?: number } | null }; answer: WebhookToken; required: true }
  /** Delete a webhook token */
  deleteWebhookToken: { input: { workflow_id: string; token_id: string }; answer: undefined; required: true }
  /** Embed tokens, without their secrets */
  listEmbedTokens: { input: { workflow_id: string; limit?: number; cursor?: string; q?: string; sort?: "created_at" | "-created_at" | "name" | "-name" | "last_used_at" | "-last_used_at"; created_after?: string; created_before?: string; enabled?: "true" | "false" }; answer: { items: Array<EmbedToken>; next_cursor: string | null }; required: true }
  /** Create an embed token for a widget on another site; `token` is shown this once */
  createEmbedToken: { input: { workflow_id: string } & { name?: string | null; allowed_origins?: Array<string>; require_origin?: boolean }; answer: EmbedTokenMade; required: true }
  /** One embed token, with the token itself */
  getEmbedToken: { input: { workflow_id: string; token_id: string }; answer: EmbedTokenShown; required: true }
  /** Change name, origins or state of an embed token */
  updateEmbedToken: { input: { workflow_id: string; token_id: string } & { name?: string | null; allowed_origins?: Array<string> | null; require_origin?: boolean; enabled?: boolean }; answer: EmbedTokenShown; required: true }
  /** Delete an embed token */
  deleteEmbedToken: { input: { workflow_id: string; token_id: string }; answer: undefined; required: true }
  /** When the workflow starts by itself */
  getSchedule: { input: { workflow_id: string }; answer: Schedule; required: true }
  /** Set the schedule: cron of five fields in a time zone */
  putSchedule: { input: { workflow_id: string } & { cron: string; timezone?: string; input?: Record<string, unknown> }; answer: Schedule; required: true }
  /** Remove the schedule */
  deleteSchedule: { input: { workflow_id: string }; answer: undefined; required: true }
  /** The schedules of a workflow, the oldest first */
  listSchedules: { input: { workflow_id: string; limit?: number; cursor?: string; q?: string; sort?: "created_at" | "-created_at" | "next_run_at" | "-next_run_at"; created_after?: string; created_before?: string; enabled?: "true" | "false" }; answer: { items: Array<WorkflowSchedule>; next_cursor: string | null }; required: true }
  /** Add a schedule: a cron pattern, an interval or one moment */
  createSchedule: { input: { workflow_id: string } & { cron?: string | null; every_s?: number | null; at?: string | null; input?: Record<string, unknown> | null; timezone?: string; overlap?: "allow" | "skip" | "queue" | "cancel"; catch_up?: "none" | "last" | "all"; enabled?: boolean }; answer: WorkflowSchedule; required: true }
  /** One schedule, with its next five times */
  getOneSchedule: { input: { workflow_id: string; schedule_id: string }; answer: WorkflowSchedule; required: true }
  /** Change a schedule; if its times change, the next time is computed again from now */
  updateSchedule: { input: { workflow_id: string; schedule_id: string } & { cron?: string | null; every_s?: number | null; at?: string | null; input?: Record<string, unknown> | null; timezone?: string; overlap?: "allow" | "skip" | "queue" | "cancel"; catch_up?: "none" | "last" | "all"; enabled?: boolean }; answer: WorkflowSchedule; required: true }
  /** Delete a schedule */
  removeSchedule: { input: { workflow_id: string; schedule_id: string }; answer: undefined; required: true }
  /** Run a schedule for times that have passed, at most 500 */
  backfillSchedule: { input: { workflow_id: string; schedule_id: string } & { from: string; to: string }; answer: Backfilled; required: true }
  /** Run a workflow: its active version unless version_id is given */
  runWorkflow: { input: { workflow_id: string; wait_s?: number } & { input?: Record<string, unknown>; version_id?: string; start_at?: string; delay_s?: number; priority?: number; tags?: Array<string>; metadata?: Record<string, string | number | boolean | null>; concurrency_key?: string }; answer: Execution | ExecutionAccepted; required: true }
  /** Run a workflow up to 1,000 times */
  runWorkflowBatch: { input: { workflow_id: string } & { runs: Array<{ input?: Record<string, unknown>; version_id?: string; start_at?: string; delay_s?: number; priority?: number; tags?: Array<string>; metadata?: Record<string, string | number | boolean | null>; concurrency_key?: string; idempotency_key?: string }> }; answer: BatchAccepted; required: true }
  /** Run a system workflow */
  runSystemWorkflow: { input: { workflow_id: string; wait_s?: number } & { input?: Record<string, unknown> }; answer: Execution | ExecutionAccepted; required: true }
  /** Cancel an execution */
  cancelExecution: { input: { execution_id: string }; answer: ExecutionAccepted; required: true }
  /** Retry an execution from the start, the failed node or a chosen node, with the same or the active version */
  retryExecution: { input: { execution_id: string } & { from?: string; version?: "same" | "active" }; answer: ExecutionAccepted; required: true }
  /** Executions of a workflow, newest first */
  listExecutions: { input: { workflow_id: string; limit?: number; cursor?: string; sort?: "created_at" | "-created_at"; created_after?: string; created_before?: string; include_jobs?: "true" | "false"; include_trials?: "true" | "false" }; answer: { items: Array<ExecutionSummary>; next_cursor: string | null }; required: true }
  /** Status and results of an execution, with its nodes */
  getExecution: { input: { execution_id: string }; answer: Execution; required: true }
  /** The input of a node of an execution, and the outcome of each attempt */
  getExecutionNode: { input: { execution_id: string; path: string; limit?: number; cursor?: string; item?: number }; answer: ExecutionNodeDetail; required: true }
  /** The caller's own executions of a system workflow */
  listSystemExecutions: { input: { workflow_id: string; limit?: number; cursor?: string; sort?: "created_at" | "-created_at"; created_after?: string; created_before?: string }; answer: { items: Array<ExecutionSummary>; next_cursor: string | null }; required: true }
  /** Executions the caller may see, by status, workflow, time, trigger and content */
  searchExecutions: { input: { limit?: number; cursor?: string; sort?: "created_at" | "-created_at"; created_after?: string; created_before?: string; q?: string; error_code?: string; node_id?: string; tag?: string; version_id?: string; status?: string; workflow_id?: string; from?: string; to?: string; trigger?: string; include_jobs?: "true" | "false"; include_trials?: "true" | "false" }; answer: { items: Array<ExecutionSummary>; next_cursor: string | null }; required: false }
  /** The journal of an execution, oldest first */
  listExecutionEvents: { input: { execution_id: string; after?: number; limit?: number; cursor?: string }; answer: { items: Array<ExecutionEvent>; next_cursor: string | null }; required: true }
  /** What the nodes of an execution wrote to its log, oldest first */
  listExecutionLogs: { input: { execution_id: string; limit?: number; cursor?: string; level?: string; node_id?: string }; answer: { items: Array<LogEntry>; next_cursor: string | null }; required: true }
  /** A ticket for the socket that shows the execution live; valid for 30 seconds and one connection */
  createWorkflowTicket: { input: { execution_id: string }; answer: Ticket; required: true }
  /** An output that is too large to be included in the execution */
  readExecutionBlob: { input: { execution_id: string; sha256: string }; answer: unknown; required: true }
  /** Cancel or retry all executions that a filter finds */
  startBulk: { input: { action: "cancel" | "retry"; filter: { execution_ids?: Array<string>; workflow_id?: string; status?: Array<"queued" | "running" | "waiting" | "succeeded" | "failed" | "cancelled" | "timed_out">; trigger?: Array<"user" | "webhook" | "embed" | "schedule" | "job" | "channel" | "workflow" | "event" | "system" | "trial">; error_code?: string; tag?: string; from?: string; to?: string }; from?: string; version?: "same" | "active" }; answer: ExecutionBulk; required: true }
  /** The progress of a bulk cancellation or retry */
  getBulk: { input: { bulk_id: string }; answer: ExecutionBulk; required: true }
  /** Replay past runs of a workflow with a version */
  createReplay: { input: { workflow_id: string; version_id: string } & NewReplay; answer: Replay; required: true }
  /** Replays of a workflow, newest first */
  listReplays: { input: { workflow_id: string; limit?: number; cursor?: string; sort?: "created_at" | "-created_at"; created_after?: string; created_before?: string; status?: string; version_id?: string }; answer: { items: Array<Replay>; next_cursor: string | null }; required: true }
  /** A replay with its totals, run by run */
  getReplay: { input: { replay_id: string; limit?: number; cursor?: string; outcome?: "same" | "different" | "unreplayable" }; answer: ReplayReport; required: true }
  /** Cancel a replay; what it has found is kept */
  cancelReplay: { input: { replay_id: string }; answer: Replay; required: true }
  /** Try a draft: the whole, up to a node, or one node */
  tryWorkflow: { input: { workflow_id: string; wait_s?: number } & TryRequest; answer: TryAnswer; required: true }
  /** What was tried: the draft, and which nodes acted */
  getTrial: { input: { execution_id: string }; answer: Trial; required: true }
  /** Start the workflow with the body as its input */
  triggerWebhook: { input: { workflow_id: string; wait_s?: number } & { body?: unknown }; answer: SimpleExecution | WebhookAccepted; required: true }
  /** Status of an execution that this token started */
  getWebhookExecution: { input: { workflow_id: string; execution_id: string }; answer: SimpleExecution; required: true }
  /** The last calls of a webhook token, and why any was refused */
  listWebhookDeliveries: { input: { workflow_id: string; token_id: string; limit?: number; cursor?: string; q?: string; sort?: "created_at" | "-created_at"; created_after?: string; created_before?: string; code?: string; execution_id?: string }; answer: { items: Array<WebhookDelivery>; next_cursor: string | null }; required: true }
  /** The address at which a sender calls a webhook token by GET */
  receiveByGet: { input: { token_or_id: string }; answer: unknown; required: true }
  /** The address at which a sender calls a webhook token by POST */
  receiveByPost: { input: { token_or_id: string } & { body?: unknown }; answer: unknown; required: true }
  /** The address at which a sender calls a webhook token by PUT */
  receiveByPut: { input: { token_or_id: string } & { body?: unknown }; answer: unknown; required: true }
  /** The address at which a sender calls a webhook token by PATCH */
  receiveByPatch: { input: { token_or_id: string } & { body?: unknown }; answer: unknown; required: true }
  /** The address at which a sender calls a webhook token by DELETE */
  receiveByDelete: { input: { token_or_id: string } & { body?: unknown }; answer: unknown; required: true }
  /** Results of any size of an execution that this token started */
  readWebhookResults: { input: { workflow_id: string; execution_id: string }; answer: unknown; required: true }
  /** Send an event to the workspace */
  sendEvent: { input: { key?: string; name?: string; data?: unknown; event_id?: string; keep_s?: number }; answer: EventTaken; required: false }
  /** Continue a waiting node from outside */
  callBackByPost: { input: { callback: string } & { body?: unknown }; answer: CallbackTaken; required: true }
  /** Continue a waiting node from outside, by opening a link */
  callBackByGet: { input: { callback: string }; answer: CallbackTaken; required: true }
  /** Open gates that wait for the vote of the caller, by due time; those without a due time come last */
  listInbox: { input: { limit?: number; cursor?: string; q?: string; sort?: "due_at" | "-due_at" | "created_at" | "-created_at"; created_after?: string; created_before?: string; workflow_id?: string }; answer: { items: Array<Approval>; next_cursor: string | null }; required: false }
  /** Gates on which the caller has voted, newest first */
  listDecided: { input: { limit?: number; cursor?: string; q?: string; sort?: "created_at" | "-created_at" | "resolved_at" | "-resolved_at"; created_after?: string; created_before?: string; workflow_id?: string; status?: string }; answer: { items: Array<Approval>; next_cursor: string | null }; required: false }
  /** One gate with every vote and the rationale of agents */
  getApproval: { input: { request_id: string }; answer: Approval; required: true }
  /** Vote on a gate, bound to the payload that was seen */
  castVote: { input: { request_id: string } & { decision: "approve" | "reject" | "abstain"; comment?: string | null; payload_sha256: string }; answer: ApprovalVote; required: true }
  /** Edit the arguments of a tool call before it is approved; the response is the new gate for the edited call */
  editArguments: { input: { request_id: string } & { arguments: Record<string, unknown>; comment?: string | null; payload_sha256: string }; answer: Approval; required: true }
  /** Hand the vote of the caller to a colleague */
  delegateVote: { input: { request_id: string } & { user_id: string }; answer: Approval; required: true }
  /** All gates opened on an execution, with who can still vote */
  listExecutionApprovals: { input: { execution_id: string; limit?: number; cursor?: string; q?: string; sort?: "created_at" | "-created_at" | "due_at" | "-due_at"; created_after?: string; created_before?: string; status?: string }; answer: { items: Array<Approval>; next_cursor: string | null }; required: true }
  /** Answer a question of a waiting execution */
  respondToExecution: { input: { execution_id: string } & { response: unknown; clarification_id?: string }; answer: ClarificationAnswered; required: true }
  /** Open questions that the caller may answer, by due time; optionally of one execution */
  listQuestionInbox: { input: { limit?: number; cursor?: string; q?: string; sort?: "due_at" | "-due_at" | "created_at" | "-created_at"; created_after?: string; created_before?: string; execution_id?: string; workflow_id?: string }; answer: { items: Array<Clarification>; next_cursor: string | null }; required: false }
  /** Answers that later questions may reuse: those of the caller, and those to questions of their workflows */
  listKeptAnswers: { input: { limit?: number; cursor?: string; q?: string; sort?: "created_at" | "-created_at"; created_after?: string; created_before?: string; workflow_id?: string }; answer: { items: Array<KeptAnswer>; next_cursor: string | null }; required: false }
  /** Stop later questions from reusing an answer */
  withdrawAnswer: { input: { clarification_id: string }; answer: KeptAnswer; required: true }
  /** How often the independent vote of each agent matched the final decision, by gate */
  listAgreement: { input: { limit?: number; cursor?: string; workflow_id?: string }; answer: { items: Array<AgentAgreement>; next_cursor: string | null }; required: false }
  /** Odds of the NHL for a date */
  fetchOdds: { input: { date: string; regions?: Array<"us" | "us2" | "us_dfs" | "us_ex" | "uk" | "eu" | "fr" | "se" | "au">; markets?: Array<"h2h" | "spreads" | "totals" | "outrights" | "h2h_lay" | "outrights_lay"> }; answer: OddsOfDay; required: true }
  /** How the caller is notified of events in the workspace, by kind of notice */
  getNotificationPreferences: { input: Record<string, never>; answer: NotificationPreferences; required: false }
  /** Choose how to be notified of events in the workspace */
  setNotificationPreferences: { input: NewNotificationPreferences; answer: NotificationPreferences; required: true }
  /** Channels of the workspace in which the caller can be reached: Slack, Telegram, Discord */
  listReachableChannels: { input: Record<string, never>; answer: ReachableChannels; required: false }
  /** Get a text that proves that an account of a channel belongs to the caller */
  linkChannel: { input: { config_id: string }; answer: ChannelLinkCode; required: true }
  /** Accounts in channels that are linked to the caller */
  listChannelIdentities: { input: { limit?: number; cursor?: string; q?: string; sort?: "created_at" | "-created_at" | "sender_name" | "-sender_name"; created_after?: string; created_before?: string }; answer: { items: Array<ChannelIdentity>; next_cursor: string | null }; required: false }
  /** One of them */
  getChannelIdentity: { input: { identity_id: string }; answer: ChannelIdentity; required: true }
  /** Unlink an account; its buttons stop working */
  deleteChannelIdentity: { input: { identity_id: string }; answer: undefined; required: true }
  /** What the link of a message asks */
  getInteraction: { input: { interaction: string }; answer: Interaction; required: true }
  /** Vote or answer through the link of a message */
  answerInteraction: { input: { interaction: string } & InteractionAnswer; answer: Interaction; required: true }
  /** Send a code to the address of the message */
  sendInteractionCode: { input: { interaction: string }; answer: InteractionCodeSent; required: true }
  /** Invoices of the workspace, newest first */
  listInvoices: { input: { limit?: number; cursor?: string; q?: string; sort?: "created_at" | "-created_at" | "amount_due" | "-amount_due"; created_after?: string; created_before?: string; status?: string }; answer: { items: Array<Invoice>; next_cursor: string | null }; required: false }
  /** The printable page of an invoice of the built-in provider */
  showInvoice: { input: { invoice_id: string; workspace: string; expires: string; signature: string }; answer: Blob; required: true }
  /** Usage that is charged, with the run that used it and the invoice that contains it */
  listUsageCharges: { input: { limit?: number; cursor?: string; sort?: "at" | "-at"; created_after?: string; created_before?: string; execution_id?: string; invoice_id?: string; meter?: string }; answer: { items: Array<UsageCharge>; next_cursor: string | null }; required: false }
  /** An invoice of the built-in provider as a PDF */
  downloadInvoice: { input: { invoice_id: string; workspace: string; expires: string; signature: string }; answer: Blob; required: true }
  /** All payment methods of the workspace, newest first */
  listPaymentMethods: { input: { limit?: number; cursor?: string; q?: string; sort?: "created_at" | "-created_at"; created_after?: string; created_before?: string }; answer: { items: Array<PaymentMethod>; next_cursor: string | null }; required: false }
  /** Delete a payment method */
  deletePaymentMethod: { input: { payment_method_id: string }; answer: undefined; required: true }
  /** Make a payment method the default one */
  setDefaultPaymentMethod: { input: { payment_method_id: string }; answer: PaymentMethod; required: true }
  /** Billing plans of the org of the request host, cheapest first */
  listPlans: { input: { limit?: number; cursor?: string; q?: string; sort?: "amount" | "-amount" | "created_at" | "-created_at" | "name" | "-name"; created_after?: string; created_before?: string; interval?: string }; answer: { items: Array<Plan>; next_cursor: string | null }; required: false }
  /** Create a plan in the org of the request host */
  createPlan: { input: { name: string; amount: number; currency: string; interval: "month" | "year"; quotas?: { runs_per_month?: number | null; members?: number | null; storage_bytes?: number | null; records?: number | null; event_destinations?: number | null; knowledge_documents?: number | null; mails_per_minute?: number | null; outside_recipients_per_day?: number | null; model_tokens_per_minute?: number | null; model_tokens_per_month?: number | null; speech_characters_per_minute?: number | null; transcription_s_per_minute?: number | null; outgoing_requests_per_minute?: number | null; cpu_s_per_minute?: number | null }; features?: Array<string>; trial_days?: number; usage_prices?: Array<{ meter: "model_tokens" | "model_cost"; unit_amount: number; per?: number; included?: number }>; tax?: { name: string; percent: number } | null; coupons?: Array<{ code: string; percent_off: number; duration: "once" | "forever"; expires_at?: string | null }> }; answer: Plan; required: true }
  /** One billing plan */
  getPlan: { input: { plan_id: string }; answer: Plan; required: true }
  /** Change a plan */
  updatePlan: { input: { plan_id: string } & { name?: string; amount?: number; currency?: string; interval?: "month" | "year"; quotas?: { runs_per_month?: number | null; members?: number | null; storage_bytes?: number | null; records?: number | null; event_destinations?: number | null; knowledge_documents?: number | null; mails_per_minute?: number | null; outside_recipients_per_day?: number | null; model_tokens_per_minute?: number | null; model_tokens_per_month?: number | null; speech_characters_per_minute?: number | null; transcription_s_per_minute?: number | null; outgoing_requests_per_minute?: number | null; cpu_s_per_minute?: number | null }; features?: Array<string>; trial_days?: number; usage_prices?: Array<{ meter: "model_tokens" | "model_cost"; unit_amount: number; per?: number; included?: number }>; tax?: { name: string; percent: number } | null; coupons?: Array<{ code: string; percent_off: number; duration: "once" | "forever"; expires_at?: string | null }> }; answer: Plan; required: true }
  /** Delete a plan; refused while it has subscribers */
  deletePlan: { input: { plan_id: string }; answer: undefined; required: true }
  /** Create or reuse the billing customer of the workspace, then return the client_secret of a setup intent */
  createSetupIntent: { input: Record<string, never>; answer: SetupIntent; required: false }
  /** Confirm a setup intent of the built-in provider with a test card */
  confirmSetupIntent: { input: { setup_intent_id: string } & { client_secret: string; card: { number: string; exp_month: number; exp_year: number; cvc: string } }; answer: SetupConfirmation; required: true }
  /** Subscribe the workspace to a plan */
  createBillingSubscription: { input: { plan_id: string; coupon?: string }; answer: BillingSubscription | PaymentToConfirm; required: true }
  /** The active subscription of the workspace */
  getMyBillingSubscription: { input: Record<string, never>; answer: BillingSubscription; required: false }
  /** Change the plan, or reverse a cancellation */
  updateMyBillingSubscription: { input: { plan_id?: string; cancel_at_period_end?: boolean }; answer: BillingSubscription; required: false }
  /** Cancel the subscription at the end of its period, or at once with `at=now` */
  cancelMyBillingSubscription: { input: { at?: "period_end" | "now" }; answer: undefined; required: false }
  /** What the workspace uses of the quotas of its plan */
  getUsage: { input: Record<string, never>; answer: Usage; required: false }
  /** Move the billing clock of the selected workspace forward (built-in provider) */
  moveTestClock: { input: { now: string }; answer: TestClock; required: true }
  /** Webhooks of Stripe; signed with STRIPE_WEBHOOK_SECRET */
  receiveStripeWebhook: { input: { body?: unknown }; answer: WebhookReceipt; required: false }
  /** Queue, workers, parked and poison executions, and inconsistent executions */
  getEngineHealth: { input: Record<string, never>; answer: EngineHealth; required: false }
  /** Release an execution that is parked after five crashes */
  releaseExecution: { input: { execution_id: string }; answer: ReleasedExecution; required: true }
  /** Mails kept because no mail server is configured */
  listOutbox: { input: { limit?: number; cursor?: string; q?: string; sort?: "created_at" | "-created_at"; created_after?: string; created_before?: string; workspace_id?: string }; answer: { items: Array<KeptMail>; next_cursor: string | null }; required: false }
  /** All workspaces with their owners and what they use */
  listTenants: { input: { limit?: number; cursor?: string; q?: string; sort?: "created_at" | "-created_at" | "name" | "-name" | "members" | "-members" | "runs_this_month" | "-runs_this_month" | "storage_bytes" | "-storage_bytes" | "records" | "-records" | "model_tokens_this_month" | "-model_tokens_this_month" | "model_cost_this_month" | "-model_cost_this_month"; created_after?: string; created_before?: string; suspended?: "true" | "false" }; answer: { items: Array<TenantWorkspace>; next_cursor: string | null }; required: false }
  /** Set whether a workspace may mail people outside without the daily limit */
  trustWorkspace: { input: { workspace_id: string } & { trusted: boolean }; answer: WorkspaceTrust; required: true }
  /** Suspend a workspace, or end its suspension */
  suspendWorkspace: { input: { workspace_id: string } & { suspended: boolean; reason?: string }; answer: WorkspaceSuspension; required: true }
  /** Delete a suspended workspace and everything in it; its company and its people stay */
  deleteTenant: { input: { workspace_id: string }; answer: undefined; required: true }
  /** The key that encrypts the secrets of the installation, and the rotation in progress */
  getKeyRotation: { input: Record<string, never>; answer: KeyRotation; required: false }
  /** Encrypt every secret of the installation with a new key, while the service runs */
  rotateKey: { input: NewInstallationKey; answer: KeyRotation; required: true }
  /** Workspace datasets, summaries only (no records) */
  listDatasets: { input: { limit?: number; cursor?: string; q?: string; sort?: "created_at" | "-created_at" | "updated_at" | "-updated_at" | "name" | "-name" | "record_count" | "-record_count" | "size_bytes" | "-size_bytes"; created_after?: string; created_before?: string; created_by?: string }; answer: { items: Array<Dataset>; next_cursor: string | null }; required: false }
  /** Create a dataset; sha256 and record_count are computed by the service */
  createDataset: { input: NewDataset; answer: Dataset; required: true }
  /** Snapshot an attached source into a new dataset */
  captureDataset: { input: Capture; answer: Dataset; required: true }
  /** Import a CSV or JSON file as a dataset */
  importDataset: { input: { infer?: "true" | "false" } & { body?: unknown }; answer: Dataset; required: false }
  /** One dataset with its records, as a stream */
  getDataset: { input: { dataset_id: string }; answer: DatasetWithRecords; required: true }
  /** Change the name or description, or replace the records, which changes the fingerprint */
  updateDataset: { input: { dataset_id: string } & DatasetPatch; answer: Dataset; required: true }
  /** Delete a dataset; jobs and suites that use it stay, without a dataset */
  deleteDataset: { input: { dataset_id: string }; answer: undefined; required: true }
  /** The records of a dataset, page by page, in order */
  listRecords: { input: { dataset_id: string; limit?: number; cursor?: string }; answer: { items: Array<Record<string, unknown>>; next_cursor: string | null }; required: true }
  /** The records as a file */
  exportDataset: { input: { dataset_id: string; format?: "csv" | "jsonl" }; answer: Blob; required: true }
  /** Every connection of the workspace, plus the kinds the org offers */
  listConnections: { input: { q?: string; sort?: "created_at" | "-created_at" | "updated_at" | "-updated_at" | "name" | "-name" | "checked_at" | "-checked_at"; created_after?: string; created_before?: string; kind?: string; status?: string }; answer: ConnectionList; required: false }
  /** Test the credential at the warehouse, then store it */
  createConnection: { input: NewConnection; answer: Connection; required: true }
  /** One connection */
  getConnection: { input: { connection_id: string }; answer: Connection; required: true }
  /** Rename a connection, or let workflows write through it */
  updateConnection: { input: { connection_id: string } & ConnectionPatch; answer: Connection; required: true }
  /** Revoke the credential; the connection and its sources stay, jobs using it pause */
  revokeConnection: { input: { connection_id: string }; answer: undefined; required: true }
  /** Test the connection again and update its status */
  verifyConnection: { input: { connection_id: string }; answer: Connection; required: true }
  /** Store a new credential, and resume jobs that were paused without one */
  rearmConnection: { input: { connection_id: string } & ConnectionCredential; answer: Connection; required: true }
  /** Tables and columns that the credential may read */
  browseTables: { input: { connection_id: string }; answer: ConnectionTables; required: true }
  /** The first rows of a table */
  previewTable: { input: { connection_id: string; table: string }; answer: TablePreview; required: true }
  /** The sources attached to a connection */
  listSources: { input: { connection_id: string; limit?: number; cursor?: string; q?: string; sort?: "created_at" | "-created_at" | "name" | "-name"; created_after?: string; created_before?: string }; answer: { items: Array<Source>; next_cursor: string | null }; required: true }
  /** Attach a table or a query as a source */
  createSource: { input: { connection_id: string } & NewSource; answer: Source; required: true }
  /** One source */
  getSource: { input: { source_id: string }; answer: Source; required: true }
  /** Detach a source */
  deleteSource: { input: { source_id: string }; answer: undefined; required: true }
  /** Jobs the caller may see: standalone ones by membership, pinned ones by that of their workflow */
  listJobs: { input: { limit?: number; cursor?: string; q?: string; sort?: "created_at" | "-created_at" | "updated_at" | "-updated_at" | "name" | "-name" | "due_at" | "-due_at"; created_after?: string; created_before?: string; status?: string; workflow_id?: string; dataset_id?: string; owner_id?: string }; answer: { items: Array<EnrichmentJob>; next_cursor: string | null }; required: false }
  /** Create a job, pinned to a workflow or with its own definition */
  createJob: { input: NewEnrichmentJob; answer: EnrichmentJob; required: true }
  /** One job */
  getJob: { input: { job_id: string }; answer: EnrichmentJob; required: true }
  /** Change a job; fields that are left out stay as they are */
  updateJob: { input: { job_id: string } & EnrichmentJobPut; answer: EnrichmentJob; required: true }
  /** Delete a job and its ledger: its owner or the owner of the workspace */
  deleteJob: { input: { job_id: string }; answer: undefined; required: true }
  /** The ledger of a run: how many records have which status; with `status`, which ones */
  listLedger: { input: { job_id: string; limit?: number; cursor?: string; status?: "pending" | "running" | "succeeded" | "failed" | "skipped" | "filtered"; run_id?: string }; answer: Ledger; required: true }
  /** Records of a run as a file, each with its `result` and `error` */
  exportJobRecords: { input: { job_id: string; status?: "failed" | "succeeded" | "skipped" | "filtered"; format?: "csv" | "jsonl"; run_id?: string }; answer: Blob; required: true }
  /** The runs of a job, newest first */
  listJobRuns: { input: { job_id: string; limit?: number; cursor?: string; sort?: "created_at" | "-created_at" | "finished_at" | "-finished_at"; created_after?: string; created_before?: string; status?: string }; answer: { items: Array<JobRun>; next_cursor: string | null }; required: true }
  /** One run of a job */
  getJobRun: { input: { job_id: string; run_id: string }; answer: JobRun; required: true }
  /** Make the job due at once */
  runJobNow: { input: { job_id: string } & RunJobNow; answer: EnrichmentJob; required: true }
  /** Run the job, and retry records that failed in earlier runs */
  retryFailedRecords: { input: { job_id: string }; answer: EnrichmentJob; required: true }
  /** Pause the job: no more records are started; records in progress are completed */
  pauseJob: { input: { job_id: string }; answer: EnrichmentJob; required: true }
  /** Resume a paused job */
  resumeJob: { input: { job_id: string }; answer: EnrichmentJob; required: true }
  /** Cancel the run in progress, or a requested run */
  cancelJob: { input: { job_id: string }; answer: EnrichmentJob; required: true }
  /** A ticket for the batch-progress socket; valid for 30 seconds and one connection */
  createBatchTicket: { input: { job_id: string }; answer: Ticket; required: true }
  /** Members of the job */
  listJobMembers: { input: { job_id: string; limit?: number; cursor?: string; q?: string; sort?: "user_id" | "-user_id" | "created_at" | "-created_at" | "name" | "-name"; created_after?: string; created_before?: string; role?: string }; answer: { items: Array<JobMember>; next_cursor: string | null }; required: true }
  /** Invite a person to the job by e-mail */
  inviteJobMember: { input: { job_id: string } & { email: string; role?: "owner" | "member" | "viewer" }; answer: Invitation; required: true }
  /** Change the role of a member; the last owner cannot be changed */
  updateJobMember: { input: { job_id: string; user_id: string } & { role: "owner" | "member" | "viewer" }; answer: JobMember; required: true }
  /** Remove a member, or leave the job */
  removeJobMember: { input: { job_id: string; user_id: string }; answer: undefined; required: true }
  /** Suites of all workflows in which the caller has a role */
  searchSuites: { input: { limit?: number; cursor?: string; q?: string; sort?: "created_at" | "-created_at" | "updated_at" | "-updated_at" | "name" | "-name"; created_after?: string; created_before?: string }; answer: { items: Array<ListedSuite>; next_cursor: string | null }; required: false }
  /** Suites of a workflow */
  listSuites: { input: { workflow_id: string; limit?: number; cursor?: string; q?: string; sort?: "created_at" | "-created_at" | "updated_at" | "-updated_at" | "name" | "-name"; created_after?: string; created_before?: string }; answer: { items: Array<Suite>; next_cursor: string | null }; required: true }
  /** Create a suite: a dataset, and what the workflow must give for each of its records */
  createSuite: { input: { workflow_id: string } & NewSuite; answer: Suite; required: true }
  /** One suite */
  getSuite: { input: { suite_id: string }; answer: Suite; required: true }
  /** Change a suite, or bind it to another dataset */
  updateSuite: { input: { suite_id: string } & SuitePatch; answer: Suite; required: true }
  /** Delete a suite and its reports */
  deleteSuite: { input: { suite_id: string }; answer: undefined; required: true }
  /** Run the workflow over every record: its active version unless version_id is given */
  runSuite: { input: { suite_id: string } & RunSuite; answer: SuiteRun; required: true }
  /** Runs of a suite, newest first: which there are to compare */
  listSuiteRuns: { input: { suite_id: string; limit?: number; cursor?: string; sort?: "created_at" | "-created_at" | "pass_rate" | "-pass_rate"; created_after?: string; created_before?: string; status?: string }; answer: { items: Array<SuiteRun>; next_cursor: string | null }; required: true }
  /** The report of a run, record by record; with `compare`, how it differs from another run */
  getSuiteRun: { input: { suite_id: string; run_id: string; limit?: number; cursor?: string; compare?: string; outcome?: "passed" | "failed" | "error" | "unjudged" }; answer: SuiteReport; required: true }
  /** One case of a run; with `compare`, side by side with the same case of another run */
  getSuiteCase: { input: { suite_id: string; run_id: string; position: string; compare?: string }; answer: SuiteCase; required: true }
  /** Values for several requirements out of a message */
  extractRequirements: { input: { message: string; requirements?: Array<string | { name: string; description?: string; schema?: Record<string, unknown>; required?: boolean }>; workflow_id?: string; known?: Record<string, unknown>; time_zone?: string; credential_id?: string; model?: string }; answer: ExtractedRequirements; required: true }
  /** Chat templates of the workspace */
  listTemplates: { input: { limit?: number; cursor?: string; q?: string; sort?: "created_at" | "-created_at" | "updated_at" | "-updated_at" | "name" | "-name"; created_after?: string; created_before?: string; owner_id?: string }; answer: { items: Array<Template>; next_cursor: string | null }; required: false }
  /** Create a chat template */
  createTemplate: { input: { name: string; greeting?: string | null; locale?: string | null; instructions?: string | null; workflow_ids?: Array<string>; model?: string | null; llm?: { credential_id: string; fallback_credential_id?: string } | null; voice?: string | null; theme?: Record<string, unknown>; features?: { speech?: boolean; transcribe?: boolean; names?: boolean }; allowed_origins?: Array<string>; mode?: "menu" | "agent"; knowledge_ids?: Array<string>; tools?: Array<TemplateTool>; retention_days?: number | null; teams?: Array<{ team_id: string; role?: "editor" }> }; answer: Template; required: true }
  /** One chat template */
  getTemplate: { input: { template_id: string }; answer: Template; required: true }
  /** Change a chat template */
  updateTemplate: { input: { template_id: string } & { name?: string; greeting?: string | null; locale?: string | null; instructions?: string | null; workflow_ids?: Array<string> | null; model?: string | null; llm?: { credential_id: string; fallback_credential_id?: string } | null; voice?: string | null; theme?: Record<string, unknown> | null; features?: { speech?: boolean; transcribe?: boolean; names?: boolean } | null; allowed_origins?: Array<string> | null; mode?: "menu" | "agent"; knowledge_ids?: Array<string> | null; tools?: Array<TemplateTool> | null; retention_days?: number | null; teams?: Array<{ team_id: string; role?: "editor" }> | null }; answer: Template; required: true }
  /** Delete a chat template and its embed tokens */
  deleteTemplate: { input: { template_id: string }; answer: undefined; required: true }
  /** Embed tokens of a template */
  listTemplateTokens: { input: { template_id: string; limit?: number; cursor?: string; q?: string; sort?: "created_at" | "-created_at" | "name" | "-name" | "last_used_at" | "-last_used_at"; created_after?: string; created_before?: string; enabled?: "true" | "false" }; answer: { items: Array<EmbedToken>; next_cursor: string | null }; required: true }
  /** Create an embed token for a template */
  createTemplateToken: { input: { template_id: string } & { name?: string | null; allowed_origins?: Array<string>; require_origin?: boolean }; answer: EmbedTokenMade; required: true }
  /** One embed token of a template, with the token itself */
  getTemplateToken: { input: { template_id: string; token_id: string }; answer: EmbedTokenShown; required: true }
  /** Change, enable or disable an embed token of a template */
  updateTemplateToken: { input: { template_id: string; token_id: string } & { name?: string | null; allowed_origins?: Array<string> | null; require_origin?: boolean; enabled?: boolean }; answer: EmbedTokenShown; required: true }
  /** Delete an embed token of a template */
  deleteTemplateToken: { input: { template_id: string; token_id: string }; answer: undefined; required: true }
  /** What the widget shows, and a visitor token */
  getWidgetConfig: { input: { template_id: string; locale?: string }; answer: WidgetConfig; required: true }
  /** Send a message, and get the answer */
  chatWithWidget: { input: { template_id: string } & { thread_id?: string; message?: string; files?: Array<string>; time_zone?: string; page?: { url: string; title?: string }; locale?: string }; answer: ChatAnswer; required: true }
  /** Status of an execution that the visitor started, for polling */
  getWidgetExecution: { input: { template_id: string; execution_id: string }; answer: SimpleExecution; required: true }
  /** Results of any size of an execution that the visitor started */
  readWidgetResults: { input: { template_id: string; execution_id: string }; answer: unknown; required: true }
  /** Answer a question of an execution that the visitor started */
  respondThroughWidget: { input: { template_id: string; execution_id: string } & { response: unknown; clarification_id?: string }; answer: ClarificationAnswered; required: true }
  /** Submit or cancel a form */
  actOnWidgetForm: { input: { template_id: string; thread_id: string } & { action: "submit" | "cancel"; form_id: string; values?: Record<string, unknown> }; answer: FormActionAnswer; required: true }
  /** Messages of a conversation, oldest first, and the form that is open */
  getWidgetHistory: { input: { template_id: string; thread_id: string; limit?: number; cursor?: string; after?: string }; answer: WidgetHistory; required: true }
  /** What the assistant remembers about the visitor */
  getWidgetMemory: { input: { template_id: string }; answer: AssistantMemory; required: true }
  /** Forget what is remembered about the visitor */
  forgetWidgetVisitor: { input: { template_id: string }; answer: undefined; required: true }
  /** Text in, mp3 out; nothing is stored */
  speakThroughWidget: { input: { template_id: string } & { text: string; voice?: string; format?: "mp3" }; answer: Blob; required: true }
  /** Audio in, text out; nothing is stored */
  transcribeThroughWidget: { input: { template_id: string } & { body?: unknown }; answer: WidgetTranscript; required: true }
  /** Upload a file, to be sent with a message or in a form */
  uploadThroughWidget: { input: { template_id: string; name?: string } & { body?: unknown }; answer: FileValue; required: true }
  /** What the widget of a workflow shows, and a visitor token */
  getWorkflowWidgetConfig: { input: { workflow_id: string }; answer: WorkflowWidgetConfig; required: true }
  /** Collect the inputs of the workflow in a guided conversation, then start it */
  gatherInputs: { input: { workflow_id: string } & { conversation_id?: string; message?: string; files?: Array<string>; time_zone?: string; locale?: string }; answer: Gathered; required: true }
  /** Status of an execution that the visitor started, simplified */
  getEmbeddedExecution: { input: { workflow_id: string; execution_id: string }; answer: SimpleExecution; required: true }
  /** Results of any size of an execution that the visitor started */
  readEmbeddedResults: { input: { workflow_id: string; execution_id: string }; answer: unknown; required: true }
  /** Answer a question of an execution that the visitor started */
  respondToEmbedded: { input: { workflow_id: string; execution_id: string } & { response: unknown; clarification_id?: string }; answer: ClarificationAnswered; required: true }
  /** Upload a file, to be sent with a message or in a form */
  uploadForWorkflow: { input: { workflow_id: string; name?: string } & { body?: unknown }; answer: FileValue; required: true }
  /** Threads of the selected workspace that the caller is in, newest first */
  listThreads: { input: { limit?: number; cursor?: string; q?: string; sort?: "created_at" | "-created_at" | "updated_at" | "-updated_at" | "title" | "-title"; created_after?: string; created_before?: string; kind?: string; template_id?: string; with?: "colleagues" | "outside" }; answer: { items: Array<ChatThread>; next_cursor: string | null }; required: false }
  /** Open a thread; with a template the assistant answers in it */
  createThread: { input: { title: string; template_id?: string | null; locale?: string }; answer: ChatThread; required: true }
  /** One thread, with the usage of language models */
  getThread: { input: { thread_id: string }; answer: ChatThreadWithUsage; required: true }
  /** The messages of the thread, oldest first, and the open form */
  listThreadMessages: { input: { thread_id: string; limit?: number; cursor?: string; q?: string; sort?: "created_at" | "-created_at"; created_after?: string; created_before?: string; role?: string }; answer: ThreadMessages; required: true }
  /** Send a message to the thread */
  postThreadMessage: { input: { thread_id: string } & { body?: unknown }; answer: PostedThreadMessage; required: true }
  /** Submit or cancel the form that the assistant shows */
  actOnThreadForm: { input: { thread_id: string } & { action: "submit" | "cancel"; form_id: string; values?: Record<string, unknown> }; answer: PostedThreadMessage; required: true }
  /** Talk to a visitor, or to a person in a channel, instead of the assistant */
  takeThreadOver: { input: { thread_id: string }; answer: ChatThread; required: true }
  /** Let the assistant answer again; its open questions are asked again */
  handThreadBack: { input: { thread_id: string }; answer: ChatThread; required: true }
  /** Invite a person to the thread by e-mail */
  inviteThreadMember: { input: { thread_id: string } & { email: string; role?: "owner" | "member" | "viewer" }; answer: ThreadInvitation; required: true }
  /** Members of the thread */
  listThreadMembers: { input: { thread_id: string; limit?: number; cursor?: string; q?: string; sort?: "user_id" | "-user_id" | "created_at" | "-created_at" | "name" | "-name"; created_after?: string; created_before?: string; role?: string }; answer: { items: Array<ThreadMember>; next_cursor: string | null }; required: true }
  /** Change a member's role */
  updateThreadMember: { input: { thread_id: string; user_id: string } & { role: "owner" | "member" | "viewer" }; answer: ThreadMember; required: true }
  /** Remove a member, or leave */
  removeThreadMember: { input: { thread_id: string; user_id: string }; answer: undefined; required: true }
  /** A signed address at which the clip can be played for five minutes */
  getThreadAudio: { input: { thread_id: string; audio_id: string }; answer: Playback; required: true }
  /** Text in, audio out; nothing is stored */
  speakInThread: { input: { thread_id: string } & { text: string; voice?: string; format?: "mp3" | "wav" }; answer: Blob; required: true }
  /** Audio in, text out; nothing is stored */
  transcribeInThread: { input: { thread_id: string } & { body?: unknown }; answer: Transcript; required: true }
  /** The bytes of a clip, at its signed address; supports Range */
  playAudio: { input: { audio_id: string; grant: string }; answer: Blob; required: true }
  /** The inbox: conversations with visitors and channels that the caller may read, last changed first */
  listConversations: { input: { limit?: number; cursor?: string; q?: string; sort?: "created_at" | "-created_at" | "updated_at" | "-updated_at" | "waiting_since" | "-waiting_since"; created_after?: string; created_before?: string; kind?: string; state?: string; template_id?: string; assignee_id?: string; assigned?: "true" | "false"; waiting?: "true" | "false"; unread?: "true" | "false" }; answer: { items: Array<Conversation>; next_cursor: string | null }; required: false }
  /** One conversation of the inbox */
  getConversation: { input: { thread_id: string }; answer: Conversation; required: true }
  /** Close, reopen or assign a conversation */
  updateConversation: { input: { thread_id: string } & ConversationPatch; answer: Conversation; required: true }
  /** Mark a conversation as read by the caller, up to a message */
  markConversationRead: { input: { thread_id: string } & { message_id?: string }; answer: Conversation; required: true }
  /** A ticket for a socket that reports changes of conversations of the workspace */
  createConversationTicket: { input: Record<string, never>; answer: Ticket; required: false }
  /** Notes of colleagues on a conversation, oldest first */
  listConversationNotes: { input: { thread_id: string; limit?: number; cursor?: string; q?: string; sort?: "created_at" | "-created_at" | "updated_at" | "-updated_at"; created_after?: string; created_before?: string }; answer: { items: Array<ConversationNote>; next_cursor: string | null }; required: true }
  /** Write a note for colleagues */
  createConversationNote: { input: { thread_id: string } & ConversationNoteInput; answer: ConversationNote; required: true }
  /** One note */
  getConversationNote: { input: { thread_id: string; note_id: string }; answer: ConversationNote; required: true }
  /** Change the text of a note (its author) */
  updateConversationNote: { input: { thread_id: string; note_id: string } & ConversationNoteInput; answer: ConversationNote; required: true }
  /** Delete a note (its author, or an owner of the workspace) */
  deleteConversationNote: { input: { thread_id: string; note_id: string }; answer: undefined; required: true }
  /** Canned answers of the workspace, by name */
  listCannedAnswers: { input: { limit?: number; cursor?: string; q?: string; sort?: "created_at" | "-created_at" | "updated_at" | "-updated_at" | "name" | "-name"; created_after?: string; created_before?: string }; answer: { items: Array<CannedAnswer>; next_cursor: string | null }; required: false }
  /** Add a canned answer */
  createCannedAnswer: { input: NewCannedAnswer; answer: CannedAnswer; required: true }
  /** One canned answer */
  getCannedAnswer: { input: { answer_id: string }; answer: CannedAnswer; required: true }
  /** Change a canned answer */
  updateCannedAnswer: { input: { answer_id: string } & CannedAnswerPatch; answer: CannedAnswer; required: true }
  /** Delete a canned answer */
  deleteCannedAnswer: { input: { answer_id: string }; answer: undefined; required: true }
  /** The opening hours of the workspace */
  getOpeningHours: { input: Record<string, never>; answer: OpeningHours; required: false }
  /** Set the opening hours of the workspace, or remove them */
  putOpeningHours: { input: OpeningHoursInput; answer: OpeningHours; required: true }
  /** Opening hours of a template; null if it uses those of the workspace */
  getTemplateHours: { input: { template_id: string }; answer: OpeningHours; required: true }
  /** Set the opening hours of a template, or remove them */
  putTemplateHours: { input: { template_id: string } & OpeningHoursInput; answer: OpeningHours; required: true }
  /** Channel configs of the workspace */
  listChannelConfigs: { input: { limit?: number; cursor?: string; q?: string; sort?: "created_at" | "-created_at" | "updated_at" | "-updated_at" | "name" | "-name"; created_after?: string; created_before?: string; channel?: string; enabled?: "true" | "false" }; answer: { items: Array<ChannelConfig>; next_cursor: string | null }; required: false }
  /** Create a channel config, or update the one with this channel and external_id */
  putChannelConfig: { input: { channel: "slack" | "telegram" | "whatsapp" | "discord" | "email" | "webhook"; external_id: string; template_id: string; name?: string | null; enabled?: boolean; credentials?: Record<string, string | null> }; answer: ChannelConfig; required: true }
  /** Channel configs that use a template */
  listChannelConfigsOfTemplate: { input: { template_id: string; limit?: number; cursor?: string; q?: string; sort?: "created_at" | "-created_at" | "updated_at" | "-updated_at" | "name" | "-name"; created_after?: string; created_before?: string; channel?: string; enabled?: "true" | "false" }; answer: { items: Array<ChannelConfig>; next_cursor: string | null }; required: true }
  /** One channel config */
  getChannelConfig: { input: { config_id: string }; answer: ChannelConfig; required: true }
  /** Change a channel config; null erases a credential */
  updateChannelConfig: { input: { config_id: string } & { external_id?: string; template_id?: string | null; name?: string | null; enabled?: boolean; credentials?: Record<string, string | null> }; answer: ChannelConfig; required: true }
  /** Delete a channel config and its credentials; its conversations stay */
  deleteChannelConfig: { input: { config_id: string }; answer: undefined; required: true }
  /** Send a test message, and report whether the vendor accepted it */
  tryChannelConfig: { input: { config_id: string } & { to: string; text?: string }; answer: ChannelTestOutcome; required: true }
  /** The webhook to which the vendor sends messages */
  receiveFromChannel: { input: { channel: string; config_id: string } & { body?: unknown }; answer: unknown; required: true }
  /** The verification request of WhatsApp for the webhook address */
  answerChannelHandshake: { input: { channel: string; config_id: string; "hub.mode"?: string; "hub.verify_token"?: string; "hub.challenge"?: string }; answer: Blob; required: true }
  /** The credentials that you own, that are shared with you, and for owners of the workspace all of them */
  listCredentials: { input: { limit?: number; cursor?: string; q?: string; sort?: "created_at" | "-created_at" | "updated_at" | "-updated_at" | "name" | "-name" | "last_used_at" | "-last_used_at" | "expires_at" | "-expires_at"; created_after?: string; created_before?: string; kind?: string; state?: string; owner_id?: string; usable?: "true" | "false" }; answer: { items: Array<Credential>; next_cursor: string | null }; required: false }
  /** Store a credential */
  createCredential: { input: NewCredential; answer: Credential; required: true }
  /** One credential */
  getCredential: { input: { credential_id: string }; answer: Credential; required: true }
  /** Change a credential */
  updateCredential: { input: { credential_id: string } & CredentialPatch; answer: Credential; required: true }
  /** Revoke a credential: its secret is erased and jobs that use it pause; a second call deletes the credential */
  revokeCredential: { input: { credential_id: string }; answer: undefined; required: true }
  /** Replace the secret; the id stays the same */
  rotateSecret: { input: { credential_id: string } & CredentialSecret; answer: Credential; required: true }
  /** Test the credential with a call that changes nothing */
  testCredential: { input: { credential_id: string } & CredentialTestRequest; answer: CredentialTest; required: true }
  /** The workflows, jobs and templates that name the credential */
  getCredentialUsage: { input: { credential_id: string }; answer: CredentialUsage; required: true }
  /** Start the consent for an OAuth2 credential; returns the address to open in the browser */
  authorizeCredential: { input: { credential_id: string }; answer: CredentialAuthorization; required: true }
  /** The callback to which a service redirects the browser after the consent for an OAuth2 credential */
  finishAuthorization: { input: { state?: string; code?: string; error?: string }; answer: undefined; required: false }
  /** The default language model of the workspace */
  getWorkspaceModel: { input: { workspace_id: string }; answer: WorkspaceModel; required: true }
  /** Choose the default language model of the workspace, and a fallback */
  chooseWorkspaceModel: { input: { workspace_id: string } & NewWorkspaceModel; answer: WorkspaceModel; required: true }
  /** The kinds of credentials and the known services, as forms for an editor */
  listCredentialKinds: { input: Record<string, never>; answer: CredentialKinds; required: false }
  /** The services that `service.call` knows, with their actions */
  listServices: { input: { limit?: number; cursor?: string; q?: string; sort?: "service" | "-service" | "title" | "-title"; credential_required?: "true" | "false" }; answer: { items: Array<ServiceInList>; next_cursor: string | null }; required: false }
  /** One service, with the arguments of its actions as JSON Schemas */
  getService: { input: { service: string; action?: string }; answer: ServiceDetail; required: true }
  /** Delete an imported service */
  deleteService: { input: { service: string }; answer: undefined; required: true }
  /** Import an OpenAPI document, an MCP server or a piece as a service of the workspace */
  importService: { input: ServiceImportRequest; answer: ServiceImport; required: true }
  /** What importing a document or an MCP server would give */
  previewServiceImport: { input: ServiceImportRequest; answer: ServiceImport; required: true }
  /** What can be chosen for a field of an action, read from the service with your credential */
  listServiceOptions: { input: { service: string } & ServiceOptionsRequest; answer: ServiceOptions; required: true }
  /** The credentials with which a service can be called, of those that you see */
  listServiceCredentials: { input: { service: string; limit?: number; cursor?: string; q?: string; sort?: "created_at" | "-created_at" | "updated_at" | "-updated_at" | "name" | "-name" | "last_used_at" | "-last_used_at" | "expires_at" | "-expires_at"; created_after?: string; created_before?: string; kind?: string; state?: string; owner_id?: string }; answer: { items: Array<Credential>; next_cursor: string | null }; required: true }
  /** The last failures of a service, in runs that you see, the newest first */
  listServiceErrors: { input: { service: string; limit?: number; cursor?: string; q?: string; sort?: "failed_at" | "-failed_at"; created_after?: string; created_before?: string; action?: string; code?: string; workflow_id?: string }; answer: { items: Array<ServiceError>; next_cursor: string | null }; required: true }
  /** Ask an imported piece whether a credential works */
  testServiceCredential: { input: { service: string } & ServiceTestRequest; answer: ServiceTest; required: true }
  /** The triggers of a workflow, the newest first */
  listTriggers: { input: { workflow_id: string; limit?: number; cursor?: string; q?: string; sort?: "created_at" | "-created_at" | "next_poll_at" | "-next_poll_at" | "service" | "-service"; created_after?: string; created_before?: string; kind?: string; service?: string; enabled?: "true" | "false" }; answer: { items: Array<ServiceTrigger>; next_cursor: string | null }; required: true }
  /** Start the workflow with what is new at a service */
  createTrigger: { input: { workflow_id: string } & NewServiceTrigger; answer: ServiceTrigger; required: true }
  /** One trigger */
  getTrigger: { input: { workflow_id: string; trigger_id: string }; answer: ServiceTrigger; required: true }
  /** Switch a trigger off or on */
  updateTrigger: { input: { workflow_id: string; trigger_id: string } & ServiceTriggerPatch; answer: ServiceTrigger; required: true }
  /** Delete a trigger */
  deleteTrigger: { input: { workflow_id: string; trigger_id: string }; answer: undefined; required: true }
  /** The address to which a vendor sends the events of a trigger */
  receiveServiceEvent: { input: { hook: string } & { body?: unknown }; answer: unknown; required: true }
  /** The address at which a vendor verifies the receiver of events */
  answerServiceHandshake: { input: { hook: string }; answer: unknown; required: true }
  /** Your event destinations, and for owners of the workspace all of them */
  listDestinations: { input: { limit?: number; cursor?: string; q?: string; sort?: "created_at" | "-created_at" | "updated_at" | "-updated_at" | "url" | "-url"; created_after?: string; created_before?: string; enabled?: "true" | "false"; workflow_id?: string; owner_id?: string }; answer: { items: Array<EventDestination>; next_cursor: string | null }; required: false }
  /** Send events to an address */
  createDestination: { input: NewEventDestination; answer: CreatedEventDestination; required: true }
  /** One event destination */
  getDestination: { input: { destination_id: string }; answer: EventDestination; required: true }
  /** Change an event destination, or switch it off or on */
  updateDestination: { input: { destination_id: string } & EventDestinationPatch; answer: EventDestination; required: true }
  /** Delete an event destination, with its deliveries */
  deleteDestination: { input: { destination_id: string }; answer: undefined; required: true }
  /** Create a new signing secret; deliveries are also signed with the previous secret for a day */
  rotateDestinationSecret: { input: { destination_id: string }; answer: RotatedEventDestinationSecret; required: true }
  /** Send a test event now */
  testDestination: { input: { destination_id: string }; answer: EventDestinationTest; required: true }
  /** The deliveries of an event destination, newest first */
  listDeliveries: { input: { destination_id: string; limit?: number; cursor?: string; q?: string; sort?: "created_at" | "-created_at"; created_after?: string; created_before?: string; status?: string; type?: string; execution_id?: string }; answer: { items: Array<EventDelivery>; next_cursor: string | null }; required: true }
  /** Send an event again, with the same id */
  redeliverEvent: { input: { destination_id: string; delivery_id: string }; answer: EventDelivery; required: true }
  /** The variables of the workspace, by name */
  listVariables: { input: { limit?: number; cursor?: string; q?: string; sort?: "name" | "-name" | "created_at" | "-created_at" | "updated_at" | "-updated_at"; created_after?: string; created_before?: string }; answer: { items: Array<Variable>; next_cursor: string | null }; required: false }
  /** One variable */
  getVariable: { input: { name: string }; answer: Variable; required: true }
  /** Add a variable or change its value */
  putVariable: { input: { name: string } & NewVariable; answer: Variable; required: true }
  /** Delete a variable */
  deleteVariable: { input: { name: string }; answer: undefined; required: true }
  /** Filters of lists that the caller has named in this workspace */
  getSavedViews: { input: Record<string, never>; answer: SavedViews; required: false }
  /** Name filters of lists, for oneself in this workspace */
  setSavedViews: { input: NewSavedViews; answer: SavedViews; required: true }
  /** Comments on the workflow and its nodes, newest first */
  listComments: { input: { workflow_id: string; limit?: number; cursor?: string; q?: string; sort?: "created_at" | "-created_at" | "updated_at" | "-updated_at"; created_after?: string; created_before?: string; node_id?: string; resolved?: "true" | "false" }; answer: { items: Array<WorkflowComment>; next_cursor: string | null }; required: true }
  /** Comment on a workflow or one of its nodes */
  createComment: { input: { workflow_id: string } & NewWorkflowComment; answer: WorkflowComment; required: true }
  /** One comment */
  getComment: { input: { workflow_id: string; comment_id: string }; answer: WorkflowComment; required: true }
  /** Change the text of a comment (its author) */
  updateComment: { input: { workflow_id: string; comment_id: string } & WorkflowCommentPatch; answer: WorkflowComment; required: true }
  /** Delete a comment (its author, or the owner of the workflow) */
  deleteComment: { input: { workflow_id: string; comment_id: string }; answer: undefined; required: true }
  /** Mark a comment as done, or reopen it */
  resolveComment: { input: { workflow_id: string; comment_id: string } & { resolved: boolean }; answer: WorkflowComment; required: true }
  /** What the runs of a workflow have stored, by key */
  listWorkflowState: { input: { workflow_id: string; limit?: number; cursor?: string; q?: string; sort?: "key" | "-key" | "updated_at" | "-updated_at" | "bytes" | "-bytes"; prefix?: string }; answer: { items: Array<StateEntry>; next_cursor: string | null }; required: true }
  /** Delete all stored values of a workflow */
  clearWorkflowState: { input: { workflow_id: string }; answer: StateCleared; required: true }
  /** One stored value */
  getWorkflowState: { input: { workflow_id: string; key: string }; answer: StateEntry; required: true }
  /** Delete a stored value */
  deleteWorkflowState: { input: { workflow_id: string; key: string }; answer: undefined; required: true }
  /** A signed receipt of an execution that has ended */
  getExecutionReceipt: { input: { execution_id: string }; answer: Receipt; required: true }
  /** The public key that signs receipts */
  getReceiptKey: { input: Record<string, never>; answer: ReceiptKey; required: false }
  /** Upload a file that the input of a run can name */
  uploadFile: { input: { name?: string } & { body?: unknown }; answer: FileValue; required: false }
  /** The bytes of a file */
  downloadFile: { input: { file_id: string }; answer: Blob; required: true }
  /** A signed address with which anyone can read the file for a week */
  createFileLink: { input: { file_id: string }; answer: FileLink; required: true }
  /** The bytes of a file, by a signed address */
  downloadByLink: { input: { file_id: string; grant: string }; answer: Blob; required: true }
  /** The knowledge bases that you own, that are shared with you, and for owners of the workspace all of them */
  listKnowledge: { input: { limit?: number; cursor?: string; q?: string; sort?: "created_at" | "-created_at" | "updated_at" | "-updated_at" | "name" | "-name"; created_after?: string; created_before?: string; owner_id?: string }; answer: { items: Array<Knowledge>; next_cursor: string | null }; required: false }
  /** Create a knowledge base */
  createKnowledge: { input: { name: string; description?: string | null; language?: "german" | "english" | "french" | "spanish" | "norwegian" | "simple"; embeddings?: { credential_id?: string | null; model?: string } | null; shared?: Array<{ kind: "user"; id: string; role: "use" | "edit" } | { kind: "team"; id: string; role: "use" | "edit" } | { kind: "workspace"; role: "use" | "edit" }> }; answer: Knowledge; required: true }
  /** One knowledge base */
  getKnowledge: { input: { knowledge_id: string }; answer: Knowledge; required: true }
  /** Change a knowledge base */
  updateKnowledge: { input: { knowledge_id: string } & { name?: string; description?: string | null; language?: "german" | "english" | "french" | "spanish" | "norwegian" | "simple"; embeddings?: { credential_id?: string | null; model?: string } | null; shared?: Array<{ kind: "user"; id: string; role: "use" | "edit" } | { kind: "team"; id: string; role: "use" | "edit" } | { kind: "workspace"; role: "use" | "edit" }>; owner_id?: string }; answer: Knowledge; required: true }
  /** Delete a knowledge base with all its documents */
  deleteKnowledge: { input: { knowledge_id: string }; answer: undefined; required: true }
  /** The passages that fit a question, best first, with the place of each */
  searchKnowledge: { input: { knowledge_id: string } & { q: string; limit?: number }; answer: KnowledgePassages; required: true }
  /** The documents of a knowledge base, newest first */
  listKnowledgeDocuments: { input: { knowledge_id: string; limit?: number; cursor?: string; q?: string; sort?: "created_at" | "-created_at" | "updated_at" | "-updated_at" | "name" | "-name" | "bytes" | "-bytes"; created_after?: string; created_before?: string; status?: string; kind?: string }; answer: { items: Array<KnowledgeDocument>; next_cursor: string | null }; required: true }
  /** Add a document: a text, an uploaded file, columns of a dataset, or a page */
  addKnowledgeDocument: { input: { knowledge_id: string } & { name?: string; text?: string; file?: { $file: { file_id: string } }; dataset?: { dataset_id: string; columns: Array<string>; title_column?: string }; url?: string; crawl?: { max_pages: number; max_depth?: number } }; answer: KnowledgeDocument; required: true }
  /** One document */
  getKnowledgeDocument: { input: { knowledge_id: string; document_id: string }; answer: KnowledgeDocument; required: true }
  /** Remove a document, and the pages that its crawl found */
  removeKnowledgeDocument: { input: { knowledge_id: string; document_id: string }; answer: undefined; required: true }
  /** The text of a document, or a part of it */
  getKnowledgeText: { input: { knowledge_id: string; document_id: string; from?: number; to?: number }; answer: DocumentText; required: true }
  /** Index a document again; datasets and pages are read again */
  reindexKnowledgeDocument: { input: { knowledge_id: string; document_id: string }; answer: KnowledgeDocument; required: true }
  /** Heddle as a server of the Model Context Protocol (streamable HTTP): workflows as tools */
  callMcp: { input: McpMessage; answer: McpReply; required: true }
  /** Where tokens for /mcp come from (RFC 9728) */
  describeMcpResource: { input: Record<string, never>; answer: ProtectedResourceMetadata; required: false }
  /** How programs get tokens for /mcp (RFC 8414) */
  describeAuthorizationServer: { input: Record<string, never>; answer: AuthorizationServerMetadata; required: false }
  /** Register a program that wants to call /mcp (RFC 7591) */
  registerOAuthClient: { input: OAuthClientMetadata; answer: OAuthClient; required: true }
  /** Exchange a code or a refresh token for an access token */
  exchangeOAuthToken: { input: { body?: unknown }; answer: OAuthTokens; required: false }
  /** Revoke a token: its grant ends (RFC 7009) */
  revokeOAuthToken: { input: { body?: unknown }; answer: Record<string, unknown>; required: false }
  /** What a program asks for, and which workflows it would get */
  getAuthorizationRequest: { input: { client_id: string; redirect_uri: string; response_type: string; code_challenge: string; code_challenge_method: string; state?: string; scope?: string; resource?: string }; answer: AuthorizationRequest; required: true }
  /** Allow or deny a program to call /mcp in the selected workspace */
  decideAuthorization: { input: AuthorizationDecision; answer: { redirect_url: string }; required: true }
  /** Programs that the caller lets call /mcp in the selected workspace */
  listOAuthGrants: { input: { limit?: number; cursor?: string; q?: string; sort?: "created_at" | "-created_at" | "client_name" | "-client_name"; created_after?: string; created_before?: string }; answer: { items: Array<OAuthGrant>; next_cursor: string | null }; required: false }
  /** One of these programs */
  getOAuthGrant: { input: { grant_id: string }; answer: OAuthGrant; required: true }
  /** Withdraw the permission; the tokens of the program stop working at once */
  deleteOAuthGrant: { input: { grant_id: string }; answer: undefined; required: true }
  /** How many runs ended how, how long they took, and how long they waited for people */
  getRunInsights: { input: { from?: string; to?: string; bucket?: "hour" | "day"; group_by?: "workflow" | "trigger" | "error"; workflow_id?: string; include_jobs?: "true" | "false" }; answer: RunReport; required: false }
  /** The slowest steps of workflows */
  getStepInsights: { input: { from?: string; to?: string; workflow_id?: string; include_jobs?: "true" | "false"; sort?: "mean" | "total" | "max" | "failed"; limit?: number }; answer: StepReport; required: false }
  /** Tokens, cost and calls of language models */
  getUsageInsights: { input: { group_by?: "workflow" | "model" | "person" | "day" | "credential"; from?: string; to?: string; workflow_id?: string }; answer: UsageReport; required: false }
  /** What a million tokens of each language model cost */
  getModelPrices: { input: Record<string, never>; answer: ModelPrices; required: false }
  /** Set prices of language models that replace the built-in prices */
  putModelPrices: { input: NewModelPrices; answer: ModelPrices; required: true }
  /** The budgets for language models, and what is spent */
  listBudgets: { input: Record<string, never>; answer: Budgets; required: false }
  /** Set the budgets of the workspace */
  putBudgets: { input: NewBudgets; answer: Budgets; required: true }
  /** Alert rules that the caller may see, with their states */
  listAlertRules: { input: { limit?: number; cursor?: string; q?: string; sort?: "created_at" | "-created_at" | "name" | "-name" | "since" | "-since"; created_after?: string; created_before?: string; kind?: string; state?: string; workflow_id?: string; enabled?: "true" | "false" }; answer: { items: Array<AlertRule>; next_cursor: string | null }; required: false }
  /** Create an alert rule for a workflow or the workspace */
  createAlertRule: { input: NewAlertRule; answer: AlertRule; required: true }
  /** One alert rule */
  getAlertRule: { input: { rule_id: string }; answer: AlertRule; required: true }
  /** Change an alert rule, switch it off, or silence it for a while */
  updateAlertRule: { input: { rule_id: string } & AlertRulePatch; answer: AlertRule; required: true }
  /** Delete an alert rule */
  deleteAlertRule: { input: { rule_id: string }; answer: undefined; required: true }
}

/** Method, path, the names that go into the query, and whether the body is sent as it is. */
export type Entry = readonly [method: string, path: string, query?: readonly string[], raw?: true]

export const operations: { readonly [Name in keyof Operations]: Entry } = {
  signUp: ["POST", "/auth/sign-up"],
  getAuthOptions: ["GET", "/auth/options"],
  confirmSignUp: ["POST", "/auth/sign-up/confirm"],
  sendVerification: ["POST", "/auth/verification"],
  confirmEmail: ["POST", "/auth/verification/confirm"],
  forgotPassword: ["POST", "/auth/password/forgot"],
  resetPassword: ["POST", "/auth/password/reset"],
  finishSignIn: ["POST", "/auth/sign-in/second-factor"],
  describeSecondFactor: ["POST", "/auth/sign-in/second-factor/options"],
  beginPasskeySignIn: ["POST", "/auth/sign-in/passkey/options"],
  finishPasskeySignIn: ["POST", "/auth/sign-in/passkey"],
  getSecondFactors: ["GET", "/auth/second-factor"],
  beginTotp: ["POST", "/auth/second-factor/totp"],
  confirmTotp: ["POST", "/auth/second-factor/totp/confirm"],
  removeTotp: ["POST", "/auth/second-factor/totp/remove"],
  renewRecoveryCodes: ["POST", "/auth/second-factor/recovery-codes"],
  beginPasskey: ["POST", "/auth/passkeys/options"],
  addPasskey: ["POST", "/auth/passkeys"],
  removePasskey: ["POST", "/auth/passkeys/{passkey_id}/remove"],
  signIn: ["POST", "/auth/sign-in"],
  signOut: ["POST", "/auth/sign-out"],
  getMe: ["GET", "/auth/me"],
  changePassword: ["POST", "/auth/password"],
  listSessions: ["GET", "/auth/sessions", ["limit","cursor","q","sort","created_after","created_before"]],
  endSessions: ["DELETE", "/auth/sessions", ["keep_current"]],
  endSession: ["DELETE", "/auth/sessions/{session_id}"],
  listApiKeys: ["GET", "/auth/api-keys", ["limit","cursor","q","sort","created_after","created_before"]],
  createApiKey: ["POST", "/auth/api-keys"],
  deleteApiKeys: ["POST", "/auth/api-keys/delete"],
  getApiKey: ["GET", "/auth/api-keys/{key_id}"],
  deleteApiKey: ["DELETE", "/auth/api-keys/{key_id}"],
  previewInvitation: ["GET", "/auth/invitations/{token}"],
  acceptInvitation: ["POST", "/auth/invitations/{token}/accept"],
  listOidcProviders: ["GET", "/auth/oidc"],
  startOidc: ["GET", "/auth/oidc/{provider}/start", ["return_to"]],
  finishOidc: ["GET", "/auth/oidc/{provider}/callback", ["state"]],
  linkOidc: ["POST", "/auth/oidc/{provider}/link"],
  unlinkOidc: ["DELETE", "/auth/oidc/{provider}/link"],
  listWorkspaces: ["GET", "/api/workspaces", ["limit","cursor","q","sort","created_after","created_before","role","company_id"]],
  createWorkspace: ["POST", "/api/workspaces"],
  getWorkspace: ["GET", "/api/workspaces/{workspace_id}"],
  updateWorkspace: ["PATCH", "/api/workspaces/{workspace_id}"],
  deleteWorkspace: ["DELETE", "/api/workspaces/{workspace_id}"],
  selectWorkspace: ["POST", "/api/workspaces/{workspace_id}/select"],
  listWorkspaceMembers: ["GET", "/api/workspaces/{workspace_id}/members", ["limit","cursor","q","sort","created_after","created_before","role"]],
  inviteToWorkspace: ["POST", "/api/workspaces/{workspace_id}/members/invite"],
  updateWorkspaceMember: ["PATCH", "/api/workspaces/{workspace_id}/members/{user_id}"],
  removeWorkspaceMember: ["DELETE", "/api/workspaces/{workspace_id}/members/{user_id}"],
  listInvitations: ["GET", "/api/workspaces/{workspace_id}/invitations", ["limit","cursor","q","sort","created_after","created_before","role"]],
  revokeInvitation: ["DELETE", "/api/workspaces/{workspace_id}/invitations/{invitation_id}"],
  listAuditLog: ["GET", "/api/audit-log", ["limit","cursor","q","sort","created_after","created_before","action","actor_id","subject","from","to"]],
  exportAuditLog: ["GET", "/api/audit-log/export", ["action","actor_id","subject","from","to","format"]],
  listServiceAccounts: ["GET", "/api/service-accounts", ["limit","cursor","q","sort","created_after","created_before","role","disabled"]],
  createServiceAccount: ["POST", "/api/service-accounts"],
  getServiceAccount: ["GET", "/api/service-accounts/{user_id}"],
  updateServiceAccount: ["PATCH", "/api/service-accounts/{user_id}"],
  deleteServiceAccount: ["DELETE", "/api/service-accounts/{user_id}"],
  listServiceAccountKeys: ["GET", "/api/service-accounts/{user_id}/keys", ["limit","cursor","q","sort","created_after","created_before"]],
  createServiceAccountKey: ["POST", "/api/service-accounts/{user_id}/keys"],
  getServiceAccountKey: ["GET", "/api/service-accounts/{user_id}/keys/{key_id}"],
  deleteServiceAccountKey: ["DELETE", "/api/service-accounts/{user_id}/keys/{key_id}"],
  listCompanies: ["GET", "/api/companies", ["limit","cursor","q","sort","created_after","created_before"]],
  createCompany: ["POST", "/api/companies"],
  getCompany: ["GET", "/api/companies/{company_id}"],
  updateCompany: ["PATCH", "/api/companies/{company_id}"],
  deleteCompany: ["DELETE", "/api/companies/{company_id}"],
  listTeams: ["GET", "/api/teams", ["limit","cursor","q","sort","created_after","created_before","workspace_id","owner_id"]],
  createTeam: ["POST", "/api/teams"],
  getTeamBySlug: ["GET", "/api/teams/slug/{slug}"],
  getTeam: ["GET", "/api/teams/{team_id}"],
  updateTeam: ["PATCH", "/api/teams/{team_id}"],
  deleteTeam: ["DELETE", "/api/teams/{team_id}"],
  addTeamUsers: ["POST", "/api/teams/{team_id}/add_users"],
  removeTeamMember: ["DELETE", "/api/teams/{team_id}/members/{user_id}"],
  listSubscriptions: ["GET", "/api/subscriptions", ["limit","cursor","q","sort","created_after","created_before","workspace_id","status"]],
  createSubscription: ["POST", "/api/subscriptions"],
  getSubscription: ["GET", "/api/subscriptions/{subscription_id}"],
  updateSubscription: ["PATCH", "/api/subscriptions/{subscription_id}"],
  deleteSubscription: ["DELETE", "/api/subscriptions/{subscription_id}"],
  listNotifications: ["GET", "/api/notifications", ["limit","cursor","q","sort","created_after","created_before","kind","workspace_id","unread"]],
  createNotification: ["POST", "/api/notifications"],
  readNotifications: ["POST", "/api/notifications/read"],
  deleteNotifications: ["POST", "/api/notifications/delete"],
  getNotification: ["GET", "/api/notifications/{notification_id}"],
  updateNotification: ["PATCH", "/api/notifications/{notification_id}"],
  deleteNotification: ["DELETE", "/api/notifications/{notification_id}"],
  createNotificationTicket: ["POST", "/auth/notification-ticket"],
  listPresence: ["GET", "/api/presence", ["limit","cursor","sort","workspace_id","status"]],
  recordPresence: ["POST", "/api/presence"],
  getPresence: ["GET", "/api/presence/{presence_id}"],
  deletePresence: ["DELETE", "/api/presence/{presence_id}"],
  listColleagues: ["GET", "/api/workspaces/{workspace_id}/presence", ["limit","cursor","q","sort","status"]],
  listWorkflows: ["GET", "/api/workflows", ["limit","cursor","q","sort","created_after","created_before","owner_id","scope","tag","state","include"]],
  createWorkflow: ["POST", "/api/workflows"],
  deleteWorkflows: ["POST", "/api/workflows/delete"],
  getRegistry: ["GET", "/api/workflows/registry"],
  getPalette: ["GET", "/api/workflows/palette"],
  getWorkflow: ["GET", "/api/workflows/{workflow_id}"],
  updateWorkflow: ["PATCH", "/api/workflows/{workflow_id}"],
  deleteWorkflow: ["DELETE", "/api/workflows/{workflow_id}", ["cancel_runs"]],
  pauseWorkflow: ["POST", "/api/workflows/{workflow_id}/pause"],
  resumeWorkflow: ["POST", "/api/workflows/{workflow_id}/resume"],
  exportWorkflow: ["GET", "/api/workflows/{workflow_id}/export", ["version_id"]],
  importWorkflow: ["POST", "/api/workflows/import"],
  getWorkflowUse: ["GET", "/api/workflows/{workflow_id}/use"],
  listVersions: ["GET", "/api/workflows/{workflow_id}/versions", ["limit","cursor","q","sort","created_after","created_before","active"]],
  createVersion: ["POST", "/api/workflows/{workflow_id}/versions"],
  getVersion: ["GET", "/api/workflows/{workflow_id}/versions/{version_id}"],
  activateVersion: ["POST", "/api/workflows/{workflow_id}/versions/{version_id}/activate"],
  diffVersions: ["GET", "/api/workflows/{workflow_id}/versions/{version_a}/diff/{version_b}"],
  listTransfers: ["GET", "/api/workflow-transfers", ["limit","cursor","q","sort","created_after","created_before"]],
  offerWorkflow: ["POST", "/api/workflows/{workflow_id}/transfer"],
  getTransfer: ["GET", "/api/workflows/{workflow_id}/transfer"],
  withdrawTransfer: ["DELETE", "/api/workflows/{workflow_id}/transfer"],
  acceptTransfer: ["POST", "/api/workflows/{workflow_id}/transfer/accept"],
  declineTransfer: ["POST", "/api/workflows/{workflow_id}/transfer/decline"],
  listWebhookTokens: ["GET", "/api/workflows/{workflow_id}/tokens", ["limit","cursor","q","sort","created_after","created_before","enabled"]],
  createWebhookToken: ["POST", "/api/workflows/{workflow_id}/tokens"],
  getWebhookToken: ["GET", "/api/workflows/{workflow_id}/tokens/{token_id}"],
  updateWebhookToken: ["PATCH", "/api/workflows/{workflow_id}/tokens/{token_id}"],
  deleteWebhookToken: ["DELETE", "/api/workflows/{workflow_id}/tokens/{token_id}"],
  listEmbedTokens: ["GET", "/api/workflows/{workflow_id}/embed-tokens", ["limit","cursor","q","sort","created_after","created_before","enabled"]],
  createEmbedToken: ["POST", "/api/workflows/{workflow_id}/embed-tokens"],
  getEmbedToken: ["GET", "/api/workflows/{workflow_id}/embed-tokens/{token_id}"],
  updateEmbedToken: ["PATCH", "/api/workflows/{workflow_id}/embed-tokens/{token_id}"],
  deleteEmbedToken: ["DELETE", "/api/workflows/{workflow_id}/embed-tokens/{token_id}"],
  getSchedule: ["GET", "/api/workflows/{workflow_id}/schedule"],
  putSchedule: ["PUT", "/api/workflows/{workflow_id}/schedule"],
  deleteSchedule: ["DELETE", "/api/workflows/{workflow_id}/schedule"],
  listSchedules: ["GET", "/api/workflows/{workflow_id}/schedules", ["limit","cursor","q","sort","created_after","created_before","enabled"]],
  createSchedule: ["POST", "/api/workflows/{workflow_id}/schedules"],
  getOneSchedule: ["GET", "/api/workflows/{workflow_id}/schedules/{schedule_id}"],
  updateSchedule: ["PATCH", "/api/workflows/{workflow_id}/schedules/{schedule_id}"],
  removeSchedule: ["DELETE", "/api/workflows/{workflow_id}/schedules/{schedule_id}"],
  backfillSchedule: ["POST", "/api/workflows/{workflow_id}/schedules/{schedule_id}/backfill"],
  runWorkflow: ["POST", "/api/workflows/{workflow_id}/run", ["wait_s"]],
  runWorkflowBatch: ["POST", "/api/workflows/{workflow_id}/run-batch"],
  runSystemWorkflow: ["POST", "/api/workflows/system/{workflow_id}/run", ["wait_s"]],
  cancelExecution: ["POST", "/api/workflows/executions/{execution_id}/cancel"],
  retryExecution: ["POST", "/api/workflows/executions/{execution_id}/retry"],
  listExecutions: ["GET", "/api/workflows/{workflow_id}/executions", ["limit","cursor","sort","created_after","created_before","include_jobs","include_trials"]],
  getExecution: ["GET", "/api/workflows/executions/{execution_id}"],
  getExecutionNode: ["GET", "/api/workflows/executions/{execution_id}/nodes/{path}", ["limit","cursor","item"]],
  listSystemExecutions: ["GET", "/api/workflows/system/{workflow_id}/executions", ["limit","cursor","sort","created_after","created_before"]],
  searchExecutions: ["GET", "/api/executions", ["limit","cursor","sort","created_after","created_before","q","error_code","node_id","tag","version_id","status","workflow_id","from","to","trigger","include_jobs","include_trials"]],
  listExecutionEvents: ["GET", "/api/workflows/executions/{execution_id}/events", ["after","limit","cursor"]],
  listExecutionLogs: ["GET", "/api/workflows/executions/{execution_id}/logs", ["limit","cursor","level","node_id"]],
  createWorkflowTicket: ["POST", "/auth/workflow-ticket/{execution_id}"],
  readExecutionBlob: ["GET", "/api/workflows/executions/{execution_id}/blobs/{sha256}"],
  startBulk: ["POST", "/api/executions/bulk"],
  getBulk: ["GET", "/api/executions/bulk/{bulk_id}"],
  createReplay: ["POST", "/api/workflows/{workflow_id}/versions/{version_id}/replay"],
  listReplays: ["GET", "/api/workflows/{workflow_id}/replays", ["limit","cursor","sort","created_after","created_before","status","version_id"]],
  getReplay: ["GET", "/api/replays/{replay_id}", ["limit","cursor","outcome"]],
  cancelReplay: ["POST", "/api/replays/{replay_id}/cancel"],
  tryWorkflow: ["POST", "/api/workflows/{workflow_id}/try", ["wait_s"]],
  getTrial: ["GET", "/api/workflows/executions/{execution_id}/trial"],
  triggerWebhook: ["POST", "/api/webhooks/workflow/{workflow_id}/trigger", ["wait_s"], true],
  getWebhookExecution: ["GET", "/api/webhooks/workflow/{workflow_id}/executions/{execution_id}"],
  listWebhookDeliveries: ["GET", "/api/workflows/{workflow_id}/tokens/{token_id}/deliveries", ["limit","cursor","q","sort","created_after","created_before","code","execution_id"]],
  receiveByGet: ["GET", "/api/webhooks/in/{token_or_id}"],
  receiveByPost: ["POST", "/api/webhooks/in/{token_or_id}", [], true],
  receiveByPut: ["PUT", "/api/webhooks/in/{token_or_id}", [], true],
  receiveByPatch: ["PATCH", "/api/webhooks/in/{token_or_id}", [], true],
  receiveByDelete: ["DELETE", "/api/webhooks/in/{token_or_id}", [], true],
  readWebhookResults: ["GET", "/api/webhooks/workflow/{workflow_id}/executions/{execution_id}/results"],
  sendEvent: ["POST", "/api/events"],
  callBackByPost: ["POST", "/api/callbacks/{callback}", [], true],
  callBackByGet: ["GET", "/api/callbacks/{callback}"],
  listInbox: ["GET", "/api/approvals/inbox", ["limit","cursor","q","sort","created_after","created_before","workflow_id"]],
  listDecided: ["GET", "/api/approvals/decided", ["limit","cursor","q","sort","created_after","created_before","workflow_id","status"]],
  getApproval: ["GET", "/api/approvals/{request_id}"],
  castVote: ["POST", "/api/approvals/{request_id}/votes"],
  editArguments: ["POST", "/api/approvals/{request_id}/arguments"],
  delegateVote: ["POST", "/api/approvals/{request_id}/delegate"],
  listExecutionApprovals: ["GET", "/api/workflows/executions/{execution_id}/approvals", ["limit","cursor","q","sort","created_after","created_before","status"]],
  respondToExecution: ["POST", "/api/workflows/executions/{execution_id}/respond"],
  listQuestionInbox: ["GET", "/api/clarifications/inbox", ["limit","cursor","q","sort","created_after","created_before","execution_id","workflow_id"]],
  listKeptAnswers: ["GET", "/api/clarifications/answers", ["limit","cursor","q","sort","created_after","created_before","workflow_id"]],
  withdrawAnswer: ["POST", "/api/clarifications/answers/{clarification_id}/withdraw"],
  listAgreement: ["GET", "/api/approvals/agreement", ["limit","cursor","workflow_id"]],
  fetchOdds: ["POST", "/api/workflows/odds"],
  getNotificationPreferences: ["GET", "/api/notifications/preferences"],
  setNotificationPreferences: ["PUT", "/api/notifications/preferences"],
  listReachableChannels: ["GET", "/api/notifications/channels"],
  linkChannel: ["POST", "/api/notifications/channels"],
  listChannelIdentities: ["GET", "/api/notifications/identities", ["limit","cursor","q","sort","created_after","created_before"]],
  getChannelIdentity: ["GET", "/api/notifications/identities/{identity_id}"],
  deleteChannelIdentity: ["DELETE", "/api/notifications/identities/{identity_id}"],
  getInteraction: ["GET", "/api/interactions/{interaction}"],
  answerInteraction: ["POST", "/api/interactions/{interaction}"],
  sendInteractionCode: ["POST", "/api/interactions/{interaction}/code"],
  listInvoices: ["GET", "/api/payments/invoices", ["limit","cursor","q","sort","created_after","created_before","status"]],
  showInvoice: ["GET", "/api/payments/invoices/{invoice_id}/page", ["workspace","expires","signature"]],
  listUsageCharges: ["GET", "/api/payments/usage-charges", ["limit","cursor","sort","created_after","created_before","execution_id","invoice_id","meter"]],
  downloadInvoice: ["GET", "/api/payments/invoices/{invoice_id}/pdf", ["workspace","expires","signature"]],
  listPaymentMethods: ["GET", "/api/payments/methods", ["limit","cursor","q","sort","created_after","created_before"]],
  deletePaymentMethod: ["DELETE", "/api/payments/methods/{payment_method_id}"],
  setDefaultPaymentMethod: ["POST", "/api/payments/methods/{payment_method_id}/default"],
  listPlans: ["GET", "/api/payments/plans", ["limit","cursor","q","sort","created_after","created_before","interval"]],
  createPlan: ["POST", "/api/payments/plans"],
  getPlan: ["GET", "/api/payments/plans/{plan_id}"],
  updatePlan: ["PATCH", "/api/payments/plans/{plan_id}"],
  deletePlan: ["DELETE", "/api/payments/plans/{plan_id}"],
  createSetupIntent: ["POST", "/api/payments/setup-intent"],
  confirmSetupIntent: ["POST", "/api/payments/setup-intents/{setup_intent_id}/confirm"],
  createBillingSubscription: ["POST", "/api/payments/subscriptions"],
  getMyBillingSubscription: ["GET", "/api/payments/subscriptions/me"],
  updateMyBillingSubscription: ["PATCH", "/api/payments/subscriptions/me"],
  cancelMyBillingSubscription: ["DELETE", "/api/payments/subscriptions/me", ["at"]],
  getUsage: ["GET", "/api/payments/usage"],
  moveTestClock: ["POST", "/api/payments/test-clock"],
  receiveStripeWebhook: ["POST", "/api/payments/webhooks/stripe", [], true],
  getEngineHealth: ["GET", "/api/operations/engine"],
  releaseExecution: ["POST", "/api/operations/executions/{execution_id}/release"],
  listOutbox: ["GET", "/api/operations/outbox", ["limit","cursor","q","sort","created_after","created_before","workspace_id"]],
  listTenants: ["GET", "/api/operations/workspaces", ["limit","cursor","q","sort","created_after","created_before","suspended"]],
  trustWorkspace: ["PUT", "/api/operations/workspaces/{workspace_id}/trust"],
  suspendWorkspace: ["PUT", "/api/operations/workspaces/{workspace_id}/suspension"],
  deleteTenant: ["DELETE", "/api/operations/workspaces/{workspace_id}"],
  getKeyRotation: ["GET", "/api/operations/key-rotation"],
  rotateKey: ["POST", "/api/operations/key-rotation"],
  listDatasets: ["GET", "/api/datasets", ["limit","cursor","q","sort","created_after","created_before","created_by"]],
  createDataset: ["POST", "/api/datasets"],
  captureDataset: ["POST", "/api/datasets/capture"],
  importDataset: ["POST", "/api/datasets/import", ["infer"], true],
  getDataset: ["GET", "/api/datasets/{dataset_id}"],
  updateDataset: ["PATCH", "/api/datasets/{dataset_id}"],
  deleteDataset: ["DELETE", "/api/datasets/{dataset_id}"],
  listRecords: ["GET", "/api/datasets/{dataset_id}/records", ["limit","cursor"]],
  exportDataset: ["GET", "/api/datasets/{dataset_id}/export", ["format"]],
  listConnections: ["GET", "/api/connections", ["q","sort","created_after","created_before","kind","status"]],
  createConnection: ["POST", "/api/connections"],
  getConnection: ["GET", "/api/connections/{connection_id}"],
  updateConnection: ["PATCH", "/api/connections/{connection_id}"],
  revokeConnection: ["DELETE", "/api/connections/{connection_id}"],
  verifyConnection: ["POST", "/api/connections/{connection_id}/verify"],
  rearmConnection: ["PUT", "/api/connections/{connection_id}/credential"],
  browseTables: ["GET", "/api/connections/{connection_id}/tables"],
  previewTable: ["GET", "/api/connections/{connection_id}/tables/preview", ["table"]],
  listSources: ["GET", "/api/connections/{connection_id}/sources", ["limit","cursor","q","sort","created_after","created_before"]],
  createSource: ["POST", "/api/connections/{connection_id}/sources"],
  getSource: ["GET", "/api/sources/{source_id}"],
  deleteSource: ["DELETE", "/api/sources/{source_id}"],
  listJobs: ["GET", "/api/enrichment-jobs", ["limit","cursor","q","sort","created_after","created_before","status","workflow_id","dataset_id","owner_id"]],
  createJob: ["POST", "/api/enrichment-jobs"],
  getJob: ["GET", "/api/enrichment-jobs/{job_id}"],
  updateJob: ["PUT", "/api/enrichment-jobs/{job_id}"],
  deleteJob: ["DELETE", "/api/enrichment-jobs/{job_id}"],
  listLedger: ["GET", "/api/enrichment-jobs/{job_id}/records", ["limit","cursor","status","run_id"]],
  exportJobRecords: ["GET", "/api/enrichment-jobs/{job_id}/records/export", ["status","format","run_id"]],
  listJobRuns: ["GET", "/api/enrichment-jobs/{job_id}/runs", ["limit","cursor","sort","created_after","created_before","status"]],
  getJobRun: ["GET", "/api/enrichment-jobs/{job_id}/runs/{run_id}"],
  runJobNow: ["POST", "/api/enrichment-jobs/{job_id}/run-now"],
  retryFailedRecords: ["POST", "/api/enrichment-jobs/{job_id}/retry-failed"],
  pauseJob: ["POST", "/api/enrichment-jobs/{job_id}/pause"],
  resumeJob: ["POST", "/api/enrichment-jobs/{job_id}/resume"],
  cancelJob: ["POST", "/api/enrichment-jobs/{job_id}/cancel"],
  createBatchTicket: ["POST", "/auth/batch-ticket/{job_id}"],
  listJobMembers: ["GET", "/api/enrichment-jobs/{job_id}/members", ["limit","cursor","q","sort","created_after","created_before","role"]],
  inviteJobMember: ["POST", "/api/enrichment-jobs/{job_id}/members/invite"],
  updateJobMember: ["PUT", "/api/enrichment-jobs/{job_id}/members/{user_id}"],
  removeJobMember: ["DELETE", "/api/enrichment-jobs/{job_id}/members/{user_id}"],
  searchSuites: ["GET", "/api/suites", ["limit","cursor","q","sort","created_after","created_before"]],
  listSuites: ["GET", "/api/workflows/{workflow_id}/suites", ["limit","cursor","q","sort","created_after","created_before"]],
  createSuite: ["POST", "/api/workflows/{workflow_id}/suites"],
  getSuite: ["GET", "/api/suites/{suite_id}"],
  updateSuite: ["PATCH", "/api/suites/{suite_id}"],
  deleteSuite: ["DELETE", "/api/suites/{suite_id}"],
  runSuite: ["POST", "/api/suites/{suite_id}/run"],
  listSuiteRuns: ["GET", "/api/suites/{suite_id}/runs", ["limit","cursor","sort","created_after","created_before","status"]],
  getSuiteRun: ["GET", "/api/suites/{suite_id}/runs/{run_id}", ["limit","cursor","compare","outcome"]],
  getSuiteCase: ["GET", "/api/suites/{suite_id}/runs/{run_id}/cases/{position}", ["compare"]],
  extractRequirements: ["POST", "/api/workflows/extract-requirements"],
  listTemplates: ["GET", "/api/templates", ["limit","cursor","q","sort","created_after","created_before","owner_id"]],
  createTemplate: ["POST", "/api/templates"],
  getTemplate: ["GET", "/api/templates/{template_id}"],
  updateTemplate: ["PATCH", "/api/templates/{template_id}"],
  deleteTemplate: ["DELETE", "/api/templates/{template_id}"],
  listTemplateTokens: ["GET", "/api/templates/{template_id}/embed-tokens", ["limit","cursor","q","sort","created_after","created_before","enabled"]],
  createTemplateToken: ["POST", "/api/templates/{template_id}/embed-tokens"],
  getTemplateToken: ["GET", "/api/templates/{template_id}/embed-tokens/{token_id}"],
  updateTemplateToken: ["PATCH", "/api/templates/{template_id}/embed-tokens/{token_id}"],
  deleteTemplateToken: ["DELETE", "/api/templates/{template_id}/embed-tokens/{token_id}"],
  getWidgetConfig: ["GET", "/api/embed/template/{template_id}/config", ["locale"]],
  chatWithWidget: ["POST", "/api/embed/template/{template_id}/chat"],
  getWidgetExecution: ["GET", "/api/embed/template/{template_id}/execution/{execution_id}/status"],
  readWidgetResults: ["GET", "/api/embed/template/{template_id}/execution/{execution_id}/results"],
  respondThroughWidget: ["POST", "/api/embed/template/{template_id}/executions/{execution_id}/respond"],
  actOnWidgetForm: ["POST", "/api/embed/template/{template_id}/thread/{thread_id}/action"],
  getWidgetHistory: ["GET", "/api/embed/template/{template_id}/thread/{thread_id}/history", ["limit","cursor","after"]],
  getWidgetMemory: ["GET", "/api/embed/template/{template_id}/memory"],
  forgetWidgetVisitor: ["DELETE", "/api/embed/template/{template_id}/memory"],
  speakThroughWidget: ["POST", "/api/embed/template/{template_id}/speech"],
  transcribeThroughWidget: ["POST", "/api/embed/template/{template_id}/transcribe", [], true],
  uploadThroughWidget: ["POST", "/api/embed/template/{template_id}/files", ["name"], true],
  getWorkflowWidgetConfig: ["GET", "/api/embed/workflow/{workflow_id}/config"],
  gatherInputs: ["POST", "/api/embed/workflow/{workflow_id}/gather"],
  getEmbeddedExecution: ["GET", "/api/embed/workflow/{workflow_id}/executions/{execution_id}"],
  readEmbeddedResults: ["GET", "/api/embed/workflow/{workflow_id}/executions/{execution_id}/results"],
  respondToEmbedded: ["POST", "/api/embed/workflow/{workflow_id}/executions/{execution_id}/respond"],
  uploadForWorkflow: ["POST", "/api/embed/workflow/{workflow_id}/files", ["name"], true],
  listThreads: ["GET", "/api/chat-thread", ["limit","cursor","q","sort","created_after","created_before","kind","template_id","with"]],
  createThread: ["POST", "/api/chat-thread"],
  getThread: ["GET", "/api/chat-thread/{thread_id}"],
  listThreadMessages: ["GET", "/api/chat-thread/{thread_id}/messages", ["limit","cursor","q","sort","created_after","created_before","role"]],
  postThreadMessage: ["POST", "/api/chat-thread/{thread_id}/messages", [], true],
  actOnThreadForm: ["POST", "/api/chat-thread/{thread_id}/action"],
  takeThreadOver: ["POST", "/api/chat-thread/{thread_id}/take-over"],
  handThreadBack: ["POST", "/api/chat-thread/{thread_id}/hand-back"],
  inviteThreadMember: ["POST", "/api/chat-thread/{thread_id}/invite"],
  listThreadMembers: ["GET", "/api/chat-thread/{thread_id}/members", ["limit","cursor","q","sort","created_after","created_before","role"]],
  updateThreadMember: ["PATCH", "/api/chat-thread/{thread_id}/members/{user_id}"],
  removeThreadMember: ["DELETE", "/api/chat-thread/{thread_id}/members/{user_id}"],
  getThreadAudio: ["GET", "/api/chat-thread/{thread_id}/audio/{audio_id}"],
  speakInThread: ["POST", "/api/chat-thread/{thread_id}/speech"],
  transcribeInThread: ["POST", "/api/chat-thread/{thread_id}/transcribe", [], true],
  playAudio: ["GET", "/audio/{audio_id}/{grant}"],
  listConversations: ["GET", "/api/conversations", ["limit","cursor","q","sort","created_after","created_before","kind","state","template_id","assignee_id","assigned","waiting","unread"]],
  getConversation: ["GET", "/api/conversations/{thread_id}"],
  updateConversation: ["PATCH", "/api/conversations/{thread_id}"],
  markConversationRead: ["POST", "/api/conversations/{thread_id}/read"],
  createConversationTicket: ["POST", "/auth/conversation-ticket"],
  listConversationNotes: ["GET", "/api/conversations/{thread_id}/notes", ["limit","cursor","q","sort","created_after","created_before"]],
  createConversationNote: ["POST", "/api/conversations/{thread_id}/notes"],
  getConversationNote: ["GET", "/api/conversations/{thread_id}/notes/{note_id}"],
  updateConversationNote: ["PATCH", "/api/conversations/{thread_id}/notes/{note_id}"],
  deleteConversationNote: ["DELETE", "/api/conversations/{thread_id}/notes/{note_id}"],
  listCannedAnswers: ["GET", "/api/canned-answers", ["limit","cursor","q","sort","created_after","created_before"]],
  createCannedAnswer: ["POST", "/api/canned-answers"],
  getCannedAnswer: ["GET", "/api/canned-answers/{answer_id}"],
  updateCannedAnswer: ["PATCH", "/api/canned-answers/{answer_id}"],
  deleteCannedAnswer: ["DELETE", "/api/canned-answers/{answer_id}"],
  getOpeningHours: ["GET", "/api/opening-hours"],
  putOpeningHours: ["PUT", "/api/opening-hours"],
  getTemplateHours: ["GET", "/api/templates/{template_id}/opening-hours"],
  putTemplateHours: ["PUT", "/api/templates/{template_id}/opening-hours"],
  listChannelConfigs: ["GET", "/api/gateway/channels", ["limit","cursor","q","sort","created_after","created_before","channel","enabled"]],
  putChannelConfig: ["POST", "/api/gateway/channels"],
  listChannelConfigsOfTemplate: ["GET", "/api/gateway/channels/by-template/{template_id}", ["limit","cursor","q","sort","created_after","created_before","channel","enabled"]],
  getChannelConfig: ["GET", "/api/gateway/channels/{config_id}"],
  updateChannelConfig: ["PATCH", "/api/gateway/channels/{config_id}"],
  deleteChannelConfig: ["DELETE", "/api/gateway/channels/{config_id}"],
  tryChannelConfig: ["POST", "/api/gateway/channels/{config_id}/test"],
  receiveFromChannel: ["POST", "/gateway/{channel}/{config_id}", [], true],
  answerChannelHandshake: ["GET", "/gateway/{channel}/{config_id}", ["hub.mode","hub.verify_token","hub.challenge"]],
  listCredentials: ["GET", "/api/credentials", ["limit","cursor","q","sort","created_after","created_before","kind","state","owner_id","usable"]],
  createCredential: ["POST", "/api/credentials"],
  getCredential: ["GET", "/api/credentials/{credential_id}"],
  updateCredential: ["PATCH", "/api/credentials/{credential_id}"],
  revokeCredential: ["DELETE", "/api/credentials/{credential_id}"],
  rotateSecret: ["PUT", "/api/credentials/{credential_id}/secret"],
  testCredential: ["POST", "/api/credentials/{credential_id}/test"],
  getCredentialUsage: ["GET", "/api/credentials/{credential_id}/usage"],
  authorizeCredential: ["POST", "/api/credentials/{credential_id}/authorize"],
  finishAuthorization: ["GET", "/oauth/callback", ["state","code","error"]],
  getWorkspaceModel: ["GET", "/api/workspaces/{workspace_id}/language-model"],
  chooseWorkspaceModel: ["PUT", "/api/workspaces/{workspace_id}/language-model"],
  listCredentialKinds: ["GET", "/api/credential-kinds"],
  listServices: ["GET", "/api/services", ["limit","cursor","q","sort","credential_required"]],
  getService: ["GET", "/api/services/{service}", ["action"]],
  deleteService: ["DELETE", "/api/services/{service}"],
  importService: ["POST", "/api/services/import"],
  previewServiceImport: ["POST", "/api/services/import/preview"],
  listServiceOptions: ["POST", "/api/services/{service}/options"],
  listServiceCredentials: ["GET", "/api/services/{service}/credentials", ["limit","cursor","q","sort","created_after","created_before","kind","state","owner_id"]],
  listServiceErrors: ["GET", "/api/services/{service}/errors", ["limit","cursor","q","sort","created_after","created_before","action","code","workflow_id"]],
  testServiceCredential: ["POST", "/api/services/{service}/test"],
  listTriggers: ["GET", "/api/workflows/{workflow_id}/triggers", ["limit","cursor","q","sort","created_after","created_before","kind","service","enabled"]],
  createTrigger: ["POST", "/api/workflows/{workflow_id}/triggers"],
  getTrigger: ["GET", "/api/workflows/{workflow_id}/triggers/{trigger_id}"],
  updateTrigger: ["PATCH", "/api/workflows/{workflow_id}/triggers/{trigger_id}"],
  deleteTrigger: ["DELETE", "/api/workflows/{workflow_id}/triggers/{trigger_id}"],
  receiveServiceEvent: ["POST", "/api/triggers/in/{hook}", [], true],
  answerServiceHandshake: ["GET", "/api/triggers/in/{hook}"],
  listDestinations: ["GET", "/api/event-destinations", ["limit","cursor","q","sort","created_after","created_before","enabled","workflow_id","owner_id"]],
  createDestination: ["POST", "/api/event-destinations"],
  getDestination: ["GET", "/api/event-destinations/{destination_id}"],
  updateDestination: ["PATCH", "/api/event-destinations/{destination_id}"],
  deleteDestination: ["DELETE", "/api/event-destinations/{destination_id}"],
  rotateDestinationSecret: ["POST", "/api/event-destinations/{destination_id}/rotate-secret"],
  testDestination: ["POST", "/api/event-destinations/{destination_id}/test"],
  listDeliveries: ["GET", "/api/event-destinations/{destination_id}/deliveries", ["limit","cursor","q","sort","created_after","created_before","status","type","execution_id"]],
  redeliverEvent: ["POST", "/api/event-destinations/{destination_id}/deliveries/{delivery_id}/redeliver"],
  listVariables: ["GET", "/api/variables", ["limit","cursor","q","sort","created_after","created_before"]],
  getVariable: ["GET", "/api/variables/{name}"],
  putVariable: ["PUT", "/api/variables/{name}"],
  deleteVariable: ["DELETE", "/api/variables/{name}"],
  getSavedViews: ["GET", "/api/views"],
  setSavedViews: ["PUT", "/api/views"],
  listComments: ["GET", "/api/workflows/{workflow_id}/comments", ["limit","cursor","q","sort","created_after","created_before","node_id","resolved"]],
  createComment: ["POST", "/api/workflows/{workflow_id}/comments"],
  getComment: ["GET", "/api/workflows/{workflow_id}/comments/{comment_id}"],
  updateComment: ["PATCH", "/api/workflows/{workflow_id}/comments/{comment_id}"],
  deleteComment: ["DELETE", "/api/workflows/{workflow_id}/comments/{comment_id}"],
  resolveComment: ["POST", "/api/workflows/{workflow_id}/comments/{comment_id}/resolve"],
  listWorkflowState: ["GET", "/api/workflows/{workflow_id}/state", ["limit","cursor","q","sort","prefix"]],
  clearWorkflowState: ["DELETE", "/api/workflows/{workflow_id}/state"],
  getWorkflowState: ["GET", "/api/workflows/{workflow_id}/state/{key}"],
  deleteWorkflowState: ["DELETE", "/api/workflows/{workflow_id}/state/{key}"],
  getExecutionReceipt: ["GET", "/api/workflows/executions/{execution_id}/receipt"],
  getReceiptKey: ["GET", "/api/receipt-key"],
  uploadFile: ["POST", "/api/files", ["name"], true],
  downloadFile: ["GET", "/api/files/{file_id}"],
  createFileLink: ["POST", "/api/files/{file_id}/link"],
  downloadByLink: ["GET", "/files/{file_id}/{grant}"],
  listKnowledge: ["GET", "/api/knowledge", ["limit","cursor","q","sort","created_after","created_before","owner_id"]],
  createKnowledge: ["POST", "/api/knowledge"],
  getKnowledge: ["GET", "/api/knowledge/{knowledge_id}"],
  updateKnowledge: ["PATCH", "/api/knowledge/{knowledge_id}"],
  deleteKnowledge: ["DELETE", "/api/knowledge/{knowledge_id}"],
  searchKnowledge: ["POST", "/api/knowledge/{knowledge_id}/search"],
  listKnowledgeDocuments: ["GET", "/api/knowledge/{knowledge_id}/documents", ["limit","cursor","q","sort","created_after","created_before","status","kind"]],
  addKnowledgeDocument: ["POST", "/api/knowledge/{knowledge_id}/documents"],
  getKnowledgeDocument: ["GET", "/api/knowledge/{knowledge_id}/documents/{document_id}"],
  removeKnowledgeDocument: ["DELETE", "/api/knowledge/{knowledge_id}/documents/{document_id}"],
  getKnowledgeText: ["GET", "/api/knowledge/{knowledge_id}/documents/{document_id}/text", ["from","to"]],
  reindexKnowledgeDocument: ["POST", "/api/knowledge/{knowledge_id}/documents/{document_id}/reindex"],
  callMcp: ["POST", "/mcp"],
  describeMcpResource: ["GET", "/.well-known/oauth-protected-resource/mcp"],
  describeAuthorizationServer: ["GET", "/.well-known/oauth-authorization-server"],
  registerOAuthClient: ["POST", "/oauth/register"],
  exchangeOAuthToken: ["POST", "/oauth/token", [], true],
  revokeOAuthToken: ["POST", "/oauth/revoke", [], true],
  getAuthorizationRequest: ["GET", "/api/oauth/authorization", ["client_id","redirect_uri","response_type","code_challenge","code_challenge_method","state","scope","resource"]],
  decideAuthorization: ["POST", "/api/oauth/authorization"],
  listOAuthGrants: ["GET", "/api/oauth/grants", ["limit","cursor","q","sort","created_after","created_before"]],
  getOAuthGrant: ["GET", "/api/oauth/grants/{grant_id}"],
  deleteOAuthGrant: ["DELETE", "/api/oauth/grants/{grant_id}"],
  getRunInsights: ["GET", "/api/insights/executions", ["from","to","bucket","group_by","workflow_id","include_jobs"]],
  getStepInsights: ["GET", "/api/insights/steps", ["from","to","workflow_id","include_jobs","sort","limit"]],
  getUsageInsights: ["GET", "/api/insights/usage", ["group_by","from","to","workflow_id"]],
  getModelPrices: ["GET", "/api/operations/prices"],
  putModelPrices: ["PUT", "/api/operations/prices"],
  listBudgets: ["GET", "/api/budgets"],
  putBudgets: ["PUT", "/api/budgets"],
  listAlertRules: ["GET", "/api/alert-rules", ["limit","cursor","q","sort","created_after","created_before","kind","state","workflow_id","enabled"]],
  createAlertRule: ["POST", "/api/alert-rules"],
  getAlertRule: ["GET", "/api/alert-rules/{rule_id}"],
  updateAlertRule: ["PATCH", "/api/alert-rules/{rule_id}"],
  deleteAlertRule: ["DELETE", "/api/alert-rules/{rule_id}"],
}
