import type { Tx } from '#platform/db/pool'
import { toWire } from '#platform/ids'

// Which jobs read through a connection: by their source, by a node of what they execute, or by a workflow that it calls.

/** Connections, and the workflows whose active version names one of them or another such workflow. */
export type Reached = { connections: string[]; workflows: string[]; named: string[] }

export async function reachedFrom(tx: Tx, workspaceId: string, connections: string[]): Promise<Reached> {
  const reached: Reached = { connections, workflows: [], named: connections.map((id) => toWire('conn', id)) }
  for (let fresh = reached.named; fresh.length > 0; ) {
    // Only what nodes say: a note in the layout uses nothing.
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

/** Of a job `j`: whether it reads through what was reached, given as $2, $3 and $4. */
export const USES = `(j.workflow_id = any ($3::uuid[])
    or exists (select from sources s where s.workspace_id = j.workspace_id and s.source_id = j.source_id and s.connection_id = any ($2::uuid[]))
    or exists (select from job_definitions d, unnest($4::text[]) as c (wire) where d.workspace_id = j.workspace_id
      and d.definition_id = j.definition_id and strpos((d.definition -> 'nodes')::text, c.wire) > 0))`

export const valuesOf = ({ connections, workflows, named }: Reached): [string[], string[], string[]] => [
  connections,
  workflows,
  named,
]

export async function revokedIn(tx: Tx, workspaceId: string): Promise<string[]> {
  const rows = await tx.rows<{ connection_id: string }>(
    `select connection_id from connections where workspace_id = $1 and status = 'revoked'`,
    [workspaceId],
  )
  return rows.map(({ connection_id }) => connection_id)
}

/** Whether the job, as it is now, needs a credential that was revoked. */
export async function needsRevoked(tx: Tx, workspaceId: string, jobId: string): Promise<boolean> {
  const revoked = await revokedIn(tx, workspaceId)
  if (revoked.length === 0) return false
  const reached = await reachedFrom(tx, workspaceId, revoked)
  const found = await tx.maybe(
    `select from enrichment_jobs j where j.workspace_id = $1 and j.job_id = $5 and ${USES}`,
    [workspaceId, ...valuesOf(reached), jobId],
  )
  return found !== undefined
}
