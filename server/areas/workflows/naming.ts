import type { NamedPrefix } from '#model/portable'
import type { Tx } from '#platform/db/pool'

// The names of resources in a workspace, for a person who may use them. A name that several resources have is bound to
// none of them.

type Named = { id: string; name: string }
type Asked = { workspaceId: string; userId: string }

/** `$1`: the workspace, `$2`: the person, `$3`: the ids or the names. */
type Queries = { byId: string; byName: string }

/** Guests do not see the resources of the workspace, even if a workflow that was shared with them uses some. */
const NO_GUEST = `exists (select from memberships g where g.workspace_id = $1 and g.user_id = $2 and g.role <> 'guest')`

const named = (table: string, id: string, name = 'name', usable = 'true'): Queries => ({
  byId: `select ${id} as id, ${name} as name from ${table} where workspace_id = $1 and ${id} = any ($3::uuid[]) and ${NO_GUEST}`,
  byName: `select ${id} as id, ${name} as name from ${table}
    where workspace_id = $1 and $2::uuid is not null and ${name} = any ($3::text[]) and ${usable}`,
})

const queries: Record<NamedPrefix, Queries> = {
  cred: {
    byId: `select credential_id as id, name from credentials
      where workspace_id = $1 and credential_id = any ($3::uuid[]) and credential_role(workspace_id, credential_id, $2) is not null`,
    byName: `select credential_id as id, name from credentials
      where workspace_id = $1 and name = any ($3::text[]) and state <> 'revoked'
        and credential_role(workspace_id, credential_id, $2) in ('owner', 'edit', 'use')`,
  },
  conn: named('connections', 'connection_id', 'name', `status <> 'revoked'`),
  ds: named('datasets', 'dataset_id'),
  kb: {
    byId: `select knowledge_id as id, name from knowledge_bases
      where workspace_id = $1 and knowledge_id = any ($3::uuid[]) and knowledge_role(workspace_id, knowledge_id, $2) is not null`,
    byName: `select knowledge_id as id, name from knowledge_bases where workspace_id = $1 and name = any ($3::text[])
        and knowledge_role(workspace_id, knowledge_id, $2) in ('owner', 'edit', 'use')`,
  },
  chan: named('gateway_channels', 'config_id', 'coalesce(name, external_id)'),
  wf: {
    byId: `select w.workflow_id as id, w.name from workflows w
      where w.workspace_id = $1 and w.workflow_id = any ($3::uuid[]) and w.deleted_at is null and (${NO_GUEST}
        or w.owner_id = $2 or exists (select from workflow_people m
          where m.workspace_id = w.workspace_id and m.workflow_id = w.workflow_id and m.user_id = $2))`,
    byName: `select w.workflow_id as id, w.name from workflows w
      where w.workspace_id = $1 and w.name = any ($3::text[]) and w.deleted_at is null and (w.owner_id = $2 or exists (
        select from workflow_people m where m.workspace_id = w.workspace_id and m.workflow_id = w.workflow_id
          and m.user_id = $2 and m.role <> 'viewer'))`,
  },
  usr: {
    byId: `select u.user_id as id, u.email as name from memberships m join users u using (user_id)
      where m.workspace_id = $1 and u.user_id = any ($3::uuid[]) and (u.user_id = $2 or ${NO_GUEST})`,
    byName: `select u.user_id as id, u.email as name from memberships m join users u using (user_id)
      where m.workspace_id = $1 and $2::uuid is not null and u.email = any ($3::text[])`,
  },
  team: named('teams', 'team_id', 'slug'),
}

export const findNames = (tx: Tx, prefix: NamedPrefix, asked: Asked, ids: string[]): Promise<Named[]> =>
  tx.rows<Named>(queries[prefix].byId, [asked.workspaceId, asked.userId, ids])

export const findByName = (tx: Tx, prefix: NamedPrefix, asked: Asked, names: string[]): Promise<Named[]> =>
  tx.rows<Named>(queries[prefix].byName, [asked.workspaceId, asked.userId, names])
