import { reachesRole } from '#areas/workflows/definition-rights'
import type { Principal } from '#areas/workflows/rights'
import type { Tx } from '#platform/db/pool'
import type { JobRow } from '../store.ts'
import type { RunError } from './run-error.ts'

// The bindings of a job are read and written with the rights of its principal. People may lose rights after they set
// the bindings, so the rights are checked whenever a run starts.

/**
 * Returns the person who activated the version or wrote the definition. If that person has left, the owner of the
 * workflow or of the job.
 */
const findPrincipalOfJob = (
  tx: Tx,
  workspaceId: string,
  job: Pick<JobRow, 'job_id' | 'owner_id' | 'workflow_id' | 'definition_id'>,
  versionId: string | null,
): Promise<Principal | undefined> =>
  tx.maybe<Principal>(
    `select m.user_id, m.role from unnest(array[
       coalesce(principal_of_version($1, $2), (select d.created_by from job_definitions d where d.workspace_id = $1 and d.definition_id = $3)),
       (select w.owner_id from workflows w where w.workspace_id = $1 and w.workflow_id = $4), $5::uuid]) with ordinality as p (user_id, position)
     join memberships m on m.workspace_id = $1 and m.user_id = p.user_id order by p.position limit 1`,
    [workspaceId, versionId, job.definition_id, job.workflow_id, job.owner_id],
  )

const refused = (noun: 'dataset' | 'connection', does: string, principal: Principal | undefined): RunError => ({
  code: `${noun}_not_allowed`,
  message: `The job ${does}, and the person it acts for ${
    principal === undefined ? 'has left the workspace' : `is a ${principal.role} of the workspace`
  }. A person who may do this must activate the version, or save the definition.`,
})

/** Returns why the bindings of the job may not be used. Undefined if they may. */
export async function findForbidden(
  tx: Tx,
  workspaceId: string,
  job: JobRow,
  versionId: string | null,
): Promise<RunError | undefined> {
  const principal = await findPrincipalOfJob(tx, workspaceId, job, versionId)
  const may = (least: 'viewer' | 'member'): boolean => principal !== undefined && reachesRole(principal.role, least)
  if (job.dataset_id !== null && !may('viewer')) return refused('dataset', 'reads a dataset', principal)
  if (job.source_id !== null && !may('member')) return refused('connection', 'reads through a connection', principal)
  if ((job.output_bound || job.output_name !== null) && !may('member'))
    return refused('dataset', 'writes a dataset', principal)
  return undefined
}
