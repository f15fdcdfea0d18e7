import { describe, expect, test } from 'vitest'
import { isProblem } from '../errors.ts'
import type { Context, Person, WorkspaceRole } from '../http/context.ts'
import { type AccessLevelFinders, checkAccess } from './check.ts'
import * as rules from './rules.ts'
import { type Access, type AccessLevel, describeAccess, isAtLeast, kindText, type ResourceKind } from './rules.ts'

// Truth tables over the access rules of the route tables: which callers are let in.

const LEVELS: AccessLevel[] = ['visible', 'viewer', 'member', 'editor', 'owner']

test.each<[AccessLevel, boolean[]]>([
  ['visible', [true, true, true, true, true]],
  ['viewer', [false, true, true, true, true]],
  ['member', [false, false, true, true, true]],
  ['editor', [false, false, false, true, true]],
  ['owner', [false, false, false, false, true]],
])('the minimum level %s is reached by visible, viewer, member, editor, owner: %j', (least, expected) => {
  expect(LEVELS.map((level) => isAtLeast(level, least))).toEqual(expected)
})

type Caller = { role?: WorkspaceRole; operator?: boolean }
const contextOf = ({ role = 'member', operator = false }: Caller = {}): Context => {
  const person: Person = { user_id: 'me', org_id: 'o', email: 'me@example.com', name: 'Me', operator }
  return { person, maybePerson: person, workspace: { workspace_id: 'w', role } } as unknown as Context
}
const stranger = { maybePerson: null } as unknown as Context

/** Returns `in`, or the error code of the refusal. */
async function outcome(
  access: Access,
  ctx: Context,
  params: Record<string, string> = {},
  accessLevels: AccessLevelFinders = {},
): Promise<string> {
  try {
    await checkAccess(ctx, access, params, accessLevels)
    return 'in'
  } catch (error) {
    if (isProblem(error)) return error.code
    throw error
  }
}

