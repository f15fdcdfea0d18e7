-- Breaks nothing: new columns with defaults, and one more status of a record. A process of an older release that takes over a run
-- of this one may process records again that this one would skip.

alter table enrichment_jobs
  -- The column that tells one record from another; null: the input alone does.
  add column key_column text,
  add column retry json not null default '{"max_attempts": 5, "backoff_s": 0.5, "factor": 2, "max_backoff_s": 60}',
  add column max_cost double precision,
  add column max_tokens bigint,
  -- What the next run was asked for.
  add column due_retry_failed boolean not null default false,
  add column due_sample integer,
  -- Its results were stored under the hash of the whole record. The next complete run adopts them.
  add column legacy_ledger boolean not null default false;
update enrichment_jobs j set legacy_ledger = true
where exists (select from ledger_results x where x.workspace_id = j.workspace_id and x.subject_id = j.job_id);

alter table ledger_runs
  -- 1: results are found by the hash of the record; 2: by the hash of the mapped input.
  add column recipe_format smallint not null default 1,
  add column legacy_recipe_sha256 bytea,
  add column key_column text,
  add column retry json,
  add column max_cost double precision,
  add column max_tokens bigint,
  add column retry_failed boolean not null default false,
  add column sample integer,
  -- The columns of the records, in their order.
  add column columns json,
  add column usage json,
  add column filtered integer not null default 0,
  -- Failed in an earlier run and not tried in this one; counted in `failed` too.
  add column failed_before integer not null default 0,
  -- Records that this run tried and no earlier run had failed: what the error rate is taken over.
  add column first_succeeded integer not null default 0,
  add column first_failed integer not null default 0;

alter table ledger_records
  -- What its result is stored under; null in runs of format 1, where it is record_sha256.
  add column input_sha256 bytea,
  add column record_key text,
  -- Failed in an earlier run, and tried again in this one.
  add column retried boolean not null default false;
alter table ledger_records drop constraint ledger_records_status_check;
alter table ledger_records add constraint ledger_records_status_check
  check (status in ('pending', 'running', 'succeeded', 'failed', 'skipped', 'filtered')) not valid;

-- A row with an error is a failure: its record waits until it, the recipe, or somebody's mind changes.
alter table ledger_results
  add column error json,
  add column record json,
  add column execution_id uuid;
