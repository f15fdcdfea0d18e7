-- Breaks nothing: the audit log is searched by person and by subject.

create index audit_log_by_actor on audit_log (workspace_id, actor_id, entry_id desc);
create index audit_log_by_action on audit_log (workspace_id, action, entry_id desc);
