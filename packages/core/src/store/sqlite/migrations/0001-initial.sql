-- The tables of the first release.

create table executions (
  -- The key of its journal: rows of ids that callers choose at random would each be on a page of their own.
  id integer primary key,
  execution_id text not null unique,
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
  -- The number of the last event.
  sequence integer not null,
  step_index integer not null default 0,
  open_suspensions integer not null default 0,
  paused integer not null default 0,
  resumes integer not null default 0,
  owner text,
  token text,
  -- No process has to run it: it is suspended or sleeps, with no body in flight.
  idle integer not null default 0,
  recoveries integer not null default 0,
  timeout_at integer,
  definition text,
  -- Why no process may run it, and the definition that did not fit.
  parked text,
  parked_under text,
  -- The execution and the step that a replay began from.
  replay_of text,
  replay_step text,
  -- The tags as they were given, a JSON array; lists search execution_tags.
  tags text,
  -- The last commit under the current claim.
  commits integer not null default 0,
  -- The event that holds a long result; the column `result` is null then.
  result_at integer,
  -- Tokens and calls of its agents, a JSON object.
  usage text,
  -- The part of it that the conversation of a turn that goes on later has counted, a JSON object.
  counted_usage text,
  kind text not null default 'workflow',
  -- The agent of a turn; null for a workflow.
  agent_id text,
  -- The trace that it belongs to: empty for its own, null when it is not traced.
  trace text,
  -- Its relations to a parent and to children, a JSON object; null for none.
  links text
) strict;

-- Indexes of lists, counts and retention hold no turns: a chat may have a thousand for each workflow.
create index executions_by_start on executions (start_at, execution_id) where kind = 'workflow';
create index executions_parked on executions (workflow_id, start_at, execution_id) where parked is not null;
create index executions_parked_by_start on executions (start_at, execution_id) where parked is not null;
create index executions_by_replay on executions (replay_of, start_at, execution_id) where replay_of is not null;
-- Read by recovery.
create index executions_with_work on executions (start_at) where idle = 0 and end_at is null and parked is null;
create index executions_by_timeout on executions (timeout_at)
  where timeout_at is not null and end_at is null and paused = 0;
-- One live turn for each conversation.
create unique index executions_live_turn on executions (conversation_id) where kind = 'turn' and end_at is null;
create index executions_of_conversation on executions (conversation_id) where kind = 'turn';
create index executions_turns_by_end on executions (end_at, execution_id) where kind = 'turn' and end_at is not null;
create index executions_by_workflow on executions (workflow_id, start_at, execution_id) where kind = 'workflow';
create index executions_by_status on executions (status, start_at, execution_id)
  where status <> 'running' and kind = 'workflow';
create index executions_running on executions (start_at, execution_id) where status = 'running' and kind = 'workflow';
create index executions_by_user on executions (user_id, start_at, execution_id)
  where user_id is not null and kind = 'workflow';
create index executions_by_end on executions (end_at, execution_id) where end_at is not null and kind = 'workflow';
create index executions_by_trace on executions (trace, start_at, execution_id) where trace <> '';
create index executions_waiting on executions (user_id) where status = 'suspended' and user_id is not null;

-- One row for each write.
create table journal (
  -- The "id" of its execution.
  execution integer not null,
  -- The number of the last event of the row.
  sequence integer not null,
  -- A JSON array, see journal-row.ts.
  events text not null,
  -- The key of the write, so that repeating one whose result was lost finds it.
  write_key text,
  primary key (execution, sequence)
) strict, without rowid;

-- Open suspensions only: the journal keeps those that were resumed or closed.
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
  -- Times do not run while an execution is paused.
  held integer not null default 0,
  resume_schema text,
  -- The events that end it, a JSON object; null for none.
  awaits text,
  -- Who is to decide.
  recipient text
) strict, without rowid;

create index suspensions_by_deadline on suspensions (deadline) where deadline is not null and held = 0;
create index suspensions_by_execution on suspensions (execution_id, suspended_at, suspension_id);
-- The list of open suspensions that wait for an answer, oldest first.
create index suspensions_by_time on suspensions (suspended_at, suspension_id) where path is not null;

