// Conversations with people outside the workspace: which of them a user may read, and how they are described. The inbox
// uses this too.

/** The caller, with their role in the workspace. */
export type Reader = { user_id: string; role: string }

export const commonColumns = 't.thread_id, t.kind, t.template_id, t.created_at, t.updated_at'

/** The widget of a workflow is a guided form, so colleagues cannot join the conversation. */
export const outsideColumns = `${commonColumns}, g.channel, case when t.kind = 'gather' then 'viewer' else 'member' end as role,
  case when t.taken_over_until > now() then (select json_build_object('user_id', u.user_id, 'name', u.name)
    from users u where u.user_id = t.taken_over_by) end as taken_over_by,
  t.handover_at, t.handover_reason,
  coalesce(t.title, 'Visitor of ' || coalesce(p.name, w.name), 'Visitor') as title`

/** The tables for the statements below. `t` is the conversation. */
export const outsideTables = `threads t
  left join templates p on p.workspace_id = t.workspace_id and p.template_id = t.template_id
  left join workflows w on w.workspace_id = t.workspace_id and w.workflow_id = t.workflow_id
  left join gateway_channels g on g.workspace_id = t.workspace_id and g.config_id = t.config_id`

/**
 * Conversations without members. The people responsible may read them and take them over: owners of the workspace ($3
 * is the role), the person ($2) who created the template or the channel, and members of the template's teams. The owner
 * and members of a widget's workflow may only read.
 */
export const readableOutside = `t.workspace_id = $1 and t.kind <> 'thread' and ($3 = 'owner' or $3 <> 'guest' and (
    p.owner_id = $2 or edits_template(t.workspace_id, t.template_id, $2) or g.created_by = $2 or w.owner_id = $2 or exists (select from workflow_people s
      where s.workspace_id = t.workspace_id and s.workflow_id = t.workflow_id and s.user_id = $2)))`
