import { describe, expect, test } from 'vitest'
import { isProblem } from '../errors.ts'
import type { Context, Person, WorkspaceRole } from '../http/context.ts'
import { checkAccess, type Standings } from './check.ts'
import * as words from './words.ts'
import { type Access, describeAccess, kindText, type ResourceKind, reaches, type Standing } from './words.ts'

// Truth tables over the access words of the route tables: which callers are let in.

const STANDINGS: Standing[] = ['visible', 'viewer', 'member', 'editor', 'owner']

test.each<[Standing, boolean[]]>([
  ['visible', [true, true, true, true, true]],
  ['viewer', [false, true, true, true, true]],
  ['member', [false, false, true, true, true]],
  ['editor', [false, false, false, true, true]],
  ['owner', [false, false, false, false, true]],
])('the minimum standing %s is reached by visible, viewer, member, editor, owner: %j', (least, expected) => {
  expect(STANDINGS.map((standing) => reaches(standing, least))).toEqual(expected)
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
  standings: Standings = {},
): Promise<string> {
  try {
    await checkAccess(ctx, access, params, standings)
    return 'in'
  } catch (error) {
    if (isProblem(error)) return error.code
    throw error
  }
}

describe('the access check of a route', () => {
  test.each<[string, Access, string, string, string]>([
    ['anyone', words.anyone, 'in', 'in', 'in'],
    ['a token', words.token('webhook'), 'in', 'in', 'in'],
    ['signed-in users', words.signedIn, 'unauthenticated', 'in', 'in'],
    ['operators', words.operator, 'unauthenticated', 'forbidden', 'in'],
    ['owners of the workspace', words.workspaceOwner, 'unauthenticated', 'forbidden', 'forbidden'],
    [
      'owners of the workspace or operators',
      words.orOperator(words.workspaceOwner),
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
    const routes = [words.sees, words.viewer, words.member, words.owner].map((word) => word('workspace'))
    expect(await Promise.all(routes.map((access) => outcome(access, contextOf({ role }))))).toEqual(expected)
  })

  test.each<[Standing | undefined, string[]]>([
    [undefined, ['not_found', 'not_found', 'not_found', 'not_found', 'not_found']],
    ['visible', ['in', 'forbidden', 'forbidden', 'forbidden', 'forbidden']],
    ['viewer', ['in', 'in', 'forbidden', 'forbidden', 'forbidden']],
    ['member', ['in', 'in', 'in', 'forbidden', 'forbidden']],
    ['editor', ['in', 'in', 'in', 'in', 'forbidden']],
    ['owner', ['in', 'in', 'in', 'in', 'in']],
  ])('compares the standing %s in a workflow with each required role', async (standing, expected) => {
    const routes = [words.sees, words.viewer, words.member, words.editor, words.owner].map((word) => word('workflow'))
    const asked: string[] = []
    const standings: Standings = {
      workflow: async (_ctx, id) => {
        asked.push(id)
        return standing
      },
    }
    // Being an owner of the workspace and an operator gives no role in a workflow.
    const ctx = contextOf({ role: 'owner', operator: true })
    const given = routes.map((access) => outcome(access, ctx, { workflow_id: 'wf_1' }, standings))
    expect(await Promise.all(given)).toEqual(expected)
    expect(new Set(asked)).toEqual(new Set(['wf_1']))
  })

  test('asks an anonymous caller to sign in, without looking up the resource', async () => {
    const standings: Standings = { workflow: async () => Promise.reject(new Error('looked up')) }
    expect(await outcome(words.sees('workflow'), stranger, { workflow_id: 'wf_1' }, standings)).toBe('unauthenticated')
  })

  test('looks up the workspace that the path names, regardless of the role in the selected workspace', async () => {
    const standings: Standings = { workspace: async () => undefined }
    const ctx = contextOf({ role: 'owner' })
    expect(await outcome(words.owner('workspace'), ctx, { workspace_id: 'ws_2' }, standings)).toBe('not_found')
  })

  test.each<[string, Standing | undefined, string, string]>([
    ['a member who names themselves', 'member', 'me', 'in'],
    ['a user without a role who names themselves', 'visible', 'me', 'in'],
    ['a member who names another user', 'member', 'you', 'forbidden'],
    ['an owner who names another user', 'owner', 'you', 'in'],
    ['a user without access to the team who names themselves', undefined, 'me', 'not_found'],
  ])('with orOneself: %s', async (_what, standing, user_id, expected) => {
    const params = { team_id: 't', user_id }
    const standings: Standings = { team: async () => standing }
    expect(await outcome(words.orOneself(words.owner('team')), contextOf(), params, standings)).toBe(expected)
    // Without `orOneself`, the caller's own id gives no access.
    if (standing === 'member') {
      expect(await outcome(words.owner('team'), contextOf(), params, standings)).toBe('forbidden')
    }
  })

  test.each<[Standing | undefined, boolean, string, string]>([
    [undefined, true, 'in', 'not_found'],
    ['member', false, 'forbidden', 'forbidden'],
    ['member', true, 'in', 'forbidden'],
    ['owner', false, 'in', 'forbidden'],
    ['owner', true, 'in', 'in'],
  ])('with orOperator and andOperator: standing %s, operator %s', async (standing, operator, either, both) => {
    const standings: Standings = { company: async () => standing }
    const of = (access: Access) => outcome(access, contextOf({ operator }), { company_id: 'c' }, standings)
    expect(await of(words.orOperator(words.owner('company')))).toBe(either)
    expect(await of(words.andOperator(words.owner('company')))).toBe(both)
  })

  test.each<[string, Record<string, string>, Standings]>([
    ['no area is registered for the kind', { workflow_id: 'wf_1' }, {}],
    ['the path contains no id', {}, { workflow: async () => 'owner' }],
  ])('throws an internal error if %s', async (_what, params, standings) => {
    await expect(checkAccess(contextOf(), words.owner('workflow'), params, standings)).rejects.toThrow(
      'no standing is registered',
    )
  })
})

test.each<[ResourceKind, Standing, string]>([
  ['workspace', 'visible', 'you are a guest here'],
  ['workflow', 'visible', 'it has not been shared with you'],
  ['workflow', 'member', 'yours is member'],
])('a refusal in a %s tells a caller whose standing is %s: %s', async (kind, standing, text) => {
  const params = { [`${kind}_id`]: 'x' }
  const check = checkAccess(contextOf(), words.owner(kind), params, { [kind]: async () => standing })
  await expect(check).rejects.toThrow(text)
})

test.each<[Access, string]>([
  [words.anyone, 'anyone'],
  [words.signedIn, 'a signed-in person'],
  [words.operator, 'an operator'],
  [words.token('webhook'), 'a webhook token of the workflow'],
  [words.token('template'), 'an embed token of the template'],
  [words.token('inbound'), 'a webhook token in the address, and the password or signature that it asks for'],
  [words.editor('workflow'), 'owner or editor of the workflow'],
  [words.member('owned_job'), 'owner or member of the job, or of the workspace'],
  [words.owner('payment_method'), 'owner of the payment method'],
  [words.orOneself(words.owner('team')), 'owner of the team; the others only for themselves'],
  [words.orOperator(words.owner('team')), 'owner of the team; or an operator'],
  [words.andOperator(words.owner('team')), 'owner of the team who is an operator'],
])('%j is described as %s', (access, text) => {
  expect(describeAccess(access)).toBe(text)
})

test('kindText replaces the underscore of a kind with a space', () => {
  expect(kindText('auth_session')).toBe('auth session')
})
