-- The whole schema as the numbered migrations beside it leave it, for a new file: making it in one go takes 3 ms and
-- migrating an empty file 14. A migration that is added changes this file, too; migrate.test.ts compares the two.

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
  resumes integer not null default 0,
  owner text,
  token text,
  idle integer not null default 0,
  recoveries integer not null default 0,
  timeout_at integer,
  definition text,
  parked text,
  parked_under text,
  replay_of text,
  replay_step text,
  tags text,
  commits integer not null default 0,
  result_at integer,
  usage text,
  kind text not null default 'workflow',
  agent_id text,
  trace text
) strict;

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

create table suspensions (
  suspension_id text primary key,
  execution_id text not null,
  path text,
  step_index integer not null,
  reason text not null,
  data text,
  suspended_at integer not null,
  deadline integer,
  on_deadline text,
  held integer not null default 0,
  resume_schema text
) strict, without rowid;

create table owners (
  owner text primary key,
  expires_at integer not null
) strict, without rowid;

create table timers (
  execution_id text not null,
  path text not null,
  due_at integer not null,
  held integer not null default 0,
  primary key (execution_id, path)
) strict, without rowid;

create table definitions (
  definition text primary key,
  outline text not null
) strict, without rowid;

create index executions_parked on executions (workflow_id) where parked is not null;

create table execution_tags (
  tag text not null,
  start_at integer not null,
  execution_id text not null,
  primary key (tag, start_at, execution_id)
) strict, without rowid;

create table conversations (
  conversation_id text primary key,
  agent_id text not null,
  user_id text,
  title text,
  created_at integer not null,
  updated_at integer not null,
  sequence integer not null default 0,
  input_tokens integer not null default 0,
  output_tokens integer not null default 0,
  total_tokens integer not null default 0,
  calls integer not null default 0,
  metadata text,
  cached_input_tokens integer not null default 0,
  reasoning_tokens integer not null default 0,
  revision integer not null default 0
) strict;

create index conversations_by_change on conversations (updated_at, conversation_id);

create index conversations_by_user on conversations (user_id, updated_at, conversation_id);

create table messages (
  conversation_id text not null,
  sequence integer not null,
  message_id text not null,
  role text not null,
  body text not null,
  partial integer not null,
  created_at integer not null,
  primary key (conversation_id, sequence)
) strict, without rowid;

create unique index messages_by_id on messages (conversation_id, message_id);

create index events_with_usage on events (execution_id)
  where step_type = 'andAgent' and type = 'step-complete' and detail is not null;

create table logs (
  id integer primary key,
  timestamp integer not null,
  level integer not null,
  workflow_id text,
  execution_id text,
  agent_id text,
  conversation_id text,
  record text not null,
  user_id text
) strict;

create index logs_by_workflow on logs (workflow_id, id) where workflow_id is not null;

create index logs_by_execution on logs (execution_id, id) where execution_id is not null;

create index logs_by_agent on logs (agent_id, id) where agent_id is not null;

create index logs_by_conversation on logs (conversation_id, id) where conversation_id is not null;

create table trace_roots (
  trace_id text not null,
  root_span_id text not null,
  entity_type text not null,
  entity_id text not null,
  execution_id text,
  user_id text,
  conversation_id text,
  start_at integer not null,
  end_at integer,
  status text not null,
  primary key (trace_id, root_span_id)
) strict, without rowid;

create index trace_roots_by_start on trace_roots (start_at, root_span_id);

create index trace_roots_by_entity on trace_roots (entity_id, start_at, root_span_id);

create index trace_roots_by_execution on trace_roots (execution_id) where execution_id is not null;

create index trace_roots_by_user on trace_roots (user_id, start_at, root_span_id) where user_id is not null;

create table span_chunks (
  id integer primary key,
  trace_id text not null,
  root_span_id text not null,
  timestamp integer not null,
  spans text not null
) strict;

create index span_chunks_by_trace on span_chunks (trace_id, root_span_id);

create index logs_by_user on logs (user_id, id) where user_id is not null;

create table journal (
  execution_id text not null,
  sequence integer not null,
  events text not null,
  write_key text,
  primary key (execution_id, sequence)
) strict, without rowid;

create index executions_with_work on executions (start_at) where idle = 0 and end_at is null and parked is null;

create index timers_by_due on timers (due_at) where held = 0;

create index suspensions_by_deadline on suspensions (deadline) where deadline is not null and held = 0;

create index executions_by_timeout on executions (timeout_at)
  where timeout_at is not null and end_at is null and paused = 0;

create index suspensions_by_execution on suspensions (execution_id, suspended_at, suspension_id);

create index conversations_by_agent on conversations (agent_id, updated_at, conversation_id);

create index span_chunks_by_time on span_chunks (timestamp);

create index logs_of_trouble on logs (id) where level >= 2;

create table used_approvals (
  approval_key text primary key,
  expires_at integer not null,
  use_key text
) strict, without rowid;

create index used_approvals_by_expiry on used_approvals (expires_at);

create table secrets (
  name text primary key,
  value text not null
) strict, without rowid;

create unique index executions_live_turn on executions (conversation_id) where kind = 'turn' and end_at is null;

create index executions_of_conversation on executions (conversation_id) where kind = 'turn';

create index executions_turns_by_end on executions (end_at, execution_id) where kind = 'turn' and end_at is not null;

create index executions_by_start on executions (start_at, execution_id) where kind = 'workflow';

create index executions_by_workflow on executions (workflow_id, start_at, execution_id) where kind = 'workflow';

create index executions_by_status on executions (status, start_at, execution_id)
  where status <> 'running' and kind = 'workflow';

create index executions_running on executions (start_at, execution_id) where status = 'running' and kind = 'workflow';

create index executions_by_user on executions (user_id, start_at, execution_id)
  where user_id is not null and kind = 'workflow';

create index executions_by_end on executions (end_at, execution_id) where end_at is not null and kind = 'workflow';

create table conversation_writes (
  write_key text primary key,
  result text not null,
  written_at integer not null
) strict, without rowid;

create index conversation_writes_by_time on conversation_writes (written_at);

create index executions_by_trace on executions (trace, start_at, execution_id) where trace <> '';

create table snapshots (
  execution_id text primary key,
  sequence integer not null,
  format integer not null,
  body text not null
) strict, without rowid;

create table rollups (
  steps integer not null,
  minute integer not null,
  workflow_id text not null,
  step text not null,
  kind text not null,
  bucket integer not null,
  count integer not null,
  primary key (steps, minute, workflow_id, step, kind, bucket)
) strict, without rowid;

create table rollup_writers (
  writer text primary key,
  number integer not null,
  minute integer not null
) strict, without rowid;

create index rollup_writers_by_minute on rollup_writers (minute);

create index suspensions_by_time on suspensions (suspended_at, suspension_id);

create index executions_waiting on executions (user_id) where status = 'suspended' and user_id is not null;

create table forks (
  fork_id text primary key,
  copy_id text not null,
  source_id text not null,
  revision integer not null,
  last integer not null,
  copied integer not null,
  changed_at integer not null
) strict, without rowid;

create index forks_by_source on forks (source_id);

create index forks_by_change on forks (changed_at);