-- Times that executions wait for: sleeps and retries.
create table timers (
  execution_id text not null,
  path text not null,
  due_at integer not null,
  held integer not null default 0,
  primary key (execution_id, path)
) strict, without rowid;

create index timers_by_due on timers (due_at) where held = 0;

-- One row for each incarnation of a process.
create table owners (
  owner text primary key,
  expires_at integer not null,
  -- Its description for people, a JSON object.
  about text
) strict, without rowid;

-- The fold of the first events of a journal, so that a long execution continues without reading all of them.
create table snapshots (
  execution_id text primary key,
  -- The number of the last event that it holds.
  sequence integer not null,
  format integer not null,
  body text not null
) strict, without rowid;

-- The outline of a definition, once, however many executions began with it.
create table definitions (
  definition text primary key,
  outline text not null
) strict, without rowid;

-- When processes registered each definition of a workflow, in milliseconds since 1970.
create table workflow_definitions (
  workflow_id text not null,
  definition text not null,
  first_at integer not null,
  last_at integer not null,
  primary key (workflow_id, definition)
) strict, without rowid;

create table execution_tags (
  tag text not null,
  start_at integer not null,
  execution_id text not null,
  primary key (tag, start_at, execution_id)
) strict, without rowid;

-- The index of values: the strings and numbers by which executions are found, in lower case, with their paths.
create table search_values (
  value text not null,
  start_at integer not null,
  execution_id text not null,
  path text not null,
  user_id text,
  primary key (value, start_at desc, execution_id desc, path)
) strict, without rowid;

create index search_values_by_user on search_values (user_id, value, start_at desc, execution_id desc)
  where user_id is not null;

-- The entries of each execution that is indexed, to change and delete them by.
create table search_entries (
  execution_id text primary key,
  -- The last event and the version of the rules that they take into account.
  sequence integer not null,
  rules integer not null,
  -- A JSON array.
  entries text not null
) strict, without rowid;

-- How far the index has read the lists of changes, which are in the order of their times.
create table search_cursors (
  list text primary key,
  at integer not null,
  id text not null
) strict, without rowid;

-- The values of each workflow that are not searched: a JSON array of paths, or true.
create table search_rules (
  workflow_id text primary key,
  exclude text not null,
  version integer not null
) strict, without rowid;

create table conversations (
  conversation_id text primary key,
  agent_id text not null,
  user_id text,
  title text,
  created_at integer not null,
  updated_at integer not null,
  -- The number of the last message ever; numbers are not used again.
  sequence integer not null default 0,
  input_tokens integer not null default 0,
  output_tokens integer not null default 0,
  total_tokens integer not null default 0,
  calls integer not null default 0,
  -- A JSON object of the host.
  metadata text,
  cached_input_tokens integer not null default 0,
  cache_write_tokens integer not null default 0,
  reasoning_tokens integer not null default 0,
  -- Billionths of the host's currency; null while no call has a known price.
  nanos integer,
  -- Calls without a known price; null while the host has no prices.
  unpriced_calls integer,
  -- Counts changed messages and replies: a copy that has begun starts over.
  revision integer not null default 0
) strict;

create index conversations_by_change on conversations (updated_at, conversation_id);
create index conversations_by_user on conversations (user_id, updated_at, conversation_id);
create index conversations_by_agent on conversations (agent_id, updated_at, conversation_id);

create table messages (
  conversation_id text not null,
  sequence integer not null,
  message_id text not null,
  role text not null,
  body text not null,
  partial integer not null,
  created_at integer not null,
  -- While a message is queued: the agent that is asked, and the request from which its turn begins, a JSON object.
  agent_id text,
  request text,
  primary key (conversation_id, sequence)
) strict, without rowid;

create unique index messages_by_id on messages (conversation_id, message_id);
create index messages_queued on messages (conversation_id, sequence) where agent_id is not null;

-- The results of writes, for a while: repeating one whose result was lost returns it.
create table conversation_writes (
  write_key text primary key,
  result text not null,
  written_at integer not null
) strict, without rowid;

create index conversation_writes_by_time on conversation_writes (written_at);

