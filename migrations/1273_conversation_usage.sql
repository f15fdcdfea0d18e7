-- Breaks nothing: a column that may be null, and an index. What models counted for a conversation.

alter table model_calls add column thread_id uuid;
create index model_calls_by_thread on model_calls (workspace_id, thread_id) where thread_id is not null;
