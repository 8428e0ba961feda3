-- Executions, their journals, where they wait, and who runs them.

create table executions (
  execution_id text primary key,
  workflow_id text not null,
  status text not null,
  input text,
  context text not null,
  user_id text,
  conversation_id text,
  start_at integer not null,
  end_at integer,
  result text,
  error text,
  sequence integer not null,
  step_index integer not null default 0,
  open_suspensions integer not null default 0,
  paused integer not null default 0,
  answers integer not null default 0,
  owner text,
  token text,
  resting integer not null default 0,
  recoveries integer not null default 0
) strict;

create index executions_by_start on executions (start_at, execution_id);
create index executions_by_workflow on executions (workflow_id, start_at, execution_id);
create index executions_by_status on executions (status, start_at, execution_id);
create index executions_by_user on executions (user_id, start_at, execution_id) where user_id is not null;
-- What recovery looks through: executions that somebody has to run.
create index executions_with_work on executions (start_at) where resting = 0 and end_at is null;

create table events (
  execution_id text not null,
  sequence integer not null,
  timestamp integer not null,
  type text not null,
  path text,
  step_index integer,
  step_type text,
  value text,
  detail text,
  primary key (execution_id, sequence)
) strict, without rowid;

-- Only what is open: an answered or closed suspension is told by the journal and has no row.
create table suspensions (
  suspension_id text primary key,
  execution_id text not null,
  path text,
  step_index integer not null,
  reason text not null,
  data text,
  suspended_at integer not null
) strict, without rowid;

create index suspensions_by_execution on suspensions (execution_id);

create table owners (
  owner text primary key,
  expires_at integer not null
) strict, without rowid;
