import type { JsonObject } from '#model/definition'
import type { Tx } from '#platform/db/pool'
import { deliverEvent } from '#platform/events'
import { toWire } from '#platform/ids'

/** Notifies only the owners of the job who may see it. For a pinned job, this includes the owner of the workflow. */
export async function notifyOwners(
  tx: Tx,
  workspaceId: string,
  job: { job_id: string; title: string; body: string },
  kind: 'job.paused' | 'job.failed',
  data: JsonObject,
): Promise<void> {
  const { job_id, title, body } = job
  const owners = await tx.rows<{ user_id: string; name: string }>(
    `select p.user_id, p.name from (select f.owner_id as user_id, j.name from workflows f join enrichment_jobs j
         on j.workspace_id = f.workspace_id and j.workflow_id = f.workflow_id where f.workspace_id = $1 and j.job_id = $2
       union select m.user_id, j.name from job_members m join enrichment_jobs j using (workspace_id, job_id)
         where m.workspace_id = $1 and m.job_id = $2 and m.role = 'owner') p
     where (select role from roles_in_jobs(array[p.user_id], array[$1::uuid], array[$2::uuid])) not in ('', 'viewer')`,
    [workspaceId, job_id],
  )
  await deliverEvent(tx, {
    workspaceId,
    kind,
    title: `The job "${owners[0]?.name ?? ''}" ${title}`,
    body,
    data: { job_id: toWire('job', job_id), ...data },
    link: `/jobs/${toWire('job', job_id)}`,
    to: owners.map(({ user_id }) => user_id),
  })
}
