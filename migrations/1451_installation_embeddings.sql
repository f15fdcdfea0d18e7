-- Breaks nothing: a column with a default. An older release searches such a base by its words alone.

-- The vectors are of the installation's own model, named by embedding_model, and not of a credential.
alter table knowledge_bases add column embedding_installation boolean not null default false;