-- Forks are copied in pages. Until the last page the messages belong to no conversation, and a row here names them.
create table forks (
  fork_id text primary key,
  -- The copy that writes the pages; another one under the same id replaces it.
  copy_id text not null,
  source_id text not null,
  revision integer not null,
  -- The last message to copy, and the last that is copied.
  last integer not null,
  copied integer not null,
  changed_at integer not null
) strict, without rowid;

create index forks_by_source on forks (source_id);
create index forks_by_change on forks (changed_at);

-- The facts that agents keep of users and conversations: changes as merge patches.
create table facts (
  scope text not null,
  subject text not null,
  agent_id text not null,
  at integer not null,
  change_id text not null,
  patch text not null,
  changed_by text,
  -- How many changes it stands for.
  changes integer not null,
  primary key (scope, subject, agent_id, at, change_id)
) strict, without rowid;

-- Used tool approvals, until they expire.
create table used_approvals (
  approval_key text primary key,
  expires_at integer not null,
  -- The key of the use: repeating one whose result was lost returns the first result.
  use_key text
) strict, without rowid;

create index used_approvals_by_expiry on used_approvals (expires_at);

-- The secret that approval requests are signed with.
create table secrets (
  name text primary key,
  value text not null
) strict, without rowid;

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
create index logs_by_user on logs (user_id, id) where user_id is not null;
create index logs_of_trouble on logs (id) where level >= 2;

-- Traces that no execution stands for: calls of agents.
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

-- Spans that no journal holds.
create table span_chunks (
  id integer primary key,
  trace_id text not null,
  root_span_id text not null,
  timestamp integer not null,
  spans text not null
) strict;

create index span_chunks_by_trace on span_chunks (trace_id, root_span_id);
create index span_chunks_by_time on span_chunks (timestamp);

-- Counts per minute, workflow and step, for charts over time.
create table rollups (
  -- 0: of executions, 1: of their steps, which are many more, are kept for a shorter time and are read less often.
  steps integer not null,
  -- Minutes since 1970.
  minute integer not null,
  workflow_id text not null,
  step text not null,
  kind text not null,
  -- The range of durations; -1 where it is not known.
  bucket integer not null,
  count integer not null,
  primary key (steps, minute, workflow_id, step, kind, bucket)
) strict, without rowid;

-- The last batch of each process, so that repeating one whose result was lost adds nothing.
create table rollup_writers (
  writer text primary key,
  number integer not null,
  minute integer not null
) strict, without rowid;

create index rollup_writers_by_minute on rollup_writers (minute);

-- Usage of models. A name is '' where there is none.
create table usage (
  -- Days since 1970, UTC.
  day integer not null,
  user_id text not null,
  agent_id text not null,
  workflow_id text not null,
  -- Provider and name.
  model text not null,
  calls integer not null,
  input_tokens integer not null,
  cached_input_tokens integer not null,
  cache_write_tokens integer not null,
  output_tokens integer not null,
  reasoning_tokens integer not null,
  -- Billionths of the host's currency.
  nanos integer not null,
  -- Calls without a known price.
  unpriced_calls integer not null,
  primary key (day, user_id, agent_id, workflow_id, model)
) strict, without rowid;

-- The last batch of each process, so that repeating one whose result was lost adds nothing.
create table usage_writers (
  writer text primary key,
  number integer not null,
  day integer not null
) strict, without rowid;

create index usage_writers_by_day on usage_writers (day);

-- Reports of one user or of one agent.
create index usage_by_user on usage (user_id, day);
create index usage_by_agent on usage (agent_id, day);

-- Budgets over windows of time: the use of one subject in its current window.
create table budgets (
  budget text not null,
  subject text not null,
  starts_at integer not null,
  ends_at integer not null,
  -- Tokens, or billionths of the host's currency.
  used integer not null,
  -- The largest call so far.
  largest integer not null,
  -- Amounts that people have added, a JSON object.
  raises text not null,
  primary key (budget, subject)
) strict, without rowid;

create index budgets_by_use on budgets (budget, used);
create index budgets_by_end on budgets (ends_at);

-- The shares of calls in flight.
create table budget_holds (
  hold_id text not null,
  attempt text not null,
  budget text not null,
  subject text not null,
  amount integer not null,
  unbounded integer not null,
  expires_at integer not null,
  primary key (hold_id, budget, subject)
) strict, without rowid;

