-- Log lines, traces, and the spans that no journal holds.

create table logs (
  id integer primary key,
  timestamp integer not null,
  level integer not null,
  workflow_id text,
  execution_id text,
  agent_id text,
  conversation_id text,
  record text not null
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
