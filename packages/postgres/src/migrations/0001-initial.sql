-- oldest: 1
-- The tables of the first release.
--
-- Ids compare by their bytes (collate "C"), as the contract's lists do, in any language of the database. JSON
-- is text: jsonb refuses \u0000.

create table executions (
  execution_id text collate "C" primary key,
  kind text not null,
  workflow_id text collate "C" not null,
  -- Whose turn it is; null for a workflow.
  agent_id text collate "C",
  status text not null,
  input text,
  context text not null,
  user_id text collate "C",
  conversation_id text collate "C",
  start_at bigint not null,
  timeout_at bigint,
  end_at bigint,
  result text,
  -- The event that holds the result, when that is long; its column is null then.
  result_at bigint,
  error text,
  -- The number of the last event.
  sequence bigint not null,
  step_index integer not null default 0,
  open_suspensions integer not null default 0,
  paused boolean not null default false,
  resumes integer not null default 0,
  owner text collate "C",
  token text collate "C",
  -- The last commit under the claim that holds.
  commits bigint not null default 0,
  -- It is suspended or sleeps, with no body in flight, and needs no owner.
  idle boolean not null default false,
  recoveries integer not null default 0,
  -- The usage of its agents, a JSON object.
  usage text,
  -- The part of it that the conversation of a turn that goes on later has counted, a JSON object.
  counted_usage text,
  -- The tags in their order, a JSON array; lists read execution_tags.
  tags text,
  definition text collate "C",
  -- Why no process may run it, and the definition that did not fit.
  parked text,
  parked_under text collate "C",
  -- The execution and the step that a replay began from.
  replay_of text collate "C",
  replay_step text,
  -- The trace that it belongs to: empty for one of its own, null when it is not traced.
  trace text collate "C",
  -- Its relations to a parent and to children, a JSON object; null for none.
  links text
)
-- A commit changes nothing that an index holds: with room on the page it writes no index entry either.
with (fillfactor = 70);

-- The indexes of lists, counts and retention hold no turns: a chat may have a thousand for each workflow.
create index executions_by_start on executions (start_at, execution_id) where kind = 'workflow';
create index executions_by_workflow on executions (workflow_id, start_at, execution_id) where kind = 'workflow';
create index executions_by_status on executions (status, start_at, execution_id)
  where status <> 'running' and kind = 'workflow';
create index executions_running on executions (start_at, execution_id) where status = 'running' and kind = 'workflow';
create index executions_by_user on executions (user_id, start_at, execution_id)
  where user_id is not null and kind = 'workflow';
create index executions_by_trace on executions (trace, start_at, execution_id) where trace <> '';
create index executions_by_end on executions (end_at, execution_id) where end_at is not null and kind = 'workflow';
create index executions_turns_by_end on executions (end_at, execution_id) where kind = 'turn' and end_at is not null;
-- For recovery: executions that need an owner, by their owner; null for those that were released.
create index executions_with_work on executions (owner, start_at, execution_id)
  where not idle and end_at is null and parked is null;
create index executions_by_timeout on executions (timeout_at)
  where timeout_at is not null and end_at is null and not paused;
create index executions_waiting on executions (user_id)
  where status = 'suspended' and user_id is not null;
create index executions_parked on executions (workflow_id, start_at, execution_id) where parked is not null;
create index executions_parked_by_start on executions (start_at, execution_id) where parked is not null;
create index executions_by_replay on executions (replay_of, start_at, execution_id) where replay_of is not null;
-- One live turn for each conversation.
create unique index executions_live_turn on executions (conversation_id) where kind = 'turn' and end_at is null;
create index executions_of_conversation on executions (conversation_id) where kind = 'turn';

create table journal (
  execution_id text collate "C" not null,
  -- The number of its last event.
  sequence bigint not null,
  -- A JSON array, see journal-rows.ts.
  events text not null,
  -- The write that it came with, so that repeating one whose result was lost finds it.
  write_key text collate "C",
  primary key (execution_id, sequence)
);

-- Open suspensions only: one that was resumed or closed is in the journal and has no row.
create table suspensions (
  suspension_id text collate "C" primary key,
  execution_id text collate "C" not null,
  path text collate "C",
  step_index integer not null,
  -- A JSON string: the text of the caller may contain any character.
  reason text not null,
  data text,
  suspended_at bigint not null,
  deadline bigint,
  on_deadline text,
  resume_schema text,
  -- The events that end it, a JSON object; null for none.
  awaits text,
  -- Who is to decide.
  recipient text,
  -- No time runs out while an execution is paused.
  held boolean not null default false
);

create index suspensions_by_execution on suspensions (execution_id, suspended_at, suspension_id);
-- The list of open suspensions that wait for an answer, oldest first.
create index suspensions_by_time on suspensions (suspended_at, suspension_id) where path is not null;
create index suspensions_by_deadline on suspensions (deadline) where deadline is not null and not held;

