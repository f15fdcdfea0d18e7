// The access rules of a route table. Nothing else decides who may call an operation.

/** `editor`: may change the content of the resource without owning the resource. Only workflows have editors. */
export type Role = 'owner' | 'editor' | 'member' | 'viewer'
/** `visible`: the caller may know that the resource exists but has no role in it (403, not 404). */
export type AccessLevel = Role | 'visible'

/** Every kind of resource that a route can name, and the path parameter that contains its id. */
export const parameterOf = {
  workspace: 'workspace_id',
  company: 'company_id',
  team: 'team_id',
  subscription: 'subscription_id',
  notification: 'notification_id',
  presence: 'presence_id',
  workflow: 'workflow_id',
  execution: 'execution_id',
  gate: 'request_id',
  dataset: 'dataset_id',
  connection: 'connection_id',
  source: 'source_id',
  job: 'job_id',
  owned_job: 'job_id',
  suite: 'suite_id',
  thread: 'thread_id',
  template: 'template_id',
  channel: 'config_id',
  api_key: 'key_id',
  auth_session: 'session_id',
  payment_method: 'payment_method_id',
  setup_intent: 'setup_intent_id',
  credential: 'credential_id',
  owned_credential: 'credential_id',
  destination: 'destination_id',
  owned_destination: 'destination_id',
  file: 'file_id',
  knowledge: 'knowledge_id',
  owned_knowledge: 'knowledge_id',
  replay: 'replay_id',
  alert_rule: 'rule_id',
} as const

export type ResourceKind = keyof typeof parameterOf

/** `inbound`: a webhook token in the address. The settings of the token define how the caller proves its identity. */
export type TokenScope = 'webhook' | 'inbound' | 'template' | 'workflow'

export type MinimumLevel = AccessLevel

export type Access =
  | { word: 'anyone' }
  | { word: 'signedIn' }
  | { word: 'operator' }
  | { word: 'role'; least: MinimumLevel; of: ResourceKind; or?: 'oneself' | 'operator'; and?: 'operator' }
  | { word: 'token'; scope: TokenScope }

export type RoleAccess = Extract<Access, { word: 'role' }>

export const anyone: Access = { word: 'anyone' }
export const signedIn: Access = { word: 'signedIn' }
export const operator: Access = { word: 'operator' }
/** Lets in every caller who may know that the resource exists. */
export const sees = (of: ResourceKind): RoleAccess => ({ word: 'role', least: 'visible', of })
export const viewer = (of: ResourceKind): RoleAccess => ({ word: 'role', least: 'viewer', of })
export const member = (of: ResourceKind): RoleAccess => ({ word: 'role', least: 'member', of })
export const editor = (of: ResourceKind): RoleAccess => ({ word: 'role', least: 'editor', of })
export const owner = (of: ResourceKind): RoleAccess => ({ word: 'role', least: 'owner', of })
export const workspaceOwner: RoleAccess = owner('workspace')
export const token = (scope: TokenScope): Access => ({ word: 'token', scope })

/** Also lets in callers with any level in the resource if the path names the caller, for example to leave a team. */
export const orOneself = (access: RoleAccess): Access => ({ ...access, or: 'oneself' })
export const orOperator = (access: RoleAccess): Access => ({ ...access, or: 'operator' })
/** Lets in only callers who have the role and are operators. */
export const andOperator = (access: RoleAccess): Access => ({ ...access, and: 'operator' })

const rank: Record<AccessLevel, number> = { visible: 0, viewer: 1, member: 2, editor: 3, owner: 4 }
export const isAtLeast = (level: AccessLevel, least: MinimumLevel): boolean => rank[level] >= rank[least]

export function describeAccess(access: Access): string {
  switch (access.word) {
    case 'anyone':
      return 'anyone'
    case 'signedIn':
      return 'a signed-in person'
    case 'operator':
      return 'an operator'
    case 'token':
      return tokenText(access.scope)
    case 'role':
      return `${levelText[access.least]} of the ${kindText(access.of)}${access.or ? alternativeText[access.or] : ''}${access.and ? ' who is an operator' : ''}`
  }
}

function tokenText(scope: TokenScope): string {
  if (scope === 'webhook') return 'a webhook token of the workflow'
  if (scope === 'inbound') return 'a webhook token in the address, and the password or signature that it requires'
  return `an embed token of the ${scope}`
}

/**
 * `owned_…` kinds: owners of the resource or of the workspace see the resource even if its content is hidden from them.
 */
export const kindText = (kind: ResourceKind): string =>
  kind.startsWith('owned_') ? `${kind.slice('owned_'.length)}, or of the workspace` : kind.replace('_', ' ')

const levelText: Record<AccessLevel, string> = {
  owner: 'owner',
  editor: 'owner or editor',
  member: 'owner or member',
  viewer: 'owner, member or viewer',
  visible: 'anyone who may see it, with or without a role',
}

const alternativeText = { oneself: '; the others only for themselves', operator: '; or an operator' }
