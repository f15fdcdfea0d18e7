-- Breaks nothing: new columns that may be empty. To an older release a gate whose call was edited is one with another payload: it asks anew.

alter table approval_requests
  -- Within what the arguments of the call may be edited; null where the payload is no call of a tool.
  add column editable json,
  -- What the node asked with, where people have edited it since.
  add column asked_sha256 text,
  add column edited_by uuid,
  add column edited_by_name text,
  add column edit_comment text,
  -- How often the call was edited up to this gate.
  add column edits integer not null default 0,
  add column replaces uuid,
  add column replaced_by uuid;