describe('the access check of a route', () => {
  test.each<[string, Access, string, string, string]>([
    ['anyone', rules.anyone, 'in', 'in', 'in'],
    ['a token', rules.token('webhook'), 'in', 'in', 'in'],
    ['signed-in users', rules.signedIn, 'unauthenticated', 'in', 'in'],
    ['operators', rules.operator, 'unauthenticated', 'forbidden', 'in'],
    ['owners of the workspace', rules.workspaceOwner, 'unauthenticated', 'forbidden', 'forbidden'],
    [
      'owners of the workspace or operators',
      rules.orOperator(rules.workspaceOwner),
      'unauthenticated',
      'forbidden',
      'in',
    ],
  ])('checks an anonymous caller, a user and an operator on a route for %s', async (_what, access, ...expected) => {
    const callers = [stranger, contextOf(), contextOf({ operator: true })]
    expect(await Promise.all(callers.map((ctx) => outcome(access, ctx)))).toEqual(expected)
  })

  test.each<[WorkspaceRole, string[]]>([
    ['guest', ['in', 'forbidden', 'forbidden', 'forbidden']],
    ['viewer', ['in', 'in', 'forbidden', 'forbidden']],
    ['member', ['in', 'in', 'in', 'forbidden']],
    ['owner', ['in', 'in', 'in', 'in']],
  ])('compares the workspace role %s with visible, viewer, member and owner', async (role, expected) => {
    const routes = [rules.sees, rules.viewer, rules.member, rules.owner].map((word) => word('workspace'))
    expect(await Promise.all(routes.map((access) => outcome(access, contextOf({ role }))))).toEqual(expected)
  })

  test.each<[AccessLevel | undefined, string[]]>([
    [undefined, ['not_found', 'not_found', 'not_found', 'not_found', 'not_found']],
    ['visible', ['in', 'forbidden', 'forbidden', 'forbidden', 'forbidden']],
    ['viewer', ['in', 'in', 'forbidden', 'forbidden', 'forbidden']],
    ['member', ['in', 'in', 'in', 'forbidden', 'forbidden']],
    ['editor', ['in', 'in', 'in', 'in', 'forbidden']],
    ['owner', ['in', 'in', 'in', 'in', 'in']],
  ])('compares the level %s in a workflow with each required role', async (level, expected) => {
    const routes = [rules.sees, rules.viewer, rules.member, rules.editor, rules.owner].map((word) => word('workflow'))
    const asked: string[] = []
    const accessLevels: AccessLevelFinders = {
      workflow: async (_ctx, id) => {
        asked.push(id)
        return level
      },
    }
    // Being an owner of the workspace and an operator gives no role in a workflow.
    const ctx = contextOf({ role: 'owner', operator: true })
    const given = routes.map((access) => outcome(access, ctx, { workflow_id: 'wf_1' }, accessLevels))
    expect(await Promise.all(given)).toEqual(expected)
    expect(new Set(asked)).toEqual(new Set(['wf_1']))
  })

  test('asks an anonymous caller to sign in, without looking up the resource', async () => {
    const accessLevels: AccessLevelFinders = { workflow: async () => Promise.reject(new Error('looked up')) }
    expect(await outcome(rules.sees('workflow'), stranger, { workflow_id: 'wf_1' }, accessLevels)).toBe(
      'unauthenticated',
    )
  })

  test('looks up the workspace that the path names, regardless of the role in the selected workspace', async () => {
    const accessLevels: AccessLevelFinders = { workspace: async () => undefined }
    const ctx = contextOf({ role: 'owner' })
    expect(await outcome(rules.owner('workspace'), ctx, { workspace_id: 'ws_2' }, accessLevels)).toBe('not_found')
  })

  test.each<[string, AccessLevel | undefined, string, string]>([
    ['a member who names themselves', 'member', 'me', 'in'],
    ['a user without a role who names themselves', 'visible', 'me', 'in'],
    ['a member who names another user', 'member', 'you', 'forbidden'],
    ['an owner who names another user', 'owner', 'you', 'in'],
    ['a user without access to the team who names themselves', undefined, 'me', 'not_found'],
  ])('with orOneself: %s', async (_what, level, user_id, expected) => {
    const params = { team_id: 't', user_id }
    const accessLevels: AccessLevelFinders = { team: async () => level }
    expect(await outcome(rules.orOneself(rules.owner('team')), contextOf(), params, accessLevels)).toBe(expected)
    // Without `orOneself`, the caller's own id gives no access.
    if (level === 'member') {
      expect(await outcome(rules.owner('team'), contextOf(), params, accessLevels)).toBe('forbidden')
    }
  })

  test.each<[AccessLevel | undefined, boolean, string, string]>([
    [undefined, true, 'in', 'not_found'],
    ['member', false, 'forbidden', 'forbidden'],
    ['member', true, 'in', 'forbidden'],
    ['owner', false, 'in', 'forbidden'],
    ['owner', true, 'in', 'in'],
  ])('with orOperator and andOperator: level %s, operator %s', async (level, operator, either, both) => {
    const accessLevels: AccessLevelFinders = { company: async () => level }
    const of = (access: Access) => outcome(access, contextOf({ operator }), { company_id: 'c' }, accessLevels)
    expect(await of(rules.orOperator(rules.owner('company')))).toBe(either)
    expect(await of(rules.andOperator(rules.owner('company')))).toBe(both)
  })

  test.each<[string, Record<string, string>, AccessLevelFinders]>([
    ['no area is registered for the kind', { workflow_id: 'wf_1' }, {}],
    ['the path contains no id', {}, { workflow: async () => 'owner' }],
  ])('throws an internal error if %s', async (_what, params, accessLevels) => {
    await expect(checkAccess(contextOf(), rules.owner('workflow'), params, accessLevels)).rejects.toThrow(
      'no level is registered',
    )
  })
})

test.each<[ResourceKind, AccessLevel, string]>([
  ['workspace', 'visible', 'you are a guest here'],
  ['workflow', 'visible', 'it has not been shared with you'],
  ['workflow', 'member', 'yours is member'],
])('a refusal in a %s tells a caller whose level is %s: %s', async (kind, level, text) => {
  const params = { [`${kind}_id`]: 'x' }
  const check = checkAccess(contextOf(), rules.owner(kind), params, { [kind]: async () => level })
  await expect(check).rejects.toThrow(text)
})

test.each<[Access, string]>([
  [rules.anyone, 'anyone'],
  [rules.signedIn, 'a signed-in person'],
  [rules.operator, 'an operator'],
  [rules.token('webhook'), 'a webhook token of the workflow'],
  [rules.token('template'), 'an embed token of the template'],
  [rules.token('inbound'), 'a webhook token in the address, and the password or signature that it requires'],
  [rules.editor('workflow'), 'owner or editor of the workflow'],
  [rules.member('owned_job'), 'owner or member of the job, or of the workspace'],
  [rules.owner('payment_method'), 'owner of the payment method'],
  [rules.orOneself(rules.owner('team')), 'owner of the team; the others only for themselves'],
  [rules.orOperator(rules.owner('team')), 'owner of the team; or an operator'],
  [rules.andOperator(rules.owner('team')), 'owner of the team who is an operator'],
])('%j is described as %s', (access, text) => {
  expect(describeAccess(access)).toBe(text)
})

test('kindText replaces the underscore of a kind with a space', () => {
  expect(kindText('auth_session')).toBe('auth session')
})
