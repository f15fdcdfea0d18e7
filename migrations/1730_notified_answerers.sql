-- Breaks nothing: a new column that older releases do not write.

-- The people who were notified of a question. A person who joins a team or gets a role later may answer at once, but was not notified. Null
-- if an older release asked the question: nobody knows whom it notified.
alter table questions add column notified uuid[];
