-- Breaks nothing: new columns with defaults. What an assistant has written so far, for clients that watch it write.

-- `draft_round` grows whenever the text begins anew. Kept only for turns that somebody watches; the answer itself is a message.
alter table assistant_turns
  add column draft text not null default '',
  add column draft_round integer not null default 0;
