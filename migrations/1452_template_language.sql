-- Breaks nothing: a column that may be empty.

-- The language of what an assistant says by itself, where that of the person is not known; null: English.
alter table templates add column locale text;
