-- Times that executions wait for: sleeps and retries, deadlines of suspensions, timeouts of whole executions.

create table timers (
  execution_id text not null,
  path text not null,
  due_at integer not null,
  primary key (execution_id, path)
) strict, without rowid;

create index timers_by_due on timers (due_at);

alter table suspensions add column deadline integer;
alter table suspensions add column on_deadline text;
create index suspensions_by_deadline on suspensions (deadline) where deadline is not null;

alter table executions add column timeout_at integer;
create index executions_by_timeout on executions (timeout_at) where timeout_at is not null and end_at is null;
