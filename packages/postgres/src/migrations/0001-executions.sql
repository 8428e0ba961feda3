-- oldest: 1
-- Executions, their journals, where they wait, and who runs them.
--
-- Ids compare by their bytes (collate "C"), as the contract's lists do, whatever the language of the database is. JSON
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
  -- Nobody has to run it: it is suspended or sleeps, with no body in flight.
  idle boolean not null default false,
  recoveries integer not null default 0,
  -- What its agents have used, a JSON object.
  usage text,
  -- The tags as they were given, a JSON array; execution_tags is what lists look through.
  tags text,
  definition text collate "C",
  -- Why no process may run it, and the definition that did not fit.
  parked text,
  parked_under text collate "C",
  -- The execution and the step that a replay began from.
  replay_of text collate "C",
  replay_step text,
  -- The trace that it belongs to: empty for one of its own, null when it is not traced.
  trace text collate "C"
)
-- A commit changes nothing that an index holds: with room on the page it writes no index entry either.
with (fillfactor = 70);

-- What lists, counts and retention look through holds no turns: a chat may have a thousand for each workflow.
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
-- What recovery looks through: executions that somebody has to run, by who should; null for those that were released.
create index executions_with_work on executions (owner, start_at, execution_id)
  where not idle and end_at is null and parked is null;
create index executions_by_timeout on executions (timeout_at)
  where timeout_at is not null and end_at is null and not paused;
create index executions_parked on executions (workflow_id) where parked is not null;
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

-- Only what is open: a suspension that was resumed or closed is told by the journal and has no row.
create table suspensions (
  suspension_id text collate "C" primary key,
  execution_id text collate "C" not null,
  path text collate "C",
  step_index integer not null,
  -- A JSON string: whoever suspends writes what it likes.
  reason text not null,
  data text,
  suspended_at bigint not null,
  deadline bigint,
  on_deadline text,
  resume_schema text,
  -- No time runs out while an execution is paused.
  held boolean not null default false
);

create index suspensions_by_execution on suspensions (execution_id, suspended_at, suspension_id);
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
  expires_at timestamptz not null
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

create table execution_tags (
  tag text collate "C" not null,
  start_at bigint not null,
  execution_id text collate "C" not null,
  primary key (tag, start_at, execution_id)
);
