import type { Tx } from '#platform/db/pool'
import { type ListInput, readList } from '#platform/http/list'
import { type ServiceError, serviceErrorList } from './schema.ts'

/**
 * Lists failures of executions that a person may see: of workflows that they own or are members of, and of executions
 * that they started. At most some dozen rows are kept per workflow, so the query reads few rows regardless of the
 * number of executions.
 */
export const listErrors = (tx: Tx, workspaceId: string, userId: string, service: string, asked: ListInput) =>
  readList<ServiceError>(tx, serviceErrorList, asked, {
    sql: `select f.error_id, f.action, f.execution_id, f.workflow_id, f.node_id, f.code, f.message, f.failures, f.failed_at
      from service_errors f join executions e on e.workspace_id = f.workspace_id and e.execution_id = f.execution_id
      where f.workspace_id = $1 and f.service = $3 and e.trigger_kind <> 'trial' and (e.started_by = $2 or f.workflow_id in (
        select w.workflow_id from workflows w where w.workspace_id = $1 and w.owner_id = $2 and w.deleted_at is null
        union select m.workflow_id from workflow_people m
          join workflows w on w.workspace_id = m.workspace_id and w.workflow_id = m.workflow_id and w.deleted_at is null
          where m.workspace_id = $1 and m.user_id = $2))`,
    values: [workspaceId, userId, service],
  })
