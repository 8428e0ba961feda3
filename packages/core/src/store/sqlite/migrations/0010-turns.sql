-- Turns of conversations are executions of their own kind, and the writes of conversations have keys.

alter table executions add column kind text not null default 'workflow';
-- Whose turn it is; null for a workflow.
alter table executions add column agent_id text;

-- One live turn for each conversation.
create unique index executions_live_turn on executions (conversation_id) where kind = 'turn' and end_at is null;
create index executions_of_conversation on executions (conversation_id) where kind = 'turn';
create index executions_turns_by_end on executions (end_at, execution_id) where kind = 'turn' and end_at is not null;

-- What lists, counts and retention look through holds no turns: a chat may have a thousand for each workflow.
drop index executions_by_start;
create index executions_by_start on executions (start_at, execution_id) where kind = 'workflow';
drop index executions_by_workflow;
create index executions_by_workflow on executions (workflow_id, start_at, execution_id) where kind = 'workflow';
drop index executions_by_status;
create index executions_by_status on executions (status, start_at, execution_id)
  where status <> 'running' and kind = 'workflow';
drop index executions_running;
create index executions_running on executions (start_at, execution_id) where status = 'running' and kind = 'workflow';
drop index executions_by_user;
create index executions_by_user on executions (user_id, start_at, execution_id)
  where user_id is not null and kind = 'workflow';
drop index executions_by_end;
create index executions_by_end on executions (end_at, execution_id) where end_at is not null and kind = 'workflow';

-- The results of writes, for a while: repeating one whose result was lost returns it.
create table conversation_writes (
  write_key text primary key,
  result text not null,
  written_at integer not null
) strict, without rowid;

create index conversation_writes_by_time on conversation_writes (written_at);
