-- Breaks nothing: a table, triggers, a view and functions. Finds executions whose waits disagree with what they name.

-- Something that an execution waits for was opened or has ended: a while later its waits are compared with what they name.
-- One row per execution, gone once that was done. So looking costs as much as happens, however many executions wait.
create table wait_checks (
  workspace_id uuid not null,
  execution_id uuid not null,
  noted_at timestamptz not null default now(),
  check_at timestamptz not null default now() + interval '20 seconds',
  primary key (workspace_id, execution_id)
) with (fillfactor = 50);
create index wait_checks_due on wait_checks (check_at);
alter table wait_checks enable row level security;
alter table wait_checks force row level security;
create policy owner_all on wait_checks to heddle_owner using (true) with check (true);
create policy engine_all on wait_checks to heddle_engine using (true) with check (true);
grant select, insert, update, delete on wait_checks to heddle_engine;

-- Executions that wait already, as an older release left them.
insert into wait_checks (workspace_id, execution_id)
  select workspace_id, execution_id from executions where status = 'waiting' and (waiting_for @> '[{"kind": "approval"}]'
    or waiting_for @> '[{"kind": "clarification"}]' or waiting_for @> '[{"kind": "execution"}]');

create function engine.note_wait() returns trigger language plpgsql security definer set search_path = public, pg_temp as $$
begin
  insert into wait_checks (workspace_id, execution_id) values (new.workspace_id, new.execution_id)
    on conflict (workspace_id, execution_id) do update set noted_at = excluded.noted_at,
      check_at = least(wait_checks.check_at, excluded.check_at);
  return null;
end $$;
create trigger note_opened after insert on approval_requests for each row execute function engine.note_wait();
create trigger note_ended after update of status on approval_requests for each row
  when (old.status is distinct from new.status) execute function engine.note_wait();
create trigger note_opened after insert on questions for each row execute function engine.note_wait();
create trigger note_ended after update of status on questions for each row
  when (old.status is distinct from new.status) execute function engine.note_wait();

-- The other way round from typeid().
create function uuid_of_typeid(id text) returns uuid language plpgsql immutable strict parallel safe as $$
declare
  alphabet constant text := '0123456789abcdefghjkmnpqrstvwxyz';
  letters constant text := right(id, 26);
  bits bit varying := B'';
  hex text := '';
begin
  for letter in 1..26 loop
    bits := bits || (strpos(alphabet, substr(letters, letter, 1)) - 1)::bit(5);
  end loop;
  for digit in 0..31 loop
    hex := hex || to_hex(substring(bits from digit * 4 + 3 for 4)::bit(4)::integer);
  end loop;
  return hex::uuid;
end $$;

-- Where an execution that waits and what it waits for disagree. A gate or question changes in one transaction with its
-- execution; the end of a child is told within seconds, hence the grace. `is_left` says that something is open that nobody
-- waits for. What no node of its own keeps waiting (it did not load, there was no slot) is not judged.
create view engine.wait_faults as
  select e.workspace_id, e.execution_id, w ->> 'node_id' as node_path, false as is_left,
    'it waits for a gate that is not open' as why
  from executions e cross join jsonb_array_elements(e.waiting_for) w
  where e.status = 'waiting' and w ->> 'kind' = 'approval' and w ? 'request_id' and not exists (
    select from approval_requests g where g.workspace_id = e.workspace_id and g.execution_id = e.execution_id
      and g.node_path = w ->> 'node_id' and g.status = 'open')
  union all
  select e.workspace_id, e.execution_id, w ->> 'node_id', false, 'it waits for a question that is not open'
  from executions e cross join jsonb_array_elements(e.waiting_for) w
  where e.status = 'waiting' and w ->> 'kind' = 'clarification' and w ? 'clarification_id' and not exists (
    select from questions q where q.workspace_id = e.workspace_id and q.execution_id = e.execution_id
      and q.node_path = w ->> 'node_id' and q.status = 'open')
  union all
  select e.workspace_id, e.execution_id, w ->> 'node_id', false, 'it waits for an execution that has ended or is not there'
  from executions e cross join jsonb_array_elements(e.waiting_for) w
  where e.status = 'waiting' and w ->> 'kind' = 'execution' and w ? 'execution_id' and not exists (
    select from executions c where c.workspace_id = e.workspace_id and c.execution_id = uuid_of_typeid(w ->> 'execution_id')
      and (c.finished_at is null or c.finished_at > now() - interval '15 seconds'))
  union all
  select e.workspace_id, e.execution_id, g.node_path, true, 'it does not wait for a gate of its own that is open'
  from executions e join approval_requests g on g.workspace_id = e.workspace_id and g.execution_id = e.execution_id
  where e.status = 'waiting' and g.status = 'open' and e.waiting_for -> 0 ? 'node_id' and jsonb_array_length(e.waiting_for) < 1000
    and not e.waiting_for @> jsonb_build_array(jsonb_build_object('node_id', g.node_path))
  union all
  select e.workspace_id, e.execution_id, q.node_path, true, 'it does not wait for a question of its own that is open'
  from executions e join questions q on q.workspace_id = e.workspace_id and q.execution_id = e.execution_id
  where e.status = 'waiting' and q.status = 'open' and e.waiting_for -> 0 ? 'node_id' and jsonb_array_length(e.waiting_for) < 1000
    and not e.waiting_for @> jsonb_build_array(jsonb_build_object('node_id', q.node_path));