-- Times that executions wait for: sleeps and retries.
create table timers (
  execution_id text collate "C" not null,
  path text collate "C" not null,
  due_at bigint not null,
  held boolean not null default false,
  primary key (execution_id, path)
);

create index timers_by_due on timers (due_at) where not held;

-- One row for each process incarnation, by the clock of this database.
create table owners (
  owner text collate "C" primary key,
  expires_at timestamptz not null,
  -- Its description for people, a JSON object.
  about text
)
with (fillfactor = 50);

create table snapshots (
  execution_id text collate "C" primary key,
  -- The number of the last event that it holds.
  sequence bigint not null,
  format integer not null,
  body text not null
);

-- The outline of a definition, once, however many executions began with it.
create table definitions (
  definition text collate "C" primary key,
  outline text not null
);

-- When processes registered each definition of a workflow, in milliseconds since 1970.
create table workflow_definitions (
  workflow_id text collate "C" not null,
  definition text collate "C" not null,
  first_at bigint not null,
  last_at bigint not null,
  primary key (workflow_id, definition)
);

create table execution_tags (
  tag text collate "C" not null,
  start_at bigint not null,
  execution_id text collate "C" not null,
  primary key (tag, start_at, execution_id)
);

-- The index of values: the strings and numbers by which executions are found, in lower case, with their paths.
create table search_values (
  value text collate "C" not null,
  start_at bigint not null,
  execution_id text collate "C" not null,
  path text collate "C" not null,
  user_id text collate "C"
);

create unique index search_values_newest on search_values (value, start_at desc, execution_id desc, path);
create index search_values_by_user on search_values (user_id, value, start_at desc, execution_id desc)
  where user_id is not null;

-- The entries of each execution that is indexed, to change and delete them by.
create table search_entries (
  execution_id text collate "C" primary key,
  start_at bigint not null,
  -- The last event and the version of the rules that they take into account.
  sequence bigint not null,
  rules integer not null,
  -- A JSON array.
  entries text not null
);

-- Executions that were started, suspended, ended or deleted since they were indexed.
create table search_queue (
  id bigint generated always as identity primary key,
  execution_id text collate "C" not null
);

-- One row, which the node that indexes locks.
create table search_turn (
  id integer primary key
);
insert into search_turn values (1);

-- The values of each workflow that are not searched: a JSON array of paths, or true.
create table search_rules (
  workflow_id text collate "C" primary key,
  exclude text not null,
  version integer not null
);

-- Conversations with agents, their messages, and the tool approvals that were used.

create table conversations (
  conversation_id text collate "C" primary key,
  agent_id text collate "C" not null,
  user_id text collate "C",
  -- A JSON string: it may be anything that a user writes.
  title text,
  created_at bigint not null,
  updated_at bigint not null,
  -- The number of the last message ever; numbers are not used again.
  sequence bigint not null default 0,
  input_tokens bigint not null default 0,
  output_tokens bigint not null default 0,
  total_tokens bigint not null default 0,
  calls bigint not null default 0,
  cached_input_tokens bigint not null default 0,
  cache_write_tokens bigint not null default 0,
  reasoning_tokens bigint not null default 0,
  -- Billionths of the host's currency; null while no call has a known price.
  nanos bigint,
  -- Calls without a known price; null while the host has no prices.
  unpriced_calls bigint,
  -- A JSON object of the host.
  metadata text,
  -- Counts changed messages and replies: a copy that has begun starts over.
  revision bigint not null default 0
);

create index conversations_by_change on conversations (updated_at, conversation_id);
create index conversations_by_user on conversations (user_id, updated_at, conversation_id);
create index conversations_by_agent on conversations (agent_id, updated_at, conversation_id);

create table messages (
  conversation_id text collate "C" not null,
  sequence bigint not null,
  message_id text collate "C" not null,
  role text not null,
  body text not null,
  partial boolean not null,
  created_at bigint not null,
  -- While a message is queued: the agent that is asked, and the request from which its turn begins, a JSON object.
  agent_id text collate "C",
  request text,
  primary key (conversation_id, sequence)
);

create unique index messages_by_id on messages (conversation_id, message_id);
create index messages_queued on messages (conversation_id, sequence) where agent_id is not null;

-- The results of writes, for a while: repeating one whose result was lost returns it.
create table conversation_writes (
  write_key text collate "C" primary key,
  result text not null,
  written_at timestamptz not null default now()
);

create index conversation_writes_by_time on conversation_writes (written_at);

