-- Breaks nothing: a new table, filled by triggers. What runs are found by: tags, metadata, and how and where they failed. Runs without any of
-- these write nothing here. Runs that older releases started are not in it.

create table run_labels (
  workspace_id uuid not null,
  -- `tag:urgent`, `metadata:customer=42`, `error:http_status`, `node:ask`.
  label text not null,
  execution_id uuid not null,
  -- In the order of ids, and so of time: the newest runs of a label are read without looking at the others.
  primary key (workspace_id, label, execution_id)
);
create index run_labels_by_age on run_labels (execution_id);
alter table run_labels enable row level security;
alter table run_labels force row level security;
create policy owner_all on run_labels to heddle_owner using (true) with check (true);
create policy own on run_labels for select to heddle_app using (workspace_id = app_workspace());
grant select on run_labels to heddle_app;

-- What cannot be read as text (a NUL in an error) is not found by it; it must not keep the run from going on.
create function label_run() returns trigger language plpgsql security definer set search_path = public, pg_temp as $$
begin
  insert into run_labels (workspace_id, label, execution_id)
  select new.workspace_id, l.label, new.execution_id from (
    select 'tag:' || t.tag as label from unnest(new.tags) as t (tag) where tg_op = 'INSERT'
    union select left('metadata:' || m.key || '=' || m.value, 1200) from json_each_text(coalesce(new.metadata, '{}')) as m where tg_op = 'INSERT'
    union select left('error:' || (new.error ->> 'code'), 200)
    union select left('node:' || (new.error ->> 'node_id'), 600)) as l
  where l.label is not null
  on conflict do nothing;
  return null;
exception when data_exception then
  return null;
end $$;
revoke execute on function label_run() from public;
create trigger label_new_run after insert on executions for each row
  when (new.tags is not null or new.metadata is not null or new.error is not null) execute function label_run();
create trigger label_failed_run after update on executions for each row
  when (old.error is null and new.error is not null) execute function label_run();

create function forget_run_labels(before uuid, most integer) returns integer
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  forgotten integer;
begin
  delete from run_labels where ctid = any(array(select ctid from run_labels where execution_id < before order by execution_id limit most));
  get diagnostics forgotten = row_count;
  return forgotten;
end $$;
revoke execute on function forget_run_labels(uuid, integer) from public;
grant execute on function forget_run_labels(uuid, integer) to heddle_app;
