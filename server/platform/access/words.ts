// The words that may stand in a route table, and nothing else decides who may call an operation.

export type Role = 'owner' | 'member' | 'viewer'
/** `visible`: the caller may know that it exists but holds no role in it (403, not 404). */
export type Standing = Role | 'visible'

export type ResourceKind =
  | 'workspace'
  | 'company'
  | 'team'
  | 'subscription'
  | 'notification'
  | 'presence'
  | 'workflow'
  | 'execution'
  | 'gate'
  | 'dataset'
  | 'connection'
  | 'source'
  | 'job'
  | 'suite'
  | 'thread'
  | 'template'
  | 'channel'
  | 'api_key'
  | 'auth_session'
  | 'payment_method'

export type TokenScope = 'webhook' | 'template' | 'workflow'

export type Access =
  | { word: 'anyone' }
  | { word: 'signedIn' }
  | { word: 'operator' }
  | { word: 'role'; least: Role; of: ResourceKind }
  | { word: 'token'; scope: TokenScope }

export const anyone: Access = { word: 'anyone' }
export const signedIn: Access = { word: 'signedIn' }
export const operator: Access = { word: 'operator' }
export const viewer = (of: ResourceKind): Access => ({ word: 'role', least: 'viewer', of })
export const member = (of: ResourceKind): Access => ({ word: 'role', least: 'member', of })
export const owner = (of: ResourceKind): Access => ({ word: 'role', least: 'owner', of })
export const workspaceOwner: Access = owner('workspace')
export const token = (scope: TokenScope): Access => ({ word: 'token', scope })

const rank: Record<Standing, number> = { visible: 0, viewer: 1, member: 2, owner: 3 }
export const reaches = (standing: Standing, least: Role): boolean => rank[standing] >= rank[least]

export function describeAccess(access: Access): string {
  switch (access.word) {
    case 'anyone':
      return 'anyone'
    case 'signedIn':
      return 'a signed-in person'
    case 'operator':
      return 'an operator'
    case 'token':
      return access.scope === 'webhook' ? 'a webhook token of the workflow' : `an embed token of the ${access.scope}`
    case 'role':
      return (
        { owner: 'owner', member: 'owner or member', viewer: 'owner, member or viewer' }[access.least] +
        ` of the ${access.of.replace('_', ' ')}`
      )
  }
}