-- The facts that agents keep of users and conversations: changes as merge patches.
create table facts (
  scope text not null,
  subject text collate "C" not null,
  agent_id text collate "C" not null,
  at bigint not null,
  change_id text collate "C" not null,
  patch text not null,
  changed_by text collate "C",
  -- How many changes it stands for.
  changes bigint not null,
  primary key (scope, subject, agent_id, at, change_id)
);

create table used_approvals (
  approval_key text collate "C" primary key,
  expires_at bigint not null,
  -- The key of the use: repeating one whose result was lost returns the first result.
  use_key text collate "C"
);

create index used_approvals_by_expiry on used_approvals (expires_at);

create table secrets (
  name text primary key,
  value text not null
);

-- Forks are copied in pages. Until the last page the messages belong to no conversation, and a row here names them.
create table forks (
  fork_id text collate "C" primary key,
  -- The copy that writes the pages; another one under the same id replaces it.
  copy_id text collate "C" not null,
  source_id text collate "C" not null,
  revision bigint not null,
  -- The last message to copy, and the last that is copied.
  last bigint not null,
  copied bigint not null,
  changed_at bigint not null
);

create index forks_by_source on forks (source_id);
create index forks_by_change on forks (changed_at);

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
  spans text not null,
  -- The process that wrote the spans: each shows those of the others.
  node text collate "C" not null,
  -- The number of the chunk among those of its process: one that is repeated because its result was lost is kept once.
  number bigint not null
);

create index span_chunks_by_trace on span_chunks (trace_id, root_span_id);
create index span_chunks_by_time on span_chunks (timestamp);
create unique index span_chunks_once on span_chunks (node, number);

-- Counts per minute, workflow and step, for charts over time.

create table rollups (
  -- Of steps; else of executions. There are many more of these, they are kept for a shorter time, and most reads are of
  -- executions alone.
  steps boolean not null,
  -- Minutes since 1970.
  minute bigint not null,
  workflow_id text collate "C" not null,
  step text collate "C" not null,
  kind text collate "C" not null,
  -- Which range of durations; -1 where none is known.
  bucket integer not null,
  count bigint not null,
  primary key (steps, minute, workflow_id, step, kind, bucket)
)
-- Rows of the current minute are changed by every node: with room on the page no index entry is written.
with (fillfactor = 70);

-- The last batch of each process, so that repeating one whose result was lost adds nothing.
create table rollup_writers (
  writer text collate "C" primary key,
  number bigint not null,
  minute bigint not null
);

create index rollup_writers_by_minute on rollup_writers (minute);

-- Usage of models. A name is '' where there is none.

create table usage (
  -- Days since 1970, UTC.
  day integer not null,
  user_id text collate "C" not null,
  agent_id text collate "C" not null,
  workflow_id text collate "C" not null,
  -- Provider and name.
  model text collate "C" not null,
  calls bigint not null,
  input_tokens bigint not null,
  cached_input_tokens bigint not null,
  cache_write_tokens bigint not null,
  output_tokens bigint not null,
  reasoning_tokens bigint not null,
  -- Billionths of the host's currency.
  nanos bigint not null,
  -- Calls without a known price.
  unpriced_calls bigint not null,
  primary key (day, user_id, agent_id, workflow_id, model)
)
-- Rows of today are changed by every node: with room on the page no index entry is written.
with (fillfactor = 70);

-- The last batch of each process, so that repeating one whose result was lost adds nothing.
create table usage_writers (
  writer text collate "C" primary key,
  number bigint not null,
  day integer not null
);

create index usage_writers_by_day on usage_writers (day);

-- Reports of one user or of one agent.
create index usage_by_user on usage (user_id, day);
create index usage_by_agent on usage (agent_id, day);

-- Budgets over windows of time: the use of one subject in its current window.
create table budgets (
  budget text collate "C" not null,
  subject text collate "C" not null,
  starts_at bigint not null,
  ends_at bigint not null,
  -- Tokens, or billionths of the host's currency.
  used bigint not null,
  -- The largest call so far.
  largest bigint not null,
  -- Amounts that people have added, a JSON object.
  raises text not null,
  primary key (budget, subject)
)
with (fillfactor = 70);

create index budgets_by_use on budgets (budget, used);
create index budgets_by_end on budgets (ends_at);

-- The shares of calls in flight.
create table budget_holds (
  hold_id text collate "C" not null,
  attempt text collate "C" not null,
  budget text collate "C" not null,
  subject text collate "C" not null,
  amount bigint not null,
  unbounded boolean not null,
  expires_at bigint not null,
  primary key (hold_id, budget, subject)
);

create index budget_holds_by_account on budget_holds (budget, subject);
create index budget_holds_by_attempt on budget_holds (attempt);
create index budget_holds_by_expiry on budget_holds (expires_at);

