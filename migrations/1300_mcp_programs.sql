-- Breaks nothing: a new column. The releases, with their hashes, that the program of an MCP server is installed with.
alter table imported_services add column lock jsonb;
