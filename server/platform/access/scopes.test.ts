import { expect, test } from 'vitest'
import type { Credential } from '../http/context.ts'
import * as rules from './rules.ts'
import { hasScope, requireScope, scopeOfRoute } from './scopes.ts'

// Truth tables over the scopes of API keys: which scope an operation needs, and which credentials have it.

test.each<[string, string, rules.Access, 'run' | 'none' | undefined, string | null]>([
  ['a call by anyone', 'GET', rules.anyone, undefined, null],
  ['a call with a token', 'POST', rules.token('webhook'), undefined, null],
  ['a read by an operator', 'GET', rules.operator, undefined, 'workflows:admin'],
  ['a read by an owner of the workspace', 'GET', rules.owner('workspace'), undefined, 'workflows:admin'],
  ['a read by an owner of a team', 'GET', rules.owner('team'), undefined, 'workflows:read'],
  ['a change by an owner of a team', 'DELETE', rules.owner('team'), undefined, 'workflows:write'],
  ['a read by a member of the workspace', 'GET', rules.member('workspace'), undefined, 'workflows:read'],
  ['a change by a member of the workspace', 'POST', rules.member('workspace'), undefined, 'workflows:write'],
  ['a read by a signed-in person', 'GET', rules.signedIn, undefined, 'workflows:read'],
  ['an operation that declares its verb', 'POST', rules.owner('workspace'), 'run', 'workflows:run'],
  ['an operation that declares that it needs none', 'GET', rules.operator, 'none', null],
])('%s (%s)', (_name, method, access, declared, expected) => {
  expect(scopeOfRoute('Workflows', method, access, declared)).toBe(expected)
})

const keyWith = (scopes?: string[]): Credential => ({
  kind: 'api_key',
  id: 'k',
  workspace_id: null,
  ...(scopes && { scopes }),
})
const refusalOf = (credential: Credential, scope: 'jobs:write' | null): string | null => {
  try {
    requireScope(credential, scope)
    return null
  } catch (error) {
    const { code, message } = error as { code: string; message: string }
    return `${code}: ${message}`
  }
}

test.each<[string, Credential, 'jobs:write' | null, string | null]>([
  ['a session', { kind: 'session', id: 's' }, 'jobs:write', null],
  ['a key without a list of scopes', keyWith(), 'jobs:write', null],
  ['a key with the scope', keyWith(['jobs:write']), 'jobs:write', null],
  ['a key with no scope, if none is required', keyWith([]), null, null],
  [
    'a key with other scopes',
    keyWith(['jobs:read', 'teams:read']),
    'jobs:write',
    'insufficient_scope: This needs the scope jobs:write; the key has jobs:read, teams:read.',
  ],
  [
    'a key with no scope',
    keyWith([]),
    'jobs:write',
    'insufficient_scope: This needs the scope jobs:write; the key has none.',
  ],
])('%s', (_name, credential, scope, refusal) => {
  expect(hasScope(credential, scope)).toBe(refusal === null)
  expect(refusalOf(credential, scope)).toBe(refusal)
})
