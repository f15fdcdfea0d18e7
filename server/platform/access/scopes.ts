import { type AreaName, grants, type Scope, type ScopeVerb, scopeAreas } from '#model/scopes'
import { problem } from '../errors.ts'
import type { Credential } from '../http/context.ts'
import type { Access } from './words.ts'

/** `none`: a key needs no scope to call it. */
export type DeclaredVerb = ScopeVerb | 'none'

/**
 * The scope of an operation: what its table declares, else `admin` for what only owners of the workspace and operators may do,
 * `read` for a GET and `write` for the rest. What anyone may call, and what is called with other tokens, has none.
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
