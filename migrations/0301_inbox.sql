-- Breaks nothing: two indexes. The inboxes read open gates and questions in the order they are shown, and stop when a page is full.
create index approval_requests_inbox on approval_requests (workspace_id, coalesce(due_at, 'infinity'), request_id) where status = 'open';
create index questions_inbox on questions (workspace_id, coalesce(due_at, 'infinity'), clarification_id) where status = 'open';
