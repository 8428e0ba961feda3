-- oldest: 1
-- Log lines, traces, and the spans that no journal holds.

-- Two nodes may write a line in the same microsecond: which of them wrote it is part of the key.
create table logs (
  id bigint not null,
  node text collate "C" not null,
  timestamp bigint not null,
  level integer not null,
  workflow_id text collate "C",
  execution_id text collate "C",
  agent_id text collate "C",
  conversation_id text collate "C",
  user_id text collate "C",
  record text not null,
  primary key (id, node)
);

create index logs_by_workflow on logs (workflow_id, id) where workflow_id is not null;
create index logs_by_execution on logs (execution_id, id) where execution_id is not null;
create index logs_by_agent on logs (agent_id, id) where agent_id is not null;
create index logs_by_conversation on logs (conversation_id, id) where conversation_id is not null;
create index logs_by_user on logs (user_id, id) where user_id is not null;
create index logs_of_trouble on logs (id) where level >= 2;

create table trace_roots (
  trace_id text collate "C" not null,
  root_span_id text collate "C" not null,
  entity_type text not null,
  entity_id text collate "C" not null,
  execution_id text collate "C",
  user_id text collate "C",
  conversation_id text collate "C",
  start_at bigint not null,
  end_at bigint,
  status text not null,
  primary key (trace_id, root_span_id)
);

create index trace_roots_by_start on trace_roots (start_at, root_span_id);
create index trace_roots_by_entity on trace_roots (entity_id, start_at, root_span_id);
create index trace_roots_by_execution on trace_roots (execution_id) where execution_id is not null;
create index trace_roots_by_user on trace_roots (user_id, start_at, root_span_id) where user_id is not null;

create table span_chunks (
  id bigint generated always as identity primary key,
  trace_id text collate "C" not null,
  root_span_id text collate "C" not null,
  timestamp bigint not null,
  spans text not null
);

create index span_chunks_by_trace on span_chunks (trace_id, root_span_id);
create index span_chunks_by_time on span_chunks (timestamp);