create index budget_holds_by_account on budget_holds (budget, subject);
create index budget_holds_by_attempt on budget_holds (attempt);
create index budget_holds_by_expiry on budget_holds (expires_at);

-- Schedules that start executions, the sets of them that processes declare, endpoints, and deliveries of events to these.
create table schedules (
  schedule_id text not null primary key,
  kind text not null,
  -- Empty for a schedule of an agent.
  workflow_id text not null,
  agent_id text,
  user_id text,
  due_at integer,
  -- Random, another one with each write.
  version text not null,
  -- A JSON object.
  body text not null,
  -- The last ones, or the last attempts of a delivery; a JSON array.
  occurrences text not null
) strict, without rowid;

create index schedules_by_time on schedules (due_at) where due_at is not null;
-- Deliveries are many, and are listed by their ids alone.
create index schedules_by_workflow on schedules (workflow_id, kind, schedule_id) where kind <> 'delivery';
create index schedules_by_kind on schedules (kind, schedule_id) where kind <> 'delivery';
create index schedules_by_agent on schedules (agent_id, schedule_id) where agent_id is not null;
create index schedules_by_user on schedules (user_id, kind, schedule_id) where user_id is not null and kind <> 'delivery';

-- Events from outside.
create table signals (
  -- Their order.
  seq integer primary key autoincrement,
  signal_id text not null,
  -- "" for a shared one, else a user.
  scope text not null,
  name text not null,
  -- "=" and its key; "*" without one.
  match_key text not null,
  -- Null once it is too old to be found by later waits.
  data text,
  user_id text,
  sent_by text,
  sent_at integer not null,
  -- Its effects, a JSON object.
  effects text not null,
  matched integer not null default 0,
  -- How much work is left to do.
  pending integer not null default 0
) strict;

create unique index signals_by_id on signals (scope, signal_id);
create index signals_by_key on signals (scope, name, match_key, seq) where data is not null;
create index signals_by_name on signals (scope, name, seq) where data is not null;
create index signals_with_data on signals (seq) where data is not null;
create index signals_unmatched on signals (seq) where matched = 0;

-- The places where suspensions and executions wait for them: rows follow those of suspensions and executions.
create table waits (
  scope text not null,
  name text not null,
  match_key text not null,
  -- The workflow or the agent that can continue it.
  target text not null,
  -- The id of a suspension; for an execution that is cancelled, "x" and its id.
  wait_id text not null,
  execution_id text not null,
  primary key (scope, name, match_key, target, wait_id)
) strict, without rowid;

create index waits_by_id on waits (wait_id);

-- Work that signals and waits leave, until it is done.
create table signal_work (
  work_id text primary key,
  target text not null,
  due_at integer not null,
  -- A JSON object.
  body text not null
) strict, without rowid;

create index signal_work_by_time on signal_work (due_at);

create trigger suspension_waits after insert on suspensions when new.awaits is not null begin
  insert or ignore into waits (scope, name, match_key, target, wait_id, execution_id)
  select value ->> 0, value ->> 1, value ->> 2, new.awaits ->> 'target', new.suspension_id, new.execution_id
  from json_each(new.awaits, '$.keys');
  insert or replace into signal_work (work_id, target, due_at, body)
  values ('look ' || new.suspension_id, new.awaits ->> 'target', new.suspended_at,
    json_object('kind', 'look', 'executionId', new.execution_id, 'suspensionId', new.suspension_id));
end;

create trigger suspension_ends after delete on suspensions when old.awaits is not null begin
  delete from waits where wait_id = old.suspension_id;
end;

create trigger execution_waits after insert on executions
when new.links is not null and new.links ->> '$.cancelOn' is not null begin
  insert or ignore into waits (scope, name, match_key, target, wait_id, execution_id)
  select value ->> 0, value ->> 1, value ->> 2, new.links ->> '$.cancelOn.target', 'x' || new.execution_id, new.execution_id
  from json_each(new.links, '$.cancelOn.keys');
end;

create trigger execution_ends after update of end_at on executions
when new.links is not null and new.end_at is not null and old.end_at is null begin
  delete from waits where wait_id = 'x' || new.execution_id;
end;
