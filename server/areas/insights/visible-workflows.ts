/** The workflows of workspace `$1` that person `$2` may see: owned and shared ones, without deleted ones. */
export const VISIBLE_WORKFLOWS = `with mine as materialized (
    select w.workflow_id from workflows w where w.workspace_id = $1 and w.owner_id = $2 and w.deleted_at is null
    union select m.workflow_id from workflow_people m
      join workflows w on w.workspace_id = m.workspace_id and w.workflow_id = m.workflow_id and w.deleted_at is null
      where m.workspace_id = $1 and m.user_id = $2)`
