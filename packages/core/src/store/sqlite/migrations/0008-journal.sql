-- A journal is one row for each write instead of one for each event; a long value stands in it once. Journals that were
-- begun in the table `events` stay there, and continue here.

create table journal (
  execution_id text not null,
  -- The number of its last event.
  sequence integer not null,
  -- A JSON array, see journal-rows.ts.
  events text not null,
  -- The write that it came with, so that repeating one whose reply was lost finds it.
  write_key text,
  primary key (execution_id, sequence)
) strict, without rowid;

-- The last commit under the claim that holds.
alter table executions add column commits integer not null default 0;
-- The event that holds the result, when that is long; its column is null then.
alter table executions add column result_at integer;
-- What its agents have used, a JSON object. Executions of earlier releases have some of it in their events.
alter table executions add column usage text;

-- An execution that simply runs and ends was in the index of its status three times.
drop index executions_by_status;
create index executions_by_status on executions (status, start_at, execution_id) where status <> 'running';
create index executions_running on executions (start_at, execution_id) where status = 'running';

-- What recovery looks through does not hold what is parked.
drop index executions_with_work;
create index executions_with_work on executions (start_at) where idle = 0 and end_at is null and parked is null;

-- No time runs out while an execution is paused: its times leave the indexes that are looked through for what is due.
alter table timers add column held integer not null default 0;
alter table suspensions add column held integer not null default 0;
drop index timers_by_due;
create index timers_by_due on timers (due_at) where held = 0;
drop index suspensions_by_deadline;
create index suspensions_by_deadline on suspensions (deadline) where deadline is not null and held = 0;
drop index executions_by_timeout;
create index executions_by_timeout on executions (timeout_at)
  where timeout_at is not null and end_at is null and paused = 0;
update timers set held = 1 where execution_id in
  (select execution_id from executions where status = 'suspended' and paused = 1);
update suspensions set held = 1 where execution_id in
  (select execution_id from executions where status = 'suspended' and paused = 1);

-- Ten thousand gates that wait at once are read in their order.
drop index suspensions_by_execution;
create index suspensions_by_execution on suspensions (execution_id, suspended_at, suspension_id);

create index conversations_by_agent on conversations (agent_id, updated_at, conversation_id);
create index span_chunks_by_time on span_chunks (timestamp);
create index logs_of_trouble on logs (id) where level >= 2;
