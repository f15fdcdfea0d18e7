-- Breaks nothing: one more kind of ticket. A socket tells that conversations of a workspace have changed.

alter table tickets drop constraint tickets_kind_check,
  add constraint tickets_kind_check check (kind in ('notifications', 'execution', 'job', 'conversations'));
