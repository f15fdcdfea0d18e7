-- Breaks nothing: a new column with a default. Words by which people sort their workflows.

alter table workflows add column tags text[] not null default '{}' check (cardinality(tags) <= 20);
