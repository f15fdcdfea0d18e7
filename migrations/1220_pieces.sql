-- Breaks nothing: more kinds are allowed, and new columns. Services whose actions are code of others: pieces, and MCP servers that are programs.

alter table imported_services drop constraint imported_services_kind_check;
alter table imported_services add constraint imported_services_kind_check check (kind in ('openapi', 'mcp', 'piece', 'mcp_program'));
-- Which code it is: name, version, and the integrity that it was imported with.
alter table imported_services add column package jsonb;
alter table imported_services add column triggers jsonb not null default '[]';

alter table credentials drop constraint credentials_kind_check;
alter table credentials add constraint credentials_kind_check check (kind in ('bearer', 'header', 'query', 'basic', 'oauth2_client', 'oauth2_code',
  'aws_sigv4', 'tls_client', 'llm', 'service', 'piece'));
