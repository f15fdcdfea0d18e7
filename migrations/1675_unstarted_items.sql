-- Breaks nothing: a new column. Items that the trigger of a piece has returned and that could not all start yet: the piece does not return them again.
alter table service_triggers add column unstarted jsonb not null default '[]';
