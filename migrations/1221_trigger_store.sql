-- Breaks nothing: a new column. What the trigger of a piece remembers from one look to the next.
alter table service_triggers add column store jsonb not null default '{}';
