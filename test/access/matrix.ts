import type { AnyRoute } from '#platform/http/route'
import type { SharedService } from '#test/harness/service'
import {
  addMember,
  makeOperator,
  makePerson,
  makeWorkspace,
  type TestPerson,
  type TestWorkspace,
} from '#test/harness/world'

// The access matrix: every operation of the API, called by every kind of caller. The expectations come from the tables
// of the interface document, not from the code. The test fails for an operation without a case.

/** The kinds of callers. All but the first three and the operator are in the workspace of the resource. */
export const kinds = [
  /** no credential */
  'nobody',
  /** a credential that is well formed and does not exist */
  'wrongToken',
  /** owner of another workspace */
  'stranger',
  /** workspace guest, invited to nothing */
  'guest',
  /** workspace viewer without a role in the resource */
  'viewer',
  /** workspace member without a role in the resource */
  'member',
  /** workspace member to whom the case gave the viewer role in the resource, if the resource has roles */
  'resourceViewer',
  /** workspace member to whom the case gave the member role in the resource, if the resource has roles */
  'resourceMember',
  /** workspace member who created the resource */
  'author',
  /** owner of the workspace without a role in the resource */
  'workspaceOwner',
  /** an operator of the installation, owner of yet another workspace */
  'operator',
] as const
export type Kind = (typeof kinds)[number]
/** The callers with an API key. */
export type Person = Exclude<Kind, 'nobody' | 'wrongToken'>

export type Cast = Record<Person, TestPerson> & {
  workspace: TestWorkspace
  service: SharedService
}

export type Prepared = {
  params?: Record<string, string>
  query?: string
  body?: unknown
  raw?: string | Buffer | FormData
  headers?: Record<string, string>
  /** The right credential if it is not an API key: a webhook token or an embed token. */
  token?: string
}

/** A status, or `ok` for any success. */
export type Expected = Record<Kind, number | 'ok'>

export type Case = {
  expect: Expected
  /** Creates the things that the path and the body name. Called again after a caller has used them up. */
  prepare?(cast: Cast): Promise<Prepared>
  /**
   * The request of every caller after the first, for operations whose work starts a process or calls a model. The input
   * is invalid, and it is refused only after the access check has passed.
   */
  afterFirst?: Partial<Prepared>
  /**
   * Path parameters that are not ids of the workspace (slugs, provider names, secrets). The check of foreign ids skips
   * them.
   */
  plainParameters?: string[]
}

export type Cases = Record<string, Case>

const outside = { nobody: 401, wrongToken: 401, stranger: 404 } as const

/** Names for whole rows of expectations. `withChanges` changes single kinds. */
export const rows = {
  anyone: all('ok'),
  /** Every person who is signed in; each sees only their own data. */
  signedIn: { ...all('ok'), nobody: 401, wrongToken: 401 },
  /** Personal records that are addressed by id: only the author sees them. */
  ownOnly: { ...all(404), nobody: 401, wrongToken: 401, author: 'ok' },
  operators: { ...all(403), nobody: 401, wrongToken: 401, operator: 'ok' },
  /** An empty cell of the table, for reading, addressed by an id of the workspace. */
  workspaceRead: { ...all('ok'), ...outside, guest: 403, operator: 404 },
  /** As above, without an id in the path: strangers work in their own workspace. */
  selectedRead: { ...all('ok'), nobody: 401, wrongToken: 401, guest: 403 },
  /** An empty cell of the table, for writing. */
  workspaceWrite: { ...all('ok'), ...outside, guest: 403, viewer: 403, operator: 404 },
  selectedWrite: { ...all('ok'), nobody: 401, wrongToken: 401, guest: 403, viewer: 403 },
  /** Only the owner of the workspace. */
  workspaceOwnerOnly: { ...all(403), ...outside, workspaceOwner: 'ok', operator: 404 },
  selectedOwnerOnly: {
    ...all(403),
    nobody: 401,
    wrongToken: 401,
    stranger: 'ok',
    workspaceOwner: 'ok',
    operator: 'ok',
  },
  /** "owner" of a resource that the whole workspace may see. */
  ownerOnly: { ...all(403), ...outside, author: 'ok', operator: 404 },
  /** "owner or member" of such a resource. */
  ownerOrMember: { ...all(403), ...outside, author: 'ok', resourceMember: 'ok', operator: 404 },
  /** "any member" or "any member or viewer" of such a resource. */
  anyMember: { ...all(403), ...outside, author: 'ok', resourceMember: 'ok', resourceViewer: 'ok', operator: 404 },
  /** The same three rows for resources that other members of the workspace do not see at all. */
  hiddenOwnerOnly: {
    ...all(404),
    nobody: 401,
    wrongToken: 401,
    author: 'ok',
    resourceMember: 403,
    resourceViewer: 403,
  },
  hiddenOwnerOrMember: {
    ...all(404),
    nobody: 401,
    wrongToken: 401,
    author: 'ok',
    resourceMember: 'ok',
    resourceViewer: 403,
  },
  hiddenAnyMember: {
    ...all(404),
    nobody: 401,
    wrongToken: 401,
    author: 'ok',
    resourceMember: 'ok',
    resourceViewer: 'ok',
  },
  /** A token decides. All kinds but the first two send the right token. */
  byToken: { ...all('ok'), nobody: 401, wrongToken: 401 },
} satisfies Record<string, Expected>

function all(expected: number | 'ok'): Expected {
  return Object.fromEntries(kinds.map((kind) => [kind, expected])) as Expected
}

export const withChanges = (row: Expected, changes: Partial<Expected>): Expected => ({ ...row, ...changes })

/**
 * Creates a person of each kind. `operatorEmail`: the operator of this service; a shared service has its own operators.
 */
export async function makeCast(service: SharedService, operatorEmail?: string): Promise<Cast> {
  const people = {} as Record<Person, TestPerson>
  for (const kind of kinds) {
    if (kind === 'nobody' || kind === 'wrongToken') continue
    if (kind === 'operator' && operatorEmail === undefined) people[kind] = await makeOperator(service)
    else
      people[kind] = await makePerson(service, {
        name: `The ${kind}`,
        ...(kind === 'operator' && { email: operatorEmail! }),
      })
  }
  const workspace = await makeWorkspace(service, people.workspaceOwner)
  for (const kind of ['member', 'resourceViewer', 'resourceMember', 'author'] as const)
    await addMember(service, workspace, people[kind], 'member')
  await addMember(service, workspace, people.viewer, 'viewer')
  await addMember(service, workspace, people.guest, 'guest')
  await makeWorkspace(service, people.stranger)
  await makeWorkspace(service, people.operator)
  return { ...people, workspace, service }
}

export function pathOf(route: AnyRoute, prepared: Prepared): string {
  const filled = route.path.replaceAll(/:(\w+)/g, (_, name: string) => {
    const value = prepared.params?.[name]
    if (value === undefined) throw new Error(`the case of ${route.operation} gives no ${name}`)
    return encodeURIComponent(value)
  })
  return filled + (prepared.query ?? '')
}

/** A cast of a second tenant, whose ids are foreign to the first. */
export const castOfStranger = (cast: Cast, workspace: TestWorkspace): Cast => ({
  ...cast,
  workspace,
  author: cast.stranger,
  workspaceOwner: cast.stranger,
  resourceMember: cast.stranger,
  resourceViewer: cast.stranger,
  member: cast.stranger,
  viewer: cast.stranger,
})
