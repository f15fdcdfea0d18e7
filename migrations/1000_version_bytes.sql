-- Breaks nothing: a program of the release before leaves the column empty, and a list then measures the definition itself.

-- How large a version's definition is, so that a list of large versions need not unpack each of them to find where its page
-- ends: ten lists of 60 versions of 900 KB kept the database busy for two seconds.
alter table workflow_versions add column bytes integer;
