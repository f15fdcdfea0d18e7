import type { WorkspaceRole } from '#platform/http/context'
import { hashSecret, newId, newSecret, secretPrefix, toWire } from '#platform/ids'
import type { Answer, CallOptions } from './call.ts'
import { operatorsOfShared } from './operators.ts'
import type { Service } from './service.ts'

// Creates people and workspaces directly in the tables: other tests cover the sign-up, and argon2 is slow on purpose.
// All other test data is created through the HTTP API.

/** The part of a service that is needed to create test data. */
export type ServiceAccess = Pick<Service, 'sql' | 'call'>

export type TestPerson = {
  /** The uuid; `id` is the same id as the API shows it. */
  uuid: string
  id: string
  email: string
  name: string
  key: string
  call(method: string, path: string, options?: Omit<CallOptions, 'token'>): Promise<Answer>
}

export type TestWorkspace = { uuid: string; id: string; company: { uuid: string; id: string } }

let counter = 0

export async function makePerson(
  service: ServiceAccess,
  options: { email?: string; name?: string; orgId?: string } = {},
): Promise<TestPerson> {
  const uuid = newId()
  const number = ++counter
  const email = (options.email ?? `person-${number}-${uuid.slice(-6)}@example.com`).toLowerCase()
  const name = options.name ?? `Person ${number}`
  const key = newSecret('hk')
  await service.sql(
    `insert into users (user_id, org_id, email, name, email_verified_at)
     values ($1, coalesce($2, (select org_id from orgs order by org_id limit 1)), $3, $4, now())`,
    [uuid, options.orgId ?? null, email, name],
  )
  await service.sql(
    `insert into api_keys (key_id, user_id, name, prefix, token_hash) values ($1, $2, 'test', $3, $4)`,
    [newId(), uuid, secretPrefix(key), hashSecret(key)],
  )
  return {
    uuid,
    id: toWire('usr', uuid),
    email,
    name,
    key,
    call: (method, path, callOptions) => service.call(method, path, { token: key, ...callOptions }),
  }
}

let operators = 0

/** Creates an operator of a shared service that no other test uses. */
export const makeOperator = (service: ServiceAccess): Promise<TestPerson> =>
  makePerson(service, { email: operatorsOfShared[operators++]! })

/** Creates a company and a workspace that this person owns. */
export async function makeWorkspace(
  service: ServiceAccess,
  owner: TestPerson,
  name = 'Workspace',
): Promise<TestWorkspace> {
  const company = newId()
  const workspace = newId()
  await service.sql(
    `insert into companies (company_id, org_id, owner_id, name) select $1, org_id, user_id, $3 from users where user_id = $2`,
    [company, owner.uuid, `${name} company`],
  )
  await service.sql(
    `insert into workspaces (workspace_id, company_id, org_id, name) select $1, company_id, org_id, $3 from companies where company_id = $2`,
    [workspace, company, name],
  )
  await addMember(service, { uuid: workspace }, owner, 'owner')
  return { uuid: workspace, id: toWire('ws', workspace), company: { uuid: company, id: toWire('co', company) } }
}

export async function addMember(
  service: ServiceAccess,
  workspace: { uuid: string },
  person: TestPerson,
  role: WorkspaceRole,
): Promise<void> {
  await service.sql(
    `insert into memberships (workspace_id, user_id, role) values ($1, $2, $3) on conflict (workspace_id, user_id) do update set role = excluded.role`,
    [workspace.uuid, person.uuid, role],
  )
}

/** Creates one workspace with a person in every role, and a stranger who owns another workspace. */
export async function makeWorld(service: ServiceAccess) {
  const [owner, member, viewer, guest, stranger] = await Promise.all([
    makePerson(service, { name: 'Olga Owner' }),
    makePerson(service, { name: 'Max Member' }),
    makePerson(service, { name: 'Vera Viewer' }),
    makePerson(service, { name: 'Gus Guest' }),
    makePerson(service, { name: 'Sid Stranger' }),
  ])
  const workspace = await makeWorkspace(service, owner!, 'Home')
  const elsewhere = await makeWorkspace(service, stranger!, 'Elsewhere')
  await addMember(service, workspace, member!, 'member')
  await addMember(service, workspace, viewer!, 'viewer')
  await addMember(service, workspace, guest!, 'guest')
  return { workspace, elsewhere, owner: owner!, member: member!, viewer: viewer!, guest: guest!, stranger: stranger! }
}

export type World = Awaited<ReturnType<typeof makeWorld>>
