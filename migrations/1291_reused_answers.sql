-- Breaks nothing: new columns and an index. Answers to questions that say `reuse` are used again.

-- `reuse_key`: sha256 of what the question named as its key. `reused_from`: the question whose answer this one took.
alter table questions add column reuse_key bytea;
alter table questions add column reused_from uuid;
alter table questions add column withdrawn_at timestamptz;
create index questions_reusable on questions (workspace_id, workflow_id, node_id, reuse_key, answered_at desc)
  where reuse_key is not null and status = 'answered' and reused_from is null and withdrawn_at is null;
