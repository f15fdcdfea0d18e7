-- Breaks nothing: new columns with defaults, and two more kinds of connections. A process of an older release cannot use those two.

alter table connections drop constraint connections_kind_check;
alter table connections add constraint connections_kind_check
  check (kind in ('postgres', 'redshift', 'snowflake', 'bigquery', 'databricks', 'clickhouse', 'duckdb', 'mysql', 'sqlserver')) not valid;
-- Whether workflows may write through it.
alter table connections add column allow_write boolean not null default false;

-- A column that only grows: a job reads the rows from where its last run ended.
alter table sources add column cursor_column text;
alter table enrichment_jobs
  add column source_cursor json,
  -- replace, or upsert by the key column.
  add column output_mode text not null default 'replace';
alter table ledger_runs
  add column cursor_from json,
  add column cursor_to json;
