import type { Tx } from '#platform/db/pool'
import { toWire } from '#platform/ids'

// Finds the jobs that need a connection or a credential: through their source, a node of their definition, or a called
// workflow.

/**
 * The connections, the ids that nodes may refer to (`named`), and the workflows whose active version refers to one of
 * them or to another such workflow.
 */
export type UsedBy = { connections: string[]; workflows: string[]; named: string[] }

export type Missing = { connections: string[]; credentials: string[] }

export async function findUsers(tx: Tx, workspaceId: string, from: Partial<Missing>): Promise<UsedBy> {
  const { connections = [], credentials = [] } = from
  const named = [...connections.map((id) => toWire('conn', id)), ...credentials.map((id) => toWire('cred', id))]
  const reached: UsedBy = { connections, workflows: [], named }
  for (let fresh = reached.named; fresh.length > 0; ) {
    // Only references in nodes count. A note in the layout uses nothing.
    const found = await tx.rows<{ workflow_id: string }>(
      `select v.workflow_id from workflow_versions v where v.workspace_id = $1 and v.active and v.workflow_id <> all ($3)
         and exists (select from unnest($2::text[]) as c (wire) where strpos((v.definition -> 'nodes')::text, c.wire) > 0)`,
      [workspaceId, fresh, reached.workflows],
    )
    const ids = found.map(({ workflow_id }) => workflow_id)
    fresh = ids.map((id) => toWire('wf', id))
    reached.workflows.push(...ids)
    reached.named.push(...fresh)
  }
  return reached
}

/** A condition for a job `j`: whether it uses one of the reached resources, which are $2, $3 and $4. */
export const USES = `(j.workflow_id = any ($3::uuid[])
    or exists (select from sources s where s.workspace_id = j.workspace_id and s.source_id = j.source_id and s.connection_id = any ($2::uuid[]))
    or exists (select from job_definitions d, unnest($4::text[]) as c (wire) where d.workspace_id = j.workspace_id
      and d.definition_id = j.definition_id and strpos((d.definition -> 'nodes')::text, c.wire) > 0))`

export const valuesOf = ({ connections, workflows, named }: UsedBy): [string[], string[], string[]] => [
  connections,
  workflows,
  named,
]

/** Returns what jobs may wait for: revoked connections, and credentials that a user must repair first. */
export async function missingIn(tx: Tx, workspaceId: string): Promise<Missing> {
  const rows = await tx.rows<{ connection_id: string | null; credential_id: string | null }>(
    `select connection_id, null::uuid as credential_id from connections where workspace_id = $1 and status = 'revoked'
     union all select null, credential_id from credentials
     where workspace_id = $1 and state in ('revoked', 'needs_reconnect')`,
    [workspaceId],
  )
  return {
    connections: rows.flatMap(({ connection_id }) => connection_id ?? []),
    credentials: rows.flatMap(({ credential_id }) => credential_id ?? []),
  }
}

export type MissingReason = 'connection_revoked' | 'credential_unusable'

/** Returns what the job in its current state needs and is missing. */
export async function missingFor(tx: Tx, workspaceId: string, jobId: string): Promise<MissingReason | undefined> {
  const { connections, credentials } = await missingIn(tx, workspaceId)
  const needs = async (from: Partial<Missing>): Promise<boolean> => {
    const reached = await findUsers(tx, workspaceId, from)
    const found = await tx.maybe(
      `select from enrichment_jobs j where j.workspace_id = $1 and j.job_id = $5 and ${USES}`,
      [workspaceId, ...valuesOf(reached), jobId],
    )
    return found !== undefined
  }
  if (connections.length > 0 && (await needs({ connections }))) return 'connection_revoked'
  if (credentials.length > 0 && (await needs({ credentials }))) return 'credential_unusable'
  return undefined
}