-- Schedules that start executions, the sets of them that processes declare, endpoints, and deliveries of events to these.
create table schedules (
  schedule_id text collate "C" not null primary key,
  kind text not null,
  -- Empty for a schedule of an agent.
  workflow_id text collate "C" not null,
  agent_id text collate "C",
  user_id text collate "C",
  due_at bigint,
  -- Random, another one with each write.
  version text collate "C" not null,
  -- A JSON object.
  body text not null,
  -- The last ones, or the last attempts of a delivery; a JSON array.
  occurrences text not null
)
with (fillfactor = 70);

create index schedules_by_time on schedules (due_at) where due_at is not null;
-- Deliveries are many, and are listed by their ids alone.
create index schedules_by_workflow on schedules (workflow_id, kind, schedule_id) where kind <> 'delivery';
create index schedules_by_kind on schedules (kind, schedule_id) where kind <> 'delivery';
create index schedules_by_agent on schedules (agent_id, schedule_id) where agent_id is not null;
create index schedules_by_user on schedules (user_id, kind, schedule_id) where user_id is not null and kind <> 'delivery';

-- Events from outside.
create table signals (
  -- Their order, within one name and key.
  seq bigint generated always as identity primary key,
  signal_id text collate "C" not null,
  -- Empty for a shared one, else a user.
  scope text collate "C" not null,
  name text collate "C" not null,
  -- "=" and its key; "*" without one.
  match_key text collate "C" not null,
  -- Null once it is too old to be found by later waits.
  data text,
  user_id text collate "C",
  sent_by text collate "C",
  sent_at bigint not null,
  -- Its effects, a JSON object.
  effects text not null,
  matched boolean not null default false,
  -- How much work is left to do.
  pending integer not null default 0
);

create unique index signals_by_id on signals (scope, signal_id);
create index signals_by_key on signals (scope, name, match_key, seq) where data is not null;
create index signals_by_name on signals (scope, name, seq) where data is not null;
create index signals_with_data on signals (seq) where data is not null;
create index signals_unmatched on signals (seq) where not matched;

-- The places where suspensions and executions wait for them: rows follow those of suspensions and executions.
create table waits (
  scope text collate "C" not null,
  name text collate "C" not null,
  match_key text collate "C" not null,
  -- The workflow or the agent that can continue it.
  target text collate "C" not null,
  -- The id of a suspension; for an execution that is cancelled, "x" and its id.
  wait_id text collate "C" not null,
  execution_id text collate "C" not null,
  primary key (scope, name, match_key, target, wait_id)
);

create index waits_by_id on waits (wait_id);

-- Work that signals and waits leave, until it is done.
create table signal_work (
  work_id text collate "C" primary key,
  target text collate "C" not null,
  due_at bigint not null,
  -- A JSON object.
  body text not null
);

create index signal_work_by_time on signal_work (due_at);

create function suspension_waits() returns trigger language plpgsql set search_path from current as $$
begin
  insert into waits (scope, name, match_key, target, wait_id, execution_id)
  select place ->> 0, place ->> 1, place ->> 2, new.awaits::json ->> 'target', new.suspension_id, new.execution_id
  from json_array_elements(new.awaits::json -> 'keys') as place on conflict do nothing;
  insert into signal_work (work_id, target, due_at, body)
  values ('look ' || new.suspension_id, new.awaits::json ->> 'target', new.suspended_at,
    json_build_object('kind', 'look', 'executionId', new.execution_id, 'suspensionId', new.suspension_id)::text)
  on conflict do nothing;
  return null;
end $$;

create trigger suspension_waits after insert on suspensions
  for each row when (new.awaits is not null) execute function suspension_waits();

create function suspension_ends() returns trigger language plpgsql set search_path from current as $$
begin
  delete from waits where wait_id = old.suspension_id;
  return null;
end $$;

create trigger suspension_ends after delete on suspensions
  for each row when (old.awaits is not null) execute function suspension_ends();

create function execution_waits() returns trigger language plpgsql set search_path from current as $$
begin
  insert into waits (scope, name, match_key, target, wait_id, execution_id)
  select place ->> 0, place ->> 1, place ->> 2, new.links::json -> 'cancelOn' ->> 'target', 'x' || new.execution_id,
    new.execution_id
  from json_array_elements(new.links::json -> 'cancelOn' -> 'keys') as place on conflict do nothing;
  return null;
end $$;

create trigger execution_waits after insert on executions
  for each row when (new.links like '%"cancelOn":%') execute function execution_waits();

create function execution_ends() returns trigger language plpgsql set search_path from current as $$
begin
  delete from waits where wait_id = 'x' || new.execution_id;
  return null;
end $$;

create trigger execution_ends after update of end_at on executions
  for each row when (new.links like '%"cancelOn":%' and new.end_at is not null and old.end_at is null)
  execute function execution_ends();
