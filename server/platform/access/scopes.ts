import { type AreaName, grants, type Scope, type ScopeVerb, scopeAreas } from '#model/scopes'
import { problem } from '../errors.ts'
import type { Credential } from '../http/context.ts'
import type { Access } from './rules.ts'

/** `none`: an API key needs no scope to call the operation. */
export type DeclaredVerb = ScopeVerb | 'none'

/**
 * Returns the scope of an operation. The route table may declare the verb. Otherwise the verb is `admin` for operations
 * of workspace owners and operators only, `read` for a GET and `write` for the rest. Operations that anyone may call,
 * and operations called with webhook or embed tokens, have no scope.
 */
export function scopeOfRoute(area: AreaName, method: string, access: Access, declared?: DeclaredVerb): Scope | null {
  const verb = declared ?? verbOf(method, access)
  return verb === 'none' ? null : `${scopeAreas[area]}:${verb}`
}

function verbOf(method: string, access: Access): DeclaredVerb {
  if (access.word === 'anyone' || access.word === 'token') return 'none'
  if (access.word === 'operator') return 'admin'
  if (access.word === 'role' && access.of === 'workspace' && access.least === 'owner') return 'admin'
  return method === 'GET' ? 'read' : 'write'
}

export const hasScope = (credential: Credential, scope: Scope | null): boolean =>
  scope === null || credential.kind !== 'api_key' || credential.scopes === undefined || grants(credential.scopes, scope)

export function requireScope(credential: Credential, scope: Scope | null): void {
  if (hasScope(credential, scope) || credential.kind !== 'api_key') return
  const held = credential.scopes?.join(', ')
  throw problem('insufficient_scope', `This needs the scope ${scope}; the key has ${held || 'none'}.`)
}
