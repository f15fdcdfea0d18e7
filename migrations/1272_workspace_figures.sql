-- Breaks nothing: more rows and indexes. Figures of a whole workspace are kept beside those of its workflows: a month by the hour would add up
-- hundreds of thousands of rows where there are many workflows.

-- 'H' is an hour and 'D' a day of the whole workspace: without workflow, error code and what began the runs.
alter table run_counts drop constraint run_counts_span_check;
alter table run_counts add constraint run_counts_span_check check (span in ('m', 'h', 'd', 'H', 'D'));
alter table run_times drop constraint run_times_span_check;
alter table run_times add constraint run_times_span_check check (span in ('m', 'h', 'd', 'H', 'D'));

insert into run_counts (workspace_id, span, at, workflow_id, trigger_kind, status, error_code, runs, duration_ms)
select workspace_id, upper(span::text)::"char", at, null, '', status, null, sum(runs), sum(duration_ms) from run_counts
where span in ('h', 'd') group by 1, 2, 3, 6;
insert into run_times (workspace_id, span, at, workflow_id, measure, bucket, runs)
select workspace_id, upper(span::text)::"char", at, null, measure, bucket, sum(runs) from run_times
where span in ('h', 'd') group by 1, 2, 3, 5, 6;

create index run_counts_by_workflow on run_counts (workspace_id, workflow_id, span, at);
create index run_times_by_workflow on run_times (workspace_id, workflow_id, span, at);

-- By time alone an index serves nobody: what is forgotten is chosen by span, and reports were seen to read a month of five minutes by it.
drop index run_counts_by_age, run_times_by_age;
create index run_counts_by_span on run_counts (span, at);
create index run_times_by_span on run_times (span, at);

create or replace function forget_run_figures(kept_hours_days integer, kept_days integer, most integer) returns integer
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  one record;
  forgotten integer := 0;
  removed integer;
begin
  for one in select * from (values ('m'::"char", 2), ('h', kept_hours_days), ('H', kept_hours_days), ('d', kept_days), ('D', kept_days)) as v (span, days) loop
    delete from run_counts where ctid = any(array(
      select ctid from run_counts where span = one.span and at < now() - make_interval(days => one.days) limit most));
    get diagnostics removed = row_count;
    forgotten := greatest(forgotten, removed);
    delete from run_times where ctid = any(array(
      select ctid from run_times where span = one.span and at < now() - make_interval(days => one.days) limit most));
    get diagnostics removed = row_count;
    forgotten := greatest(forgotten, removed);
  end loop;
  delete from step_days where ctid = any(array(select ctid from step_days where at < now() - make_interval(days => kept_days) limit most));
  get diagnostics removed = row_count;
  return greatest(forgotten, removed);
end $$;
