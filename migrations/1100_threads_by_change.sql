-- Breaks nothing: conversations with people outside are listed by their last change.

create index threads_by_change on threads (workspace_id, updated_at, thread_id) where kind <> 'thread';