-- Everything that is neither at work nor waits for exactly what is there to wait for. Reads all that wait: it is for operators
-- who ask, not for what happens by itself.
create or replace function engine.unaccounted() returns table (execution_id uuid, workspace_id uuid, status text, why text)
language sql stable security definer set search_path = public, pg_temp
begin atomic
  select e.execution_id, e.workspace_id, e.status, 'its worker is dead' from executions e
    where e.status = 'running'
      and not exists (select from workers w where w.worker_id = e.worker_id and not w.dead)
  union all
  select e.execution_id, e.workspace_id, e.status, 'it waits for nothing' from executions e
    where e.status = 'waiting' and (e.waiting_for = '[]' or (e.due_at is null and e.waiting_for @> '[{"kind": "timer"}]'))
  union all
  select e.execution_id, e.workspace_id, e.status, 'its time has passed' from executions e
    where e.status = 'waiting' and e.due_at < now() - interval '30 seconds'
  union all
  -- What no node of its own keeps waiting (it did not load, there was no slot) reads its messages once it is taken up again.
  select e.execution_id, e.workspace_id, e.status, 'a message to it was not read' from executions e
    where e.status = 'waiting' and e.inbox > e.seen and e.waiting_for->0 ? 'node_id'
  union all
  select f.execution_id, f.workspace_id, 'waiting', f.why from engine.wait_faults f
  union all
  select e.execution_id, e.workspace_id, e.status, 'it has ended, and a gate of its own is open'
    from approval_requests g join executions e on e.workspace_id = g.workspace_id and e.execution_id = g.execution_id
    where g.status = 'open' and e.finished_at < now() - interval '30 seconds'
  union all
  select e.execution_id, e.workspace_id, e.status, 'it has ended, and a question of its own is open'
    from questions q join executions e on e.workspace_id = q.workspace_id and e.execution_id = q.execution_id
    where q.status = 'open' and e.finished_at < now() - interval '30 seconds';
end;

-- A portion of what is to be compared, and what was found. Each is looked at again later unless engine.wait_is_right says that
-- it need not be: an execution that is at work the later the longer it is, for five minutes at most.
create function engine.check_waits(p_limit integer)
returns table (workspace_id uuid, execution_id uuid, status text, is_told boolean, faults json)
language sql security definer set search_path = public, pg_temp as $$
  with due as (
    select c.workspace_id, c.execution_id from wait_checks c where c.check_at <= now() order by c.check_at limit p_limit
      for update skip locked
  ),
  later as (
    update wait_checks c set check_at = now() + least(greatest(now() - c.noted_at, interval '30 seconds'), interval '5 minutes')
    from due d where c.workspace_id = d.workspace_id and c.execution_id = d.execution_id
    returning c.workspace_id, c.execution_id
  )
  select l.workspace_id, l.execution_id, e.status, not e.tell_end, coalesce(
    case when e.status = 'waiting' then (
      select json_agg(f) from engine.wait_faults f where f.workspace_id = l.workspace_id and f.execution_id = l.execution_id)
    when e.finished_at is not null then (
      select json_agg(o) from (
        select node_path, true as is_left, 'it has ended, and a gate of its own is open' as why from approval_requests g
          where g.workspace_id = l.workspace_id and g.execution_id = l.execution_id and g.status = 'open'
        union all
        select node_path, true, 'it has ended, and a question of its own is open' from questions q
          where q.workspace_id = l.workspace_id and q.execution_id = l.execution_id and q.status = 'open') o)
    end, '[]')
  from later l left join executions e on e.workspace_id = l.workspace_id and e.execution_id = l.execution_id
$$;

-- What was noted in the last moments is compared once more, when whatever it led to has had its time.
create function engine.waits_are_right(p_workspaces uuid[], p_executions uuid[]) returns void
language sql security definer set search_path = public, pg_temp as $$
  with gone as (
    delete from wait_checks c using unnest(p_workspaces, p_executions) as r (workspace_id, execution_id)
    where c.workspace_id = r.workspace_id and c.execution_id = r.execution_id and c.noted_at < now() - interval '15 seconds'
  )
  update wait_checks c set check_at = c.noted_at + interval '20 seconds'
  from unnest(p_workspaces, p_executions) as r (workspace_id, execution_id)
  where c.workspace_id = r.workspace_id and c.execution_id = r.execution_id and c.noted_at >= now() - interval '15 seconds'
$$;

-- Executions whose worker is dead and did not release them.
create function engine.release_orphans() returns integer language sql as $$
  with orphans as (
    update executions e set status = 'queued', worker_id = null, epoch = epoch + 1, due_at = now()
    where e.status = 'running' and not exists (select from workers w where w.worker_id = e.worker_id and not w.dead)
    returning 1
  )
  select count(*)::integer from orphans
$$;

revoke all on engine.wait_faults from public;
revoke all on function uuid_of_typeid(text), engine.note_wait(), engine.check_waits(integer), engine.waits_are_right(uuid[], uuid[]),
  engine.release_orphans() from public;
grant execute on function engine.check_waits(integer), engine.waits_are_right(uuid[], uuid[]), engine.release_orphans()
  to heddle_engine;
